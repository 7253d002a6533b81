"""Judge the routes of one case: whether they are exact, and how far from the bound and from the peer."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bench.optimum.bound import ALL_FAMILIES, Bound, Market
from bench.optimum.cases import PEER_RESULTS, Case
from bench.optimum.judged import Exactness, Judged, Measured
from bench.optimum.peer import evaluate, read_routes, run_peer
from bench.optimum.quoting import amount_out, proven_bound, quote_batch
from bench.optimum.score import Score, score

Rows = dict[int, dict[str, Any]]
Note = Callable[[str], None]
Bounds = Mapping[int, Bound]
PeerOutputs = Mapping[int, float | None]
"""The outputs of the peer's routes along the curves, by order; None unless a route spends the whole order."""

_CONVERGED = 1e-6
"""The residual, as a share of the amount, below which a bound counts as converged."""


def measure_made_up(case: Case, note: Note) -> Measured:
    """Judge the routes of a generated case. Raises `BenchmarkFailed`."""
    note(f"{case.name}: bounds")
    document = case.read_document()
    market = Market(document)
    bounds, all_bounds = _bounds(market, case), _bounds(Market(document, ALL_FAMILIES), case)
    note(f"{case.name}: routes")
    results = results_of(quote_batch(case, "routes"))
    proofs = results_of(quote_batch(case, "certified", certify=True))
    fine = results_of(quote_batch(case, "fine", shares="fine"))
    everything = results_of(quote_batch(case, "everything", certify=True, all_families=True))
    return Measured(
        case,
        exactness_of(_replay(case, document, results)),
        _judged(case, results, proofs, peer_outputs(case, market, note), bounds),
        exactness_of(_replay(case, document, everything)),
        _judged(case, everything, everything, {}, all_bounds),
        all((amount_out(results[key]) or 0) <= (amount_out(proofs[key]) or 0) for key in results),
        exactness_of(_replay(case, document, fine)),
        _judged(case, fine, proofs, {}, bounds),
    )


def measure_real(case: Case, note: Note) -> Measured:
    """Judge the routes of a real case, which has no optimum. Raises `BenchmarkFailed`."""
    note(f"{case.name}: routes")
    document, results = case.read_document(), results_of(quote_batch(case, "routes"))
    peer = peer_outputs(case, Market(document), note)
    return Measured(case, exactness_of(_replay(case, document, results)), _judged(case, results, {}, peer, {}))


def time_peer(case: Case, passes: int) -> list[float]:
    """Run the peer over all orders, `passes` times, and return its warm milliseconds by order."""
    return [route.median_ms for route in run_peer(case.market, _peer_file(case), passes=passes)]


def peer_outputs(case: Case, market: Market, note: Note) -> PeerOutputs:
    """Return the outputs of the routes in the peer's last run on the case, or of a new run."""
    file = _peer_file(case)
    if not file.is_file():
        note(f"{case.name}: the peer")
        run_peer(case.market, file)
    return {route.id: paid for route, paid in evaluate(market, case.read_order_rows(), read_routes(file))}


def results_of(file: Path) -> Rows:
    """Return the results by order from the command's output."""
    return {entry["id"]: entry["result"] for entry in map(json.loads, file.read_text().splitlines())}


def exactness_of(found: Score) -> Exactness:
    """Return how many routes are exact."""
    errors = tuple(f"order {order}: {what}" for order, what in found.faults)
    return Exactness(found.orders, len(found.rows), found.exact, found.skipped, errors)


def _peer_file(case: Case) -> Path:
    return case.results(PEER_RESULTS)


def _bounds(market: Market, case: Case) -> Bounds:
    return {each.id: market.bound(each.token_in, each.token_out, each.amount_in) for each in case.read_orders()}


def _replay(case: Case, document: dict[str, Any], results: Rows) -> Score:
    return score(document, case.read_order_rows(), results)


def _judged(case: Case, results: Rows, proofs: Rows, peer: PeerOutputs, bounds: Bounds) -> tuple[Judged, ...]:
    """Return the orders of a case with the results of all sources."""
    return tuple(
        Judged(
            order=order.id,
            size=order.size,
            out=amount_out(results[order.id]),
            peer_out=peer.get(order.id) or None,
            dual=bounds[order.id].bound if bounds else None,
            own=proven_bound(proofs[order.id]) if proofs else None,
            known_out=(bounds[order.id].route_out or 0.0) if bounds else 0.0,
            converged=not bounds or bounds[order.id].residual <= _CONVERGED,
        )
        for order in case.read_orders()
    )
