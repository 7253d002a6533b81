"""A health report names its state, and is good only if quoting works."""

from __future__ import annotations

import pytest

from swapcli.core.networks.catalogue import find_network, network_names
from swapcli.quoting.open_market import open_market
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.state.clock import Clock
from tests.support.testnet import EMPTY_V2, NOW_S, build_testnet_market


@pytest.mark.parametrize("name", network_names())
def test_every_embedded_market_is_healthy_and_names_its_source(name: str) -> None:
    market = open_market(name, find_network).market
    health = InMemorySource(market, Clock(lambda: NOW_S, lambda: 0.0)).health()
    assert health.is_healthy
    assert (health.status, health.network, health.pools) == (200, name, len(market.pools))
    assert "alive and well" in health.message
    assert "modelled" in health.message
    assert health.sample is not None
    assert health.sample.amount_out > 0


def test_the_sample_is_quoted_and_not_made_up() -> None:
    market = build_testnet_market()
    source = InMemorySource(market, Clock(lambda: NOW_S, lambda: 0.0))
    sample = source.health().sample
    assert sample is not None
    pools = [p for p in market.pools.values() if {sample.token_in.address, sample.token_out.address} <= set(p.tokens)]
    assert max(p.swap(sample.token_in.address, sample.token_out.address, sample.amount_in)[0] for p in pools) <= (
        sample.amount_out
    )


def test_the_age_of_the_state_is_reported() -> None:
    state_source = InMemorySource(build_testnet_market(), Clock(lambda: NOW_S, lambda: 0.0)).health().state_source
    assert state_source is not None
    assert state_source.age_s == 7_200


@pytest.mark.parametrize("pools", [(), (EMPTY_V2,)])
def test_a_market_without_quotes_is_unhealthy(pools: tuple[str, ...]) -> None:
    market = build_testnet_market()
    poor = market._replace(pools={key: market.pools[key] for key in pools})
    health = InMemorySource(poor, Clock(lambda: NOW_S, lambda: 0.0)).health()
    assert (health.is_healthy, health.status, health.sample) == (False, 503, None)
    assert "cannot quote" in health.message


def test_the_time_it_took_is_measured() -> None:
    ticks = iter(range(100))
    health = InMemorySource(build_testnet_market(), Clock(lambda: NOW_S, lambda: float(next(ticks)))).health()
    assert health.time_s > 0
