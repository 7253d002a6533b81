"""Decide which clock to use: this machine's, or the time on which several nodes agree if they prove this machine wrong.

`judge_clock` is the rule, a pure function of the nodes' blocks. This machine's clock is used if it is near the newest
block of a node that does not lag behind others, and if that block is not old by the `Date` of its own response.
Otherwise the nodes' time is used if more than half of them agree on it, and at least two prove that their latest block
is new. The proof is that the `Date` of the response agrees with the block's time, or that the node has found a newer
block since. A single node never overrides the clock. A block that does not advance is old, however many nodes agree on
it.

`NetworkTime` keeps the result for one network's nodes. While the clock is right, it needs no requests.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from threading import Lock
from typing import Final

from swapcli.core.model.network import DEFAULT_BLOCK_TIME_S
from swapcli.core.records import NamedTuple

MAX_BLOCKS_OLD: Final = 10
"""Block times after which a node's latest block is old: the node, or the network, is stuck."""
RECENT_BLOCKS: Final = 3
"""Block times: no node can be much further ahead of a younger block."""
MAX_BLOCKS_BEHIND: Final = 3
"""A node that is further behind another one lags; nodes of one network differ by one or two blocks."""

_GRAIN_S: Final = 1.0
"""Blocks and response dates have whole seconds."""
_MIN_LOOK_PAUSE_S: Final = _GRAIN_S
"""Minimum pause between two sightings: sooner, a new block may have the same time."""
_RETRY_S: Final = 60.0
"""Time before nodes that did not agree on a time are compared again."""


class Sighting(NamedTuple):
    """The latest block of one node when it was seen: its number, and its time in `block_s`.

    `seen_at_s` is the time by this machine's clock, and `date_s` the time in the response's `Date` header, None if
    there is none. All are in Unix seconds. `earlier` is an earlier sighting of the same node.
    """

    number: int
    block_s: int
    seen_at_s: float
    date_s: float | None = None
    earlier: Sighting | None = None

    @property
    def offset_s(self) -> float:
        """The seconds to add to this machine's clock to get the time of the block."""
        return self.block_s - self.seen_at_s

    def has_advanced(self, block_time_s: float) -> bool:
        """Return whether the node has found a newer block since the earlier sighting, and no faster than the network
        makes blocks."""
        earlier = self.earlier
        if earlier is None or self.number <= earlier.number:
            return False
        # A node that is catching up with its network finds old blocks, and faster than they are made.
        longest_s = self.seen_at_s - earlier.seen_at_s + RECENT_BLOCKS * block_time_s + _GRAIN_S
        return 0 < self.block_s - earlier.block_s <= longest_s

    def may_have_halted(self, block_time_s: float) -> bool:
        """Return whether the block is old according to the response's own date, and the node has found no newer
        block."""
        is_old = self.date_s is not None and self.date_s - self.block_s > max_block_age_s(block_time_s)
        return is_old and not self.has_advanced(block_time_s)

    def proven_offset_s(self, block_time_s: float) -> float | None:
        """Return the seconds to add to this machine's clock if the block is proven to be new; None if it may be old."""
        if self.date_s is not None and abs(self.date_s - self.block_s) <= max_block_age_s(block_time_s):
            return self.date_s - self.seen_at_s
        return self.offset_s if self.has_advanced(block_time_s) else None


class ClockVerdict(NamedTuple):
    """The nodes' verdict on this machine's clock.

    `offset_s` is the number of seconds to add to the clock, None if no time can be trusted. `nodes` are the nodes that
    agree on the resulting time. If `needs_proof`, a second query may show that their blocks advance.
    """

    offset_s: float | None = None
    nodes: frozenset[str] = frozenset()
    needs_proof: bool = False


def max_block_age_s(block_time_s: float) -> float:
    """Return the age in seconds above which a node's latest block counts as old."""
    return MAX_BLOCKS_OLD * block_time_s + _GRAIN_S


def judge_clock(
    sightings: Mapping[str, Sighting], block_time_s: float, *, is_clock_doubted: bool = False
) -> ClockVerdict:
    """Return the verdict on this machine's clock from `sightings`, by node host.

    If nodes have already proven the clock wrong (`is_clock_doubted`), one node that agrees with the clock is not enough
    to trust it again.
    """
    tolerance_s = max_block_age_s(block_time_s)
    groups = [
        [host for host, other in sightings.items() if abs(other.offset_s - each.offset_s) <= tolerance_s]
        for each in sightings.values()
    ]
    agreeing = max(groups, key=len, default=[])
    is_majority = len(agreeing) >= 2 and 2 * len(agreeing) > len(sightings)
    proven = {
        host: offset_s for host in agreeing if (offset_s := sightings[host].proven_offset_s(block_time_s)) is not None
    }
    fits_clock = [host for host, each in sightings.items() if abs(each.offset_s) <= tolerance_s]
    unproven = [host for host in fits_clock if sightings[host].may_have_halted(block_time_s)]
    if fits_clock != unproven and not is_clock_doubted:
        newest = max(sightings[host].number for host in fits_clock)
        if not is_majority or max(sightings[host].number for host in agreeing) <= newest + MAX_BLOCKS_BEHIND:
            return ClockVerdict(0.0, frozenset(fits_clock).difference(unproven))
    if is_majority and len(proven) >= 2:
        return ClockVerdict(min(proven.values(), key=abs), frozenset(agreeing))
    if is_majority or (unproven and not is_clock_doubted):
        return ClockVerdict(nodes=frozenset(agreeing if is_majority else unproven), needs_proof=True)
    return ClockVerdict()


