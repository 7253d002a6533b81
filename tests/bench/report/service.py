"""The service: routes a second, overhead, health under load, and the soak."""

from __future__ import annotations

from tests.bench.bars import MAX_GROWTH, MAX_HEALTH_MS, MAX_OVERHEAD_MS, MIN_ROUTES_PER_S, Check
from tests.bench.report.tables import Section, ms, number
from tests.bench.service import CLIENTS, ServiceFigures


def service_section(found: ServiceFigures) -> Section:
    """What the service reaches over HTTP on loopback, from one process."""
    section = Section("Service")
    section.say(
        f"`swapcli serve` on the embedded market of Base, asked over loopback for V2 routes of {found.orders} orders. "
        f"*Routes a second*: {CLIENTS} clients, each asking again once it is answered. *Overhead*: what an answer "
        f"takes beyond the core ({ms(found.core_ms)} ms, same orders in turn), one order at a time, HTTP and client "
        f"included. *Health*: {len(found.health_ms):,} checks while those clients keep the service busy."
    )
    health, growth = found.health_p99_ms, found.quiet.growth
    section.table(
        ["figure", "reached", "bar"],
        [
            _row(section, "routes a second", found.routes_per_s, MIN_ROUTES_PER_S, 0, is_floor=True),
            _row(section, "overhead, median ms", found.overhead_ms, MAX_OVERHEAD_MS, 2),
            _row(section, "health under load, p99 ms", health, MAX_HEALTH_MS, 1),
            _row(section, "memory growth in the soak, %", growth * 100, MAX_GROWTH * 100, 1),
            _row(section, "requests answered otherwise than they should be", _wrong(found), 0, 0),
        ],
    )
    section.say(
        f"The soak: {len(found.quiet.sent):,} requests of all kinds, 5 % of them bad, 2 % from clients that leave at "
        f"once ({found.quiet.seconds:.0f} s, {found.quiet.end_bytes / 1e6:.0f} MB in the end); and as many again with "
        "a SIGTERM in the middle, after which everything that had been accepted has to be answered."
    )
    return section


def _wrong(found: ServiceFigures) -> int:
    """Unexpected answers, and none where there should have been one."""
    lost = [set(run.before_signal or run.sent) - run.left - set(run.answered) for run in (found.quiet, found.stopped)]
    statuses = sum(run.exit_status != 0 for run in (found.quiet, found.stopped))
    return len(found.quiet.unexpected) + len(found.stopped.unexpected) + sum(map(len, lost)) + statuses


def _row(section: Section, what: str, value: float, limit: float, digits: int, *, is_floor: bool = False) -> list[str]:
    check = Check(f"service, {what}", value, limit, is_floor)
    return [what, section.hold(number(value, digits), check), f"{'≥' if is_floor else '≤'} {limit:,.0f}"]
