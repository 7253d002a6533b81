"""Find the addresses behind ENS names and Basenames. A node resolves the names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from swapcli.core.encoding.url import is_http_url
from swapcli.core.errors import ConfigError, InvalidAddress, InvalidOption
from swapcli.core.model.network import Network
from swapcli.core.networks.name_services import NameService, find_name_service
from swapcli.quoting.config import Secret
from swapcli.quoting.openers.nodes import NodeOpener
from swapcli.quoting.openers.router_memory import KnownNetworks

if TYPE_CHECKING:
    from swapcli.state.names import ResolvedName


def resolve_account_name(nodes: NodeOpener, networks: KnownNetworks, name: str, network: Network) -> ResolvedName:
    """Return the address on `network` of an ENS name or Basename, read from a node.

    Raises `InvalidAddress` for a name that has no address or could be deceptive, `InvalidOption` and `ConfigError` if
    no node can resolve it, and `UpstreamError`.
    """
    if not network.kind.traits.has_eth_nodes:
        raise InvalidAddress(f"{name} is not an address, and swapcli does not resolve {network.name} names")
    if nodes.setup.is_offline:
        raise InvalidOption(f"{name} can only be resolved by a node, but --offline uses none", hint="give the address")
    service = find_name_service(name)
    setting = service.setting or f"networks.{service.network}.rpc_url"
    urls, headers = _name_nodes(nodes, networks, service, network)
    if not urls:
        raise InvalidOption(
            f"{service.title} resolves {name} through a node of {service.network}, but none is set",
            hint=f"set {setting} in the settings, or give the address",
            details={"name": name, "setting": setting},
        )
    http_urls = [url for url in urls if is_http_url(url.reveal())]
    if not http_urls:
        raise ConfigError(
            f"{urls[0].redacted} is not an http node: names are resolved over http",
            hint=f"set an http or https address as {setting}",
            details={"key": setting},
        )
    from swapcli.state.names import resolve_name

    with closing(nodes.connector.connect_eth(http_urls, service.chain_id, headers)) as node:
        return resolve_name(node, service, name, network.chain_id)


def _name_nodes(
    nodes: NodeOpener, networks: KnownNetworks, service: NameService, network: Network
) -> tuple[Sequence[Secret], Mapping[str, str]]:
    """Return the nodes that resolve a naming service's names, and the headers of requests to them."""
    own = nodes.setup.settings.names_rpc_url if service.setting else None
    if own is not None:
        return [own], {}
    # --rpc-url is a node of the order's network.
    uses_option = network.name == service.network
    named = nodes.rules.named_nodes(networks.find(service.network), uses_option=uses_option)
    return (named.urls, named.headers) if named else ((), {})
