"""What every command begins with: settings, output, and what answers: a market in this process, or a service."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from swapcli.cli.files import STDIN, read_file
from swapcli.cli.options import OutputOptions
from swapcli.cli.output import Output, choose_format
from swapcli.config import Secret, Settings, config_file_path, data_folder, load_settings, networks_from, node_url
from swapcli.config.sources import FLAG_ORIGIN
from swapcli.engine.clock import SYSTEM_CLOCK
from swapcli.engine.pool_sources import Holder, check_fresh
from swapcli.engine.sources.quote_source import QuoteSource
from swapcli.errors import InvalidOption, InvalidPoolState, MarketError, UnknownNetwork
from swapcli.model.market import Market
from swapcli.model.network import Kind, Network

if TYPE_CHECKING:
    from swapcli.chain.rpc_node import RpcNode
    from swapcli.markets.format import ParsedMarket
    from swapcli.store import Store

REMOTE_RETRIES = 2
KEYS_FILE = "keys.json"


class Session(NamedTuple):
    """The settings in use and where results go. `rpc_url` is the node that the command line names."""

    settings: Settings
    output: Output
    config_file: Path
    data_dir: Path
    rpc_url: Secret | None = None
    offline: bool = False

    def keys_file(self) -> Path:
        """The file of the API keys that a service here accepts: the settings', else one beside the settings file."""
        return self.settings.service.keys_file or self.config_file.parent / KEYS_FILE

    def api_key(self) -> Secret | None:
        """The API key, from the settings or the file that they name. Raises `InvalidInput` for an unreadable file."""
        if self.settings.api_key is not None or self.settings.api_key_file is None:
            return self.settings.api_key
        key = read_file(str(self.settings.api_key_file)).decode(errors="replace").strip()
        return Secret(key) if key else None

    def network_name(self, name: str | None) -> str:
        """`name`, else the settings' network. Raises `InvalidOption` where there is neither."""
        name = name or self.settings.network
        if name is None:
            raise InvalidOption("no network given", hint="name one, or set SWAPCLI_NETWORK")
        return name

    def network(self, name: str) -> Network:
        """The network called `name`. Raises `UnknownNetwork`."""
        return networks_from(self.settings)(name)

    def chain_id(self, name: str) -> int | None:
        """The chain id of the network called `name`, None where no such network is known."""
        try:
            return self.network(name).chain_id
        except UnknownNetwork:
            return None

    @property
    def service_url(self) -> str | None:
        """The service to ask, None where this process answers: the one decision of that kind.

        Of a service and a market file the one that is given on the command line holds. Raises `InvalidOption` where
        both are given in the same way.
        """
        settings = self.settings
        if self.offline:
            if settings.origin("api_url") == FLAG_ORIGIN:
                raise InvalidOption(
                    "a service is asked over the network, so --offline does not fit --api-url",
                    hint="give one of them",
                )
            return None
        if settings.api_url is None or settings.market is None:
            return settings.api_url
        by_flag = [settings.origin(key) == FLAG_ORIGIN for key in ("api_url", "market")]
        if by_flag[0] == by_flag[1]:
            raise InvalidOption(
                "a service quotes on its own market, so --api-url and --market do not fit together",
                hint="give one of them",
            )
        return settings.api_url if by_flag[0] else None

    def open(self, name: str, *, skip_bad_pools: bool = False, retries: int = REMOTE_RETRIES) -> QuoteSource:
        """What answers orders on the network called `name`. Raises `InvalidInput`, `UnknownNetwork`."""
        url = self.service_url
        if url is None:
            return self._open_here(name, skip_bad_pools)
        if skip_bad_pools:
            raise InvalidOption("a service quotes on its own market, so --skip-bad-pools does not fit --api-url")
        if self.rpc_url is not None:
            raise InvalidOption("a service asks nodes of its own, so --rpc-url does not fit --api-url")
        return self._open_service(url, name, retries)

    def service_networks(self, retries: int = REMOTE_RETRIES) -> tuple[str, ...] | None:
        """Return the names of the networks that the service serves, as far as they are known here; None where no
        service is asked, or it does not list them.

        Raises `UpstreamError` where it gives no proper answer, `UnknownNetwork` where none of its networks is known.
        """
        url = self.service_url
        if url is None:
            return None
        from swapcli.engine.sources.remote import served_networks

        names = served_networks(url, api_key=self.api_key(), timeout_s=self.settings.timeout_s, retries=retries)
        known = None if names is None else tuple(name for name in names if self.chain_id(name) is not None)
        if names and not known:
            raise UnknownNetwork(f"the service serves {', '.join(names)}, of which none is known here")
        return known

    @property
    def stores_folder(self) -> Path:
        """Where the stores are, a file a network."""
        return self.settings.store_dir or self.data_dir

    def store_file(self, name: str) -> Path:
        """The file of the store of the network called `name`."""
        try:
            stem = self.network(name).name
        except UnknownNetwork:
            # Only the store knows it; what is called so may be no name of a file.
            from urllib.parse import quote

            stem = quote(name.lower(), safe="")
        return self.stores_folder / f"{stem}.sqlite"

    def stored(self, name: str) -> Store | None:
        """The store of the network called `name`; None where there is none, or nothing has come into it yet.

        Raises `ConfigError` where it cannot be opened or is of another network, `MarketError` where it is damaged.
        """
        file = self.store_file(name)
        if not _may_exist(file):
            return None
        from swapcli.store import open_store

        store = open_store(str(file), self.network, name)
        if store.register.head() is not None or store.register.counts()[0]:
            return store
        store.close()
        return None

    def node(self, network: Network, report: Callable[[str], object] | None = None) -> RpcNode | None:
        """The node of a network that the command line or the settings name; None where there is none, or offline.

        Where the settings name several, each stands in for the one before it, and `report` (by default a remark) says
        why.

        Raises `ConfigError` for what is not the address of one, `InvalidOption` for a network whose nodes do not speak
        the language of an EVM's.
        """
        if self.offline:
            return None
        if self.rpc_url is not None:
            return self._node_at([self.rpc_url], network, {}, report)
        own = self.settings.networks.get(network.name)
        urls = [url for url in (own.rpc_url, *own.rpc_urls) if url] if own else []
        headers = {name: value.reveal() for name, value in ((own and own.rpc_headers) or {}).items()}
        return self._node_at(urls, network, headers, report) if urls else None

    def any_node(self, network: Network) -> RpcNode:
        """The same, else the public nodes that the catalogue knows, which is remarked on.

        Raises `InvalidOption` also where there is none.
        """
        node = self.node(network)
        if node is not None:
            return node
        setting = f"networks.{network.name}.rpc_url"
        if not network.rpc_urls:
            raise InvalidOption(f"no node of {network.name} is known", hint=f"give --rpc-url, or set {setting}")
        node = self._node_at([node_url(setting, url) for url in network.rpc_urls], network, {})
        self.output.note(
            f"no node of {network.name} is set, so a public one is asked, which may allow little: {node.shown}"
        )
        return node

    def _node_at(
        self,
        urls: Sequence[Secret],
        network: Network,
        headers: Mapping[str, str],
        report: Callable[[str], object] | None = None,
    ) -> RpcNode:
        check_has_nodes(network)
        from swapcli.chain.http_proxy import find_proxy
        from swapcli.chain.rpc_node import RpcEndpoint, RpcNode

        first_url, *others = urls
        # Nodes that are reached over a socket cannot stand in; the first one says so itself.
        urls = [first_url, *(url for url in others if url.reveal().startswith("http"))]
        shown = dict(zip(urls, _distinct([url.shown for url in urls]), strict=True))
        first, *spares = (
            RpcEndpoint(url.reveal(), shown[url], headers, find_proxy(url.reveal(), os.environ)) for url in shown
        )
        return RpcNode(
            first.url,
            shown=first.shown,
            chain_id=network.chain_id,
            timeout_s=self.settings.timeout_s,
            headers=first.headers,
            proxy=first.proxy,
            spares=spares,
            report=report or self.output.note,
        )

    def market(self, name: str, *, skip_bad_pools: bool = False) -> Market:
        """The market of the network called `name`: the settings' market file, else the embedded one.

        Pools that were skipped are remarked on. Raises `InvalidInput` for a file that cannot be used.
        """
        from swapcli.engine.load_market import open_market

        file, networks = self.settings.market, networks_from(self.settings)
        if file is not None:
            return self._read_market(
                lambda document: open_market(name, networks, document=document, skip_bad_pools=skip_bad_pools)
            )
        return open_market(name, networks).market

    def file_market(self, *, skip_bad_pools: bool = False) -> Market | None:
        """The market of the settings' market file, whatever network it is of; None where there is no file."""
        from swapcli.markets.format import parse_market

        networks = networks_from(self.settings)
        if self.settings.market is None:
            return None
        return self._read_market(
            lambda document: parse_market(document, networks=networks, skip_bad_pools=skip_bad_pools)
        )

    def _read_market(self, parse: Callable[[bytes], ParsedMarket]) -> Market:
        file = str(self.settings.market)
        try:
            parsed = parse(read_file(file))
        except MarketError as error:
            raise _in_file(error, file) from None
        for bad in parsed.skipped:
            self.output.note(f"skipped {bad.message}")
        return parsed.market

    def _open_here(self, name: str, skip_bad_pools: bool) -> QuoteSource:
        """A market in this process: as it is kept, or with its pools read from a node."""
        settings = self.settings
        if settings.market is not None and self.rpc_url is not None:
            raise InvalidOption(
                "a market file is quoted on as it is, so --rpc-url does not fit --market", hint="give one of them"
            )
        held = self._holder(name, skip_bad_pools)
        node = self.node(held.network) if settings.market is None else None
        if node is not None:
            from swapcli.engine.sources.live import LiveSource

            max_age_s, ttl_s = settings.max_age_s, settings.route_ttl_s
            return LiveSource(held, node, SYSTEM_CLOCK, max_age_s=max_age_s, route_ttl_s=ttl_s)
        if settings.max_age_s is not None:
            check_fresh(held.state_source, held.network, settings.max_age_s)
        return held

    def _holder(self, name: str, skip_bad_pools: bool) -> Holder:
        """The market file, else the store if there is one, else the embedded market."""
        ttl_s = self.settings.route_ttl_s
        store = self.stored(name) if self.settings.market is None else None
        if store is not None:
            from swapcli.engine.sources.stored import StoreSource

            return StoreSource(store, SYSTEM_CLOCK, route_ttl_s=ttl_s)
        from swapcli.engine.sources.in_memory import MarketSource

        return MarketSource(self.market(name, skip_bad_pools=skip_bad_pools), SYSTEM_CLOCK, route_ttl_s=ttl_s)

    def _open_service(self, url: str, name: str, retries: int) -> QuoteSource:
        from swapcli.engine.sources.remote import RemoteSource

        key, timeout_s = self.api_key(), self.settings.timeout_s
        network = self.network(name)
        return RemoteSource(url, network, SYSTEM_CLOCK, api_key=key, timeout_s=timeout_s, retries=retries)


