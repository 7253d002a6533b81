"""Open a market for a program from a service, a file, a store, a node or the package, as its settings say."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from swapcli.core.records import NamedTuple
from swapcli.quoting.openers.choose_source import SourceChooser, open_source_chooser
from swapcli.quoting.openers.program_setup import program_setup
from swapcli.quoting.price_policy import PriceRequest

if TYPE_CHECKING:
    from os import PathLike

    from swapcli.quoting.config import Secret
    from swapcli.quoting.openers.nodes import NodeOpener
    from swapcli.quoting.openers.router_memory import RouterMemory
    from swapcli.quoting.sources.quote_source import QuoteSource


class OpenedMarket(NamedTuple):
    """The parts of an open market. `price_request` is added to what the settings of `nodes` request about prices that
    are not real."""

    source: QuoteSource
    nodes: NodeOpener
    routers: RouterMemory
    price_request: PriceRequest = PriceRequest.NONE


class ProgramMarkets:
    """Opens markets for a program. `settings` override the user's settings; `warn` receives warnings as sentences."""

    def __init__(
        self,
        settings: Mapping[str, object] | None,
        warn: Callable[[str], object] | None,
        *,
        reuse_searches: bool = False,
        block: int | str | None = None,
    ) -> None:
        self._settings, self._warn, self._reuse_searches, self._block = settings or {}, warn, reuse_searches, block

    def open(self, network: str, *, offline: bool) -> OpenedMarket:
        """Open the market that the command line uses. Raises the same errors as `Market.open`."""
        sources = self._sources(offline=offline)
        return _opened(sources.open(network), sources)

    def embedded(self, network: str) -> OpenedMarket:
        """Open the embedded market. Raises the same errors as `Market.embedded`."""
        sources = self._sources()
        return _opened(sources.pools.open_embedded(network), sources, PriceRequest.OFFLINE)

    def from_file(self, path: str | PathLike[str], *, skip_bad_pools: bool) -> OpenedMarket:
        """Open a market file. Raises the same errors as `Market.from_file`."""
        sources = self._sources({"market": os.fspath(path)})
        return _opened(sources.pools.open_file(skip_bad_pools=skip_bad_pools), sources)

    def store(self, network: str, folder: str | PathLike[str] | None) -> OpenedMarket:
        """Open a store. Raises the same errors as `Market.store`."""
        sources = self._sources({} if folder is None else {"store_dir": os.fspath(folder)})
        request = PriceRequest.OFFLINE if sources.nodes.rules.excludes_nodes else PriceRequest.MARKET
        return _opened(sources.pools.open_stored(network), sources, request)

    def live(self, network: str, rpc_url: str | None) -> OpenedMarket:
        """Open a market whose pools are read from a node. Raises the same errors as `Market.live`."""
        from swapcli.quoting.config import node_url

        url = None if rpc_url is None else node_url("rpc_url", rpc_url)
        sources = self._sources({"live": self._settings.get("live", "require")}, rpc_url=url)
        return _opened(sources.open_live(network), sources)

    def service(self, network: str, api_url: str) -> OpenedMarket:
        """Open the market of a service. Raises the same errors as `Market.service`."""
        sources = self._sources({"api_url": api_url})
        return _opened(sources.open_service(network), sources)

    def _sources(
        self, overrides: Mapping[str, object] | None = None, *, offline: bool = False, rpc_url: Secret | None = None
    ) -> SourceChooser:
        settings = {**self._settings, **(overrides or {})}
        return open_source_chooser(
            program_setup(
                settings,
                rpc_url=rpc_url,
                offline=offline,
                reuse_searches=self._reuse_searches,
                block=self._block,
                warn=self._warn,
            )
        )


def _opened(
    source: QuoteSource, sources: SourceChooser, price_request: PriceRequest = PriceRequest.NONE
) -> OpenedMarket:
    return OpenedMarket(source, sources.nodes, sources.networks.routers, price_request)
