"""The text that `record` prints: the recorded pools, and why other swaps were skipped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from swapcli import RecordedPool, Recording
from swapcli.core.encoding.text import printable
from swapcli.faces.cli.render.detail_view import DetailView
from swapcli.faces.cli.render.list_view import Column, ListView
from swapcli.faces.cli.render.quote_facts import Fact

COLUMNS = (
    Column("protocol", readable_width=20),
    Column("family"),
    Column("pool", has_pool_ids=True),
    Column("state block", is_whole=True),
    Column("swaps", is_whole=True),
    Column("different", is_whole=True),
)


def build_recording_view(found: Recording) -> DetailView:
    """Build the view: the counts, the reasons for skipped swaps, and a row for each pool and block."""
    lists = (ListView(COLUMNS, tuple(map(_row, found.pools))),) if found.pools else ()
    title = f"{found.swaps:,} swap{'s' if found.swaps != 1 else ''} recorded on {found.network.name}"
    return DetailView(printable(title), tuple(_facts(found)), lists=lists)


def _facts(found: Recording) -> Iterator[Fact]:
    if found.pools:
        yield Fact("Pools", f"{len(found.pools):,}", "--json or --output FILE.json includes their state")
    for reason, count in Counter(each.reason for each in found.skipped).items():
        yield Fact("Skipped", f"{count:,}", printable(reason))
    if found.problem:
        yield Fact("Ended early", printable(found.problem))


def _row(pool: RecordedPool) -> tuple[str, ...]:
    protocol = pool.network.protocol(pool.pool.protocol)
    return (
        printable(protocol.display_name if protocol else pool.pool.protocol),
        pool.pool.family,
        pool.pool.key,
        f"{pool.block - 1:,}",
        str(len(pool.swaps)),
        str(pool.different or "-"),
    )
