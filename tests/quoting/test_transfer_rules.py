"""Tokens with inexact transfers are avoided, refused or reported with a warning."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import FeeOnTransfer, NoRoute, TokenBlocked
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.market import MarketState, Provenance
from swapcli.core.model.order import Order
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.core.model.transfer_behaviour import (
    IRREGULAR,
    ORDINARY,
    REFUSED,
    SHARES,
    UNKNOWN,
    ShareRounding,
    TransferBehaviour,
    TransferKind,
)
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.sources.live_search import pricing_pools
from swapcli.quoting.sources.searchable_market import SearchableMarket
from swapcli.quoting.transfer_rules import rounding_of, routable_market, transfer_warnings, unroutable_reason
from swapcli.state.clock import SYSTEM_CLOCK
from tests.support.pools import (
    UNIT,
    build_concentrated,
    build_constant_product,
    build_market,
    build_random_market,
    build_token,
    seeds,
)

TAXED = TransferBehaviour(TransferKind.FEE, 0, 20_000, 0)
T = [build_token(number) for number in range(4)]
A, B, C, D = (each.address for each in T)
behaviours = st.sampled_from([UNKNOWN, ORDINARY, SHARES, REFUSED, TAXED, IRREGULAR])


def small(**marks: TransferBehaviour) -> MarketState:
    """Return a market with routes from token 0 to 1: direct, through 2 (better, concentrated) and 3 (best)."""
    pools = [
        build_constant_product(0, T[0], T[1], 10**6 * UNIT, 10**6 * UNIT),
        build_concentrated(1, T[0], T[2], 10**8 * UNIT, 1.1, 6_000),
        build_concentrated(2, T[2], T[1], 10**8 * UNIT, 1.0, 6_000),
        build_constant_product(3, T[0], T[3], 10**8 * UNIT, 2 * 10**8 * UNIT),
        build_constant_product(4, T[3], T[1], 10**8 * UNIT, 10**8 * UNIT),
    ]
    named = dict(zip("abcd", (A, B, C, D), strict=True))
    return build_market(pools, T)._replace(transfers={named[name]: mark for name, mark in marks.items()})


def quoted(market: MarketState, sold: int = 0, bought: int = 1) -> tuple[set[str], list[str]]:
    """Return the tokens of the best route and the codes of its warnings."""
    answer = InMemorySource(market, SYSTEM_CLOCK).quote(
        QuoteRequest(Order(T[sold], T[bought], 100 * UNIT), ApiVersion.V2)
    )
    tokens = {each for step in answer.quote.steps for each in (step.token_in, step.token_out)}
    return tokens, [each.code for each in transfer_warnings(answer)]


def test_tokens_without_marks_are_routed_normally() -> None:
    market = small()
    assert routable_market(market) is market
    assert quoted(market) == ({A, B, D}, [])
    assert quoted(small(a=ORDINARY, b=ORDINARY, c=ORDINARY, d=ORDINARY)) == ({A, B, D}, [])


@pytest.mark.parametrize("mark", [TAXED, IRREGULAR, REFUSED])
def test_no_route_passes_through_an_irregular_token(mark: TransferBehaviour) -> None:
    assert quoted(small(d=mark)) == ({A, B, C}, [])
    assert quoted(small(d=mark, c=mark)) == ({A, B}, [])


def blocking(*addresses: str) -> MarketState:
    market = small()
    return market._replace(network=market.network._replace(blocked_tokens=frozenset(addresses)))


def test_no_route_passes_through_a_blocked_token() -> None:
    assert quoted(blocking(D)) == ({A, B, C}, [])
    assert quoted(blocking(C, D)) == ({A, B}, [])
    reasons = {unroutable_reason(blocking(D))(pool) for pool in blocking(D).pools.values() if D in pool.tokens}
    assert reasons == {"T3 is blocked in the settings"}


@pytest.mark.parametrize("ends", [(3, 1), (0, 3)])
def test_an_order_for_a_blocked_token_fails(ends: tuple[int, int]) -> None:
    with pytest.raises(TokenBlocked, match="T3 is blocked in the settings") as caught:
        InMemorySource(blocking(D), SYSTEM_CLOCK).quote(
            QuoteRequest(Order(T[ends[0]], T[ends[1]], 100 * UNIT), ApiVersion.V2)
        )
    assert (caught.value.code, caught.value.details) == ("TOKEN_BLOCKED", {"token": D})


def test_a_posted_route_over_a_blocked_token_is_refused() -> None:
    route = InMemorySource(small(), SYSTEM_CLOCK).quote(QuoteRequest(Order(T[0], T[1], 100 * UNIT), ApiVersion.V2))
    with pytest.raises(TokenBlocked, match="T3 is blocked"):
        InMemorySource(blocking(D), SYSTEM_CLOCK).build(route.result, SwapTerms(5_000, A))


def test_wrapping_of_a_blocked_native_token_fails() -> None:
    market = small()
    native, wrapped = market.network.native, market.network.wrapped_native
    assert wrapped is not None
    network = market.network._replace(blocked_tokens=frozenset({wrapped.address}))
    with pytest.raises(TokenBlocked):
        InMemorySource(market._replace(network=network), SYSTEM_CLOCK).quote(
            QuoteRequest(Order(native, wrapped, UNIT), ApiVersion.V2)
        )


@pytest.mark.parametrize("mark", [TAXED, IRREGULAR])
@pytest.mark.parametrize("ends", [(3, 1), (0, 3)])
def test_an_order_for_an_irregular_token_explains_the_rejection(mark: TransferBehaviour, ends: tuple[int, int]) -> None:
    with pytest.raises(FeeOnTransfer) as caught:
        quoted(small(d=mark), *ends)
    assert caught.value.details == {"token": D, **mark._asdict(), "kind": mark.kind.value}
    assert caught.value.message == f"T3 {mark.described()}, so its amount cannot be guaranteed"


def test_a_token_that_rejected_a_probe_trades_with_a_warning() -> None:
    market = small(d=REFUSED)
    assert quoted(market, 3, 1) == ({D, B}, ["REFUSED_TOKEN"])
    assert quoted(market, 0, 3) == ({A, D}, ["REFUSED_TOKEN"])
    assert pricing_pools(SearchableMarket(market, SYSTEM_CLOCK), QuoteRequest(Order(T[3], T[1], UNIT), ApiVersion.V2))


def test_share_tokens_use_pools_that_accept_the_balance() -> None:
    assert quoted(small(d=SHARES)) == ({A, B, D}, ["SHARE_TOKEN"])
    assert quoted(small(d=REFUSED, c=SHARES)) == ({A, B}, []), "Uniswap V3 pools refuse a payment that falls short"
    with pytest.raises(NoRoute):
        quoted(small(c=SHARES), 2, 1)


@pytest.mark.parametrize("provenance", Provenance)
def test_unprobed_tokens_are_reported_on_real_state(provenance: Provenance) -> None:
    market = small(a=ORDINARY, d=SHARES)._replace(provenance=provenance)
    expected = ["UNTRIED_TOKEN"] if provenance in (Provenance.LIVE, Provenance.SYNCED) else []
    assert quoted(market)[1] == ["SHARE_TOKEN", *expected]


def test_warnings_name_the_tokens() -> None:
    market = small(d=SHARES)._replace(provenance=Provenance.SYNCED)
    answer = InMemorySource(market, SYSTEM_CLOCK).quote(QuoteRequest(Order(T[0], T[1], UNIT), ApiVersion.V2))
    assert rounding_of(answer) == ShareRounding(("T3",), 4)
    assert [each.message.split(":")[0] for each in transfer_warnings(answer)] == [
        "T3 keeps balances as shares",
        "transfers of T0 and T1 were not tested",
    ]


def test_transfer_settings_override_detected_behaviour() -> None:
    market = small(d=TAXED)
    configured = market._replace(network=market.network._replace(transfers={D: ORDINARY, A: SHARES}))
    assert quoted(configured) == ({A, B, D}, ["SHARE_TOKEN"])


@given(seeds, st.lists(behaviours, min_size=6, max_size=6))
def test_no_route_breaks_the_transfer_rules(seed: int, marks: list[TransferBehaviour]) -> None:
    market = build_random_market(seed, every_family=True)
    listed = list(market.tokens.values())
    known = {each.address: mark for each, mark in zip(listed, marks, strict=True)}
    source = InMemorySource(market._replace(transfers=known), SYSTEM_CLOCK)
    ask = partial(QuoteRequest, api_version=ApiVersion.V2)
    try:
        answer = source.quote(ask(Order(listed[0], listed[1], 10**18)))
    except FeeOnTransfer:
        assert not (marks[0].is_routable and marks[1].is_routable)
        return
    except NoRoute:
        return
    assert marks[0].is_routable
    assert marks[1].is_routable
    for step in answer.quote.steps:
        for address in {step.token_in, step.token_out} - {listed[0].address, listed[1].address}:
            assert known[address].is_passable
        if SHARES in (known[step.token_in], known[step.token_out]):
            assert market.pools[step.pool].family != "concentrated"


def test_a_market_whose_marks_change_is_routed_by_the_new_ones() -> None:
    source = InMemorySource(small(), SYSTEM_CLOCK)
    source.searchable.router.index.warm()
    moved = source.with_changes(small(d=TAXED), frozenset())
    answer = moved.quote(QuoteRequest(Order(T[0], T[1], 100 * UNIT), ApiVersion.V2))
    assert D not in answer.transfers
    assert moved.with_changes(small(d=TAXED), frozenset()).market.transfers == {D: TAXED}
