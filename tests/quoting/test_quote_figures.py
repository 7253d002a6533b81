"""The figures of a quote: each follows from the exact amounts, and what is unknown stays unknown."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.market import Provenance
from swapcli.core.model.order import Order
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.state_source import StateSource
from swapcli.core.model.swap_terms import Integrator, SwapTerms, after_fee, min_received
from swapcli.core.networks.catalogue import find_network
from swapcli.faces.cli.render.quote_facts import build_facts
from swapcli.families.protocol_fees import DYNAMIC_FEE
from swapcli.families.uniswap.concentrated import Concentrated
from swapcli.interface.quote_fields import render_quote_fields
from swapcli.quoting.open_market import open_market
from swapcli.quoting.quote_figures import compute_figures
from swapcli.quoting.quote_results import LocalQuote, RemoteQuote
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.state.clock import SYSTEM_CLOCK
from tests.examples import examples
from tests.support.outside_ids import v4_id
from tests.support.testnet import NOW_S, build_quote, build_testnet_market

TERMS = SwapTerms(5_000, ttl_s=60)


@pytest.fixture(scope="module")
def base() -> InMemorySource:
    return InMemorySource(open_market("base", find_network).market, SYSTEM_CLOCK)


def quote(source: InMemorySource, sold: str, bought: str, amount: int) -> LocalQuote:
    return source.quote(QuoteRequest(Order(source.token(sold), source.token(bought), amount), ApiVersion.V2))


@settings(max_examples=10)
@given(amount=st.integers(10**12, 10**21), fee_bps=st.integers(0, 500), slippage_ppm=st.integers(0, 500_000))
def test_amounts_follow_from_the_exact_output(
    base: InMemorySource, amount: int, fee_bps: int, slippage_ppm: int
) -> None:
    answer = quote(base, "ETH", "USDC", amount)
    figures = compute_figures(answer, SwapTerms(slippage_ppm, integrator=Integrator("0x" + "9" * 40, fee_bps)))
    output = answer.quote.amount_out
    assert (figures.amount_in, figures.amount_out) == (amount, output)
    assert figures.amount_out_after_fee == after_fee(output, fee_bps)
    assert figures.min_received == min_received(figures.amount_out_after_fee, slippage_ppm)
    assert figures.gas_wei == answer.quote.gas_units * answer.quote.gas_price_wei + answer.quote.l1_fee_wei
    assert figures.gas_usd is not None
    assert figures.output_after_gas is not None
    cost = figures.amount_out_after_fee - figures.output_after_gas
    price_usd = answer.quote.price_out_usd or 0.0
    assert cost == pytest.approx(ceil(Fraction(figures.gas_usd) / Fraction(price_usd) * 10**6), abs=1)
    assert figures.single_path is not None
    assert figures.single_path.amount_out == answer.quote.best_single_path_out


@settings(max_examples=examples(6, full=20))
@given(amount=st.integers(10**10, 10**14), fee_bps=st.integers(0, 500))
@example(10**12, 0)
@example(10**10, 500)
def test_gas_above_a_tenth_of_the_output_is_warned_of(base: InMemorySource, amount: int, fee_bps: int) -> None:
    answer = quote(base, "ETH", "USDC", amount)
    terms = SwapTerms(5_000, integrator=Integrator("0x" + "9" * 40, fee_bps))
    figures = compute_figures(answer, terms)
    assert figures.output_after_gas is not None
    cost = figures.amount_out_after_fee - figures.output_after_gas
    is_warned = "GAS_EXCEEDS_SHARE" in [each.code for each in figures.warnings]
    assert is_warned == (10 * cost > figures.amount_out_after_fee)
    (shown,) = [each for each in build_facts(answer, terms, figures, verbose=True) if each.name == "After gas"]
    whole, _, _ = shown.value.partition(" ")
    assert Fraction(whole.replace(",", "")) * 10**6 == figures.output_after_gas
    assert ("more than all" in shown.note) == (figures.output_after_gas <= 0)


@pytest.mark.parametrize("bought", ["ETH", "WETH"])
def test_native_output_pays_for_its_gas_exactly(base: InMemorySource, bought: str) -> None:
    answer = quote(base, "USDC", bought, 5_000_000)
    figures = compute_figures(answer, TERMS)
    assert figures.output_after_gas == answer.quote.amount_out - answer.quote.gas_wei


def test_a_service_leaves_unknown_what_it_does_not_report() -> None:
    known = build_quote(api_version=ApiVersion.V2)
    result = known.result._replace(gas_cost_wei=0, gas_usd=None)
    state = StateSource(None, "quotes.example", service_url="https://quotes.example")
    answer = RemoteQuote(known.order, result, known.network, known.tokens, state, known.timestamp_ms)
    figures = compute_figures(answer, TERMS)
    unknown = (figures.gas_units, figures.gas_price_wei, figures.gas_wei, figures.gas_usd, figures.output_after_gas)
    assert unknown == (None,) * 5
    assert figures.single_path is None
    assert figures.expires_at_s == int(NOW_S) + 60


@pytest.mark.parametrize(
    ("provenance", "deadline_s", "after_quote_s"),
    [
        ("synced", None, 100),
        ("recorded", None, 100),
        ("modelled", None, 7_300),
        ("synced", int(NOW_S) + 40, 40),
        ("synced", int(NOW_S) + 400, 100),
    ],
)
def test_a_quote_expires_with_its_state_or_deadline(
    provenance: str, deadline_s: int | None, after_quote_s: int
) -> None:
    answer = build_quote(build_testnet_market(provenance=provenance))
    assert answer.state_source.age_s == 7_200
    figures = compute_figures(answer, TERMS._replace(ttl_s=7_300, deadline_s=deadline_s))
    assert figures.quoted_at_s == int(NOW_S)
    assert figures.expires_at_s - figures.quoted_at_s == after_quote_s


def test_an_order_of_an_output_has_no_single_path_figure() -> None:
    answer = build_quote()
    bought = answer._replace(order=answer.order._replace(reverse=True))
    assert compute_figures(answer, TERMS).single_path is not None
    assert compute_figures(bought, TERMS).single_path is None


def test_a_quote_names_the_pools_that_change_without_events() -> None:
    answer = build_quote(api_version=ApiVersion.V2)
    assert compute_figures(answer, TERMS).changing_pools == ()
    hooked = {pool.key: pool for pool in (dynamic_fee_pool(3_000), dynamic_fee_pool(500))}
    figures = compute_figures(answer._replace(pools={**answer.pools, **hooked}), TERMS)
    assert figures.changing_pools == tuple(sorted(hooked))
    assert render_quote_fields(figures, answer.network)["state"]["changingPools"] == sorted(hooked)
    (pools,) = (fact for fact in build_facts(answer, TERMS, figures, verbose=True) if fact.name == "Pools")
    assert "2 pools change with time, a rate or a hook, and are quoted as of" in pools.note
    recorded = figures._replace(state=figures.state._replace(provenance=Provenance.RECORDED))
    (state,) = (fact for fact in build_facts(answer, TERMS, recorded, verbose=True) if fact.name == "State")
    assert "2 pools change with time, a rate or a hook, and are quoted as of" in state.note


def dynamic_fee_pool(tick_spacing: int) -> Pool:
    """Return a Uniswap V4 pool whose fee is set by its hook."""
    tokens, hooks = ("0x" + "11" * 20, "0x" + "22" * 20), "0x" + "12" * 18 + "1040"
    state: dict[str, object] = {
        "sqrt_price_x96": 2**96,
        "tick": 0,
        "liquidity": 0,
        "tick_spacing": tick_spacing,
        "ticks": [],
        "pool_id": v4_id(*tokens, DYNAMIC_FEE, tick_spacing, hooks),
        "hooks": hooks,
        "dynamic_fee": True,
    }
    return Concentrated.from_state(PoolIdentity("0x" + "44" * 20, "v4", tokens, (18, 18), 3_000), state)
