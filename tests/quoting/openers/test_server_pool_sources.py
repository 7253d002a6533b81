"""Where the pools of a service come from."""

from __future__ import annotations

from pathlib import Path

import pytest

from swapcli.core.model.market import Provenance
from swapcli.core.networks.catalogue import network_names
from swapcli.quoting.openers.nodes import NodeOpener
from swapcli.quoting.openers.server_pool_sources import ServicePools, choose_service_pools
from swapcli.quoting.openers.user_setup import UserSetup
from swapcli.quoting.price_policy import PriceRequest
from swapcli.state.markets.embedded import embedded_names
from swapcli.state.store import create_store
from tests.state.store.build import only
from tests.support.markets import embedded_market
from tests.support.openers import market_opener, user_setup


def test_a_service_without_nodes_serves_the_embedded_markets(tmp_path: Path) -> None:
    pools = choose(user_setup(tmp_path, live="never"))
    assert set(pools.openers) == set(embedded_names()) == set(pools.modelled)
    assert (pools.followed, pools.check_nodes) == ([], {})
    assert pools.openers["base"]().network.name == "base"
    assert pools.price_request is PriceRequest.OFFLINE


def test_embedded_markets_are_served_until_public_nodes_respond(tmp_path: Path) -> None:
    pools = choose(user_setup(tmp_path))
    names = [market.network.name for market in pools.followed]
    assert names == list(pools.openers) == pools.modelled == list(network_names())
    assert pools.check_nodes == {}  # a public node sees no order of a client
    assert pools.price_request is PriceRequest.NONE


def test_a_service_that_needs_nodes_serves_nothing_else(tmp_path: Path) -> None:
    pools = choose(user_setup(tmp_path, live="require"), "base")
    assert [market.network.name for market in pools.followed] == ["base"]
    assert (pools.openers, pools.modelled) == ({}, [])


@pytest.mark.parametrize(
    ("provenance", "falls_back", "is_modelled"),
    [(Provenance.SYNCED, False, False), (Provenance.RECORDED, True, False), (Provenance.MODELLED, True, True)],
)
def test_a_store_is_served_until_public_nodes_respond(
    tmp_path: Path, provenance: Provenance, falls_back: bool, is_modelled: bool
) -> None:
    market = embedded_market("base")._replace(provenance=provenance, block=1, timestamp=1)
    with create_store(str(tmp_path / "base.sqlite"), market.network, only(market.network)) as store:
        store.write_market(market)
    pools = choose(user_setup(tmp_path), "base")
    assert len(pools.followed) == 1
    assert ("base" in pools.openers, pools.modelled) == (falls_back, ["base"] * is_modelled)
    if falls_back:
        opened = pools.openers["base"]()
        assert (opened.provenance, opened.pools.keys()) == (provenance, market.pools.keys())


def choose(setup: UserSetup, *names: str) -> ServicePools:
    return choose_service_pools(market_opener(setup), NodeOpener(setup), names, warn_of_node=lambda *_: None)
