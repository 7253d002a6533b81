"""The text that `prove` prints: the findings of each stage, every difference, and the report's path."""

from __future__ import annotations

from collections.abc import Iterator

from swapcli import ProofItem, ProofOutcome, ProofStage, ProveReport
from swapcli.core.encoding.text import printable
from swapcli.core.model.token import whole_tokens
from swapcli.faces.cli.render.detail_view import DetailView
from swapcli.faces.cli.render.list_view import Column, ListView
from swapcli.faces.cli.render.quote_facts import Fact

_STAGES = {
    ProofStage.NODES: "Nodes",
    ProofStage.QUOTES: "Live quotes",
    ProofStage.SWAPS: "Mined swaps",
    ProofStage.OFFERS: "Aggregators",
    ProofStage.PROOFS: "Certificates",
}
STAGE_COLUMNS = (
    Column("stage"), Column("matches"), Column("differences"), Column("not checked"), Column("time"),
)  # fmt: skip
DIFFERENCE_COLUMNS = (Column("difference"), Column("expected"), Column("found"), Column("reason"))


def build_report_view(report: ProveReport) -> DetailView:
    """Build the view of a report."""
    stages = ListView(STAGE_COLUMNS, tuple(_stage_row(report, stage) for stage in ProofStage))
    found = [item for item in report.items if item.outcome is ProofOutcome.DIFFERENCE]
    lists = (stages, ListView(DIFFERENCE_COLUMNS, tuple(map(_difference_row, found)))) if found else (stages,)
    return DetailView(printable(report.summary), tuple(_facts(report)), (("Report", str(report.page)),), lists)


def _facts(report: ProveReport) -> Iterator[Fact]:
    if report.blocks is not None:
        first, last = report.blocks
        yield Fact("Blocks", f"{first:,}" if first == last else f"{first:,} to {last:,}")
    note = f"{report.resumed_items:,} checks from earlier runs" if report.resumed_items else ""
    yield Fact("Requests", f"{report.requests:,} to nodes in {report.time_s:,.0f} s", note)
    yield Fact("Contacted", printable(", ".join(report.hosts)))


def _stage_row(report: ProveReport, stage: ProofStage) -> tuple[str, ...]:
    times = {each.stage: each.time_s for each in report.stages}
    counts = (f"{report.count(outcome, stage):,}" for outcome in ProofOutcome)
    return (_STAGES[stage], *counts, f"{times[stage]:,.1f} s" if stage in times else "")


def _difference_row(item: ProofItem) -> tuple[str, ...]:
    amounts = ("" if each is None else whole_tokens(each, item.decimals) for each in (item.expected, item.found))
    return (printable(item.title), *amounts, printable(item.reason))
