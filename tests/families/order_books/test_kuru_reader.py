"""Markets of Kuru are found by the events of their router and read in one round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from eth_abi.abi import encode

from swapcli.core.errors import InvalidUpstreamResponse
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.networks.catalogue import find_network
from swapcli.families.order_books.kuru import Kuru
from swapcli.families.order_books.kuru_reader import REACH, load, read_created
from swapcli.families.reading.calls import ContractCall, Log, ReturnData
from swapcli.families.reading.contract_kinds import KINDS
from swapcli.families.reading.lockstep_reads import SkippedItem, run_batched
from swapcli.families.reading.pool_change_events import changed_pool
from swapcli.families.reading.pool_readers import ref_of_pool
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.pool_ref_text import format_pool_ref, parse_pool_ref
from swapcli.state.discovery.pool_discovery import find_factories
from tests.support.outside_ids import keccak256, topic_of

MONAD = find_network("monad")
WMON = MONAD.wrapped_native_address or ""
USDC = MONAD.stablecoins[0]
MARKET = "0x065c9d28e428a0db40191a54d33d5b7c71a9c394"
BIDS, ASKS = [(250, 7), (240, 9)], [(260, 5)]
VAULT = (MARKET, 24 * 10**15, 3, 3 * 10**16, 4, 50, 60, 100)
NO_VAULT = (MARKET, 0, 0, 2**256 - 1, 0, 0, 0, 100)


def registered(base: str, quote: str, wrapped: str | None = WMON) -> PoolRef:
    (factory,) = find_factories(MONAD, ["kuru"])[0]
    values = (base, quote, MARKET, MARKET, 10**4, 10**8, 1, 1, 10**9, 30, 10, 100)
    data = encode(["address"] * 4 + ["uint256"] * 8, values)
    log = Log(factory.address, (topic_of(KINDS["kuru"].created[0]),), data, 1, 0)
    (ref,) = run_batched([("", read_created(factory, log, wrapped))], lambda _: [])
    if isinstance(ref, SkippedItem):
        raise InvalidUpstreamResponse(ref.reason)
    return ref._replace(decimals=(18, 6))


def book(bids: Sequence[tuple[int, int]] = BIDS, asks: Sequence[tuple[int, int]] = ASKS) -> bytes:
    """Return the words that a market packs: the block, the bids, a zero, and the asks."""
    words = (9, *(word for level in bids for word in level), 0, *(word for level in asks for word in level))
    return encode(["bytes"], [b"".join(word.to_bytes(32) for word in words)])


def read(ref: PoolRef, answer: ReturnData = None, vault: tuple[Any, ...] = VAULT, state: int = 0) -> Kuru | SkippedItem:
    answers = {
        "getL2Book(uint32,uint32)": answer or book(),
        "getVaultParams()": encode(["address"] + ["uint256"] * 7, vault),
        "marketState()": encode(["uint8"], [state]),
    }
    by_selector = {keccak256(name.encode())[:4]: value for name, value in answers.items()}

    def send(calls: Sequence[ContractCall]) -> list[ReturnData]:
        assert all(call.to == MARKET for call in calls)
        return [by_selector[call.calldata[:4]] for call in calls]

    (pool,) = run_batched([(ref.key, load(ref))], send)
    assert isinstance(pool, Kuru | SkippedItem)
    return pool


@pytest.mark.parametrize(
    ("base", "quote", "native"), [(USDC, WMON, ""), (ZERO_ADDRESS, USDC, "base"), (USDC, ZERO_ADDRESS, "quote")]
)
def test_a_market_is_read_in_one_round(base: str, quote: str, native: str) -> None:
    ref = registered(base, quote)
    assert parse_pool_ref(format_pool_ref(ref)) == ref
    pool = read(ref)
    assert isinstance(pool, Kuru)
    assert (pool.address, pool.fee_ppm, pool.native, pool.currencies()) == (MARKET, 3_000, native, (base, quote))
    assert (pool.bids, pool.asks, pool.is_cut) == (tuple(BIDS), tuple(ASKS), (False, False))
    assert pool.vault
    assert tuple(pool.vault) == VAULT[1:]
    again = ref_of_pool(pool, MONAD)
    assert again == ref
    assert read(again) == pool


def test_an_empty_market_and_one_without_a_vault_are_pools() -> None:
    pool = read(registered(USDC, WMON), book([], []), NO_VAULT)
    assert isinstance(pool, Kuru)
    assert (pool.bids, pool.asks, pool.vault) == ((), (), None)


def test_a_side_with_more_prices_than_are_read_is_cut() -> None:
    asks = [(300 + k, 1) for k in range(REACH)]
    pool = read(registered(USDC, WMON), book(asks=asks))
    assert isinstance(pool, Kuru)
    assert pool.is_cut == (True, False)


@pytest.mark.parametrize(("bid", "ask"), [(261 * 10**14, 3 * 10**16), (2 * 10**16, 249 * 10**14)])
def test_a_vault_that_crosses_the_limit_orders_is_left_out(bid: int, ask: int) -> None:
    skipped = read(registered(USDC, WMON), vault=(MARKET, bid, 3, ask, *VAULT[4:]))
    assert isinstance(skipped, SkippedItem)
    assert "the limit order's" in skipped.reason


@pytest.mark.parametrize("state", [1, 2])
def test_a_paused_market_is_left_out(state: int) -> None:
    skipped = read(registered(USDC, WMON), state=state)
    assert isinstance(skipped, SkippedItem)
    assert "paused" in skipped.reason


@pytest.mark.parametrize(
    "answer",
    [
        book(asks=[(250, 1)]),
        book(bids=[(240, 1), (250, 1)]),
        book(asks=[(260, 0)]),
        encode(["bytes"], [bytes(32 * 2 + 31)]),
        encode(["bytes"], [b"".join(word.to_bytes(32) for word in (9, 250))]),
        encode(["uint256"] * 2, [64, 0]),
        encode(["uint256"] * 2, [32, 320]),
        b"\1",
    ],
)
def test_books_that_cannot_be_are_left_out(answer: bytes) -> None:
    assert isinstance(read(registered(USDC, WMON), answer), SkippedItem)


def test_a_native_token_needs_its_wrapped_form() -> None:
    with pytest.raises(InvalidUpstreamResponse):
        registered(ZERO_ADDRESS, USDC, wrapped=None)


def test_a_market_emits_the_events_of_its_changes() -> None:
    for event in KINDS["kuru"].events:
        assert changed_pool(Log(MARKET, (topic_of(event),), b"", 1, 0)) == MARKET
