"""A quote has each warning code once, with those of a service after our own."""

from __future__ import annotations

import pytest

from swapcli.core.errors import PriceImpactTooHigh, SlippageTooHigh, UnreadGainTooHigh
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.block_tag import BlockTag
from swapcli.core.model.market import Provenance
from swapcli.core.model.order import Order
from swapcli.core.model.pool import Pool
from swapcli.core.model.price_impact import ImpactBasis, PriceImpact
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.state_source import ReportedWarnings, StateSource
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import EncodedCall, RouterRouteParam, UnsignedTransaction
from swapcli.core.networks.catalogue import find_network
from swapcli.interface.quote_fields import render_quote_fields
from swapcli.payload.checks.settlement import settle
from swapcli.quoting.quote_figures import compute_figures
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.warnings import (
    answer_warnings,
    deadline_warnings,
    impact_findings,
    quote_warnings,
    slippage_findings,
    unread_findings,
)
from swapcli.state.clock import SYSTEM_CLOCK
from tests.support.pools import UNIT, build_concentrated, build_market, build_token

POOL_ID = "0x" + "ab" * 32
URL = "https://quotes.example"
NO_IMPACT = PriceImpact(0.0, ImpactBasis.USD, 100.0, 100.0)
LIVE = StateSource(Provenance.LIVE, "a node", 5, 1_000, 3)


def codes(origin: StateSource, impact: PriceImpact | None = NO_IMPACT) -> list[str]:
    return [each.code for each in quote_warnings(impact, origin, SwapTerms(0, ttl_s=60, impact_warning_ppm=50_000))]


def of_service(provenance: Provenance | None, age_s: int | None = None, *reported: str) -> StateSource:
    return StateSource(provenance, URL, 5, None, age_s, URL, ReportedWarnings(reported))


def test_a_live_quote_of_little_impact_has_none() -> None:
    assert codes(LIVE) == []


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        (of_service(None), ["STATE_UNKNOWN"]),
        (of_service(Provenance.LIVE, 60), []),
        (of_service(Provenance.SYNCED, 61), ["STATE_OLD"]),
        (of_service(Provenance.MODELLED), ["STATE_MODELLED"]),
        (of_service(Provenance.SYNTHETIC, 0), ["STATE_SYNTHETIC"]),
    ],
)
def test_the_state_of_a_service_gets_the_same_warnings_as_ours(origin: StateSource, expected: list[str]) -> None:
    assert codes(origin) == expected


def test_each_warning_of_a_service_is_passed_on_once() -> None:
    origin = of_service(Provenance.MODELLED, None, "STATE_MODELLED", "TOKEN_TAXED", "PRICE_IMPACT_HIGH")
    assert codes(origin) == ["STATE_MODELLED", "TOKEN_TAXED", "PRICE_IMPACT_HIGH"]
    high = PriceImpact(0.06, ImpactBasis.SERVICE)
    assert codes(origin, high) == ["PRICE_IMPACT_HIGH", "STATE_MODELLED", "TOKEN_TAXED"]


@pytest.mark.parametrize(
    ("fraction", "warned", "refused"),
    [(-0.2, False, False), (0.05, False, False), (0.050001, True, False), (0.15, True, False), (0.150001, True, True)],
)
def test_the_thresholds_are_exact(fraction: float, warned: bool, refused: bool) -> None:
    impact = PriceImpact(fraction, ImpactBasis.POOLS)
    assert ("PRICE_IMPACT_HIGH" in codes(LIVE, impact)) == warned
    if refused:
        with pytest.raises(PriceImpactTooHigh) as caught:
            settle(impact_findings(impact, LIVE, 50_000, 150_000))
        assert caught.value.details["max_impact_percent"] == 15.0
    else:
        settle(impact_findings(impact, LIVE, 50_000, 150_000))


@pytest.mark.parametrize(
    ("gain_bps", "warned", "refused"),
    [(None, False, False), (5.0, False, False), (5.1, True, False), (1_500.0, True, False), (1_500.1, True, True)],
)
def test_the_gain_of_unread_pools_is_warned_of_and_refused(gain_bps: float | None, warned: bool, refused: bool) -> None:
    tokens = build_token(0), build_token(1)
    source = InMemorySource(
        build_market([build_concentrated(1, *tokens, 10**8 * UNIT, 1.0, 6_000)], tokens), SYSTEM_CLOCK
    )
    answer = source.quote(QuoteRequest(Order(*tokens, UNIT), ApiVersion.V2))._replace(unread_gain_bps=gain_bps)
    figures = compute_figures(answer, SwapTerms(0))
    assert ("SEARCH_UNREAD" in [each.code for each in figures.warnings]) == warned
    assert render_quote_fields(figures, answer.network)["unreadGainBps"] == gain_bps
    if refused:
        with pytest.raises(UnreadGainTooHigh) as caught:
            settle(unread_findings(gain_bps, 150_000))
        assert caught.value.details == {"unread_gain_bps": gain_bps, "max_impact_percent": 15.0}
    else:
        settle(unread_findings(gain_bps, 150_000))


