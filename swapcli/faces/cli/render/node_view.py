"""What nodes serve, as rows of a list and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from swapcli.core.encoding.text import printable
from swapcli.faces.cli.render.list_view import Column, ListView
from swapcli.quoting.warnings import format_age

if TYPE_CHECKING:
    from swapcli.interface.document_types import NodeDocumentJson
    from swapcli.state.rpc.node_checks import NodeReport

ABSENT: Final = "-"
NODE_COLUMNS: Final = (
    Column("latency", is_whole=True, drop_order=3),
    Column("block", is_whole=True),
    Column("age"),
    Column("batch", is_whole=True, drop_order=2),
    Column("event blocks", is_whole=True, drop_order=1),
    Column("missing"),
)
NODE_LIST_COLUMNS: Final = (Column("node"), *NODE_COLUMNS)


def build_node_list(network: str, reports: Sequence[NodeReport]) -> ListView:
    """Build the list of the nodes of a network: a row each."""
    rows = tuple((printable(each.node), *node_cells(each)) for each in reports)
    return ListView(NODE_LIST_COLUMNS, rows, tuple(node_document(network, each) for each in reports))


def node_cells(report: NodeReport) -> tuple[str, ...]:
    """Return the cells of `NODE_COLUMNS`: what is missing comes with its reason."""
    missing = "; ".join(f"{check.name} ({printable(check.problem)})" for check in report.missing)
    return (
        ABSENT if report.latency_s is None else f"{report.latency_s * 1000:,.1f} ms",
        ABSENT if report.block is None else f"{report.block:,}",
        ABSENT if report.block_age_s is None else format_age(int(report.block_age_s)),
        _number(report.max_batch_requests),
        _number(report.max_log_blocks),
        missing or ABSENT,
    )


def node_document(network: str, report: NodeReport) -> NodeDocumentJson:
    """Return the JSON document of a node."""
    return {
        "network": network,
        "node": report.node,
        "healthy": report.can_quote,
        "latency": report.latency_s,
        "block": report.block,
        "blockAge": report.block_age_s,
        "maxBatchRequests": report.max_batch_requests,
        "maxLogBlocks": report.max_log_blocks,
        "checks": [
            {"name": check.name, "passed": not check.problem, "problem": check.problem} for check in report.checks
        ],
        "missing": [check.name for check in report.missing],
    }


def _number(value: int | None) -> str:
    return ABSENT if value is None else f"{value:,}"