def parse_date_s(header: str) -> float | None:
    """Return the Unix time of a `Date` header; None if it is missing or malformed."""
    if not header:
        return None
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(header).timestamp()
    except (ValueError, OverflowError):
        return None


class NetworkTime:
    """The time on a network whose blocks take `block_time_s`. It is this machine's clock `now_s`, unless nodes
    disagree.

    Comparing `now_s` with `monotonic_s` shows when the machine's clock has been corrected. Any thread may use it.
    """

    def __init__(
        self,
        block_time_s: float | None,
        now_s: Callable[[], float] = time.time,
        monotonic_s: Callable[[], float] = time.monotonic,
        pause: Callable[[float], object] = time.sleep,
    ) -> None:
        self.block_time_s = block_time_s or DEFAULT_BLOCK_TIME_S
        self._machine_now_s, self._monotonic_s, self._pause = now_s, monotonic_s, pause
        self._max_age_s = max_block_age_s(self.block_time_s)
        self._trusted: tuple[float, float] | None = None
        self._compared_at_s: float | None = None
        self._lock = Lock()
        self._sightings: dict[str, Sighting] = {}
        self._is_settling = False

    @property
    def offset_s(self) -> float:
        """The seconds to add to this machine's clock; 0 if it is right, or if nodes have not proven another time."""
        trusted = self._trusted
        if trusted is None:
            return 0.0
        network_s, at_s = trusted
        offset_s = network_s + self._monotonic_s() - at_s - self._machine_now_s()
        return offset_s if abs(offset_s) > self._max_age_s else 0.0

    def age_s(self, block_s: int) -> float:
        """Return the age of a block in seconds, negative for a block in the future."""
        return self._machine_now_s() + self.offset_s - block_s

    def is_current(self, block_s: int) -> bool:
        """Return whether a node's latest block may also be the network's latest block."""
        return abs(self.age_s(block_s)) <= self._max_age_s

    def fits(self, sighting: Sighting) -> bool:
        """Return whether a node's latest block is new by the clock, and not old by the date of its response."""
        return self.is_current(sighting.block_s) and not sighting.may_have_halted(self.block_time_s)

    def is_recent(self, block_s: int) -> bool:
        """Return whether a block is so recent that no node can be much further ahead."""
        return self.age_s(block_s) <= RECENT_BLOCKS * self.block_time_s + _GRAIN_S

    def trust(self, offset_s: float) -> None:
        """Use `offset_s` as the offset from now on."""
        self._trusted = (self._machine_now_s() + offset_s, self._monotonic_s()) if offset_s else None

    def see(self, number: int, block_s: int, date: str) -> Sighting:
        """Return a sighting made now. `date` is the response's `Date` header, empty if there is none."""
        return Sighting(number, block_s, self._machine_now_s(), parse_date_s(date))

    def forget(self) -> None:
        """Discard all sightings. Call this before comparing nodes again."""
        with self._lock:
            self._sightings, self._is_settling = {}, False

    def verdict(self) -> ClockVerdict:
        """Return the verdict from the sightings since the last `forget`."""
        with self._lock:
            return self._judge()

    def _judge(self) -> ClockVerdict:
        return judge_clock(self._sightings, self.block_time_s, is_clock_doubted=self._trusted is not None)

    def compare(
        self, host: str, sighting: Sighting, look: Callable[[str], Sighting | None], ends_s: float
    ) -> ClockVerdict:
        """Add the sighting of a node that is far from the clock, and return the verdict from all sightings.

        If only proof is missing, the agreeing nodes are queried again with `look`, until `ends_s` on the monotonic
        clock. `look` returns None for a node that fails. Only one thread queries them, and other threads continue
        without a verdict.
        """
        with self._lock:
            self._sightings[host] = sighting
            verdict = self._judge()
            if not verdict.needs_proof or self._is_settling:
                return verdict
            self._is_settling = True
        return self._settle(verdict, look, ends_s)

    def _settle(self, verdict: ClockVerdict, look: Callable[[str], Sighting | None], ends_s: float) -> ClockVerdict:
        """Return the verdict once nothing more is needed for it, or at `ends_s`."""
        while verdict.needs_proof and (left_s := ends_s - self._monotonic_s()) > 0.0:
            self._pause(min(max(self.block_time_s, _MIN_LOOK_PAUSE_S), left_s))
            for each in sorted(verdict.nodes):
                first = self._sightings[each].earlier or self._sightings[each]
                again = look(each)
                if again is not None:
                    with self._lock:
                        self._sightings[each] = again._replace(earlier=first)
            verdict = self.verdict()
        return verdict

    def correct(self, hosts: Iterable[str], look: Callable[[str], Sighting | None], max_wait_s: float) -> None:
        """Compare all nodes, because one node's latest block is far from the clock. If they agree on a time, trust it.

        After a comparison fails, there is no other for a minute. A comparison takes up to `max_wait_s`, plus the time
        of the requests.
        """
        now_s = self._monotonic_s()
        if self._compared_at_s is not None and now_s - self._compared_at_s < _RETRY_S:
            return
        names = tuple(dict.fromkeys(hosts))
        if len(names) < 2:
            return
        self._compared_at_s = now_s
        self._sightings = {host: sighting for host in names if (sighting := look(host)) is not None}
        verdict = self._settle(self.verdict(), look, self._monotonic_s() + max_wait_s)
        if verdict.offset_s is not None:
            self._compared_at_s = None
            self.trust(verdict.offset_s)
