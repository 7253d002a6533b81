"""Order books of Hanji are found by the events of their factory and read through a helper contract."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from eth_abi.abi import encode

from swapcli.core.networks.catalogue import find_network
from swapcli.families.order_books.hanji import Hanji
from swapcli.families.order_books.hanji_reader import REACH, load, read_created
from swapcli.families.order_books.price_levels import PriceLevel
from swapcli.families.order_books.rows import HanjiConstants
from swapcli.families.reading.calls import ContractCall, Log, ReturnData
from swapcli.families.reading.contract_kinds import KINDS
from swapcli.families.reading.lockstep_reads import SkippedItem, run_batched
from swapcli.families.reading.pool_readers import ref_of_pool
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.pool_ref_text import format_pool_ref, parse_pool_ref
from swapcli.state.discovery.pool_discovery import find_factories
from tests.support.outside_ids import keccak256, topic_of

BASE = find_network("base")
WETH = BASE.wrapped_native_address or ""
USDC = BASE.stablecoins[0]
BOOK = f"0x{'b0' * 20}"
BIDS, ASKS = ((250, 7), (240, 9)), ((260, 5),)
SIDES = "uint72[]", "uint128[]"


def created() -> PoolRef:
    (factory,) = find_factories(BASE, ["hanji"])[0]
    assert factory.lens
    values = (BOOK, WETH, USDC, True, 10**14, 1, BOOK, BOOK, BOOK, False, 0, 1, 0, 0)
    types = ["address"] * 3 + ["bool"] + ["uint256"] * 2 + ["address"] * 3 + ["bool"] + ["uint64"] * 4
    topics = (topic_of(KINDS["hanji"].created[0]), f"0x{0:064x}")
    log = Log(factory.address, topics, encode(types, values), 1, 0)
    (ref,) = run_batched([("", read_created(factory, log, WETH))], lambda _: [])
    assert isinstance(ref, PoolRef), ref
    return ref._replace(decimals=(18, 6))


def side(levels: Sequence[tuple[int, int]]) -> bytes:
    return encode(SIDES, [[level[k] for level in levels] for k in range(2)])


def read(ref: PoolRef, bids: ReturnData = None, asks: ReturnData = None) -> Hanji | SkippedItem:
    config = (10**14, 1, WETH, USDC, True, True, BOOK, BOOK, 0, 2 * 10**14, 0, 10**14, False)
    types = ["uint256"] * 2 + ["address"] * 2 + ["bool"] * 2 + ["address"] * 2 + ["uint64"] * 4 + ["bool"]

    def send(calls: Sequence[ContractCall]) -> list[ReturnData]:
        first, *sides = calls
        assert (first.to, first.calldata) == (BOOK, keccak256(b"getConfig()")[:4])
        for is_ask, call in enumerate(sides):
            assert call.to == ref.constants_as(HanjiConstants).lens
            assert call.calldata[4:] == encode(["address", "bool", "uint24"], [BOOK, bool(is_ask), REACH])
        return [encode(types, config), bids or side(BIDS), asks or side(ASKS)]

    (pool,) = run_batched([(ref.key, load(ref))], send)
    assert isinstance(pool, Hanji | SkippedItem)
    return pool


def test_a_book_is_read_in_one_round() -> None:
    ref = created()
    assert parse_pool_ref(format_pool_ref(ref)) == ref
    pool = read(ref)
    assert isinstance(pool, Hanji)
    assert (pool.address, pool.tokens, pool.fee_wad, pool.fee_ppm) == (BOOK, (WETH, USDC), 3 * 10**14, 300)
    assert (pool.scaling_x, pool.scaling_y) == (10**14, 1)
    assert pool.bids == tuple(PriceLevel(*level) for level in BIDS)
    assert pool.asks == tuple(PriceLevel(*level) for level in ASKS)
    assert ref_of_pool(pool, BASE) == ref
    assert read(ref, side([]), side([])) != pool


@pytest.mark.parametrize(
    "bids", [side([(260, 1)]), side([(240, 1), (250, 1)]), side([(240, 0)]), encode(SIDES, [[240, 230], [1]]), b"\1"]
)
def test_books_that_cannot_be_are_left_out(bids: bytes) -> None:
    assert isinstance(read(created(), bids), SkippedItem)


def test_a_missing_helper_is_named() -> None:
    (skipped,) = run_batched([("", load(created()._replace(constants=HanjiConstants())))], lambda _: [])
    assert isinstance(skipped, SkippedItem)
    assert "assembleOrderbookFromOrders" in skipped.reason
