"""Remember between runs how routers read their calls: learned from simulations, checked against the routers' code."""

from __future__ import annotations

from swapcli.core.model.network import Network
from swapcli.core.model.router_findings import NO_FINDINGS, RouterFindings
from swapcli.core.model.router_variant import DEFAULT_VARIANT
from swapcli.core.networks.address import hash_code
from swapcli.core.records import NamedTuple
from swapcli.payload.checks.presign_checks import PayloadCheck
from swapcli.payload.payloads_by_variant import ReadPayload, RoutePayloads
from swapcli.state.router_findings_file import RouterFindingsFile
from swapcli.state.rpc.node import StateOverrideNode


class VariantMemory(NamedTuple):
    """Findings about routers, kept in a file. A router's findings are valid for its current code."""

    file: RouterFindingsFile

    def learn(self, node: StateOverrideNode, variants: RoutePayloads, checked: PayloadCheck, now_s: int) -> None:
        """Remember the results of the simulation in `checked`, if there are any. Raises `UpstreamError`."""
        if not checked.proven or checked.simulation is None:
            return
        block = checked.simulation.block
        new = variants.findings_from(checked.proven, block, now_s)
        code_hash = _code_hash(node, variants.network, block)
        known = variants.findings if variants.findings.code_hash == code_hash else RouterFindings(code_hash)
        self._save(variants.network, known.with_findings(new))

    def without_stale(self, node: StateOverrideNode, variants: RoutePayloads) -> ReadPayload | None:
        """Forget the findings about a router whose code has changed, and return the payload for the default variant.

        Return None if the code has not changed, or there are no findings. Raises `UpstreamError`.
        """
        block = node.read_head().block.number
        if not variants.findings.protocols or variants.findings.code_hash == _code_hash(node, variants.network, block):
            return None
        self._save(variants.network, NO_FINDINGS)
        return ReadPayload(DEFAULT_VARIANT, variants.build(DEFAULT_VARIANT))

    def _save(self, network: Network, findings: RouterFindings) -> None:
        self.file.save(network.chain_id, network.router or "", findings)


def _code_hash(node: StateOverrideNode, network: Network, block: int) -> str:
    return hash_code(node.read_account(network.router or "", block).code)
