"""All details of one network: its nodes, routers, tokens, protocols and their contracts, and its definition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from swapcli.core.model.network import Deployment, Network, dialect_package
from swapcli.core.networks.address import display_address
from swapcli.core.records import NamedTuple
from swapcli.core.validation.argument_types import checks_arguments
from swapcli.interface.own_document import own_document
from swapcli.quoting.config.network_files import described_by
from swapcli.quoting.config.networks import described_network
from swapcli.quoting.openers.program_setup import open_program_sources

if TYPE_CHECKING:
    from swapcli.interface.document_types import NetworkDetailsJson, VenueJson
    from swapcli.quoting.config import Settings
    from swapcli.quoting.openers.choose_source import SourceChooser


class RouterDetails(NamedTuple):
    """The router of a dialect, or the registry that names the router, with the number of protocols that the router
    executes.

    `protocols` is None if it executes every protocol. `package` is the installed package, with its version, that
    defines the dialect; None for swapcli's own dialects.
    """

    dialect: str
    address: str | None
    registry: str | None
    protocols: int | None
    package: str | None = None


class NetworkDetails(NamedTuple):
    """All details of a network. `described_by` lists where its definition comes from, lowest precedence first: swapcli,
    a file, the settings.

    `nodes` are the addresses of its nodes, without any part that may contain a key. Nodes named by the user come first.
    """

    network: Network
    described_by: tuple[str, ...]
    nodes: tuple[str, ...]

    @property
    def routers(self) -> tuple[RouterDetails, ...]:
        """The routers of all dialects."""
        network = self.network
        known = {**network.routers, network.router_dialect: network.dialect_router}
        return tuple(
            RouterDetails(dialect, each.address, each.registry, len(each.protocols) or None, dialect_package(dialect))
            for dialect, each in known.items()
            if each.address or each.registry
        )

    @own_document
    def document(self) -> NetworkDetailsJson:
        """Return the JSON that `swapcli networks show` prints."""
        network = self.network

        def shown(address: str | None) -> str | None:
            return display_address(address, network.kind) if address else None

        return {
            "name": network.name,
            "kind": network.kind.value,
            "chainId": str(network.chain_id),
            "describedBy": list(self.described_by),
            "native": network.native.symbol,
            "wrappedNative": shown(network.wrapped_native_address),
            "explorer": network.explorer,
            "multicall": shown(network.multicall),
            "blockTimeS": network.block_time_s,
            "nodes": list(self.nodes),
            "routers": [
                {
                    "dialect": each.dialect,
                    "package": each.package,
                    "address": shown(each.address),
                    "registry": shown(each.registry),
                    "protocols": each.protocols,
                }
                for each in self.routers
            ],
            "tokens": [
                {
                    "address": display_address(token.address, network.kind),
                    "symbol": token.symbol,
                    "name": token.name,
                    "decimals": token.decimals,
                }
                for token in network.tokens
            ],
            "protocols": [
                {
                    "protocolId": protocol.id,
                    "protocol": protocol.amm_name,
                    "displayName": protocol.display_name,
                    "family": protocol.family,
                }
                for protocol in network.protocols
            ],
            "venues": [self._venue(each) for each in network.deployments],
            "sources": dict(network.sources),
            "unconfirmed": list(network.unconfirmed),
            "factsDate": network.facts_date or None,
        }

    def _venue(self, deployment: Deployment) -> VenueJson:
        kind = self.network.kind
        return {
            "name": deployment.name,
            "protocols": list(deployment.protocols),
            "addresses": {role: display_address(address, kind) for role, address in deployment.addresses.items()},
            "feeTiers": {str(fee_ppm): spacing for fee_ppm, spacing in deployment.fee_tiers.items()},
            "initCodeHash": deployment.init_code_hash,
            "source": deployment.source,
            "unconfirmed": list(deployment.unconfirmed),
        }


class NetworkDefinition(NamedTuple):
    """A network's definition, in the format of network files."""

    content: dict[str, Any]

    def document(self) -> dict[str, Any]:
        """Return the JSON that `swapcli networks show --file` prints."""
        return self.content


@checks_arguments
def network_details(network: str, *, settings: Mapping[str, object] | SourceChooser | None = None) -> NetworkDetails:
    """Return all details of a network. Raises `UnknownNetwork`, `ConfigError`."""
    sources = open_program_sources(settings)
    found, own = sources.networks.find(network), sources.setup.settings
    return NetworkDetails(found, tuple(described_by(found.name, own)), tuple(_nodes(found, own)))


@checks_arguments
def network_definition(
    network: str, *, settings: Mapping[str, object] | SourceChooser | None = None
) -> NetworkDefinition:
    """Return a network's definition, including additions in the user's files and settings, but without the user's own
    nodes.

    `add_network` accepts the result. Raises `UnknownNetwork`, `ConfigError`.
    """
    from swapcli.core.networks.definition_files import packaged_networks, read_definition
    from swapcli.quoting.network_definition import definition_of

    sources = open_program_sources(settings)
    found = described_network(sources.setup.settings, network)
    content = definition_of(found)
    if found.name in packaged_networks() and (unsafe := read_definition(found.name).get("unconfirmed_tokens")):
        content["unconfirmed_tokens"] = unsafe
    return NetworkDefinition(content)


def _nodes(network: Network, settings: Settings) -> Iterator[str]:
    from swapcli.quoting.live_choice import NodeRules

    rules, own = NodeRules(settings, None, False, {}), settings.networks.get(network.name)
    named = rules.named_nodes(network)
    yield from (url.redacted for url in named.urls) if named else ()
    if own is not None and own.public_rpc_urls:
        yield from (url.redacted for url in own.public_rpc_urls)
    else:
        yield from (node.url for node in network.public_nodes)
