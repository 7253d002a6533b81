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
    return DetailView(printable(f"Recorded swaps of {found.network.name}"), tuple(_facts(found)), lists=lists)


def _facts(found: Recording) -> Iterator[Fact]:
    yield Fact("Swaps", str(found.swaps), "--json or --output FILE.json includes the state of their pools")
    for reason, count in Counter(each.reason for each in found.skipped).items():
        yield Fact("Left out", str(count), printable(reason))
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
