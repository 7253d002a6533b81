"""Are quotes on a chain's state correct, and how soon are they available?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.chain.chain_section import chain_sections
from bench.chain.first_sync import SyncFigures
from bench.chain.many_pools import V2, V3
from bench.chain.measure import ChainFigures, measure_chain
from bench.plan import Plan
from bench.report.answer import Answer, Row, Table, counted, row
from bench.report.figures import Spread
from bench.report.tables import ms
from bench.report.thresholds import (
    MAX_ANNOUNCED_MEDIAN_MS,
    MAX_ANNOUNCED_P95_MS,
    MAX_LIVE_MS,
    MAX_ROUND_TRIPS,
    MIN_GAS_PERCENT,
    MIN_V2_PER_S,
    MIN_V3_PER_S,
    Check,
)
from tests.chain.gas import TOLERANCE

MIN_PER_S: dict[tuple[str, ...], float] = {(V2.amm_name,): MIN_V2_PER_S, (V3.amm_name,): MIN_V3_PER_S}


def measure(plan: Plan, folder: Path, note: Callable[[str], None]) -> Answer:
    """Answer the question, with files in `folder`. Raises `BenchmarkFailed`."""
    with TemporaryDirectory(prefix="chain-", dir=folder) as fresh:
        return answer(measure_chain(plan.chain, Path(fresh), note))


def answer(found: ChainFigures) -> Answer:
    """Return the tables and sections of the figures."""
    table = Table(
        "Following a chain",
        "A local chain (anvil) with real contracts of every family. Routes are mined, and their outputs compared with "
        "the quotes. At the end, the followed pools are compared with a fresh read.",
        [
            counted("mined routes that paid just what was quoted", sum(_exact(found)), len(found.mined)),
            row(f"routes whose gas was known to {TOLERANCE:.0%}, %", _gas(found)),
            row("pools whose state was wrong after following", Check("wrong", _wrong(found), 0)),
            _sync_row([each for each in found.syncs if each.protocols in MIN_PER_S]),
            *_live_rows(found),
            *_announced_rows(found),
        ],
    )
    return Answer([table], chain_sections(found))


def _exact(found: ChainFigures) -> list[bool]:
    return [mined.is_exact for mined in found.mined]


def _gas(found: ChainFigures) -> Check:
    known = 100.0 * sum(mined.is_gas_known for mined in found.mined) / len(found.mined)
    return Check("gas", known, MIN_GAS_PERCENT, is_floor=True)


def _wrong(found: ChainFigures) -> int:
    return sum(each.wrong + each.changed_without_event for each in found.following.followed)


def _sync_row(found: Sequence[SyncFigures]) -> Row:
    checks = [Check("pools/s", each.pools_per_s, MIN_PER_S[each.protocols], is_floor=True) for each in found]
    return row(f"pools a second of a first sync, {' / '.join(each.protocols[0] for each in found)}", *checks)


def _live_rows(found: ChainFigures) -> list[Row]:
    more_ms = max(each.more_ms(each.embedded) for each in found.live)
    trips = max(*(each.round_trips for each in found.live), *found.following.round_trips)
    return [
        row("ms of a live quote more than of an embedded one", Check("more", more_ms, MAX_LIVE_MS)),
        row("round trips to the node of a live quote, most", Check("trips", trips, MAX_ROUND_TRIPS)),
    ]


def _announced_rows(found: ChainFigures) -> list[Row]:
    delays = [Spread.of(1e3 * seconds for seconds in each.delays_s or [float("inf")]) for each in found.announced]
    checks = (
        Check("median", max(each.median for each in delays), MAX_ANNOUNCED_MEDIAN_MS),
        Check("p95", max(each.p95 for each in delays), MAX_ANNOUNCED_P95_MS),
    )
    missed = sum(each.missed for each in found.announced)
    return [
        row("ms from a new block to a quote on it, median / p95", *checks, show=ms),
        row(f"blocks missed, of {sum(each.blocks for each in found.announced)}", Check("missed", missed, 0)),
    ]
