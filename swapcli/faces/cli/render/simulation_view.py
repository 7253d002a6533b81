"""Add advice, the deadline, and the results of a simulation and its verdict to the facts of a view."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from swapcli.core.encoding.text import printable
from swapcli.core.model.number_format import format_time
from swapcli.core.model.transaction import deadline_of, describe_enforcer
from swapcli.faces.cli.render.payload_view import PayloadView, format_amount
from swapcli.faces.cli.render.quote_facts import Fact
from swapcli.interface.slippage import format_percent

if TYPE_CHECKING:
    from swapcli import SlippageAdvice
    from swapcli.payload.verdict.verdict import Verdict
    from swapcli.quoting.prepared_payload import BuiltPayload


def with_simulation(view: PayloadView, built: BuiltPayload) -> PayloadView:
    """Return the view with the simulation's result and the verdict after its facts."""
    return replace(view, facts=(*view.facts, *_facts(built), *_verdict_facts(built.verdict)))


def with_advice(view: PayloadView, advice: SlippageAdvice | None) -> PayloadView:
    """Return the view with the recommended slippage after its facts, if there is a recommendation."""
    if advice is None:
        return view
    fact = Fact("Advised slippage", f"{format_percent(advice.slippage_ppm)}%", "; ".join(advice.reasons))
    return replace(view, facts=(*view.facts, fact))


def with_deadline(view: PayloadView, built: BuiltPayload) -> PayloadView:
    """Return the view with the deadline of the swap after its facts, if it has one."""
    deadline = deadline_of(built.payload, built.network.router_dialect)
    if deadline.end_s is None:
        return view
    fact = Fact("Deadline", format_time(deadline.end_s), f"enforced by {describe_enforcer(deadline.enforcer)}")
    return replace(view, facts=(*view.facts, fact))


def _verdict_facts(verdict: Verdict | None) -> Iterator[Fact]:
    if verdict is None:
        return
    notes = [each.message for each in verdict.findings]
    if verdict.facts.block is not None:
        count = len(verdict.facts.references)
        sold = "simulated with a sale of half of the bought tokens" if verdict.facts.sales else "simulated"
        compared = f"compared with {count} price{'s' if count > 1 else ''} outside the route" if count else ""
        notes += filter(None, [f"{sold}, at block {verdict.facts.block}", compared or "no price outside the route"])
    yield Fact("Verdict", verdict.status, printable("; ".join(notes)))


def _facts(built: BuiltPayload) -> Iterator[Fact]:
    checked = built.checked
    if checked is None or checked.simulation is None:
        return
    simulation = checked.simulation
    notes = [
        "exactly as quoted" if simulation.matches else "differs from the quote",
        f"at block {simulation.block}",
        f"up to {simulation.gas_used:,} gas",
        f"granted for the simulation: {' and '.join(simulation.assumed)}" if simulation.assumed else "",
    ]
    received = format_amount(simulation.received, checked.tokens.token_out)
    yield Fact("Simulated", received, ", ".join(filter(None, notes)))
    if reading := built.router_reading():
        yield Fact("Router reads", *reading)
