"""A comparison takes as long as its slowest aggregator, within the time-out, and ranks what is not proven with care."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest

from swapcli import Market
from swapcli.core.errors import Unreachable, UpstreamTimeout
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.quoting.aggregator_options import AggregatorOptions
from swapcli.quoting.aggregators.adapter_definitions import parse_adapter
from swapcli.quoting.alternatives import Alternative, AlternativeKind, Comparison, SimulationOutcome
from swapcli.quoting.comparison import compare_alternatives
from swapcli.quoting.openers.choose_aggregators import AskedAggregator
from swapcli.quoting.openers.choose_source import open_source_chooser
from swapcli.quoting.openers.program_setup import program_setup
from swapcli.quoting.simulated_offers import OfferSimulator
from swapcli.state.clock import SYSTEM_CLOCK
from tests.support.fake_aggregators import Character, fake_aggregators

SENDER = "0x" + "a1" * 20
TERMS = SwapTerms(5_000)
ABOUT = 4_677_000_000
"""What 1.5 ETH sell for on the embedded market, to a factor of two."""


@pytest.fixture(scope="module")
def market() -> Iterator[Market]:
    with Market.embedded("base") as opened:
        opened.quote("ETH", "USDC", "1.5")  # imports what every quote needs
        yield opened


@contextmanager
def playing(market: Market, characters: Mapping[str, Character], timeout_s: float) -> Iterator[AggregatorOptions]:
    """Yield the options that ask these aggregators, without any node."""
    sources = open_source_chooser(program_setup({"live": "never"}))
    simulator = OfferSimulator(sources.nodes, sources.networks.routers, market.network, SENDER)
    with fake_aggregators(characters) as fake:
        asked = tuple(AskedAggregator(parse_adapter(name, each)) for name, each in fake.settings().items())
        yield AggregatorOptions(asked, SENDER, timeout_s, lambda: simulator)


def compare(market: Market, options: AggregatorOptions | None) -> Comparison:
    order = market.quote("ETH", "USDC", "1.5").answer.order
    return compare_alternatives(market.source, (), QuoteRequest(order, ApiVersion.V2), TERMS, SYSTEM_CLOCK, options)


def aggregators(found: Comparison) -> dict[str, Alternative]:
    return {each.name: each for each in found.alternatives if each.kind is AlternativeKind.AGGREGATOR}


def test_nobody_is_asked_without_options(market: Market) -> None:
    found = compare(market, None)
    assert (found.hosts, found.sender, aggregators(found)) == ((), None, {})
    assert all(each.simulation is None for each in found.alternatives)


def timed(market: Market, characters: Mapping[str, Character], timeout_s: float) -> tuple[Comparison, float]:
    """Return a comparison, and how long it took in seconds."""
    with playing(market, characters, timeout_s) as options:
        started_s = time.monotonic()
        found = compare(market, options)
        took_s = time.monotonic() - started_s
    assert found.hosts == options.hosts
    own_s = found.split.time_s
    assert own_s is not None
    assert own_s < took_s, "the own answer waits for none of them"
    return found, took_s


def test_the_slowest_sets_the_time(market: Market) -> None:
    found, took_s = timed(market, {f"slow-{number}": Character("5", delay_s=0.4) for number in range(8)}, 5.0)
    assert [each.amount_out for each in aggregators(found).values()] == [5] * 8
    assert 0.4 <= took_s < 3.2, "as long as eight after one another"


def test_nobody_takes_longer_than_the_time_out(market: Market) -> None:
    found, took_s = timed(market, {"late": Character("5", delay_s=9.0), "dead": Character("5", is_dead=True)}, 0.6)
    assert 0.6 <= took_s < 8.0
    rows = aggregators(found)
    assert (type(rows["Late"].error), type(rows["Dead"].error)) == (UpstreamTimeout, Unreachable)
    assert len(found.hosts) == 2


def test_without_a_node_no_mistake_comes_first(market: Market) -> None:
    characters = {
        "decimals": Character(str(ABOUT * 10**12)),
        "better": Character(str(ABOUT * 3 // 2)),
        "worse": Character("7"),
        "refuses": Character("7", status=400),
    }
    with playing(market, characters, timeout_s=5.0) as options:
        found = compare(market, options)
    names = [each.name for each in found.alternatives if each.kind is AlternativeKind.AGGREGATOR]
    assert names == ["Better", "Worse", "Decimals", "Refuses"]
    assert found.alternatives[0].name == "Better"
    assert not found.is_simulated
    reasons = {each.name: each.simulation.reason for each in found.alternatives if each.simulation}
    assert reasons["Better"] == "its response has no payload to simulate"
    assert reasons["Refuses"] == "it made no offer"
    without_route = [each for each in found.alternatives if each.error and each.kind is AlternativeKind.PROTOCOL]
    assert without_route
    assert {reasons[each.name] for each in without_route} == {"it has no route"}


def test_what_an_aggregator_says_is_less_its_gas_at_our_price(market: Market) -> None:
    with playing(market, {"a": Character(str(ABOUT)), "b": Character(str(ABOUT), gas=300_000)}, 5.0) as options:
        rows = aggregators(compare(market, options))
    gas = [ABOUT - (rows[name].output_after_gas or 0) for name in "AB"]
    assert 0 < gas[0] < gas[1] <= 2 * gas[0] + 1
    assert all(each.simulation and each.simulation.outcome is SimulationOutcome.NOT_SIMULATED for each in rows.values())