def _distinct(names: Sequence[str]) -> list[str]:
    """Return the names, those that are alike with numbers behind them."""
    numbered = [f"{name} ({names[:at].count(name) + 1})" for at, name in enumerate(names)]
    return [whole if names.count(name) > 1 else name for name, whole in zip(names, numbered, strict=True)]


def check_has_nodes(network: Network) -> None:
    """Raises `InvalidOption` for a network whose nodes do not speak the language of an EVM's."""
    if network.kind is not Kind.EVM:
        raise InvalidOption(f"{network.name} is no EVM network, and of others no node can be asked")


def open_session(
    output: OutputOptions,
    flags: Mapping[str, object] | None = None,
    *,
    rpc_url: str | None = None,
    offline: bool = False,
) -> Session:
    """Reads the settings: `flags` by setting over environment over file. Raises `ConfigError`, `InvalidOption`."""
    if offline and rpc_url is not None:
        raise InvalidOption("--offline asks no node, so --rpc-url does not fit", hint="give one of them")
    asked_for = Path(output.config) if output.config is not None else None
    settings = load_settings(
        flags={**(flags or {}), "color": output.color}, environ=os.environ, config_path=asked_for, home=home()
    )
    chosen = choose_format(json=output.json, plain=output.plain, table=output.table, default=settings.output)
    return Session(
        settings,
        Output(chosen, settings.color, []),
        config_file_path(asked_for, os.environ, home()),
        data_folder(os.environ, home()),
        None if rpc_url is None else node_url("--rpc-url", rpc_url),
        offline,
    )


def _in_file(error: MarketError, file: str) -> MarketError:
    """The same error, which also names the file, and how to go on without a pool."""
    error.message = f"{'stdin' if file == STDIN else file}: {error.message}"
    if isinstance(error, InvalidPoolState):
        error.hint = "--skip-bad-pools goes on without it"
    return error


def _may_exist(file: Path) -> bool:
    """Is there such a file? Nobody can say where its folder cannot be looked into."""
    try:
        file.stat()
    except PermissionError:
        return True
    except (OSError, ValueError):
        return False
    return True


def home() -> Path:
    """The user's folder; the working directory where the system knows none."""
    folder = os.path.expanduser("~")
    return Path("." if folder == "~" else folder)
