"""The gas of routes is known beforehand."""

from __future__ import annotations

from random import Random

import pytest

from swapcli.core.model.order import Order
from swapcli.core.model.router_execution import OWN_ROUTER_GAS
from swapcli.families import family
from tests.chain.anvil import running_anvil
from tests.chain.contract_fixture import WETH
from tests.chain.converter_gas import PAIR, measure_converters
from tests.chain.gas import IN_USE, TOLERANCE, Sample, estimate_of, fit, measure, share_within
from tests.chain.trader import Trader
from tests.examples import examples

SEEDS, ROUTES_A_SEED = (1_000, 1_001), examples(25, full=200)
"""None of those that were fitted to."""
MIN_SHARE = examples(90, full=95) / 100
"""Of 50 routes, the share within the tolerance has a standard error of 3%."""


@pytest.mark.slow
def test_gas_of_most_routes_is_within_ten_percent(trader: Trader) -> None:
    samples = [sample for seed in SEEDS for sample in measure(trader, seed, ROUTES_A_SEED)]
    assert len(samples) == len(SEEDS) * ROUTES_A_SEED
    assert share_within(samples) >= MIN_SHARE
    for sample in samples:
        assert sample.terms["base"] == 1
        assert sample.gas_used > 80_000
        assert sample.with_constants(IN_USE) == sample


@pytest.mark.parametrize("is_sale", [True, False])
def test_the_gas_of_wrapping_and_unwrapping_is_estimated(trader: Trader, is_sale: bool) -> None:
    native, wrapped, rng = trader.market.network.native, trader.world.tokens[WETH], Random(f"wrap {is_sale}")
    ends = (native, wrapped) if is_sale else (wrapped, native)
    for _ in range(3):
        trade = trader.quote_trade(Order(*ends, rng.randint(1, 10**20)))
        used = trader.execute(trade).receipt.gas_used
        assert abs(estimate_of(trader, trade) / used - 1) <= TOLERANCE


@pytest.mark.slow
def test_the_gas_of_converters_is_estimated() -> None:
    with running_anvil() as chain:
        found = measure_converters(chain)
    assert found.keys() == {PAIR, "psm", "bridge", "vault"}
    for name, gas in found.items():
        for each in gas:
            assert abs(family(name).swap_gas - each) <= TOLERANCE * (OWN_ROUTER_GAS.base + each), name


def test_the_fit_finds_the_constants_that_samples_were_made_of() -> None:
    rng = Random("fit")
    samples = []
    for _ in range(100):
        terms = {name: rng.randint(0, 5) for name in IN_USE} | {"base": 1}
        used = 10**6 + sum(IN_USE[name] * count for name, count in terms.items())
        samples.append(Sample(terms, used, estimate=0))
    found = fit(samples)
    assert found == {name: pytest.approx(value + (10**6 if name == "base" else 0)) for name, value in IN_USE.items()}
    assert share_within([sample.with_constants(found) for sample in samples]) == 1
    assert share_within(samples) == 0
