"""The witness of a certificate: its prices and terms by pool and token, for a document that others can check."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from swapcli.core.annotations import TYPE_CHECKING, Final
from swapcli.core.model.proof import (
    BoundKind,
    Direction,
    HopRate,
    ProofGas,
    ProofLeaf,
    ProofParts,
    ProofTerm,
    ProofWitness,
    ProvenBound,
    ProvenLimit,
    ProvenLimits,
)
from swapcli.core.routing.gas import least_swap_gas
from swapcli.core.routing.graph.market_graph import Arc, MarketGraph, Prices

if TYPE_CHECKING:
    from swapcli.core.routing.certificate import OutputProof, PricedBound
    from swapcli.core.routing.dual_terms import ArcTerm
    from swapcli.core.routing.gas_proof.proof import NetProof
    from swapcli.core.routing.search.route_search import SearchResult


_POOLS: Final = "pools"
_GAS: Final = "least gas of each pool"
_RATES: Final = "spot rates"


def build_witness(graph: MarketGraph, result: SearchResult, output: OutputProof, net: NetProof | None) -> ProofWitness:
    """Return the witness of a result's bounds; `graph` has all pools of the market."""
    names, spec = _Names(graph), result.problem.spec
    bounds = [names.bound(BoundKind.OUTPUT, output.output)]
    if output.certificate.acyclic_bound < output.certificate.bound:
        bounds.append(names.bound(BoundKind.ACYCLIC, output.acyclic))
    if net is not None:
        bounds.append(names.net_bound(net))
    counted = {id(arc) for arc in result.problem.graph.arcs()}
    router = spec.router_gas
    shared = next((parts for gas, parts in graph.proof_parts if gas == router), None)
    if shared is None:
        pools = {arc.pool.key: arc.pool for arc in graph.arcs()}
        shared = ProofParts()
        shared[_POOLS] = pools
        shared[_GAS] = {key: least_swap_gas(pool, router) for key, pool in pools.items()}
        shared[_RATES] = {names.direction(arc): arc.rate for arc in graph.arcs()}
        graph.proof_parts.append((router, shared))
    gas = ProofGas(
        unit_value=spec.gas_value,
        base=router.base,
        token_between=router.token_between,
        least_by_pool=shared[_GAS],
        route=result.best.gas_units,
    )
    return ProofWitness(
        bounds=tuple(bounds),
        gas=gas,
        tokens=graph.addresses,
        dust=names.directions(arc for arc in graph.arcs() if id(arc) not in counted),
        spot_rates=shared[_RATES],
        max_hops=spec.max_hops,
        pools=shared[_POOLS],
        shared=shared,
    )


class _Names:
    """Names the tokens and pools of a graph, which identifies them by number."""

    def __init__(self, graph: MarketGraph) -> None:
        self._addresses = graph.addresses

    def direction(self, arc: Arc) -> Direction:
        return Direction(arc.pool.key, self._addresses[arc.token_in], self._addresses[arc.token_out])

    def directions(self, arcs: Iterable[Arc]) -> tuple[Direction, ...]:
        return tuple(sorted(map(self.direction, arcs)))

    def bound(self, kind: BoundKind, found: PricedBound) -> ProvenBound:
        leaf = ProofLeaf((), (), self._prices(found.prices), self._terms(found.terms), found.bound)
        return ProvenBound(kind, found.bound, (leaf,), self.directions(found.excluded))

    def net_bound(self, proof: NetProof) -> ProvenBound:
        addresses = self._addresses
        limits = ProvenLimits(
            self._prices(proof.limits.prices),
            self._terms(proof.limits.terms),
            tuple(ProvenLimit(self._addresses[token], amount, reason) for token, amount, reason in proof.limits.proofs),
        )
        leaves = tuple(
            ProofLeaf(
                self.directions(leaf.used),
                self.directions(leaf.unused),
                {},
                self._terms(leaf.terms),
                leaf.bound,
                tuple((addresses[i], addresses[j]) for i, j in leaf.before),
                tuple(sorted(HopRate(addresses[i], addresses[j], rate) for (i, j), rate in leaf.rates.items())),
                leaf.product,
            )
            for leaf in proof.leaves
        )
        return ProvenBound(BoundKind.NET_OF_GAS, proof.bound, leaves, limits=limits)

    def _prices(self, prices: Prices) -> dict[str, float]:
        return {self._addresses[token]: price for token, price in prices.items()}

    def _terms(self, terms: Sequence[ArcTerm]) -> tuple[ProofTerm, ...]:
        return tuple(
            ProofTerm(
                self.direction(term.arc),
                term.amount_in,
                term.amount_out,
                term.arc.curve.rate(term.amount_in),
                term.value,
            )
            for term in terms
        )
