"""Books of Clober V2 are found by their events and read through a contract that lists their ticks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from eth_abi.abi import encode

from swapcli.core.errors import InvalidPoolState, InvalidUpstreamResponse
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.networks.catalogue import find_network
from swapcli.families.order_books.clober_tick_math import MAX_TICK
from swapcli.families.order_books.clober_v2 import CloberV2
from swapcli.families.order_books.clober_v2_reader import REACH, load, read_created
from swapcli.families.order_books.rows import CloberConstants
from swapcli.families.reading.calls import ContractCall, Log, ReturnData
from swapcli.families.reading.lockstep_reads import SkippedItem, run_batched
from swapcli.families.reading.pool_change_events import changed_pool, find_possible_changes
from swapcli.families.reading.pool_readers import ref_of_pool
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.pool_ref_text import format_pool_ref, parse_pool_ref
from swapcli.state.discovery.pool_discovery import find_factories
from tests.support.outside_ids import book_id, topic_of

BASE = find_network("base")
WETH = BASE.wrapped_native_address or ""
USDC = BASE.stablecoins[0]
POLICY = 500_300
HOOKS = f"0x{1 << 157:040x}"
OPEN = "Open(uint192,address,address,uint64,uint24,uint24,address)"
LEVELS = [(120, 7), (-5, 10**12)]


def book_of(base: str, quote: str, **changes: Any) -> Log:
    """Return the event by which a book opens."""
    key: dict[str, Any] = {
        "unit_size": 10**6,
        "maker_policy": POLICY,
        "hooks": ZERO_ADDRESS,
        "taker_policy": POLICY,
    } | changes
    topics = (topic_of(OPEN), book_id(base, quote=quote, **key), *(f"0x{int(each, 16):064x}" for each in (base, quote)))
    names = ("unit_size", "maker_policy", "taker_policy", "hooks")
    data = encode(["uint64", "uint24", "uint24", "address"], [key[name] for name in names])
    return Log(address=manager().address, topics=topics, data=data, block_number=1, log_index=0)


def manager() -> Any:
    (factory,) = find_factories(BASE, ["cloberV2"])[0]
    return factory


def created(log: Log) -> PoolRef:
    (ref,) = run_batched([("", read_created(manager(), log, WETH))], lambda _: [])
    if isinstance(ref, SkippedItem):
        raise InvalidUpstreamResponse(ref.reason)
    return ref._replace(decimals=(18, 6))


def read(ref: PoolRef, levels: Sequence[tuple[int, int]] = LEVELS, answer: ReturnData = b"") -> CloberV2:
    def send(calls: Sequence[ContractCall]) -> list[ReturnData]:
        (call,) = calls
        assert call.to == manager().lens
        book, tick, count = (int.from_bytes(call.calldata[at : at + 32]) for at in (4, 36, 68))
        assert (book, tick, count) == (int(ref.pool_id, 16), MAX_TICK, REACH)
        return [answer or encode(["(int24,uint64)[]"], [list(levels)])]

    (pool,) = run_batched([(ref.key, load(ref))], send)
    assert isinstance(pool, CloberV2), pool
    return pool


@pytest.mark.parametrize(
    ("base", "quote", "native"),
    [(USDC, f"0x{7:040x}", ""), (ZERO_ADDRESS, USDC, "base"), (USDC, ZERO_ADDRESS, "quote")],
)
def test_a_book_is_read_from_its_event_in_one_call(base: str, quote: str, native: str) -> None:
    ref = created(book_of(base, quote, hooks=HOOKS))
    assert ref.tokens == tuple(WETH if each == ZERO_ADDRESS else each for each in (base, quote))
    assert parse_pool_ref(format_pool_ref(ref)) == ref
    pool = read(ref)
    assert (pool.native, pool.currencies(), pool.fee_ppm) == (native, (base, quote), 300)
    assert pool.levels == tuple(LEVELS)
    again = ref_of_pool(pool, BASE)
    assert again == ref._replace(fee_ppm=0)
    assert read(again) == pool


def test_an_empty_book_is_a_pool_without_bids() -> None:
    assert read(created(book_of(USDC, WETH)), []).levels == ()


@pytest.mark.parametrize(
    "change",
    [
        lambda log: log._replace(topics=log.topics[:3]),
        lambda log: log._replace(topics=(*log.topics[:1], f"0x{9:064x}", *log.topics[2:])),
        lambda log: log._replace(data=log.data[:64]),
    ],
)
def test_events_of_another_form_are_refused(change: Callable[[Log], Log]) -> None:
    with pytest.raises(InvalidUpstreamResponse):
        created(change(book_of(USDC, WETH)))


def test_a_hook_at_takes_is_refused() -> None:
    ref = created(book_of(USDC, WETH, hooks=f"0x{1 << 155:040x}"))
    (skipped,) = run_batched([(ref.key, load(ref))], lambda _: [encode(["(int24,uint64)[]"], [LEVELS])])
    assert isinstance(skipped, SkippedItem)
    assert "hooks" in skipped.reason


@pytest.mark.parametrize("levels", [[(5, 1), (6, 1)], [(5, 0)], [(5, 1), (5, 1)]])
def test_ticks_out_of_order_and_empty_ones_are_refused(levels: list[tuple[int, int]]) -> None:
    ref = created(book_of(USDC, WETH))
    (skipped,) = run_batched([(ref.key, load(ref))], lambda _: [encode(["(int24,uint64)[]"], [levels])])
    assert isinstance(skipped, SkippedItem)
    assert "levels" in skipped.reason


@pytest.mark.parametrize("answer", [None, b"", encode(["uint256"], [32]), encode(["uint256"] * 3, [32, 5, 1])])
def test_answers_of_another_form_are_refused(answer: ReturnData) -> None:
    ref = created(book_of(USDC, WETH))
    (skipped,) = run_batched([(ref.key, load(ref))], lambda _: [answer])
    assert isinstance(skipped, SkippedItem)


def test_another_key_and_a_missing_lens_are_refused() -> None:
    ref = created(book_of(USDC, WETH))
    constants = ref.constants_as(CloberConstants)
    for wrong in (constants._replace(unit_size=5), constants._replace(lens="")):
        (skipped,) = run_batched([(ref.key, load(ref._replace(constants=wrong)))], lambda _: [])
        assert isinstance(skipped, SkippedItem)
    with pytest.raises(InvalidPoolState):
        next(load(ref._replace(constants=constants._replace(native="base"))))


@pytest.mark.parametrize(
    ("event", "in_order"),
    [
        ("Make(uint192,address,int24,uint256,uint64,address)", False),
        ("Take(uint192,address,int24,uint64)", False),
        ("Cancel(uint256,uint64)", True),
    ],
)
def test_events_name_the_book(event: str, in_order: bool) -> None:
    ref = created(book_of(USDC, WETH))
    order_id = f"0x{int(ref.pool_id, 16) << 64 | 5 << 40 | 1:064x}"
    log = Log(
        address=ref.address,
        topics=(topic_of(event), order_id if in_order else ref.pool_id),
        data=b"",
        block_number=1,
        log_index=0,
    )
    assert changed_pool(log) == ref.key
    assert ref.kind == "clober_v2"
    everything = (1 << 2048) - 1
    assert list(find_possible_changes(everything, [(ref.key, ref.address, ref.family)])) == [ref.key]
    assert not list(find_possible_changes(0, [(ref.key, ref.address, ref.family)]))
