"""Batched calls return what each call returns alone."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from swapcli.core.errors import Unreachable, UpstreamRejected
from swapcli.families.reading.block_time import BLOCK_TIME
from swapcli.families.reading.call_encoding import encode_call
from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.state.rpc.multicall import AheadReading, MulticallReader
from swapcli.state.rpc.node import BlockHeader, BlockId
from swapcli.testing.evm import Chain
from tests.chain.node.evm_node import BLOCK, EvmNode, deploy_multicall, sources

NOWHERE = "0x" + "77" * 20
FAILING, ANSWERING = encode_call("token0()"), encode_call("token1()")


class Strict(EvmNode):
    """Refuses calldata over `max_bytes`, as nodes do."""

    max_bytes = 10**9

    def call_many(self, calls: Sequence[ContractCall], at: BlockId) -> list[ReturnData]:
        if any(len(call.calldata) > self.max_bytes for call in calls):
            raise UpstreamRejected("the node refuses: request too large")
        return super().call_many(calls, at)


@pytest.fixture
def chain() -> Chain:
    return Chain()


def mixed_calls(chain: Chain, count: int) -> list[ContractCall]:
    """Return calls of a contract that answers, one that burns all gas, and an address without code, in turn."""
    burner = chain.deploy(sources()["Burner"]).address
    kinds = [ContractCall(burner, ANSWERING), ContractCall(burner, FAILING), ContractCall(NOWHERE, ANSWERING)]
    return [kinds[k % 3] for k in range(count)]


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_results_equal_those_of_single_calls(chain: Chain, count: int) -> None:
    calls = mixed_calls(chain, count)
    alone = EvmNode(chain).call_many(calls, BLOCK)
    assert MulticallReader(EvmNode(chain), BLOCK, deploy_multicall(chain)).call(calls) == alone


def test_the_block_time_is_read_at_the_networks_multicall(chain: Chain) -> None:
    reader = MulticallReader(EvmNode(chain), BLOCK, deploy_multicall(chain))
    chain.set_time(1_765_432_109)
    assert reader.call([BLOCK_TIME]) == [(1_765_432_109).to_bytes(32)]
    assert reader.contracts_without_output == set()


def test_calls_share_a_multicall_and_only_failures_repeat(chain: Chain) -> None:
    node = EvmNode(chain)
    answering = [each for each in mixed_calls(chain, 300) if each.calldata == ANSWERING]
    MulticallReader(node, BLOCK, deploy_multicall(chain)).call(answering)
    assert node.batch_sizes == [1]
    MulticallReader(node, BLOCK, deploy_multicall(chain)).call([*answering, ContractCall(answering[0].to, b"")])
    assert node.batch_sizes == [1, 1, 1]


def block_seen(chain: Chain, multicall: str) -> BlockHeader:
    """Return the header of the block that contracts run on, as they see it."""
    number = int.from_bytes(chain.call(multicall, encode_call("getBlockNumber()")))
    parent_hash = f"0x{chain.call(multicall, encode_call('getLastBlockHash()')).hex()}"
    return BlockHeader(number, "0x" + "be" * 32, parent_hash, 0, 0)


def ahead_calls(chain: Chain) -> list[ContractCall]:
    """Return calls of all kinds: more than one aggregate takes, some that may revert, and code."""
    answering, failing, empty = mixed_calls(chain, 3)
    apart = [each._replace(may_revert=True, group=group) for each in (failing, answering) for group in ("", "one")]
    # Of the same size as one another, and still all different.
    shared = [each._replace(calldata=each.calldata + k.to_bytes(32)) for k in range(250) for each in (answering, empty)]
    return [*apart, *shared, ContractCall("", _ONE)]


def test_what_ran_ahead_on_the_block_is_what_each_call_returns_alone(chain: Chain) -> None:
    node, multicall, calls = EvmNode(chain), deploy_multicall(chain), ahead_calls(chain)
    reading = AheadReading.of(node, calls, multicall)
    found = node.call_many(reading.packed, BLOCK)
    *packable, _ = calls
    alone = dict(zip(packable, EvmNode(chain).call_many(packable, BLOCK), strict=True))
    assert reading.results(node, found, block_seen(chain, multicall)) == alone
    # As many requests as the same calls take at a known block, where code is one more.
    known = EvmNode(chain)
    MulticallReader(known, BLOCK, multicall).call(calls)
    assert known.batch_sizes[0] == len(reading.packed) + 1


def test_what_ran_ahead_on_another_block_is_not_used(chain: Chain) -> None:
    node, multicall, calls = EvmNode(chain), deploy_multicall(chain), ahead_calls(chain)
    reading = AheadReading.of(node, calls, multicall)
    found, block = node.call_many(reading.packed, BLOCK), block_seen(chain, multicall)
    assert reading.proves(found, block)
    for other in (block._replace(number=block.number + 1), block._replace(parent_hash="0x" + "ab" * 32)):
        assert reading.results(node, found, other) == {}
        assert not reading.proves(found, other)


@pytest.mark.parametrize("data", [None, b"", b"\x01", bytes(32), b"\xff" * 320])
def test_data_that_no_aggregate_returns_proves_nothing(chain: Chain, data: bytes | None) -> None:
    node, multicall = EvmNode(chain), deploy_multicall(chain)
    reading = AheadReading.of(node, ahead_calls(chain), multicall)
    found, block = [data] * len(reading.packed), block_seen(chain, multicall)
    assert reading.results(node, found, block) == {}
    assert not reading.proves(found, block)


def test_without_the_contract_calls_go_alone(chain: Chain) -> None:
    calls = mixed_calls(chain, 6)
    node = EvmNode(chain)
    view = MulticallReader(node, BLOCK, NOWHERE)
    alone = EvmNode(chain).call_many(calls, BLOCK)
    assert view.call(calls) == alone
    assert view.call(calls) == alone
    assert node.batch_sizes == [1, 1, 6, 6], "the missing multicall is detected once"


def test_calls_too_large_for_the_node_are_split(chain: Chain) -> None:
    node = Strict(chain)
    node.max_bytes = 10_000
    calls = [each for each in mixed_calls(chain, 600) if each.calldata == ANSWERING]
    assert MulticallReader(node, BLOCK, deploy_multicall(chain)).call(calls) == EvmNode(chain).call_many(calls, BLOCK)


def test_a_node_that_refuses_everything_raises(chain: Chain) -> None:
    node = Strict(chain)
    node.max_bytes = 0
    with pytest.raises(UpstreamRejected, match="too large"):
        MulticallReader(node, BLOCK, deploy_multicall(chain)).call(mixed_calls(chain, 3))


def test_calls_are_not_split_when_the_node_is_down(chain: Chain) -> None:
    class Down(Strict):
        def read_block(self, number: int) -> BlockHeader | None:
            raise Unreachable(f"no connection, not even for block {number}")

    node = Down(chain)
    node.max_bytes = 0
    with pytest.raises(Unreachable):
        MulticallReader(node, BLOCK, deploy_multicall(chain)).call(mixed_calls(chain, 3))


_ONE = bytes.fromhex("600160005260206000f3")
"""EVM code that returns 1."""


@pytest.mark.parametrize("has_multicall", [True, False])
def test_code_runs_beside_the_packed_calls(chain: Chain, has_multicall: bool) -> None:
    """Alone too, and where the catalogue's Multicall3 is not deployed."""
    node = EvmNode(chain)
    answering = mixed_calls(chain, 1)[0]
    view = MulticallReader(node, BLOCK, deploy_multicall(chain) if has_multicall else NOWHERE)
    (expected,) = EvmNode(chain).call_many([answering], BLOCK)
    one = (1).to_bytes(32)
    calls = [ContractCall("", _ONE), answering, ContractCall("", _ONE)]
    assert view.call(calls) == [one, expected, one]
    assert view.call(calls[:1]) == [one]


class ContractsOnly(EvmNode):
    """Runs contracts only, as some nodes; `_call_request` of a real one makes code optional."""

    def _answer(self, call: ContractCall) -> ReturnData:
        return super()._answer(call) if call.to else None


def test_a_node_that_rejects_code_still_answers_the_calls(chain: Chain) -> None:
    answering = mixed_calls(chain, 1)[0]
    view = MulticallReader(ContractsOnly(chain), BLOCK, deploy_multicall(chain))
    (expected,) = EvmNode(chain).call_many([answering], BLOCK)
    assert view.call([ContractCall("", _ONE), answering]) == [None, expected]
