"""The list of `swapcli health`: one row per network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swapcli import BlockTag
from swapcli.core.encoding.text import printable
from swapcli.core.model.number_format import format_short_amount
from swapcli.core.model.token import whole_tokens
from swapcli.faces.cli.render.list_view import Column, ListView
from swapcli.faces.cli.render.node_view import NODE_COLUMNS, node_cells
from swapcli.faces.cli.render.quote_facts import symbol
from swapcli.quoting.warnings import format_age

if TYPE_CHECKING:
    from swapcli import Health, HealthReport, StateSource

ABSENT = "-"
COLUMNS = (
    Column("network"),
    Column("status", is_whole=True),
    Column("prices", is_whole=True),
    Column("state"),
    Column("pools", is_whole=True, drop_order=3),
    Column("sample", is_whole=True, drop_order=2),
    Column("time", is_whole=True, drop_order=1),
)


def build_health_list(found: HealthReport) -> ListView:
    """Build the list. Unknown values are dashes; messages are shown only if they add to the row."""
    rows = [_row(health) for health in found.networks]
    has_messages = any(row[-1] != ABSENT for row in rows)
    columns = health_columns(has_messages=has_messages, has_nodes=bool(found.nodes))
    if not has_messages:
        rows = [row[:-1] for row in rows]
    if found.nodes:
        rows = [(*row, *node_cells(node)) for row, node in zip(rows, found.nodes, strict=True)]
    return ListView(columns, tuple(rows))


def health_columns(*, has_messages: bool, has_nodes: bool = False) -> tuple[Column, ...]:
    """Return the columns of the table; if the columns about nodes do not fit, they get a separate table."""
    nodes = [column._replace(goes_below=True) for column in NODE_COLUMNS] if has_nodes else []
    return (*COLUMNS, *[Column("message")] * has_messages, *nodes)


def _row(health: Health) -> tuple[str, ...]:
    shows_message = not health.is_healthy or health.pools is None
    return (
        printable(health.network),
        str(health.status) if health.status else ABSENT,
        health.prices or ABSENT,
        _state(health.state_source),
        ABSENT if health.pools is None else f"{health.pools:,}",
        _sample(health),
        f"{health.time_s * 1000:,.1f} ms",
        printable(health.message) if shows_message else ABSENT,
    )


def _state(state_source: StateSource | None) -> str:
    if state_source is None or state_source.kind is None:
        return "unknown"
    tag = "" if state_source.tag in (None, BlockTag.LATEST) else f", {state_source.tag}"
    age = f", {format_age(state_source.age_s)}" if state_source.age_s is not None else ""
    return f"{state_source.kind}{tag}{age}"


def _sample(health: Health) -> str:
    sample = health.sample
    if sample is None:
        return ABSENT
    token_in, token_out = sample.token_in, sample.token_out
    amount_in = f"{whole_tokens(sample.amount_in, token_in.decimals)} {symbol(token_in)}"
    return f"{amount_in} → {format_short_amount(sample.amount_out, token_out.decimals)} {symbol(token_out)}"
