"""The list of `swapcli health`: one row per network."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from swapcli.core.encoding.text import printable
from swapcli.core.model.number_format import format_milliseconds, format_short_amount, format_significant
from swapcli.core.model.token import whole_tokens
from swapcli.faces.cli.render.list_view import Column, ListView
from swapcli.faces.cli.render.node_view import NODE_COLUMNS, node_cells
from swapcli.faces.cli.render.quote_facts import symbol
from swapcli.faces.cli.render.state_wording import brief_origin, shown_digits

if TYPE_CHECKING:
    from swapcli import Health, HealthReport

ABSENT = "-"
COLUMNS = (
    Column("network"),
    Column("healthy", is_whole=True),
    Column("state", readable_width=22),
    Column("pools", is_whole=True, drop_order=3),
    Column("sample", is_whole=True, drop_order=2),
    Column("time", is_whole=True, drop_order=1),
)


def build_health_list(found: HealthReport) -> ListView:
    """Build the list. Unknown values are dashes. A message is shown only if it adds information to its row."""
    rows = [_row(health) for health in found.networks]
    has_messages = any(row[-1] != ABSENT for row in rows)
    columns = health_columns(has_messages=has_messages, has_nodes=bool(found.nodes))
    if not has_messages:
        rows = [row[:-1] for row in rows]
    if found.nodes:
        rows = [
            (*row, *node_cells(node, health.message))
            for row, health, node in zip(rows, found.networks, found.nodes, strict=True)
        ]
    return ListView(columns, tuple(rows))


def health_columns(*, has_messages: bool, has_nodes: bool = False) -> tuple[Column, ...]:
    """Return the columns of the table. If the columns about nodes do not fit, they go to a separate table."""
    nodes = [column._replace(goes_below=True) for column in NODE_COLUMNS] if has_nodes else []
    return (*COLUMNS, *[Column("message")] * has_messages, *nodes)


def _row(health: Health) -> tuple[str, ...]:
    shows_message = not health.is_healthy or health.pools is None
    return (
        printable(health.network),
        "yes" if health.is_healthy else "no",
        "unknown" if health.state_source is None else brief_origin(health.state_source),
        ABSENT if health.pools is None else f"{health.pools:,}",
        _sample(health),
        format_milliseconds(health.time_s),
        printable(health.message) if shows_message else ABSENT,
    )


def _sample(health: Health) -> str:
    sample = health.sample
    if sample is None:
        return ABSENT
    token_in, token_out = sample.token_in, sample.token_out
    amount_in = f"{whole_tokens(sample.amount_in, token_in.decimals)} {symbol(token_in)}"
    amount_out = format_short_amount(sample.amount_out, token_out.decimals)
    if health.state_source is not None and not health.state_source.is_live:
        value = Decimal(sample.amount_out).scaleb(-token_out.decimals)
        amount_out = format_significant(value, shown_digits(health.state_source))
    return f"{amount_in} → {amount_out} {symbol(token_out)}"
