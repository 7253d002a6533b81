"""The service: routes per second, overhead, health under load, and the soak."""

from __future__ import annotations

from bench.report.tables import Section, ms, number
from bench.report.thresholds import (
    MAX_DELAY_BESIDE_ABUSE,
    MAX_GROWTH,
    MAX_HEALTH_MS,
    MAX_OVERHEAD_MS,
    MAX_SERVICE_BYTES,
    MIN_OVERLOAD_PERCENT,
    MIN_ROUTES_PER_S,
    Check,
)
from bench.service.abuse import (
    ABUSERS,
    ABUSIVE_CONNECTIONS,
    FEW,
    HEAD_BYTES,
    HEAD_CONNECTIONS,
    MANY,
    AbuseFigures,
    p99,
)
from bench.service.service import CLIENTS, ServiceFigures


def service_section(found: ServiceFigures) -> Section:
    """Return the section on the service over HTTP on loopback, with one process."""
    section = Section("Service")
    section.add_paragraph(
        f"`swapcli serve` on the embedded market of Base, asked over loopback for V2 routes of {found.orders} orders. "
        f"*Routes a second*: {CLIENTS} clients, each asking again once it is answered. *Overhead*: what an answer "
        f"takes beyond the core ({ms(found.core_ms)} ms, same orders in turn), one order at a time, HTTP and client "
        f"included. *Health*: {len(found.health_ms):,} checks while those clients keep the service busy."
    )
    health, growth = found.health_p99_ms, found.quiet.growth
    section.add_table(
        ["figure", "reached", "bar"],
        [
            _row(section, "routes a second", found.routes_per_s, MIN_ROUTES_PER_S, 0, is_floor=True),
            _row(section, "overhead, median ms", found.overhead_ms, MAX_OVERHEAD_MS, 2),
            _row(section, "health under load, p99 ms", health, MAX_HEALTH_MS, 1),
            _row(section, "memory growth in the soak, %", growth * 100, MAX_GROWTH * 100, 1),
            _row(section, "requests answered otherwise than they should be", wrong_answers(found), 0, 0),
        ],
    )
    section.add_paragraph(
        f"The soak: {len(found.quiet.sent):,} requests of all kinds, 5% of them bad, 2% from clients that leave at "
        f"once ({found.quiet.seconds:.0f} s, {found.quiet.end_bytes / 1e6:.0f} MB in the end); and as many again with "
        "a SIGTERM in the middle, after which everything that had been accepted has to be answered."
    )
    if found.abuse is not None:
        _add_abuse(section, found.abuse)
    return section


def _add_abuse(section: Section, found: AbuseFigures) -> None:
    section.add_paragraph(
        f"Among clients that mean harm, in one run. *Delay*: the p99 of a client with ordinary orders (alone "
        f"{ms(p99(found.alone_ms))} ms, {len(found.alone_ms):,} orders; beside the others {ms(p99(found.beside_ms))} "
        f"ms, {len(found.beside_ms):,} orders) while {ABUSERS} others repeat an order of {found.slow_ms:,.0f} ms over "
        f"{ABUSIVE_CONNECTIONS} connections each. *Overload*: good answers a second over {MANY} connections against "
        f"those over {FEW} ({found.few.good_per_s:,.0f} a second; {found.many.refused_per_s:,.0f} refusals a second). "
        f"*Header lines*: the most memory ever held after {HEAD_CONNECTIONS} connections of {HEAD_BYTES / 1e6:.0f} MB "
        f"each (before: {found.memory_before_bytes / 1e6:.0f} MB)."
    )
    section.add_table(
        ["figure", "reached", "bar"],
        [
            _row(section, "times longer beside abusive clients, p99", found.delay, MAX_DELAY_BESIDE_ABUSE, 1),
            _row(
                section,
                "good answers kept in overload, %",
                found.overload_percent,
                MIN_OVERLOAD_PERCENT,
                0,
                is_floor=True,
            ),
            _row(section, "memory after header lines, MB", found.memory_bytes / 1e6, MAX_SERVICE_BYTES / 1e6, 0),
            _row(section, f"requests lost in {found.hangups} reloads", found.lost, 0, 0),
        ],
    )


def wrong_answers(found: ServiceFigures) -> int:
    """Return the number of unexpected and missing responses."""
    lost = [set(run.before_signal or run.sent) - run.left - set(run.answered) for run in (found.quiet, found.stopped)]
    statuses = sum(run.exit_status != 0 for run in (found.quiet, found.stopped))
    return len(found.quiet.unexpected) + len(found.stopped.unexpected) + sum(map(len, lost)) + statuses


def _row(section: Section, what: str, value: float, limit: float, digits: int, *, is_floor: bool = False) -> list[str]:
    check = Check(f"service, {what}", value, limit, is_floor)
    return [what, section.check(number(value, digits), check), f"{'≥' if is_floor else '≤'} {limit:,.0f}"]
