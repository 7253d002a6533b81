"""List the known networks, and check the features of a network's public nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from swapcli.core.errors import MarketError, MarketUnavailable
from swapcli.core.model.network import Network
from swapcli.core.networks.address import display_address
from swapcli.core.networks.explorer import contract_page
from swapcli.core.plugins import NETWORK_GROUP, Plugin, plugins
from swapcli.core.records import NamedTuple
from swapcli.core.validation.argument_types import checks_arguments
from swapcli.interface.own_document import own_document
from swapcli.payload.router_trust import known_dialects
from swapcli.quoting.config import network_names_from
from swapcli.quoting.openers.program_setup import open_program_sources
from swapcli.quoting.token_list import count_tokens

if TYPE_CHECKING:
    from swapcli.interface.document_types import NetworkDocumentJson, NodeDocumentJson
    from swapcli.quoting.config import Settings
    from swapcli.quoting.openers.choose_source import SourceChooser
    from swapcli.state.rpc.node_checks import NodeReport


class ListedNetwork(NamedTuple):
    """A network with the number of its swappable tokens, 0 if no pools are known.

    `package` is the installed package, with its version, that defines it; None for all other networks.
    """

    network: Network
    tokens: int
    package: str | None = None

    @property
    def router(self) -> str | None:
        """The address of the network's router, as the network writes addresses; None if it is unknown."""
        network = self.network
        return display_address(network.router, network.kind) if network.router else None

    @property
    def router_page(self) -> str | None:
        """The router's page in the network's explorer; None if there is no explorer."""
        return contract_page(self.network, self.network.router) if self.network.router else None

    @own_document
    def document(self) -> NetworkDocumentJson:
        """Return the network as a row of JSON."""
        network = self.network
        return {
            "name": network.name,
            "package": self.package,
            "kind": network.kind.value,
            "chainId": str(network.chain_id),
            "native": network.native.symbol,
            "v2": network.has_v2,
            "tokens": self.tokens,
            "protocols": len(network.protocols),
            "router": self.router,
            "dialects": list(known_dialects(network)),
            "factsDate": network.facts_date,
        }


class NetworkList(NamedTuple):
    """The networks in the catalogue and the settings, and the networks of installed packages that were not imported.

    For a package that was not imported, only the network's name and the package are known, so the other JSON fields are
    absent.
    """

    networks: tuple[ListedNetwork, ...]
    plugins: tuple[Plugin, ...] = ()

    @own_document
    def document(self) -> list[NetworkDocumentJson]:
        """Return the JSON that `swapcli networks` prints."""
        return [*(each.document() for each in self.networks), *map(_unread_document, self.plugins)]


class NodeReports(NamedTuple):
    """The features of several nodes of a network."""

    network: str
    nodes: tuple[NodeReport, ...]

    @property
    def can_quote(self) -> bool:
        """Whether at least one of the nodes can serve quotes."""
        return any(each.can_quote for each in self.nodes)

    @own_document
    def document(self) -> list[NodeDocumentJson]:
        """Return the JSON that `swapcli networks NETWORK --probe` prints."""
        return [node_document(self.network, each) for each in self.nodes]


@checks_arguments
def networks(*, everything: bool = False, settings: Mapping[str, object] | SourceChooser | None = None) -> NetworkList:
    """Return the user's networks: those in the API, in network files and in the settings. Raises `ConfigError`.

    With `everything`, the result includes the other networks that come with the program. The networks of installed
    packages follow in name order. A package is imported only if the settings extend its network.
    """
    sources = open_program_sources(settings)
    own = sources.setup.settings
    names = network_names_from(own, everything=everything)  # first: it may show that a package is to be skipped
    of_packages = {name: each for name, each in plugins(NETWORK_GROUP).items() if name not in own.network_folder.files}
    listed = []
    for name in names:
        network = sources.networks.find(name)
        plugin = of_packages.pop(network.name, None)
        package = plugin.origin if plugin and not _is_whole(own, network.name) else None
        listed.append(ListedNetwork(network, _count_tokens(sources, network), package))
    return NetworkList(tuple(listed), tuple(of_packages.values()))


def _is_whole(settings: Settings, name: str) -> bool:
    """Return whether the settings describe a network in full."""
    own = settings.networks.get(name)
    return own is not None and "chain_id" in own.additions


def _unread_document(plugin: Plugin) -> NetworkDocumentJson:
    """Return the row of a network whose package was not imported."""
    return {
        "name": plugin.name,
        "package": plugin.origin,
        "kind": None,
        "chainId": None,
        "native": None,
        "v2": None,
        "tokens": None,
        "protocols": None,
        "router": None,
        "dialects": None,
        "factsDate": None,
    }


@checks_arguments
def probe_nodes(network: str, *, settings: Mapping[str, object] | SourceChooser | None = None) -> NodeReports:
    """Check each public node of a network: its latency, block, limits and missing features.

    Raises `UnknownNetwork`, `ConfigError` for an invalid URL. A failing node does not raise an error.
    """
    from swapcli.quoting.openers.check_nodes import check_public_nodes

    sources = open_program_sources(settings)
    found = sources.networks.find(network)
    return NodeReports(found.name, check_public_nodes(sources.nodes, found))


def node_document(network: str, report: NodeReport) -> NodeDocumentJson:
    """Return the JSON of a node."""
    return {
        "network": network,
        "node": report.node,
        "healthy": report.can_quote,
        "latencyS": report.latency_s,
        "block": report.block,
        "blockAgeS": report.block_age_s,
        "maxBatchRequests": report.max_batch_requests,
        "maxLogBlocks": report.max_log_blocks,
        "checks": [
            {"name": check.name, "passed": not check.problem, "problem": check.problem} for check in report.checks
        ],
        "missing": [check.name for check in report.missing],
    }


def _count_tokens(sources: SourceChooser, network: Network) -> int:
    """Return the number of tokens that can be swapped; 0 if no pools are known, as before the first sync."""
    try:
        return count_tokens(sources, network.name)
    except (MarketUnavailable, MarketError):
        return 0
