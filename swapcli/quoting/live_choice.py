"""Decide which nodes quotes read, and how messages describe the nodes. The order of precedence is defined only here.

`--offline` excludes all nodes. Otherwise the node of the option `--rpc-url` comes first. If the setting `live` is
`never`, there are no others. Otherwise, the nodes in the settings follow, then the node in `ETH_RPC_URL` if it belongs
to the network, and finally the network's public nodes in the catalogue.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import Enum, auto
from pathlib import Path
from typing import Final

from swapcli.core.errors import ConfigError, InvalidOption
from swapcli.core.model.live_and_check_modes import LiveMode
from swapcli.core.model.network import Network
from swapcli.core.model.units import DAY_S
from swapcli.core.records import NamedTuple
from swapcli.quoting.config import Secret, Settings, node_url
from swapcli.quoting.config.settings import NETWORKS, variable_of
from swapcli.quoting.price_policy import PriceRequest
from swapcli.state.environment import variable

ETH_RPC_URL: Final = "ETH_RPC_URL"
"""The environment variable in which Foundry's tools expect a node of any network."""

_HOSTS: Final = "hosts"
_MAX_HOSTS: Final = 100  # that are remembered


class NodeOrigin(Enum):
    """The place where a node was named: an option, a setting, an environment variable or the catalogue."""

    OPTION = auto()
    SETTINGS = auto()
    VARIABLE = auto()
    CATALOGUE = auto()


class NodeChoice(NamedTuple):
    """The nodes of one network, in the order in which to try them, and the headers for requests to them.

    Nodes whose `origin` is `VARIABLE` may belong to a different network. If the variable's value is not a node URL,
    `urls` is empty. Other tools use the variable as well, so a wrong value never stops a command.
    """

    origin: NodeOrigin
    urls: tuple[Secret, ...]
    headers: Mapping[str, str]


class NodeRules(NamedTuple):
    """The options, settings and environment variables that concern nodes."""

    settings: Settings
    rpc_url: Secret | None
    is_offline: bool
    environ: Mapping[str, str]

    @property
    def excludes_nodes(self) -> bool:
        """Return whether quotes must not read a node, and must use stored or modelled state instead."""
        return self.is_offline or (self.rpc_url is None and self.settings.live is LiveMode.NEVER)

    @property
    def requires_node(self) -> bool:
        """Return whether a quote is an error if no node can be read."""
        return not self.is_offline and self.settings.live is LiveMode.REQUIRE

    @property
    def price_request(self) -> PriceRequest:
        """How the user requested prices that are not real, for `quoting.price_policy`."""
        if self.excludes_nodes:
            return PriceRequest.OFFLINE
        return PriceRequest.NONE if self.settings.market is None else PriceRequest.MARKET

    def why_no_node(self) -> str:
        """Return the end of a sentence that explains why there is no node."""
        if self.is_offline:
            return "--offline is set"
        if self.excludes_nodes:
            return "the setting `live` is `never`"
        return "none is set"

    def hint_without_node(self, network: Network) -> str:
        """Return the hint for an error about a network without a node. The hint fits the reason that `why_no_node`
        returns."""
        return "remove --offline" if self.is_offline else missing_node_hint(network)

    def explain_missing_pools(self, network: Network) -> tuple[str, str]:
        """Return the reason why the network's pools cannot be listed from a node, as the end of a sentence, and a
        hint."""
        if not self.excludes_nodes and any(choice.urls for choice in self.quoted_nodes(network)):
            return "no node responds", own_node_hint(network)
        return f"no node is read: {self.why_no_node()}", self.hint_without_node(network)

    def named_nodes(self, network: Network, *, uses_option: bool = True) -> NodeChoice | None:
        """Return the nodes that the user has named for a network; None if there are none, or if nodes are excluded."""
        if self.is_offline:
            return None
        if self.rpc_url is not None and uses_option:
            return NodeChoice(NodeOrigin.OPTION, (self.rpc_url,), {})
        own = self.settings.networks.get(network.name)
        urls = tuple(url for url in (own.rpc_url, *(own.rpc_urls or ())) if url) if own else ()
        in_file = (node_url(f"{NETWORKS}.{network.name}.rpc_urls", url) for url in network.own_nodes)
        urls = tuple(dict.fromkeys([*urls, *in_file]))
        headers = {name: value.reveal() for name, value in ((own and own.rpc_headers) or {}).items()}
        return NodeChoice(NodeOrigin.SETTINGS, urls, headers) if urls else None

    def quoted_nodes(self, network: Network) -> Iterator[NodeChoice]:
        """Yield the nodes that quotes may read, in order. Each is tried if the previous one belongs to a different
        network."""
        if self.excludes_nodes:
            return
        named = self.named_nodes(network)
        if named is not None:
            yield named
            return
        named_by_variable = variable(self.environ, ETH_RPC_URL).strip()
        if named_by_variable and network.kind.traits.has_eth_nodes:
            try:
                urls: tuple[Secret, ...] = (node_url(ETH_RPC_URL, named_by_variable),)
            except ConfigError:
                urls = ()
            yield NodeChoice(NodeOrigin.VARIABLE, urls, {})
        public = self.public_nodes(network)
        if public is not None:
            yield public

    def public_nodes(self, network: Network) -> NodeChoice | None:
        """Return a network's public nodes; None if none are known."""
        urls = tuple(node_url(f"{NETWORKS}.{network.name}.rpc_url", node.url) for node in network.public_nodes)
        return NodeChoice(NodeOrigin.CATALOGUE, urls, {}) if urls else None


def node_variable(name: str) -> str:
    """Return the name of the environment variable that sets the node of the network called `name`."""
    return variable_of(f"{NETWORKS}.{name}.rpc_url")


def own_node_hint(network: Network, option: str = "--rpc-url") -> str:
    """Return a hint on how to set a node for a network. `option` is the option that takes the node's URL."""
    return f"give {option} URL, or set {node_variable(network.name)}"


def missing_node_hint(network: Network, option: str = "--rpc-url") -> str:
    """Return a hint on how to set a node for a network, with a public node's URL as the example. `option` is the option
    that takes the URL."""
    ways = own_node_hint(network, option)
    return f"{ways}; a public node is {network.public_nodes[0].url}" if network.public_nodes else ways


def no_known_node(network: Network) -> InvalidOption:
    """Return the error for a network for which neither the user nor the catalogue names a node."""
    return InvalidOption(f"no node is known for {network.name}", hint=missing_node_hint(network))


class NamedHosts:
    """A file that records when each public host was last shown to the user. Each host is shown once a day.

    If the file cannot be written, every run shows the hosts.
    """

    def __init__(self, path: Path, now_s: Callable[[], float]) -> None:
        self._path, self._now_s = path, now_s
        self._named: set[str] = set()

    def is_new(self, host: str) -> bool:
        """Return whether a host has to be shown now, and record that it was shown."""
        if host in self._named:
            return False
        from swapcli.state.remembered_json import read_json_file, write_json_file

        self._named.add(host)
        now_s = int(self._now_s())
        saved = read_json_file(self._path, _HOSTS)
        recent = {name: at for name, at in saved.items() if isinstance(at, int) and 0 <= now_s - at < DAY_S}
        if host in recent:
            return False
        write_json_file(self._path, _HOSTS, dict([*recent.items(), (host, now_s)][-_MAX_HOSTS:]))
        return True
