"""The variants of routers that simulations have found, and the networks with these variants applied."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from swapcli.core.errors import UnknownNetwork
from swapcli.core.model.network import Network
from swapcli.payload.dialects import has_variants
from swapcli.quoting.config import Settings, networks_from
from swapcli.quoting.openers.user_setup import may_exist

if TYPE_CHECKING:
    from swapcli.core.model.router_findings import RouterFindings
    from swapcli.state.agreements_file import AgreementsFile
    from swapcli.state.router_findings_file import RouterFindingsFile

_FILE: Final = "router-readings.json"


class RouterMemory:
    """The memory of how routers interpret their calls, as shown by simulations. It is a file in the stores' folder."""

    def __init__(self, stores_folder: Path) -> None:
        self._path = stores_folder / _FILE

    def file(self) -> RouterFindingsFile:
        """Return the file, to which findings can be added."""
        from swapcli.state.router_findings_file import RouterFindingsFile

        return RouterFindingsFile(self._path)

    def agreements(self) -> AgreementsFile:
        """Return the file, in the same folder, that records when a swap of each protocol last matched its quote."""
        from swapcli.state.agreements_file import AgreementsFile

        return AgreementsFile(self._path.parent)

    def findings(self, network: Network) -> RouterFindings:
        """Return what is known about how a network's router interprets calls. It is empty if the hash of the router's
        code is unknown."""
        from swapcli.core.model.router_findings import NO_FINDINGS

        return self._load(network) if network.router_code_hash else NO_FINDINGS

    def with_variant(self, network: Network) -> Network:
        """Return the network with the router variant that simulations have found."""
        if not self._may_know(network):
            return network
        findings = self._load(network)
        if not findings.protocols:
            return network
        return network._replace(router_variant=findings.variant(), router_code_hash=findings.code_hash)

    def _load(self, network: Network) -> RouterFindings:
        from swapcli.core.model.router_findings import NO_FINDINGS

        if network.router is None or not self._may_know(network):
            return NO_FINDINGS
        return self.file().load(network.chain_id, network.router)

    def _may_know(self, network: Network) -> bool:
        return network.router is not None and has_variants(network) and may_exist(self._path)


class KnownNetworks:
    """The networks in the catalogue and the settings, with the router variants found earlier."""

    def __init__(self, settings: Settings, routers: RouterMemory) -> None:
        self.routers = routers
        self._settings = settings

    def find(self, name: str) -> Network:
        """Return the network called `name`, which is a name or a chain id. Raises `UnknownNetwork`."""
        return self.routers.with_variant(self._find(name))

    @cached_property
    def _find(self) -> Callable[[str], Network]:
        return networks_from(self._settings)

    def chain_id(self, name: str) -> int | None:
        """Return the chain id of the network called `name`, or None for an unknown network."""
        try:
            return self.find(name).chain_id
        except UnknownNetwork:
            return None
