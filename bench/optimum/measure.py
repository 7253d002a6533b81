"""Judge the routes of one case: exact or not, and how far from the bound and from the peer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from bench.optimum.bound import Bound, Market
from bench.optimum.cases import CURVES_OF_THE_PEER, FAMILIES, Case
from bench.optimum.judged import Exactness, Judged, Measured
from bench.optimum.peer import peer_rows, run_peer
from bench.optimum.quoting import amount_out, proven_bound, quote_batch
from bench.optimum.score import Score, score

Rows = dict[int, dict[str, Any]]
Note = Callable[[str], None]
Bounds = Mapping[int, Bound]

PEER_FLOWS, PEER_BUDGET_S = 100, 120

_CONVERGED = 1e-6
"""The residual, as a share of the amount, below which a bound counts as converged."""


def measure_made_up(case: Case, note: Note) -> Measured:
    """Judge the routes of a generated case. Raises `BenchmarkFailed`."""
    note(f"{case.name}: bounds")
    document = case.read_document()
    market = Market(document, families=CURVES_OF_THE_PEER)
    bounds, all_bounds = _bounds(market, case), _bounds(Market(document, families=FAMILIES), case)
    note(f"{case.name}: routes")
    results = results_of(quote_batch(case, "routes"))
    proofs = results_of(quote_batch(case, "certified", certify=True))
    fine = results_of(quote_batch(case, "fine", shares="fine"))
    everything = results_of(quote_batch(case, "everything", certify=True, all_families=True))
    return Measured(
        case,
        exactness_of(_replay(case, document, results)),
        _judged(case, results, proofs, peer_routes(case, market, note), bounds),
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
    peer = peer_routes(case, Market(document, families=CURVES_OF_THE_PEER), note)
    return Measured(case, exactness_of(_replay(case, document, results)), _judged(case, results, {}, peer, {}))


def time_peer(case: Case, passes: int) -> list[float]:
    """Run the peer over all orders, `passes` times, and return its warm milliseconds by order."""
    outcome = run_peer(case.market, _peer_file(case), flows=PEER_FLOWS, passes=passes, budget_s=PEER_BUDGET_S)
    return [row["median_ms"] for row in outcome["orders"]]


def peer_routes(case: Case, market: Market, note: Note) -> Rows:
    """Return the routes of the peer's last run on the case, or of one now, valued along the pools' curves."""
    file = _peer_file(case)
    if not file.is_file():
        note(f"{case.name}: the peer")
        time_peer(case, 1)
    return by_id(peer_rows(market, case.read_order_rows(), json.loads(file.read_bytes())))


def results_of(file: Path) -> Rows:
    """Return the results by order from the command's output."""
    return {entry["id"]: entry["result"] for entry in map(json.loads, file.read_text().splitlines())}


def exactness_of(found: Score) -> Exactness:
    """Return how many routes are exact."""
    errors = tuple(f"order {order}: {what}" for order, what in found.faults)
    return Exactness(found.orders, found.routed, found.exact, found.skipped, errors)


def by_id(rows: Iterable[dict[str, Any]]) -> Rows:
    """Return rows by their order."""
    return {row["id"]: row for row in rows}


def peer_out(row: dict[str, Any] | None) -> float | None:
    """Return the output of the peer's route; None unless it routes the whole order."""
    return float(row["evaluated"]) if row and row["status"] == "Success" and row["evaluated"] else None


def _peer_file(case: Case) -> Path:
    return case.results("tines")


def _bounds(market: Market, case: Case) -> Bounds:
    return {each.id: market.bound(each.token_in, each.token_out, each.amount_in) for each in case.read_orders()}


def _replay(case: Case, document: dict[str, Any], results: Rows) -> Score:
    return score(document, case.read_order_rows(), results, None)


def _judged(case: Case, results: Rows, proofs: Rows, peer: Rows, bounds: Bounds) -> tuple[Judged, ...]:
    """Return the orders of a case with the results of all sources."""
    return tuple(
        Judged(
            order=order.id,
            size=order.size,
            out=amount_out(results[order.id]),
            peer_out=peer_out(peer.get(order.id)),
            dual=bounds[order.id].bound if bounds else None,
            own=proven_bound(proofs[order.id]) if proofs else None,
            known_out=(bounds[order.id].route_out or 0.0) if bounds else 0.0,
            converged=not bounds or bounds[order.id].residual <= _CONVERGED,
        )
        for order in case.read_orders()
    )
