"""An in-process EVM as a node: it has one state for every block, and counts its round trips."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from swapcli.core.encoding.abi import WORD
from swapcli.core.model.block_tag import BlockTag
from swapcli.families.reading.calls import MULTICALL3, ContractCall, Log, ReturnData
from swapcli.state.rpc.multicall import MulticallReader
from swapcli.state.rpc.node import Account, BlockHeader, BlockId, ChainHead, HypotheticalCall, LogFilter, block_number
from swapcli.testing.evm import BaseChain, Chain, ContractArtifact, RevertedError
from tests.contracts.evm import compile_solidity
from tests.support.single_node import SingleNode

BLOCK = 1
"""The only block of the in-process EVM."""
_HERE = Path(__file__).parent


class EvmNode(SingleNode):
    """A test adds the `emitted_logs`; `batch_sizes` has the number of calls of each round trip."""

    redacted_url = "an EVM in process"

    def __init__(self, chain: BaseChain) -> None:
        super().__init__()
        self.chain = chain
        self.emitted_logs: list[Log] = []
        self.batch_sizes: list[int] = []

    def read_head(self, tag: BlockTag = BlockTag.LATEST, *, code_of: str | None = None) -> ChainHead:
        del tag, code_of
        block = self.read_block(BLOCK)
        assert block is not None
        return ChainHead(block, 10**9)

    def read_block(self, number: int) -> BlockHeader | None:
        return (
            BlockHeader(number, f"0x{number:064x}", f"0x{number - 1:064x}", 1_700_000_000, 0)
            if number <= BLOCK
            else None
        )

    def call(self, to: str, calldata: bytes, at: BlockId) -> ReturnData:
        return self.call_many([ContractCall(to, calldata)], at)[0]

    def call_many(self, calls: Sequence[ContractCall], at: BlockId) -> list[ReturnData]:
        assert block_number(at) == BLOCK
        self.batch_sizes.append(len(calls))
        return [self._answer(call) for call in calls]

    def read_account(self, address: str, at: BlockId) -> Account:
        assert block_number(at) == BLOCK
        assert isinstance(self.chain, Chain)
        return Account(self.chain.native_balance(address), self.chain.code(address))

    def simulate(self, calls: Sequence[HypotheticalCall], at: BlockId) -> list[ReturnData]:
        assert block_number(at) == BLOCK
        self.batch_sizes.append(len(calls))
        return [self._call_with_overrides(call) for call in calls]

    def _call_with_overrides(self, hypothetical: HypotheticalCall) -> ReturnData:
        """Call with other code at some addresses; no other override is supported here."""
        chain = self.chain
        assert isinstance(chain, Chain)
        assert all((each.balance_wei, each.slots) == (None, ()) for each in hypothetical.overrides)
        before = {each.address: chain.code(each.address) for each in hypothetical.overrides}
        try:
            for each in hypothetical.overrides:
                chain.set_code(each.address, each.code or b"")
            return self._answer(hypothetical.call)
        finally:
            for address, code in before.items():  # a snapshot does not bring back code
                chain.set_code(address, code)

    def read_blooms(self, first: int, last: int) -> list[int]:
        """Return empty blooms, as networks do that do not fill them."""
        return [0] * (last - first + 1)

    def read_logs(self, query: LogFilter) -> list[Log]:
        return [
            log
            for log in self.emitted_logs
            if query.from_block <= log.block_number <= query.to_block
            and log.topics[0] in query.topics
            and (not query.addresses or log.address in query.addresses)
        ]

    def _answer(self, call: ContractCall) -> ReturnData:
        if not call.to:
            assert isinstance(self.chain, Chain)
            with self.chain.revert_after():
                # The EVM pads code with zeros; what is run here returns a word.
                return self.chain.code(self.chain.create(call.calldata))[:WORD]
        try:
            return self.chain.call(call.to, call.calldata)
        except RevertedError:
            return None


def view_of(chain: BaseChain) -> MulticallReader:
    """Return a reader of the chain at its only block, with Multicall3 as on every network."""
    return packed_reader(EvmNode(chain))


def packed_reader(node: EvmNode) -> MulticallReader:
    """Return a reader of the node's only block that packs calls by Multicall3, as the program does."""
    return MulticallReader(node, BLOCK, multicall_of(node.chain))


@cache
def sources() -> dict[str, ContractArtifact]:
    """Compile the contracts beside this file; return them by name."""
    return compile_solidity("odd.sol", root=_HERE)


def deploy_multicall(chain: BaseChain) -> str:
    return chain.deploy(sources()["Multicall"]).address


def multicall_of(chain: BaseChain) -> str:
    """Return the Multicall3 of a chain, which an in-process EVM gets at its usual address."""
    if not isinstance(chain, Chain):
        return deploy_multicall(chain)
    if not chain.code(MULTICALL3):
        chain.set_code(MULTICALL3, _multicall_code())
    return MULTICALL3


@cache
def _multicall_code() -> bytes:
    chain = Chain()
    return chain.code(deploy_multicall(chain))
