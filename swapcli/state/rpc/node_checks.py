"""Check that one node has the features that quotes and syncs need, with one or a few requests for each."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from swapcli.core.encoding.abi import WORD
from swapcli.core.errors import UpstreamError
from swapcli.core.model.network import DEFAULT_BLOCK_TIME_S, Kind, Network
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.records import NamedTuple
from swapcli.families.reading.call_encoding import encode_call
from swapcli.families.reading.calls import ContractCall
from swapcli.state.rpc.log_scan import scan_first_range
from swapcli.state.rpc.multicall import MulticallReader, find_answering_block
from swapcli.state.rpc.network_time import max_block_age_s
from swapcli.state.rpc.node import BlockHeader, HypotheticalCall, LogFilter, Node, StateOverride, StateOverrideNode

_MIN_MAX_AGE_S: Final = 60.0
"""Networks with block times of seconds may pause for a few of them."""
_CHAIN: Final = "chain"
_CALLS: Final = "calls"
_BATCH: Final = 20  # calls of the trial batch
_TOKENS: Final = 20
_LOG_BLOCKS: Final = 1_000  # blocks of the trial query for events
_MIN_LOG_BLOCKS: Final = 10
"""With fewer blocks per request, syncing a day takes thousands of requests."""
_PROBE: Final = "0x" + "5afe" * 10
"""An address without a contract; its code is overridden."""
_RETURN_ONE: Final = bytes.fromhex("600160005260206000f3")
"""EVM code that returns 1: PUSH 1, MSTORE at 0, RETURN 32 bytes."""


class NodeCheck(NamedTuple):
    """A feature that quotes or syncs need: its name, and the reason why the node lacks it (empty if the node has
    it)."""

    name: str
    problem: str = ""


class NodeReport(NamedTuple):
    """The features of a node. Unknown values are None. `latency_s` is the time of one request.

    `max_batch_requests` and `max_log_blocks` are the largest sizes that the node has served in these checks. The checks
    try sizes only up to a limit.
    """

    node: str
    checks: tuple[NodeCheck, ...] = ()
    latency_s: float | None = None
    block: int | None = None
    block_age_s: float | None = None
    max_batch_requests: int | None = None
    max_log_blocks: int | None = None

    @property
    def can_quote(self) -> bool:
        """Whether the node can serve quotes, even if it can neither simulate swaps nor serve a sync."""
        return not any(check.name in (_CHAIN, _CALLS) for check in self.missing)

    @property
    def missing(self) -> tuple[NodeCheck, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if check.problem)


def check_node(node: Node, network: Network, now_s: Callable[[], float] = time.time) -> NodeReport:
    """Check the node's chain id and the age of its latest block, and then all other features at that block.

    Never raises `UpstreamError`, because rejections are part of the report.
    """
    return _CHECKS[network.kind](node, network, now_s).run()


class _NodeChecks:
    """The checks of an EVM node."""

    def __init__(self, node: Node, network: Network, now_s: Callable[[], float]) -> None:
        self._node, self._network, self._now_s = node, network, now_s
        self._checks: list[NodeCheck] = []

    def run(self) -> NodeReport:
        report = NodeReport(self._node.redacted_url)
        with self._checking(_CHAIN):
            self._node.read_head()
            started_s = time.monotonic()  # the first request has opened the connection
            head = self._node.read_head()
            block, latency_s = head.block, time.monotonic() - started_s
            age_s = self._now_s() + head.clock_offset_s - block.timestamp
            report = report._replace(latency_s=latency_s, block=block.number, block_age_s=max(age_s, 0.0))
        if report.block is None or report.block_age_s is None:
            return report._replace(checks=tuple(self._checks))
        self._check_age(age_s)
        with self._checking("batch"):
            report = report._replace(max_batch_requests=self._read_batch(block))
        with self._checking(_CALLS):
            self._read_calls(block)
        self._check_state(block)
        with self._checking("events"):
            report = report._replace(max_log_blocks=self._read_events(block))
        return report._replace(checks=tuple(self._checks))

    @contextmanager
    def _checking(self, name: str) -> Iterator[None]:
        """Record a check, which fails with the message of an `UpstreamError`."""
        problem = ""
        try:
            yield
        except UpstreamError as error:
            problem = error.message
        self._checks.append(NodeCheck(name, problem))

    def _check_age(self, age_s: float) -> None:
        max_age_s = max(max_block_age_s(self._network.block_time_s or DEFAULT_BLOCK_TIME_S), _MIN_MAX_AGE_S)
        where = f"{age_s:,.0f} s old" if age_s > 0.0 else f"{-age_s:,.0f} s in the future"
        problem = f"the latest block is {where} by this machine's clock" if abs(age_s) > max_age_s else ""
        self._checks.append(NodeCheck("block", problem))

    def _check_state(self, block: BlockHeader) -> None:
        """Check that the node has state other than that of its latest block."""
        with self._checking("earlier block"):
            self._read_earlier_block(block)
        with self._checking("overrides"):
            self._read_override(block)

    def _cheap_calls(self) -> list[ContractCall]:
        """Return calls that read almost nothing, to addresses without a contract."""
        return [ContractCall(f"0x{number:040x}", b"") for number in range(1 << 32, (1 << 32) + _BATCH)]

    def _silent_contract(self) -> str:
        """Return an address that has no events, so that only the range of a query matters."""
        return self._network.multicall or _PROBE

    def _read_batch(self, block: BlockHeader) -> int:
        """Return how many requests fit into a batch, up to those sent here."""
        calls = self._cheap_calls()
        self._node.call_many(calls, block)
        return min(self._node.limits.batch_requests.size, len(calls))

    def _read_calls(self, block: BlockHeader) -> None:
        """Read tokens at the block as quotes do: packed by Multicall3 if the network has it."""
        tokens = [token.address for token in self._network.tokens if token.address != ZERO_ADDRESS][:_TOKENS]
        reader = MulticallReader(self._node, block, self._network.multicall)
        answers = reader.call([ContractCall(token, encode_call("decimals()")) for token in tokens])
        self._require(any(answers) or not tokens, "returns nothing for calls at its latest block")

    def _read_earlier_block(self, block: BlockHeader) -> None:
        earlier = block.number - 1
        found = find_answering_block(self._node, earlier)
        self._require(found in (None, earlier), f"responds with block {found} to a request for block {earlier}")

    def _read_override(self, block: BlockHeader) -> None:
        if not isinstance(self._node, StateOverrideNode):
            return
        override = StateOverride(_PROBE, code=_RETURN_ONE)
        (answer,) = self._node.simulate([HypotheticalCall(_PROBE, ContractCall(_PROBE, b""), (override,))], block)
        self._require(answer == (1).to_bytes(WORD), "ignores state overrides")

    def _read_events(self, block: BlockHeader) -> int:
        """Return how many blocks a request for events may have, up to those requested here."""
        first = max(block.number - _LOG_BLOCKS + 1, 0)
        scanned = scan_first_range(self._node, LogFilter((self._silent_contract(),), (), first, block.number))
        width = scanned.last - first + 1
        is_enough = width >= min(_MIN_LOG_BLOCKS, block.number - first + 1)
        self._require(is_enough, f"returns events for at most {width} blocks per request")
        return width

    def _require(self, is_met: bool, problem: str) -> None:
        if not is_met:
            raise UpstreamError(f"{self._node.redacted_url} {problem}")


class _StarknetChecks(_NodeChecks):
    """The checks of a Starknet node. It has no Multicall3, and does not simulate unsent transactions."""

    def _check_state(self, block: BlockHeader) -> None:
        del block

    def _cheap_calls(self) -> list[ContractCall]:
        return [ContractCall(token.address, b"") for token in self._network.tokens[:_BATCH]]

    def _silent_contract(self) -> str:
        return f"0x{int(_PROBE, 16):064x}"

    def _read_calls(self, block: BlockHeader) -> None:
        calls = [ContractCall(token.address, b"") for token in self._network.tokens[:_TOKENS]]
        self._require(any(self._node.call_many(calls, block)), "returns nothing for calls at its latest block")


_CHECKS: Final = {Kind.EVM: _NodeChecks, Kind.STARKNET: _StarknetChecks}
