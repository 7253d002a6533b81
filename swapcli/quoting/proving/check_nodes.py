"""The first stage: which features each node supports, and whether its latest block is recent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from swapcli.quoting.openers.check_nodes import check_named_nodes, check_public_nodes
from swapcli.quoting.proving.privacy import OWN_NODE
from swapcli.quoting.proving.proof_item import ProofItem, ProofOutcome, ProofStage
from swapcli.quoting.proving.run_context import RunContext

if TYPE_CHECKING:
    from swapcli.state.rpc.node_checks import NodeReport

_AGE: Final = "block"
"""The id of the check of the latest block's age."""


def check_nodes(run: RunContext) -> Iterator[ProofItem]:
    """Yield an item for each node that the user has named, otherwise for each public node."""
    named = run.sources.nodes.rules.named_nodes(run.network)
    public = None if named else run.sources.nodes.rules.public_nodes(run.network)
    chosen = named or public
    count = len(chosen.urls) if chosen else 0
    if count and count == len(run.journal.of(ProofStage.NODES)):
        return
    reports = (check_named_nodes if named else check_public_nodes)(run.sources.nodes, run.network)
    for number, report in enumerate(reports, start=1):
        name = report.node if public else OWN_NODE if count == 1 else f"{OWN_NODE} {number}"
        yield _item(name, report)


def _item(name: str, report: NodeReport) -> ProofItem:
    problems = {check.name: check.problem for check in report.missing}
    reason = "; ".join(problems.values())
    if not report.can_quote:
        outcome = ProofOutcome.NOT_CHECKED
    elif _AGE in problems:
        outcome, reason = ProofOutcome.DIFFERENCE, problems[_AGE]
    else:
        outcome = ProofOutcome.MATCH
        reason = f"does not support: {', '.join(problems)}" if problems else ""
    facts = {
        "latency": None if report.latency_s is None else f"{report.latency_s * 1000:,.0f} ms",
        "block age": None if report.block_age_s is None else f"{report.block_age_s:,.0f} s",
    }
    shown = {fact: value for fact, value in facts.items() if value is not None}
    return ProofItem(ProofStage.NODES, name, name, outcome, reason, report.block, facts=shown)
