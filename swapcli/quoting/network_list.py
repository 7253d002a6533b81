"""The known networks, and what the public nodes of one serve."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from swapcli.core.errors import MarketError, MarketUnavailable
from swapcli.core.model.network import Network
from swapcli.core.networks.address import display_address
from swapcli.core.networks.explorer import contract_page
from swapcli.core.records import NamedTuple
from swapcli.payload.router_trust import known_dialects
from swapcli.quoting.config import network_names_from
from swapcli.quoting.openers.program_setup import open_program_sources
from swapcli.quoting.token_list import count_tokens

if TYPE_CHECKING:
    from swapcli.interface.document_types import NetworkDocumentJson, NodeDocumentJson
    from swapcli.quoting.openers.choose_source import SourceChooser
    from swapcli.state.rpc.node_checks import NodeReport


class ListedNetwork(NamedTuple):
    """A network with the number of its tokens that orders can swap; 0 if no pools are known."""

    network: Network
    tokens: int

    @property
    def router(self) -> str | None:
        """The address of its router, as the network writes it; None if it is unknown."""
        network = self.network
        return display_address(network.router, network.kind) if network.router else None

    @property
    def router_page(self) -> str | None:
        """The page of the router in the network's explorer, if it has one."""
        return contract_page(self.network, self.network.router) if self.network.router else None

    def document(self) -> NetworkDocumentJson:
        """Return the network as a row of JSON."""
        network = self.network
        return {
            "name": network.name,
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
    """The networks of the catalogue and of the settings."""

    networks: tuple[ListedNetwork, ...]

    def document(self) -> list[NetworkDocumentJson]:
        """Return the JSON of `swapcli networks`."""
        return [each.document() for each in self.networks]


class NodeReports(NamedTuple):
    """What each of some nodes of a network serves."""

    network: str
    nodes: tuple[NodeReport, ...]

    @property
    def can_quote(self) -> bool:
        """Whether quotes work on any of the nodes."""
        return any(each.can_quote for each in self.nodes)

    def document(self) -> list[NodeDocumentJson]:
        """Return the JSON of `swapcli networks NETWORK --probe`."""
        return [node_document(self.network, each) for each in self.nodes]


def networks(*, everything: bool = False, settings: Mapping[str, object] | SourceChooser | None = None) -> NetworkList:
    """Return the user's networks: those of the interface, of network files and of the settings. Raises `ConfigError`.

    With `everything`, the further networks that come with the program are among them.
    """
    sources = open_program_sources(settings)
    names = network_names_from(sources.setup.settings, everything=everything)
    found = [sources.networks.find(name) for name in names]
    return NetworkList(tuple(ListedNetwork(each, _count_tokens(sources, each)) for each in found))


def probe_nodes(network: str, *, settings: Mapping[str, object] | SourceChooser | None = None) -> NodeReports:
    """Check what each public node of a network serves: its latency, block and limits, and what is missing.

    Raises `UnknownNetwork`, `ConfigError` for an invalid URL. A node that fails raises nothing.
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
        "latency": report.latency_s,
        "block": report.block,
        "blockAge": report.block_age_s,
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