@pytest.mark.parametrize("ahead_s", [-3_600, 30])
def test_a_clock_that_nodes_contradict_is_warned_of_once(ahead_s: int) -> None:
    state = LIVE._replace(clock_offset_s=-ahead_s)
    (warning,) = quote_warnings(NO_IMPACT, state, SwapTerms(0, ttl_s=60, impact_warning_ppm=50_000))
    side = "ahead of" if ahead_s < 0 else "behind"
    assert warning.code == "CLOCK_DIFFERS"
    assert f"{abs(ahead_s):,} seconds {side} this machine's clock" in warning.message
    network = find_network("base")._replace(router_dialect="settler")
    at_block = state._replace(tag=BlockTag.LATEST)
    assert not [*deadline_warnings(swap_until(None), network, SwapTerms(0), at_block, 1_000 + ahead_s)]


def swap_until(deadline_s: int | None) -> UnsignedTransaction:
    route = RouterRouteParam("0x1", "0x2", 1, 1, 1, "0x3", SwapType.TOKEN_TO_TOKEN)
    return UnsignedTransaction(EncodedCall(route, deadline_s=deadline_s), "0x4", 0)


@pytest.mark.parametrize(
    ("left_s", "lifetime_s", "found"),
    [
        (86_400, 86_400, []),
        (86_341, 86_400, []),  # a minute for the time since the duration was counted
        (86_339, 86_400, ["DEADLINE_SHORT"]),
        (1_200, 86_400, ["DEADLINE_SHORT"]),
        (-5, 86_400, ["DEADLINE_SHORT"]),
        (60, 0, []),
        (None, 86_400, []),
    ],
)
def test_a_deadline_that_leaves_no_day_to_sign_is_warned_of(
    left_s: int | None, lifetime_s: int, found: list[str]
) -> None:
    network, terms = find_network("base")._replace(router_dialect="settler"), SwapTerms(0, lifetime_s=lifetime_s)
    payload = swap_until(None if left_s is None else 1_000_000 + left_s)
    assert [each.code for each in deadline_warnings(payload, network, terms, LIVE, 1_000_000.9)] == found


def test_an_unknown_impact_is_a_warning_and_no_error() -> None:
    settle(impact_findings(None, LIVE, 0, 0))
    assert codes(of_service(Provenance.LIVE, 0), None) == ["PRICE_IMPACT_UNKNOWN"]


def test_every_message_is_one_plain_sentence() -> None:
    impacts = (None, *(PriceImpact(0.5, basis, 2.0, 1.0) for basis in ImpactBasis))
    for impact in impacts:
        for warning in quote_warnings(
            impact, of_service(None, None, "A"), SwapTerms(0, ttl_s=60, impact_warning_ppm=0)
        ):
            assert warning.message.isprintable()
            assert not warning.message.endswith(".")


def test_a_hook_that_may_move_later_prices_is_named() -> None:
    """A route through a hooked pool warns, unless that pool comes last or its hook is not called after swaps."""
    first, via, last = (build_token(number) for number in range(3))
    plain = build_concentrated(1, via, last, 10**8 * UNIT, 1.0, 6_000)

    def warned(into_hooked: bool, permissions: int) -> list[str]:
        pair = (first, via) if into_hooked else (via, last)
        hooked = with_hook(build_concentrated(2, *pair, 10**8 * UNIT, 1.0, 6_000), permissions)
        other = plain if into_hooked else build_concentrated(3, first, via, 10**8 * UNIT, 1.0, 6_000)
        source = InMemorySource(build_market([hooked, other], [first, via, last]), SYSTEM_CLOCK)
        answer = source.quote(QuoteRequest(Order(first, last, UNIT), ApiVersion.V2))
        warnings = answer_warnings(answer, NO_IMPACT, SwapTerms(0, ttl_s=60, impact_warning_ppm=50_000), None)
        return [each.message for each in warnings if each.code == "HOOK_MAY_TRADE"]

    (message,) = warned(into_hooked=True, permissions=0x1040)
    assert message.startswith(f"pool {POOL_ID} calls its hook after the swap")
    assert warned(into_hooked=True, permissions=0x1000) == []
    assert warned(into_hooked=False, permissions=0x1040) == []


def with_hook(pool: Pool, permissions: int) -> Pool:
    hooks = f"0x{0x5AFE << 140 | permissions:040x}"
    return type(pool).from_state(pool.identity, {**pool.state(), "pool_id": POOL_ID, "hooks": hooks})


@pytest.mark.parametrize(("slippage_ppm", "warned"), [(30_000, False), (30_001, True), (1_000_000, True)])
def test_slippage_above_three_percent_is_warned_of(slippage_ppm: int, warned: bool) -> None:
    of_quote = quote_warnings(NO_IMPACT, LIVE, SwapTerms(slippage_ppm))
    assert [each.code for each in of_quote] == (["SLIPPAGE_HIGH"] if warned else [])


def test_slippage_above_the_maximum_is_refused() -> None:
    settle(slippage_findings(200_000, 30_000, 200_000))
    with pytest.raises(SlippageTooHigh) as caught:
        settle(slippage_findings(300_000, 30_000, 200_000), name_setting=lambda name: f"--{name}")
    hint = "30 is 30 percent: write 30bps for basis points, or allow it with --max_slippage"
    assert caught.value.hint == hint
    assert caught.value.details == {"slippage_percent": 30.0, "max_slippage_percent": 20.0}
