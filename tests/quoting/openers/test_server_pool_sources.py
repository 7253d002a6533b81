"""Where the pools of a service come from."""

from __future__ import annotations

from pathlib import Path

from swapcli.quoting.openers.nodes import NodeOpener
from swapcli.quoting.openers.server_pool_sources import choose_service_pools
from swapcli.state.markets.embedded import embedded_names
from tests.support.openers import market_opener, user_setup


def test_a_service_without_nodes_serves_the_embedded_markets(tmp_path: Path) -> None:
    setup = user_setup(tmp_path)
    markets, nodes = market_opener(setup), NodeOpener(setup)
    pools = choose_service_pools(markets, nodes, (), skip_bad_pools=False, warn_of_node=lambda *_: None)
    assert set(pools.openers) == set(embedded_names())
    assert (pools.followed, pools.check_nodes) == ([], {})
    assert pools.openers["base"]().network.name == "base"
