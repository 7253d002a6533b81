"""The features of nodes, as rows of a list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from swapcli.core.encoding.text import printable
from swapcli.core.model.number_format import format_milliseconds
from swapcli.faces.cli.render.list_view import Column, ListView
from swapcli.faces.cli.render.state_wording import short_age

if TYPE_CHECKING:
    from swapcli import NodeReport, NodeReports

ABSENT: Final = "-"
NODE_COLUMNS: Final = (
    Column("latency", is_whole=True, drop_order=3),
    Column("block", is_whole=True),
    Column("age", is_whole=True),
    Column("batch", is_whole=True, drop_order=2),
    Column("event blocks", is_whole=True, drop_order=1),
    Column("missing"),
)
NODE_LIST_COLUMNS: Final = (Column("node"), *NODE_COLUMNS)


def build_node_list(found: NodeReports) -> ListView:
    """Build the list of a network's nodes, one row each."""
    return ListView(NODE_LIST_COLUMNS, tuple((printable(each.node), *node_cells(each)) for each in found.nodes))


def node_cells(report: NodeReport, message: str = "") -> tuple[str, ...]:
    """Return a node's cells for `NODE_COLUMNS`. Missing features are shown with the reason, unless the row's `message`
    gives it."""
    missing = "; ".join(
        check.name if check.problem in message else f"{check.name} ({printable(check.problem)})"
        for check in report.missing
    )
    return (
        ABSENT if report.latency_s is None else format_milliseconds(report.latency_s),
        ABSENT if report.block is None else f"{report.block:,}",
        ABSENT if report.block_age_s is None else short_age(int(report.block_age_s)),
        _number(report.max_batch_requests),
        _number(report.max_log_blocks),
        missing or ABSENT,
    )


def _number(value: int | None) -> str:
    return ABSENT if value is None else f"{value:,}"
