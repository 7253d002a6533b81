"""The L1 data fee is part of every gas figure of a quote, and close to what the network charges."""

from __future__ import annotations

from functools import cache
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swapcli.core.errors import NoRoute, SameToken
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.order import Order
from swapcli.core.model.quote import Quote
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.core.model.transaction import Transaction, UnsignedTransaction
from swapcli.core.networks.catalogue import find_network
from swapcli.core.networks.l1_fee import L1FeeParams
from swapcli.payload.evm.unsigned_transaction import GasFees, encode_unsigned
from swapcli.quoting.l1_data_fee import with_l1_fee
from swapcli.quoting.open_market import open_market
from swapcli.quoting.quote_figures import compute_figures
from swapcli.quoting.quote_results import LocalQuote
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.sources.quote_source import quote_and_build
from swapcli.state.clock import Clock
from tests.examples import examples, seeds
from tests.payload.evm.l1_oracle import RealOracle
from tests.support.testnet import NOW_S, build_testnet_market

TERMS = L1FeeParams(7 * 10**9, 3 * 10**6, 2_269, 1_055_762)
BYTE_WEI = 0.8365 * (16 * 0.002269 * 7 * 10**9 + 1.055762 * 3 * 10**6)
"""The cost of a compressed byte under `TERMS`, in wei."""
FEW_BYTES = 16
"""The tolerated error of a compressed length of hundreds to thousands of bytes."""
ORACLE = RealOracle()


@cache
def base() -> InMemorySource:
    return InMemorySource(open_market("base", find_network).market, Clock(lambda: NOW_S, lambda: 0.0))


def built(rng: Random) -> tuple[LocalQuote, UnsignedTransaction]:
    """Return the quote of a random order, with its payload for a random recipient."""
    tokens = [base().network.native, *base().market.tokens.values()]
    while True:
        sold, bought = rng.sample(tokens, 2)
        order = Order(sold, bought, int(10 ** rng.uniform(8, 21)))
        terms = SwapTerms(rng.randint(0, 10**5), f"0x{rng.getrandbits(160):040x}")
        try:
            return quote_and_build(base(), QuoteRequest(order, rng.choice(list(ApiVersion))), terms)
        except (NoRoute, SameToken):
            continue


def exact(answer: LocalQuote) -> Quote:
    return answer.quote


@pytest.mark.parametrize("seed", seeds(8, full=40))
def test_the_l1_fee_equals_the_oracle_to_a_few_bytes(seed: int) -> None:
    rng = Random(f"fees {seed}")
    answer, payload = built(rng)
    ORACLE.set(TERMS)
    swap = Transaction(payload.to, payload.calldata, payload.value)
    gas = GasFees(limit=rng.randint(10**5, 10**7), fee_wei=rng.randint(10**6, 10**10), priority_fee_wei=10**6)
    charged = ORACLE.fee_wei(encode_unsigned(swap, base().network.chain_id, rng.randrange(2**20), gas))
    known, guessed = (exact(with_l1_fee(answer, TERMS, each)).l1_fee_wei for each in (payload, None))
    assert known == pytest.approx(charged, abs=FEW_BYTES * BYTE_WEI)
    assert guessed == pytest.approx(known, abs=FEW_BYTES * BYTE_WEI)


@settings(max_examples=examples(4, full=100))
@given(st.integers(0, 2**32), st.builds(L1FeeParams, *[st.integers(0, 10**12)] * 2, *[st.integers(0, 2**32 - 1)] * 2))
def test_the_l1_fee_is_added_to_gas_costs_once(seed: int, terms: L1FeeParams) -> None:
    answer, payload = built(Random(seed))
    charged = with_l1_fee(answer, terms, payload)
    before, after = exact(answer), exact(charged)
    fee_wei = after.l1_fee_wei
    assert before.l1_fee_wei == 0
    assert after.gas_wei == before.gas_wei + fee_wei
    if before.wei_usd is not None:
        assert after.gas_usd == pytest.approx((before.gas_wei + fee_wei) * before.wei_usd)
    if before.wei_usd is not None and before.price_out_usd:
        wei_value = before.wei_usd / before.price_out_usd * 10**before.order.token_out.decimals
        net = compute_figures(charged, SwapTerms(5_000)).output_after_gas
        assert net == pytest.approx(after.amount_out - after.gas_wei * wei_value, rel=1e-9, abs=1)
    v2 = answer.result.api_version is ApiVersion.V2
    expected_gas = (None, after.gas_wei) if v2 else (before.gas_units, None)
    assert (charged.result.gas_units, charged.result.gas_cost_wei) == expected_gas
    assert charged.result.gas_usd == after.gas_usd
    assert with_l1_fee(charged, terms, payload) == charged
    assert charged._replace(quote=before, result=answer.result) == answer
    assert after._replace(l1_fee_wei=0) == before


def test_the_fee_of_a_route_needs_no_known_router() -> None:
    source = InMemorySource(build_testnet_market(), Clock(lambda: NOW_S, lambda: 0.0))
    assert source.network.router is None
    order = Order(source.network.native, source.token("USDC"), 25 * 10**18)
    answer = source.quote(QuoteRequest(order, ApiVersion.V2))
    assert exact(with_l1_fee(answer, TERMS)).l1_fee_wei > 0


def test_a_quote_of_unknown_protocols_keeps_its_gas() -> None:
    answer = base().quote(QuoteRequest(Order(base().network.native, base().token("USDC"), 10**18), ApiVersion.V2))
    unknown = answer._replace(network=answer.network._replace(protocols=()))
    assert with_l1_fee(unknown, TERMS) == unknown
