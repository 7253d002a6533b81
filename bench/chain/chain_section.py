"""Sections of measurements on a chain: first syncs, live quotes, following, and mined routes."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from bench.chain.block_to_quote import Announced
from bench.chain.first_sync import SyncFigures
from bench.chain.following import Followed, FollowFigures
from bench.chain.live import LiveQuote
from bench.chain.many_pools import TICKS, V2, V3
from bench.chain.measure import ChainFigures
from bench.chain.received import Mined
from bench.report.figures import Spread
from bench.report.tables import NOTHING, Section, format_limit, ms, number, pair
from bench.report.thresholds import (
    EXACT_PERCENT,
    MAX_ANNOUNCED_MEDIAN_MS,
    MAX_ANNOUNCED_P95_MS,
    MAX_LIVE_MS,
    MAX_ROUND_TRIPS,
    MAX_SYNC_BYTES,
    MIN_GAS_PERCENT,
    MIN_V2_PER_S,
    MIN_V3_PER_S,
    Check,
)
from bench.speed.whole_process import QUOTE
from tests.chain.gas import TOLERANCE

_MIN_PER_S: dict[tuple[str, ...], float] = {(V2.amm_name,): MIN_V2_PER_S, (V3.amm_name,): MIN_V3_PER_S}


def chain_sections(found: ChainFigures) -> list[Section]:
    """Return the sections in order."""
    return [
        sync_section(found.client, found.syncs),
        live_section(found.live, found.following.round_trips),
        following_section(found.following),
        announced_section(found.announced),
        received_section(found.mined),
    ]


def sync_section(client: str, found: Sequence[SyncFigures]) -> Section:
    """Return the section on filling a store from a node."""
    section = Section("First sync")
    section.add_paragraph(
        f"An empty store is filled from a local node ({client}), in a fresh process: pairs of Uniswap V2 from the "
        f"factory's list, pools of Uniswap V3, each with {TICKS} initialised ticks, from events; their tokens too. "
        f"*Seconds*: the median of {len(found[0].syncs)} syncs, the node's own part of it included; peak memory is "
        "the highest of any."
    )
    header = ["pools", "tokens", "steps", "round trips", "seconds", "pools/s", "bar", "peak MB", "bar"]
    section.add_table(header, [_sync_row(section, each) for each in found])
    return section


def _sync_row(section: Section, found: SyncFigures) -> list[str]:
    one, least = found.syncs[-1], _MIN_PER_S.get(found.protocols)
    what = f"{one.pools:,} of {' and '.join(found.protocols)}"
    speed = [Check(f"pools/s of a first sync, {what}", found.pools_per_s, least, is_floor=True)] if least else []
    memory = Check(f"bytes of a first sync, {what}", found.peak_bytes, MAX_SYNC_BYTES)
    return [
        what,
        f"{one.tokens:,}",
        str(one.steps),
        str(one.round_trips),
        number(median(each.seconds for each in found.syncs), 2),
        section.check(number(found.pools_per_s, 0), *speed),
        f"≥ {least:,.0f}" if least else NOTHING,
        section.check(number(found.peak_bytes / 1e6, 1), memory),
        format_limit(MAX_SYNC_BYTES / 1e6),
    ]


def live_section(found: Sequence[LiveQuote], round_trips: Sequence[int]) -> Section:
    """Return the section on the cost of live quotes."""
    section = Section("Live quotes")
    section.add_paragraph(
        "`swapcli route ... --json` over the store of all those pools, with the node, in turn with the same order "
        f"`--offline` and with the embedded market (`swapcli {' '.join(QUOTE)}`), {len(found[0].live.times_s)} runs. "
        "All read the same settings file. *More*: the median difference of neighbouring runs, in milliseconds."
    )
    header = ["order", "pools read", "round trips", "bar", "live ms", "offline ms", "embedded ms", "more than offline"]
    section.add_table([*header, "than embedded", "bar", "peak MB"], [_live_row(section, each) for each in found])
    most = max(round_trips)
    marked = section.check(str(most), Check("round trips of a live quote, every family", most, MAX_ROUND_TRIPS))
    section.add_paragraph(
        f"Over pools of every family, on a chain that has moved on since the store was written: {len(round_trips)} "
        f"orders from each token to each other, small and large, take at most {marked} round trips."
    )
    return section


def _live_row(section: Section, found: LiveQuote) -> list[str]:
    what, trips = found.what, found.round_trips
    times = [ms(median(runs.times_s) * 1e3) for runs in (found.live, found.offline, found.embedded)]
    beside = {"offline": found.more_ms(found.offline), "embedded": found.more_ms(found.embedded)}
    more = [
        section.check(number(value, 0), Check(f"live quote, ms more than {name}, {what}", value, MAX_LIVE_MS))
        for name, value in beside.items()
    ]
    return [
        what,
        str(found.pools),
        section.check(str(trips), Check(f"round trips of a live quote, {what}", trips, MAX_ROUND_TRIPS)),
        format_limit(MAX_ROUND_TRIPS),
        *times,
        *more,
        format_limit(MAX_LIVE_MS),
        number(found.live.peak_bytes / 1e6, 1),
    ]


def following_section(found: FollowFigures) -> Section:
    """Return the section on following a chain: speed and correctness."""
    section = Section("Following a chain")
    pools = ", ".join(f"{count} {name}" for name, count in sorted(found.pools.items()))
    section.add_paragraph(
        f"{found.blocks:,} blocks of {found.swaps} swaps each with half of {found.pools.total()} pools ({pools}), "
        "which stores follow while they come. In the end every pool is read afresh, one by one and as if nothing had "
        "been known of it: *wrong* are those that differ. *Drifted* had changed unnoticed, which a sample brought to "
        "light. Times are those of following alone."
    )
    header = ["followed after every", "follows", "ms: median", "p95", "blocks/s", "pools read again", "drifted", "bar"]
    section.add_table(
        [*header, "wrong", "bar"], [_followed_row(section, found.blocks, each) for each in found.followed]
    )
    return section


def _followed_row(section: Section, blocks: int, found: Followed) -> list[str]:
    what = "block" if found.every == 1 else f"{found.every} blocks"
    times_ms = Spread.of(seconds * 1e3 for seconds in found.seconds)
    return [
        what,
        f"{len(found.seconds):,}",
        ms(times_ms.median),
        ms(times_ms.p95),
        number(blocks / sum(found.seconds), 0),
        f"{found.changed:,}",
        section.check(
            str(found.changed_without_event),
            Check(f"pools changed without an event, followed every {what}", found.changed_without_event, 0),
        ),
        format_limit(0),
        section.check(str(found.wrong), Check(f"wrong pools in the end, followed every {what}", found.wrong, 0)),
        format_limit(0),
    ]


def announced_section(found: Sequence[Announced]) -> Section:
    """Return the section on the time from a new block to a quote on it."""
    section = Section("From block to quote")
    section.add_paragraph(
        "The node announces new blocks over WebSocket; the settings name no other. *Delay*: from the receipt of the "
        "transaction in a block to the first quote of `swapcli serve` on it, or to its line of `swapcli sync --watch "
        "--json`, in milliseconds. *Missed*: blocks that were not seen before the next one."
    )
    header = ["command", "block time, s", "blocks", "missed", "bar", "delay: median", "bar", "p95", "bar", "maximum"]
    section.add_table(header, [_announced_row(section, each) for each in found])
    return section


def _announced_row(section: Section, found: Announced) -> list[str]:
    what = f"{found.command}, blocks every {found.block_time_s:g} s"
    delays = Spread.of(1e3 * seconds for seconds in found.delays_s or [float("inf")])
    median_ms = Check(f"ms from block to quote, {what}, median", delays.median, MAX_ANNOUNCED_MEDIAN_MS)
    p95_ms = Check(f"ms from block to quote, {what}, p95", delays.p95, MAX_ANNOUNCED_P95_MS)
    return [
        f"`{found.command}`",
        f"{found.block_time_s:g}",
        str(found.blocks),
        section.check(str(found.missed), Check(f"blocks missed, {what}", found.missed, 0)),
        format_limit(0),
        section.check(ms(delays.median), median_ms),
        format_limit(MAX_ANNOUNCED_MEDIAN_MS),
        section.check(ms(delays.p95), p95_ms),
        format_limit(MAX_ANNOUNCED_P95_MS),
        ms(delays.maximum),
    ]


def received_section(found: Sequence[Mined]) -> Section:
    """Return the section on mined routes."""
    section = Section("Received as quoted")
    section.add_paragraph(
        f"{len(found):,} random routes over real contracts of every family, up to eight segments and four hops, native "
        "both ways, with fees and in reverse: quoted on state read from the node, signed, mined on anvil. Pools of "
        "Curve's kind are modelled. Gas is that of the transaction, of pools that have been used before."
    )
    exact, known = (100.0 * sum(judged) / len(found) for judged in zip(*map(_judged, found), strict=True))
    errors = Spread.of(100.0 * mined.gas_error for mined in found)
    shown = pair(pair(number(errors.median, 1), number(errors.p95, 1)), number(errors.maximum, 1))
    most = max(abs(mined.received - mined.quoted) for mined in found)
    section.add_table(
        ["figure", "reached", "bar"],
        [
            _row(section, "routes that paid just what was quoted, %", exact, EXACT_PERCENT, is_floor=True),
            _row(section, "largest difference, base units", most, 0),
            _row(section, f"routes whose gas was known to {TOLERANCE:.0%}, %", known, MIN_GAS_PERCENT, is_floor=True),
            ["error of the gas estimate, %: median / p95 / maximum", shown, NOTHING],
        ],
    )
    return section


def _judged(mined: Mined) -> tuple[bool, bool]:
    return mined.is_exact, mined.is_gas_known


def _row(section: Section, what: str, value: float, limit: float, *, is_floor: bool = False) -> list[str]:
    shown = f"{value:,.1f}".removesuffix(".0")
    return [what, section.check(shown, Check(what, value, limit, is_floor)), f"{'≥' if is_floor else '≤'} {limit:g}"]
