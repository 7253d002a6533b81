"""Pools of iZiSwap are read and announced. No registry has their bytecode, so a function answers in their place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import pytest
from eth_abi.abi import encode

from swapcli.core.encoding.abi import to_signed
from swapcli.core.errors import InvalidPoolState, InvalidUpstreamResponse
from swapcli.core.model.contract_kind import ContractKind
from swapcli.core.model.network import ProtocolInfo
from swapcli.core.networks.catalogue import find_network
from swapcli.families.iziswap.iziswap import IziSwap, make_marks
from swapcli.families.iziswap.iziswap_reader import complete_ref, load, read_constants, read_created
from swapcli.families.reading.call_encoding import SELECTORS, encode_call
from swapcli.families.reading.calls import ContractCall, Log, ReturnData
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.tick_bitmap import REACH
from swapcli.families.row import TickConstants
from swapcli.families.tick_math import sqrt_ratio_at_tick
from swapcli.state.discovery.pair_lookup import find_pair_pools
from swapcli.state.discovery.pool_discovery import find_factories
from swapcli.state.mined.swap_events import find_swaps
from swapcli.testing.strategies import ADDRESS, TOKENS
from tests.families.iziswap.test_iziswap import POOLS, valid_pool
from tests.support.outside_ids import topic_of

NAMES = {bytes.fromhex(selector): name for name, selector in SELECTORS.items()}
FACTORY = Factory("0x" + "fa" * 20, ContractKind.IZISWAP, (ProtocolInfo(14, "izumiV3", "iZi", "iziswap"),))
Answer = Callable[[str, int], ReturnData]
_T = TypeVar("_T")


def contract_of(pool: IziSwap) -> Answer:
    """Return the function that answers as a contract in the state of `pool` does, by signature and argument."""
    marks = pool.marks

    def answer(name: str, argument: int) -> ReturnData:
        match name:
            case "state()":
                price = sqrt_ratio_at_tick(pool.point)
                return words(price, pool.point, 0, 1, 1, 0, pool.liquidity, pool.liquidity_x)
            case "fee()":
                return words(pool.fee_ppm)
            case "pointDelta()":
                return words(marks.point_delta)
            case "pointBitmap(int16)":
                indices = (point // marks.point_delta for point in marks.points)
                return words(sum(1 << (index & 255) for index in indices if index >> 8 == argument))
            case "orderOrEndpoint(int24)":
                point = argument * marks.point_delta
                return words((marks.net_at(point) is not None) + 2 * (marks.orders_at(point) is not None))
            case "points(int24)":
                return words(1, marks.net_at(argument) or 0, 0, 0, 1)
            case "limitOrderData(int24)":
                orders = marks.orders_at(argument)
                return words(orders.selling_x if orders else 0, *[7] * 4, orders.selling_y if orders else 0, *[7] * 4)
            case "tokenX()" | "tokenY()":
                return words(int(pool.tokens[name == "tokenY()"], 16))
        return None

    return answer


def words(*values: int) -> bytes:
    return encode(["int256" if value < 0 else "uint256" for value in values], values)


def run(read: BatchRead[_T], answer: Answer) -> tuple[_T, int]:
    """Return the result of a read, and how many rounds it took."""
    rounds = 0
    try:
        calls: Sequence[ContractCall] = next(read)
        while True:
            rounds += 1
            calls = read.send(
                [answer(NAMES[call.calldata[:4]], to_signed(int.from_bytes(call.calldata[4:36]))) for call in calls]
            )
    except StopIteration as end:
        return end.value, rounds


def ref_of(pool: IziSwap) -> PoolRef:
    return PoolRef(pool.address, "test", "iziswap", ContractKind.IZISWAP, pool.tokens, pool.decimals)


def in_reach(pool: IziSwap) -> bool:
    word = pool.point // pool.marks.point_delta // 256
    words_of_marks = [point // pool.marks.point_delta // 256 for point in pool.marks.points]
    return bool(words_of_marks) and max(abs(each - word) for each in words_of_marks) <= REACH


def test_pools_are_read_in_three_rounds_and_again_in_one() -> None:
    pools = [pool for pool in POOLS if in_reach(pool)][::20]
    assert pools
    for pool in pools:
        named = replace(pool, protocol="test")
        assert run(load(ref_of(pool)), contract_of(pool)) == (named, 3)
        assert run(load(complete_ref(ref_of(pool), pool)), contract_of(pool)) == (named, 1)


def test_liquidity_beyond_the_words_that_are_read_is_closed() -> None:
    pool = valid_pool()
    delta = pool.marks.point_delta
    far = 256 * (REACH + 2)
    base = pool.point // delta
    marks = make_marks(delta, ((base - far) * delta, (base + far) * delta), (5, -5), ())
    wide = replace(pool, liquidity=5, liquidity_x=2, marks=marks)
    read, _ = run(load(ref_of(pool)), contract_of(wide))
    assert isinstance(read, IziSwap)
    word = pool.point // delta // 256
    assert read.marks.endpoints == ((word - REACH) * 256 * delta, ((word + REACH) * 256 + 255) * delta)
    assert read.marks.nets == (5, -5)


def test_contradictory_answers_leave_a_pool_out() -> None:
    pool = valid_pool()
    wrong = replace(pool, liquidity=pool.liquidity + 1, liquidity_x=pool.liquidity + 2)
    with pytest.raises(InvalidPoolState):
        run(load(ref_of(pool)), contract_of(wrong))


def test_tokens_and_distances_are_read_and_announced() -> None:
    pool = valid_pool()
    ref, rounds = run(read_constants(FACTORY, ADDRESS), contract_of(pool))
    expected = TickConstants(pool.marks.point_delta)
    assert (ref.tokens, ref.address, ref.constants, rounds) == (pool.tokens, ADDRESS, expected, 1)
    topics = [topic_of("NewPool(address,address,uint24,uint24,address)")]
    topics += [f"0x{value:064x}" for value in (int(TOKENS[0], 16), int(TOKENS[1], 16), 2_000)]
    log = Log(FACTORY.address, tuple(topics), words(40, int(ADDRESS, 16)), 1, 0)
    ref, rounds = run(read_created(FACTORY, log, None), contract_of(pool))
    assert (ref.tokens, ref.address, ref.constants, rounds) == (TOKENS[:2], ADDRESS, TickConstants(40), 0)
    with pytest.raises(InvalidUpstreamResponse, match="a different kind"):
        run(read_created(FACTORY, log._replace(topics=log.topics[:2]), None), contract_of(pool))


def test_base_looks_pools_up_by_their_tokens() -> None:
    factories, _ = find_factories(find_network("base"), ["izumiV3"])
    (factory,) = factories
    assert factory.kind == ContractKind.IZISWAP
    asked: list[tuple[str, ...]] = []

    class Reader:
        """Answers that there is no pool."""

        width = 1

        def call(self, calls: Sequence[ContractCall]) -> list[ReturnData]:
            asked.extend((call.to, call.calldata[:4].hex()) for call in calls)
            return [bytes(32) for _ in calls]

    assert list(find_pair_pools(Reader(), factories, TOKENS[:2], None)) == []  # type: ignore[arg-type]
    assert set(asked) == {(factory.address, encode_call("pool(address,address,uint24)", *TOKENS[:2], 100)[:4].hex())}
    assert len(asked) == 1 + len(factory.fee_tiers)  # the first one shows that the factory has the function


@pytest.mark.parametrize("sells_x", [True, False])
def test_the_event_of_a_swap_says_its_amounts_and_the_point(sells_x: bool) -> None:
    topics = topic_of("Swap(address,address,uint24,bool,uint256,uint256,int24)"), *(f"0x{k:064x}" for k in (1, 2, 400))
    (swap,) = find_swaps([Log(ADDRESS, topics, words(int(sells_x), 30, 70, -5), 1, 0)])
    expected = (0, 1, 30, 70) if sells_x else (1, 0, 70, 30)
    assert (swap.key, swap.amounts[:4], swap.amounts.state_after) == (ADDRESS, expected, {"point": -5})
