"""Open sources that quote on known pools, from a market file, a store or the embedded market."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swapcli.core.errors import InvalidOption
from swapcli.quoting.openers.markets import MarketOpener
from swapcli.state.clock import SYSTEM_CLOCK

if TYPE_CHECKING:
    from swapcli.core.model.market import MarketState
    from swapcli.core.routing.search_memory import SearchMemory
    from swapcli.quoting.sources.quote_source import PoolSource
    from swapcli.state.store import Store


class PoolSourceOpener:
    """The opener of sources that quote on the markets of `markets`. They read no node."""

    def __init__(self, markets: MarketOpener) -> None:
        self._markets = markets

    def open_known(self, name: str) -> PoolSource:
        """Return the source that quotes on the store of the network called `name`, otherwise on its embedded market.

        If there is neither, the source finds the pools of each order once it has a node.
        """
        store = self._markets.find_quotable_store(name)
        if store is not None:
            return self._over_store(store)
        return self.open_embedded(name) if self._markets.has_embedded(name) else self.open_finding(name)

    def open_finding(self, name: str) -> PoolSource:
        """Return the source that finds the pools of each order on the network called `name`."""
        from swapcli.quoting.sources.found_pools import FoundPoolSource
        from swapcli.state.found_pools_file import FoundPoolsFile

        setup, network = self._markets.setup, self._markets.networks.find(name)
        return FoundPoolSource(
            network,
            FoundPoolsFile(setup.stores_folder, network, SYSTEM_CLOCK.now_s),
            SYSTEM_CLOCK,
            why_no_node=lambda: setup.node_rules.explain_missing_pools(network),
            route_ttl_s=setup.settings.route_ttl_s,
            memory=self._new_memory(),
        )

    def open_embedded(self, name: str) -> PoolSource:
        """Return the source that quotes on the embedded market of the network called `name`. Raises the same errors as
        `MarketOpener.embedded_market`."""
        return self.over_market(self._markets.embedded_market(name))

    def open_without_pools(self, name: str) -> PoolSource:
        """Return a source with the tokens and contracts of the network called `name`, and without pools."""
        return self.over_market(self._markets.without_pools(name))

    def open_file(self, *, skip_bad_pools: bool = False) -> PoolSource:
        """Return the source that quotes on the market file in the settings, whatever its network.

        Raises the same errors as `MarketOpener.file_market` and `check_age`.
        """
        market = self._markets.file_market(skip_bad_pools=skip_bad_pools)
        if market is None:
            raise InvalidOption("no market file is set", hint="name one")
        return self.check_age(self.over_market(market))

    def open_stored(self, name: str) -> PoolSource:
        """Return the source that quotes on the store of the network called `name`. Raises the same errors as
        `MarketOpener.open_store` and `check_age`."""
        return self.check_age(self._over_store(self._markets.open_store(name)))

    def over_market(self, market: MarketState) -> PoolSource:
        """Return the source that quotes on a market in memory."""
        from swapcli.quoting.sources.in_memory import InMemorySource

        route_ttl_s = self._markets.setup.settings.route_ttl_s
        return InMemorySource(market, SYSTEM_CLOCK, route_ttl_s=route_ttl_s, memory=self._new_memory())

    def check_age(self, source: PoolSource) -> PoolSource:
        """Return `source` unchanged. Raises `MarketUnavailable` if its state is older than the settings allow."""
        max_age_s = self._markets.setup.settings.max_age_s
        if max_age_s is not None:
            from swapcli.quoting.sources.freshness import check_fresh

            check_fresh(source.state_source, source.network, max_age_s)
        return source

    def _over_store(self, store: Store) -> PoolSource:
        from swapcli.quoting.sources.stored import StoreSource

        route_ttl_s = self._markets.setup.settings.route_ttl_s
        return StoreSource(store, SYSTEM_CLOCK, route_ttl_s=route_ttl_s, memory=self._new_memory())

    def _new_memory(self) -> SearchMemory | None:
        if not self._markets.setup.reuses_searches:
            return None
        from swapcli.core.routing.search_memory import SearchMemory

        return SearchMemory()
