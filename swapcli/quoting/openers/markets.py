"""Open markets and stores: market files, the stores' folder, and the markets that come with the program."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from swapcli.core.errors import ConfigError, InvalidPoolState, MarketError, UnknownNetwork
from swapcli.core.model.network import AUTO, Network
from swapcli.quoting.config.loader import ARGUMENT_ORIGIN
from swapcli.quoting.config.source_readers import FLAG_ORIGIN
from swapcli.quoting.openers.router_memory import KnownNetworks
from swapcli.quoting.openers.user_setup import UserSetup, may_exist

if TYPE_CHECKING:
    from swapcli.core.model.market import MarketState, ParsedMarket
    from swapcli.state.store import Store

STDIN = "-"
"""The name of a market file that is read from stdin."""
_LARGE_BYTES = 4 << 20  # about 4,000 pools, whose JSON takes ten times as long as starting Python


class MarketOpener:
    """The opener of the `networks`' markets and stores, according to the settings."""

    def __init__(self, setup: UserSetup, networks: KnownNetworks) -> None:
        self.setup = setup
        self.networks = networks

    def market(self, name: str, *, skip_bad_pools: bool = False) -> MarketState:
        """Return the market of the network called `name`: the market file in the settings, otherwise the embedded
        market.

        Warns about skipped pools. Raises `InvalidInput` for an invalid file.
        """
        from swapcli.quoting.open_market import open_market

        find = self.networks.find
        if self.setup.settings.market is not None:
            return self._read_market(
                lambda document: open_market(name, find, document=document, skip_bad_pools=skip_bad_pools)
            )
        return open_market(name, find).market

    def embedded_market(self, name: str) -> MarketState:
        """Return the embedded market of the network called `name`. Raises `UnknownNetwork`, `MarketUnavailable`."""
        from swapcli.quoting.open_market import open_market

        return open_market(name, self.networks.find).market

    def has_embedded(self, name: str) -> bool:
        """Return whether the network called `name` has an embedded market. Raises `UnknownNetwork`."""
        from swapcli.state.markets.embedded import embedded_names

        return self.networks.find(name).name in embedded_names()

    def file_market(self, *, skip_bad_pools: bool = False) -> MarketState | None:
        """Return the market in the market file, whatever its network, or None if no file is set.

        Warns and raises the same errors as `market`.
        """
        if self.setup.settings.market is None:
            return None
        from swapcli.state.markets.format import parse_market

        find = self.networks.find
        return self._read_market(lambda document: parse_market(document, networks=find, skip_bad_pools=skip_bad_pools))

    def without_pools(self, name: str) -> MarketState:
        """Return a market of the network called `name` with the tokens in the catalogue and the settings, without
        pools."""
        from swapcli.core.model.market import MarketState, Provenance

        network = self.networks.find(name)
        tokens = {token.address: token for token in network.tokens}
        return MarketState(network, tokens, {}, Provenance.RECORDED, "the settings", network.gas_price_wei)

    def _read_market(self, parse: Callable[[bytes], ParsedMarket]) -> MarketState:
        file = str(self.setup.settings.market)
        content = self.setup.read(file)
        if len(content) >= _LARGE_BYTES and file != STDIN:
            self.setup.warn(
                f"every command parses {file} ({len(content) >> 20} MiB); swapcli market import {file} stores its "
                "pools, so that later quotes start faster"
            )
        try:
            parsed = parse(content)
        except MarketError as error:
            error.place = "stdin" if file == STDIN else file
            if isinstance(error, InvalidPoolState) and error.hint is None:
                error.hint = "swapcli market import FILE --skip-bad-pools stores the others"
            raise
        for bad in parsed.skipped:
            self.setup.warn(f"skipped {bad.message}")
        return parsed.market._replace(network=self._with_named_router(parsed.market.network))

    def _with_named_router(self, network: Network) -> Network:
        """Return a network with the router from the settings, which do not apply to a network that only a file or a
        store has."""
        dialect = self.setup.settings.router_dialect
        return network if dialect == AUTO else network.for_dialect(dialect)

    def store_file(self, name: str) -> Path:
        """Return the path of the store of the network called `name`."""
        try:
            stem = self.networks.find(name).name
        except UnknownNetwork:
            # Only the store may know the network, and the network's name may not be a valid file name.
            from urllib.parse import quote

            stem = quote(name.lower(), safe="")
        return self.setup.stores_folder / f"{stem}.sqlite"

    def store_files(self) -> list[Path]:
        """Return the paths of all stores in alphabetical order. Raises `ConfigError` in the same cases as
        `find_store`."""
        self._check_named_folder()
        return sorted(self.setup.stores_folder.glob("*.sqlite"))

    def find_store(self, name: str) -> Store | None:
        """Open the store of the network called `name`. Return None if there is none, or if it has no pools.

        Raises `ConfigError` if it cannot be opened or belongs to another network, or if the user has named a folder
        that does not exist; `MarketError` if it is damaged.
        """
        self._check_named_folder()
        file = self.store_file(name)
        if not may_exist(file):
            return None
        from swapcli.state.store import open_store

        store = open_store(str(file), self.networks.find, name)
        if store.inventory.has_pools():
            store.network = self._with_named_router(store.network)
            return store
        store.close()
        return None

    def find_quotable_store(self, name: str) -> Store | None:
        """Return the same for quotes, which must not show amounts that contradict the user's definition of a token.

        Raises `ConfigError` if the store has other decimals, which come from the chain.
        """
        store = self.find_store(name)
        if store is None:
            return None
        from swapcli.core.networks.catalogue import own_tokens
        from swapcli.core.networks.token_facts import TokenFacts, check_token_facts

        own = {token.address: token for token in own_tokens(store.network)}
        for stored in store.tokens_at(own).values() if own else ():
            facts = TokenFacts(stored.decimals, stored.symbol)
            try:
                check_token_facts(store.network, own[stored.address], facts, checks_symbol=False)
            except ConfigError:
                store.close()
                raise
        return store

    def open_store(self, name: str) -> Store:
        """Open the store of the network called `name`. Raises the same errors as `find_store`, and `ConfigError` if
        there is none."""
        store = self.find_store(name)
        if store is not None:
            return store
        from swapcli.state.store import open_store

        # For an unknown network, this raises a clearer error.
        return open_store(str(self.store_file(self.networks.find(name).name)), self.networks.find, name)

    def create_store(self, network: Network) -> Store:
        """Open the store of a network, and create it and its folder if necessary.

        Raises `ConfigError` if that fails or the store belongs to another network, and `MarketError` if it is damaged.
        """
        from swapcli.state.store import create_store

        file = self.store_file(network.name)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise ConfigError(
                f"cannot create the folder {file.parent}: {reason}",
                hint="use --store to name a folder that you can write to",
                details={"folder": str(file.parent)},
            ) from None
        return create_store(str(file), network, self.networks.find)

    def _check_named_folder(self) -> None:
        """Raise `ConfigError` if this call names a folder of stores that does not exist: it is mistyped.

        A folder in the settings may not exist before the first sync.
        """
        settings = self.setup.settings
        folder = settings.store_dir
        is_named = settings.origin("store_dir") in (FLAG_ORIGIN, ARGUMENT_ORIGIN)
        if folder is not None and is_named and not folder.is_dir():
            raise ConfigError(
                f"no such folder: {folder}",
                hint=f"swapcli sync NETWORK --store {folder} creates it",
                details={"folder": str(folder)},
            )
