"""The judged routes of a case."""

from __future__ import annotations

from dataclasses import dataclass

from bench.optimum.cases import Case
from bench.report.figures import ahead_bps, gap_bps


@dataclass(frozen=True, slots=True)
class Judged:
    """The outputs for one order, ours and the peer's, in base units; None without a route.

    `dual` and `own` are upper bounds on any routing, from the benchmark's bound and from our certificate; `peer_out` is
    the peer's route evaluated in real numbers, without any rounding. `known_out` is the best route found by the search
    for the bound.
    """

    order: int
    size: str
    out: int | None
    peer_out: float | None
    dual: float | None = None
    own: float | None = None
    known_out: float = 0.0
    converged: bool = True

    @property
    def bound(self) -> float | None:
        """Return the tighter of the two bounds."""
        return min((bound for bound in (self.dual, self.own) if bound), default=None)

    def gap_to(self, bound: float | None) -> float | None:
        """Return our gap to a bound; 10,000 without a route, None without a bound."""
        return gap_bps(self.out or 0, bound) if bound else None

    @property
    def gap_bps(self) -> float | None:
        """Return our certified gap."""
        return self.gap_to(self.bound)

    @property
    def peer_gap_bps(self) -> float | None:
        """Return the peer's certified gap to the same bound."""
        return gap_bps(self.peer_out, self.bound) if self.peer_out and self.bound else None

    @property
    def ahead_bps(self) -> float | None:
        """Return our lead over the peer; -10,000 if only the peer has a route, None if the peer has none."""
        return ahead_bps(self.out or 0, self.peer_out) if self.peer_out else None

    @property
    def is_own_tighter(self) -> bool:
        """Return whether our certificate is tighter than the benchmark's bound by more than 0.01 bps."""
        return self.own is not None and self.dual is not None and gap_bps(self.own, self.dual) > 0.01

    @property
    def is_bound_refuted(self) -> bool:
        """Return whether a known route pays more than our certificate allows."""
        best = max(self.known_out, self.peer_out or 0.0)
        return self.own is not None and best > self.own * (1 + 1e-9)


@dataclass(frozen=True, slots=True)
class Exactness:
    """The integer replays, which cannot run the pools of `skipped` routes."""

    orders: int
    routed: int
    exact: int
    skipped: int
    errors: tuple[str, ...]

    @property
    def share(self) -> float:
        """Return the exact share of the replayed routes, in percent."""
        replayed = self.routed - self.skipped
        return 100.0 * self.exact / replayed if replayed else 100.0


@dataclass(frozen=True, slots=True)
class Measured:
    """The results for a generated or real case over the families to compare; `all_*` over every family."""

    case: Case
    exactness: Exactness
    orders: tuple[Judged, ...]
    all_exactness: Exactness | None = None
    all_orders: tuple[Judged, ...] = ()
    is_no_worse_with_proof: bool = True
    """Whether requesting the certificate lowered no amount; its proof may find a better route."""

    fine_exactness: Exactness | None = None
    """The exactness of the same orders with fine shares."""
    fine_orders: tuple[Judged, ...] = ()

    @property
    def errors(self) -> tuple[str, ...]:
        """Return the errors found by the replays."""
        others = (self.all_exactness, self.fine_exactness)
        return self.exactness.errors + tuple(error for each in others if each for error in each.errors)
