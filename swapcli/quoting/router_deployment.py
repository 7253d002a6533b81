"""The transaction that deploys a router contract of one's own, by the name of its network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from swapcli.quoting.openers.program_setup import open_program_sources

if TYPE_CHECKING:
    from swapcli.payload.evm.router import RouterDeployment
    from swapcli.quoting.openers.choose_source import SourceChooser


def router_deployment(
    network: str, *, settings: Mapping[str, object] | SourceChooser | None = None
) -> RouterDeployment:
    """Return the transaction that deploys the router contract on a network. It is not signed or sent.

    Raises `UnknownNetwork`, `ConfigError` if the network lacks an address that the contract needs.
    """
    from swapcli.payload.evm.router import build_deployment

    return build_deployment(open_program_sources(settings).networks.find(network))
