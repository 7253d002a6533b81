"""Build the transaction that deploys your own router contract."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from swapcli.core.records import NamedTuple
from swapcli.core.validation.argument_types import checks_arguments
from swapcli.interface.own_document import own_document
from swapcli.quoting.openers.program_setup import open_program_sources

if TYPE_CHECKING:
    from swapcli.interface.document_types import DeploymentJson
    from swapcli.payload.evm.router import RouterDeployment
    from swapcli.quoting.openers.choose_source import SourceChooser


class DeploymentPayload(NamedTuple):
    """The transaction that deploys the router contract on a network. It has no recipient address."""

    network: str
    transaction: RouterDeployment

    @own_document
    def document(self) -> DeploymentJson:
        """Return the JSON that `swapcli router deploy-payload` prints."""
        chain_id, calldata, value = self.transaction
        return {"network": self.network, "chainId": chain_id, "value": str(value), "calldata": calldata}


@checks_arguments
def router_deployment(
    network: str, *, settings: Mapping[str, object] | SourceChooser | None = None
) -> DeploymentPayload:
    """Return the transaction that deploys the router contract on a network. It is neither signed nor sent.

    Raises `UnknownNetwork`, `ConfigError` if the network lacks an address that the contract needs.
    """
    from swapcli.payload.evm.router import build_deployment

    found = open_program_sources(settings).networks.find(network)
    return DeploymentPayload(found.name, build_deployment(found))
