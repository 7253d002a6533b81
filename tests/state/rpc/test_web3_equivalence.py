"""Our RPC client returns what web3.py returns for the same requests to a real node."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
import requests
from web3 import HTTPProvider, Web3
from web3.exceptions import BlockNotFound, ContractLogicError, Web3RPCError

from swapcli.core.encoding.abi import encode_word
from swapcli.families.reading.call_encoding import SELECTORS
from swapcli.families.reading.calls import ContractCall, Log, ReturnData
from swapcli.state.rpc.multicall import MulticallReader
from swapcli.state.rpc.node import BlockHeader, LogFilter
from swapcli.state.rpc.rpc_node import RpcNode
from tests.chain.anvil import CHAIN_ID
from tests.chain.node.evm_node import deploy_multicall, sources
from tests.chain.settings import url_of
from tests.chain.trader import Trader
from tests.examples import seeds
from tests.support.chain import connected, restored

CALLS, TRADES = 100, 4
ANSWERED = ("token0()", "token1()", "fee()", "decimals()", "symbol()", "slot0()", "getReserves()", "tickBitmap(int16)")
"""Functions that many of the contracts have."""


class Peers:
    """Both clients of one node, and its chain.

    Blocks from `first` to `last` have states. The shared chain may have lost older ones: the node keeps the newest
    3,600 states, also of blocks that other tests have reverted.
    """

    def __init__(self, trader: Trader, ours: RpcNode, theirs: Web3) -> None:
        world = trader.world
        self.world, self.ours, self.theirs = world, ours, theirs
        self.multicall = deploy_multicall(world.chain)
        self.first = self.ours.read_head().block.number
        for trade in trader.trades(Random("peers"), TRADES):
            trader.execute(trade)
        self.burner = world.chain.deploy(sources()["Burner"]).address
        self.last = self.ours.read_head().block.number

    @property
    def contracts(self) -> list[str]:
        """Return tokens, pools, the router, a gas burner, and addresses without code."""
        places = {place.contract.address for place in self.world.places}
        tokens = {token.address for token in self.world.tokens.values()}
        return [*sorted(places | tokens), self.world.router.address, self.burner, "0x" + "77" * 20, "0x" + "00" * 20]

    def call(self, call: ContractCall, number: int) -> ReturnData:
        """Return the result of web3.py."""
        try:
            return bytes(self.theirs.eth.call(_transaction(call), number))
        except ContractLogicError:
            return None
        except Web3RPCError as error:
            if "EVM error" not in str(error):
                raise
            return None


def _transaction(call: ContractCall) -> Any:
    return {"to": Web3.to_checksum_address(call.to), "data": f"0x{call.calldata.hex()}"}


@pytest.fixture(scope="module")
def peers(shared_trader: Trader) -> Iterator[Peers]:
    with restored(shared_trader) as trader, connected(trader.chain) as node, requests.Session() as session:
        web3 = Web3(HTTPProvider(url_of(trader.chain), session=session))
        yield Peers(trader, node, web3)


def as_ours(found: Any) -> BlockHeader:
    return BlockHeader(
        found["number"],
        found["hash"].to_0x_hex(),
        found["parentHash"].to_0x_hex(),
        found["timestamp"],
        found["baseFeePerGas"],
    )


def random_calls(rng: Random, peers: Peers) -> list[ContractCall]:
    """Return calls that succeed, calls of unknown functions, and random calldata."""
    numbers = [0, 1, 2**255, *(int(address, 16) for address in peers.contracts)]
    known = [bytes.fromhex(SELECTORS[name]) for name in ANSWERED]
    every = [bytes.fromhex(code) for code in SELECTORS.values()]
    calls = []
    for _ in range(CALLS):
        words = [encode_word(rng.choice([*numbers, rng.getrandbits(256)])) for _ in range(rng.randint(0, 4))]
        calldata = rng.choice([rng.choice(known), rng.choice(known), rng.choice(every)]) + b"".join(words)
        calls.append(ContractCall(rng.choice(peers.contracts), rng.choice([calldata] * 8 + [rng.randbytes(40), b""])))
    return calls


def test_the_head_is_the_same(peers: Peers) -> None:
    head = peers.ours.read_head()
    assert head.block == as_ours(peers.theirs.eth.get_block("latest"))
    assert head.gas_price_wei == peers.theirs.eth.gas_price
    assert head.block.number == peers.theirs.eth.block_number
    assert peers.theirs.eth.chain_id == CHAIN_ID


def test_blocks_are_equal_and_future_ones_are_unknown(peers: Peers) -> None:
    for number in range(0, peers.last + 1, 3):
        assert peers.ours.read_block(number) == as_ours(peers.theirs.eth.get_block(number))
    for number in (peers.last + 1, peers.last + 1_000_000):
        assert peers.ours.read_block(number) is None
        with pytest.raises(BlockNotFound):
            peers.theirs.eth.get_block(number)


@pytest.mark.parametrize("seed", range(12))
def test_events_are_the_same_in_the_same_order(peers: Peers, seed: int) -> None:
    rng = Random(f"events {seed}")
    kinds = every_kind(peers)
    first = rng.randrange(peers.last)
    query = LogFilter(
        tuple(rng.sample(peers.contracts, rng.choice((0, 1, 5)))),
        tuple(rng.sample(kinds, rng.choice((1, 2, len(kinds))))),
        first,
        rng.randint(first, peers.last),
    )
    assert peers.ours.read_logs(query) == their_logs(peers, query)


def test_all_events_of_the_chain_are_the_same(peers: Peers) -> None:
    query = LogFilter((), tuple(every_kind(peers)), 0, peers.last)
    whole = their_logs(peers, query)
    assert len(whole) > 100
    assert peers.ours.read_logs(query) == whole


def every_kind(peers: Peers) -> list[str]:
    return sorted({log.topics[0] for log in their_logs(peers, LogFilter((), (), 0, peers.last))})


def their_logs(peers: Peers, query: LogFilter) -> list[Log]:
    log_filter: dict[str, Any] = {"fromBlock": query.from_block, "toBlock": query.to_block}
    if query.topics:
        log_filter["topics"] = [list(query.topics)]
    if query.addresses:
        log_filter["address"] = [Web3.to_checksum_address(address) for address in query.addresses]
    return [
        Log(
            found["address"].lower(),
            tuple(topic.to_0x_hex() for topic in found["topics"]),
            bytes(found["data"]),
            found["blockNumber"],
            found["logIndex"],
            found["transactionHash"].to_0x_hex(),
        )
        for found in peers.theirs.eth.get_logs(log_filter)  # type: ignore[arg-type]
    ]


@pytest.mark.parametrize("seed", seeds(1, full=3))
def test_calls_return_or_revert_alike_at_any_block(peers: Peers, seed: int) -> None:
    rng = Random(f"calls {seed}")
    number = rng.randrange(peers.first, peers.last) if seed else peers.last
    calls = random_calls(rng, peers)
    expected = [peers.call(call, number) for call in calls]
    assert {answer is None for answer in expected} == {True, False}
    assert peers.ours.call_many(calls, number) == expected
    assert [peers.ours.call(call.to, call.calldata, number) for call in calls[:20]] == expected[:20]
    block = peers.ours.read_block(number)
    assert block is not None
    assert peers.ours.call_many(calls, block) == expected
    if not seed:
        assert MulticallReader(peers.ours, block, peers.multicall).call(calls) == expected


def test_every_web3_revert_error_is_none(peers: Peers) -> None:
    world = peers.world
    pool = next(place.contract for place in world.places if place.protocol == "uniswapV3")
    ways = {
        "with a reason": ContractCall(pool.address, pool.calldata("initialize", 1)),
        "with an error of its own": ContractCall(world.manager.address, world.manager.calldata("unlock", b"")),
        "with nothing": ContractCall(pool.address, b"\xff" * 4),
        "with all gas burnt": ContractCall(peers.burner, bytes.fromhex(SELECTORS["token0()"])),
    }
    for call in ways.values():
        with pytest.raises((ContractLogicError, Web3RPCError)):
            peers.theirs.eth.call(_transaction(call), peers.last)
    assert peers.ours.call_many(list(ways.values()), peers.last) == [None] * len(ways)
    assert peers.ours.call("0x" + "77" * 20, b"anything", peers.last) == b""
