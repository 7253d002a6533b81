"""Measure one case."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from bench.baselines import Baselines
from bench.optimum.cases import FAMILIES, Case
from bench.optimum.judged import Exactness, Judged, Measured, Times
from bench.optimum.quoting import amount_out, proven_bound, quote_batch
from bench.plan import FEW_PASSES, Plan
from bench.speed.core_time import time_in_core

Rows = dict[int, dict[str, Any]]
Note = Callable[[str], None]

_QUICK_TO_ROUTE = 1_000
"""Generated markets of more pools take the peer a second per order."""

_CONVERGED = 1e-6
"""The residual, as a share of the amount, below which a bound counts as converged."""


def measure_made_up(case: Case, baselines: Baselines, plan: Plan, note: Note) -> Measured:
    """Generate and measure a case. Raises `BenchmarkFailed`."""
    note(f"{case.name}: market and certified optimum")
    baselines.make(case)
    bounds = by_id(baselines.bounds(case))
    note(f"{case.name}: routes")
    plain, certified = quote_batch(case, "routes"), quote_batch(case, "certified", certify=True)
    score = baselines.score(case, plain)
    fine = quote_batch(case, "fine", shares="fine")
    fine_score = baselines.score(case, fine)
    everything = quote_batch(case, "everything", certify=True, all_families=True)
    all_score = baselines.score(case, everything, FAMILIES)
    times = measure_times(case, baselines, plan, note)
    results, proofs = results_of(plain), results_of(certified)
    return Measured(
        case,
        exactness_of(score),
        _judged(case, results, proofs, by_id(score["rows"]), by_id(baselines.peer_rows(case)), bounds),
        times,
        exactness_of(all_score),
        _judged(case, results_of(everything), results_of(everything), by_id(all_score["rows"]), {}, {}),
        all((amount_out(results[key]) or 0) <= (amount_out(proofs[key]) or 0) for key in results),
        exactness_of(fine_score),
        _judged(case, results_of(fine), proofs, by_id(score["rows"]), {}, bounds),
    )


def measure_real(case: Case, baselines: Baselines, plan: Plan, note: Note) -> Measured:
    """Measure exactness, the peer and times of a real case, which has no optimum. Raises `BenchmarkFailed`."""
    note(f"{case.name}: routes")
    plain = quote_batch(case, "routes")
    exactness = exactness_of(baselines.replay(case, plain))
    times = measure_times(case, baselines, plan, note)
    peer = by_id(baselines.peer_rows(case))
    return Measured(case, exactness, _judged(case, results_of(plain), {}, {}, peer, {}), times)


def measure_times(case: Case, baselines: Baselines, plan: Plan, note: Note) -> Times:
    """Time ours and the peer in turn, so that both see the same load."""
    times, passes = Times(), plan.passes if case.pools and case.pools <= _QUICK_TO_ROUTE else FEW_PASSES
    for number in range(plan.rounds):
        note(f"{case.name}: times, round {number + 1} of {plan.rounds}")
        times.ours.append(time_in_core(case, passes))
        times.peer.append([row["median_ms"] for row in baselines.peer(case, passes)["orders"]])
    return times


def results_of(file: Path) -> Rows:
    """Return the results by order from the command's output."""
    return {entry["id"]: entry["result"] for entry in map(json.loads, file.read_text().splitlines())}


def exactness_of(score: dict[str, Any]) -> Exactness:
    """Return the exactness that `score.py` reports."""
    errors = tuple(f"order {order}: {what}" for order, what in score["faults"])
    return Exactness(score["orders"], score["routed"], score["exact"], score["skipped"], errors)


def by_id(rows: Iterable[dict[str, Any]]) -> Rows:
    """Return rows by their order."""
    return {row["id"]: row for row in rows}


def _judged(case: Case, results: Rows, proofs: Rows, scored: Rows, peer: Rows, bounds: Rows) -> tuple[Judged, ...]:
    """Return the orders of a case with the results of all sources."""
    return tuple(
        Judged(
            order=order.id,
            size=order.size,
            out=amount_out(results[order.id]),
            peer_out=peer_out(peer.get(order.id)),
            dual=scored_bound(scored.get(order.id)) or bounds.get(order.id, {}).get("bound"),
            own=proven_bound(proofs[order.id]) if proofs else None,
            known_out=(bounds[order.id]["route_out"] or 0.0) if bounds else 0.0,
            converged=not bounds or bounds[order.id]["residual"] <= _CONVERGED,
        )
        for order in case.read_orders()
    )


def peer_out(row: dict[str, Any] | None) -> float | None:
    """Return the output of the peer's route; None unless it routes the whole order."""
    return float(row["evaluated"]) if row and row["status"] == "Success" and row["evaluated"] else None


def scored_bound(row: dict[str, Any] | None) -> float | None:
    """Return the bound of a gap that `score.py` reports."""
    return row["out"] / (1.0 - row["gap_bps"] / 1e4) if row else None
