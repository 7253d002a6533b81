"""Reads at one block detect a reorganization, at no extra round trip."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress
from secrets import token_hex
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from swapcli.core.errors import ChainReorganized, InvalidUpstreamResponse, UpstreamError, UpstreamRejected
from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.state.rpc.block_view import view_past_block
from swapcli.state.rpc.multicall import MulticallReader
from swapcli.state.rpc.node import BlockHeader, LogFilter, StateOverrideNode
from swapcli.state.rpc.rpc_node import ATTEMPTS, NodePolicy, RpcEndpoint, RpcNode
from tests.chain.anvil import AnvilChain, running_anvil
from tests.chain.node.evm_node import deploy_multicall, sources
from tests.chain.node.server import CHAIN_ID, SHOWN, Pauses, Refused, Server, node_of, serving
from tests.examples import examples

NUMBER = 1_000
ECHO, REVERTING = "0x" + "11" * 20, "0x" + "22" * 20
TOPIC = "0x" + "ab" * 32
GONE = f"{SHOWN} has a different block {NUMBER} now: the chain was reorganized"
LAGGING = ["header not found", "unknown block", "Block not found", "header for hash not found", "could not find block"]


class Chain:
    """Answers as nodes do. `fork` changes the hashes; blocks after `known` do not exist yet."""

    def __init__(self) -> None:
        self.fork = 1
        self.known = NUMBER
        self.unknown: str | None = None
        self.base_fee_wei = 0
        self.methods: list[str] = []

    def answer(self, request: dict[str, Any]) -> object:
        method, params = request["method"], request["params"]
        self.methods.append(method)
        if method == "eth_getBlockByNumber":
            return self.block_json(NUMBER if params[0] == "latest" else int(params[0], 16))
        if method == "eth_getLogs":
            return []
        if method == "eth_feeHistory":
            return None
        if method in ("eth_chainId", "eth_gasPrice"):
            return hex(CHAIN_ID)
        if int(params[1], 16) > self.known:
            if self.unknown is None:
                return None
            raise Refused(-32_000, self.unknown)
        if params[0]["to"] == REVERTING:
            raise Refused(3, "execution reverted")
        return params[0]["data"]

    def block(self, number: int = NUMBER) -> BlockHeader:
        name, parent = (f"0x{self.fork:032x}{each:032x}" for each in (number, number - 1))
        return BlockHeader(number, name, parent, 9, self.base_fee_wei)

    def block_json(self, number: int) -> object:
        if number > self.known:
            return None
        block = self.block(number)
        header = {"number": hex(number), "hash": block.hash, "parentHash": block.parent_hash, "timestamp": hex(9)}
        return header | ({"baseFeePerGas": hex(self.base_fee_wei)} if self.base_fee_wei else {})


def fees_of(base_fees_wei: list[int], tips_wei: list[int], used: list[float]) -> dict[str, object]:
    """Return the fee history of the blocks up to five before the latest one."""
    return {
        "oldestBlock": hex(NUMBER - 5 - len(tips_wei) + 1),
        "baseFeePerGas": [*map(hex, base_fees_wei), "0x99"],
        "reward": [[hex(each)] for each in tips_wei],
        "gasUsedRatio": used,
    }


@pytest.fixture
def chain() -> Chain:
    return Chain()


@pytest.fixture
def server(chain: Chain) -> Iterator[Server]:
    with serving(chain.answer) as running:
        yield running


def echo_calls(count: int) -> list[ContractCall]:
    return [ContractCall(ECHO, k.to_bytes(4)) for k in range(count)]


def echoed(count: int) -> list[ReturnData]:
    return [call.calldata for call in echo_calls(count)]


def test_the_block_is_requested_in_the_batch_of_the_calls(chain: Chain, server: Server) -> None:
    with node_of(server) as node:
        assert node.call_many([*echo_calls(2), ContractCall(REVERTING, b"")], chain.block()) == [*echoed(2), None]
        assert node.call(ECHO, b"\1", chain.block()) == b"\1"
        assert node.call_many([], chain.block()) == []
    assert server.exchanges == [4, 2]
    assert chain.methods == ["eth_call"] * 3 + ["eth_getBlockByNumber", "eth_call", "eth_getBlockByNumber"]


def test_a_block_number_alone_is_not_checked(server: Server) -> None:
    with node_of(server) as node:
        assert node.call_many(echo_calls(3), NUMBER) == echoed(3)
    assert server.exchanges == [3]


def test_another_block_of_that_number_raises_at_once(chain: Chain, server: Server) -> None:
    lost, pauses = chain.block(), Pauses()
    chain.fork = 2
    with node_of(server, pauses=pauses) as node:
        with pytest.raises(ChainReorganized) as caught:
            node.call_many(echo_calls(3), lost)
        assert (caught.value.message, caught.value.details) == (GONE, {"block": NUMBER})
        assert (pauses, len(server.exchanges)) == ([], 1)
        assert node.call_many(echo_calls(3), chain.block()) == echoed(3)


def test_a_lost_block_is_reported_after_retries(chain: Chain, server: Server) -> None:
    chain.known = NUMBER - 1
    for chain.unknown in (None, "header not found"):
        pauses = Pauses()
        with node_of(server, pauses=pauses) as node, pytest.raises(ChainReorganized, match=f"^{GONE}$"):
            node.call_many(echo_calls(3), chain.block())
        assert len(pauses) == ATTEMPTS - 1


@pytest.mark.parametrize("unknown", [None, *LAGGING])
@pytest.mark.parametrize("pinned", [True, False])
def test_a_node_that_has_not_seen_the_block_yet_is_waited_for(
    chain: Chain, server: Server, unknown: str | None, pinned: bool
) -> None:
    chain.known, chain.unknown = NUMBER - 1, unknown

    def catches_up(_: float) -> None:
        chain.known = NUMBER

    host, port = server.server_address[:2]
    with closing(RpcNode([RpcEndpoint(f"http://{host!s}:{port}", SHOWN)], 1, NodePolicy(pause=catches_up))) as node:
        assert node.call_many(echo_calls(3), chain.block() if pinned else NUMBER) == echoed(3)
    assert len(server.exchanges) == 2


@pytest.mark.parametrize(("unknown", "kind"), [(None, InvalidUpstreamResponse), ("unknown block", UpstreamRejected)])
def test_an_unknown_block_number_is_refused(
    chain: Chain, server: Server, unknown: str | None, kind: type[UpstreamError]
) -> None:
    chain.unknown = unknown
    with node_of(server) as node, pytest.raises(kind, match=f"^{SHOWN} "):
        node.call_many(echo_calls(3), NUMBER + 1)
    assert len(server.exchanges) == ATTEMPTS


def test_every_part_of_a_large_batch_has_the_check(chain: Chain, server: Server) -> None:
    with node_of(server) as node:
        assert node.call_many(echo_calls(450), chain.block()) == echoed(450)
    assert server.exchanges == [200, 200, 53]
    assert chain.methods.count("eth_getBlockByNumber") == 3


@given(st.integers(1, 40), st.integers(1, 30))
@settings(
    deadline=None, max_examples=examples(10, full=40), suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_batches_shrink_with_the_check_in_them(chain: Chain, server: Server, count: int, most: int) -> None:
    server.max_requests = most
    with node_of(server) as node:
        assert node.call_many(echo_calls(count), chain.block()) == echoed(count)
        settled = len(server.exchanges)
        assert node.call_many(echo_calls(count), chain.block()) == echoed(count)
        assert max(server.exchanges[settled:]) <= max(most, 1)
        assert chain.methods[-1] == "eth_getBlockByNumber"


@given(st.integers(1, 6), st.integers(0, 40), st.integers(1, 30))
@settings(deadline=None, max_examples=examples(8, full=80), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_results_are_of_the_block_wherever_a_reorg_happens(server: Server, most: int, turn: int, count: int) -> None:
    chain = Chain()
    server.max_requests = most
    pinned = chain.block()

    def turning(request: dict[str, Any]) -> object:
        if len(chain.methods) == turn:
            chain.fork = 2
        result = chain.answer(request)
        return "0xbad0" if chain.fork == 2 and request["method"] == "eth_call" else result

    server.answering = turning
    with node_of(server) as node, suppress(ChainReorganized):
        assert node.call_many(echo_calls(count), pinned) == echoed(count)


def test_without_batches_the_block_is_requested_last(chain: Chain, server: Server) -> None:
    server.max_requests = 1
    with node_of(server) as node:
        lost = chain.block()
        assert node.call_many(echo_calls(3), lost) == echoed(3)
        assert server.exchanges[-4:] == [1, 1, 1, 1]
        chain.fork = 2
        with pytest.raises(ChainReorganized):
            node.call_many(echo_calls(3), lost)


def test_a_temporary_failure_of_the_check_is_retried(chain: Chain, server: Server) -> None:
    refused: list[int] = []

    def flaky(request: dict[str, Any]) -> object:
        if request["method"] == "eth_getBlockByNumber" and len(refused) < 2:
            refused.append(1)
            raise Refused(-32_005, "rate limit reached")
        return chain.answer(request)

    server.answering = flaky
    with node_of(server) as node:
        assert node.call_many(echo_calls(3), chain.block()) == echoed(3)
    assert server.exchanges == [4, 4, 4], "results without their check are not trusted"


def test_an_invalid_block_in_the_check_is_refused(chain: Chain, server: Server) -> None:
    server.answering = lambda request: 5 if request["method"] == "eth_getBlockByNumber" else chain.answer(request)
    with (
        node_of(server) as node,
        pytest.raises(InvalidUpstreamResponse, match="responded to eth_getBlockByNumber with no block"),
    ):
        node.call_many(echo_calls(3), chain.block())


def test_missing_results_are_requested_again_while_some_arrive(chain: Chain, server: Server) -> None:
    """One call of each batch is answered, over more batches than the limit of fruitless attempts."""

    def miserly(request: dict[str, Any]) -> object:
        if request["method"] == "eth_call" and chain.methods[-1:] == ["eth_call"]:
            raise Refused(-32_000, "temporarily unavailable")
        return chain.answer(request)

    server.answering = miserly
    pauses = Pauses()
    with node_of(server, pauses=pauses) as node:
        assert node.call_many(echo_calls(12), chain.block()) == echoed(12)
    assert len(pauses) == 11
    assert set(pauses) == {0.25}


def test_no_events_from_a_node_behind_the_block_is_not_trusted(server: Server) -> None:
    query = LogFilter((), (TOPIC,), 1, NUMBER)
    with node_of(server) as node:
        assert node.read_logs(query) == []
        assert server.exchanges == [2]
        with pytest.raises(UpstreamRejected, match=f"^{SHOWN} has no block {NUMBER + 1}$"):
            node.read_logs(query._replace(to_block=NUMBER + 1))
    assert len(server.exchanges) == 1 + ATTEMPTS


def test_events_up_to_the_head_need_a_chain_that_has_it(chain: Chain, server: Server) -> None:
    query = LogFilter((), (TOPIC,), 1, NUMBER)
    with node_of(server) as node:
        assert node.read_head().block == chain.block()
        assert node.read_logs(query) == []
        chain.fork = 2
        assert node.read_logs(query._replace(to_block=NUMBER - 1)) == []
        with pytest.raises(ChainReorganized, match=f"^{GONE}$"):
            node.read_logs(query)
        node.read_head()
        assert node.read_logs(query) == []


@pytest.mark.parametrize(
    ("base_fee_wei", "fees", "expected"),
    [
        # The median of the blocks with transactions. The base fee of the next block, 0x99, is unused.
        (5, fees_of([5, 4, 5], [3, 2, 0], [0.5, 0.1, 0.0]), 5 + 2),
        (5, fees_of([4, 5], [0, 0], [0.0, 0.0]), 5),
        (0, fees_of([0, 0], [7, 7], [0.5, 0.5]), 7),
        (0, fees_of([0], [0], [0.5]), 0),
        # Of a different block, or of one with a different base fee.
        (5, fees_of([5], [2], [0.5]) | {"oldestBlock": hex(NUMBER - 6)}, 5),
        (5, fees_of([6], [2], [0.5]), 5),
        (5, fees_of([5], [2], [0.5]) | {"reward": None}, 5),
        (5, None, 5),
        (5, Refused(-32_601, "the method eth_feeHistory does not exist"), 5),
        (0, fees_of([0], [0], [0.0]), CHAIN_ID),
        (0, "nonsense", CHAIN_ID),
    ],
)
def test_a_past_block_has_the_gas_price_of_its_time(
    chain: Chain, server: Server, base_fee_wei: int, fees: object, expected: int
) -> None:
    """The present one, which is the number of the chain here, stands in where nothing in the past has a price."""
    chain.base_fee_wei = base_fee_wei

    def answer(request: dict[str, Any]) -> object:
        if request["method"] != "eth_feeHistory":
            return chain.answer(request)
        assert request["params"] == ["0x14", hex(NUMBER - 5), [50]]
        if isinstance(fees, Refused):
            raise fees
        return fees

    server.answering = answer
    with node_of(server) as node:
        view = view_past_block(node, NUMBER - 5)
        assert isinstance(view, StateOverrideNode)
        head = view.read_head()
        assert (head.block, head.gas_price_wei, head.tag) == (chain.block(NUMBER - 5), expected, None)
        requests = len(chain.methods)
        assert view.read_head() == head
        assert len(chain.methods) == requests, "a block that never changes is looked for once"


def test_a_block_of_another_fork_is_not_quoted_on(chain: Chain, server: Server) -> None:
    """It is found by its hash, but the chain has another block of its number."""
    lost = chain.block_json(NUMBER - 5)
    assert isinstance(lost, dict)
    chain.fork = 2
    is_lost = {"eth_getBlockByHash": lost, "eth_feeHistory": None}
    server.answering = lambda request: is_lost.get(request["method"]) or chain.answer(request)
    with node_of(server) as node, pytest.raises(ChainReorganized):
        view_past_block(node, lost["hash"]).read_head()


@pytest.fixture(scope="module")
def anvil() -> Iterator[AnvilChain]:
    with running_anvil() as running:
        yield running


@pytest.mark.parametrize("with_multicall", [True, False])
def test_a_reorg_of_a_real_node_is_detected(anvil: AnvilChain, with_multicall: bool) -> None:
    multicall = deploy_multicall(anvil) if with_multicall else None
    burner = anvil.deploy(sources()["Burner"])
    anvil.node.ask("anvil_mine", "0x3")
    calls = [ContractCall(burner.address, burner.calldata("token1"))] * 3
    url = f"http://127.0.0.1:{anvil.node.port}"
    with closing(RpcNode([RpcEndpoint(url, SHOWN)], 31_337, NodePolicy(pause=Pauses()))) as node:
        pinned = node.read_head().block
        view = MulticallReader(node, pinned, multicall)
        assert view.block == pinned.number
        before = node.round_trips
        answers = view.call(calls)
        assert node.round_trips == before + 1
        assert answers == MulticallReader(node, pinned.number, multicall).call(calls)
        anvil.node.ask("anvil_setCoinbase", "0x" + token_hex(20))  # or the same empty blocks come again
        anvil.node.ask("anvil_reorg", 2, [])
        assert node.read_head().block.number == pinned.number
        assert node.read_head().block.hash != pinned.hash
        with pytest.raises(ChainReorganized):
            view.call(calls)
        assert MulticallReader(node, node.read_head().block, multicall).call(calls) == answers
