"""How fast a displaced price recovers: first by arbitrage, down to the fee, then by the market's own movements."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, inf, log, pi, sqrt

from swapcli.core.records import NamedTuple

_TERMS = (1, 3, 5, 7)
_SURELY_LOST = 0.5
_BAND_SCALE = 8.0 / pi**2


class RefillEstimate(NamedTuple):
    """The share of a displacement that remains `t` seconds after a swap: `r + (1 - r) * 2**(-t / half_life_s)`.

    `r` is `residual_share`: arbitrage ends when the fee exceeds its gain. Displacements are log prices (0.003 is 30
    bps). `displacement` is the median of the `swaps` measured, so arbitrage leaves `r * displacement`. The fields with
    `low` and `high` bound a 90% interval. A half-life of infinity means that the price does not recover, 0.0 that it
    recovers at once.
    """

    half_life_s: float
    half_life_low_s: float
    half_life_high_s: float
    residual_share: float
    residual_low: float
    residual_high: float
    displacement: float
    swaps: int


class PriceRecovery(NamedTuple):
    """How a displaced price recovers, in log prices and seconds.

    Every `half_life_s`, arbitrage halves the displacement beyond `band`, the pools' fees, except for a share `lost`.
    Inside the band, the market's price moves by `volatility` per square root of a second between bounds at which
    arbitrage sets in. If there are several `hops`, each has its part of the band and its own movements.
    """

    half_life_s: float
    lost: float
    band: float
    volatility: float
    hops: float = 1.0

    def remaining(self, displacement: float, elapsed_s: float) -> float:
        """Return how much of a `displacement` is expected to remain after `elapsed_s` seconds.

        Inside the band, this is the expectation of a Brownian motion reflected at both bounds. A negative displacement
        means a price better than the fair one.
        """
        if elapsed_s == 0.0:
            return displacement
        if displacement < 0.0:
            return -self.remaining(-displacement, elapsed_s)
        inside = min(displacement, self.band)
        back = (1.0 - self.lost) * (1.0 - _halved(elapsed_s, self.half_life_s))
        kept = _kept_in_band(elapsed_s * self._band_rate)
        return (displacement - inside) * (1.0 - back) + inside * (1.0 - back * (1.0 - kept))

    def mispricing_variance(self) -> float:
        """Return the variance of the pools' log price around the fair price, due to chance alone, without our swaps.

        If arbitrageurs arrive at random, the deviation is uniform within the band and exponential beyond it (Milionis,
        Moallemi and Roughgarden, "Automated Market Making and Arbitrage Profits in the Presence of Fees", theorem 1).
        """
        bound, tail = self.band / self.hops, 0.0
        if self.half_life_s < inf:
            tail = self.volatility * sqrt(self.half_life_s / (2.0 * log(2.0) * self.hops))
        beyond = tail / (tail + bound) if tail else 0.0
        within = bound * bound / 3.0
        outside = bound * bound + 2.0 * bound * tail + 2.0 * tail * tail
        return self.hops * ((1.0 - beyond) * within + beyond * outside)

    def mispricing_memory(self, elapsed_s: float) -> float:
        """Return the correlation between two deviations of the log price from the fair price, `elapsed_s` seconds
        apart."""
        return max(_halved(elapsed_s, self.half_life_s), exp(-self._band_rate * elapsed_s))

    @property
    def _band_rate(self) -> float:
        """Return the rate per second at which a reflected Brownian motion forgets its position in the band."""
        return self.hops * (pi * self.volatility / self.band) ** 2 / 8.0 if self.band else inf


NO_REFILL = PriceRecovery(inf, 1.0, 0.0, 0.0)
FULL_REFILL = PriceRecovery(0.0, 0.0, 0.0, 0.0)


def recoveries_of(
    estimate: RefillEstimate | None, fees: Sequence[float], volatility: float
) -> tuple[PriceRecovery, ...]:
    """Return the expected, the best and the worst recovery that fit an estimate, for pools with the given `fees` per
    hop.

    The result is empty if the measured swaps stay within the fees, where arbitrage gains nothing, or if the data fit
    both recovery and no recovery. If a displacement beyond the fees did not recover, it may be lost after every swap,
    or the measured swaps followed a price elsewhere. Our order follows no other price, so the measured share is the
    worst case, and the lower end of its interval is the expectation.
    """
    band = sum(fees)
    if estimate is None or estimate.displacement <= band:
        return ()
    beyond = estimate.displacement - band
    hops = band * band / sum(fee * fee for fee in fees) if band else 1.0

    def recovery(half_life_s: float, residual_share: float) -> PriceRecovery:
        lost = min(max((residual_share * estimate.displacement - band) / beyond, 0.0), 1.0)
        return PriceRecovery(half_life_s, lost, band, volatility, hops)

    expected = recovery(estimate.half_life_s, estimate.residual_low)
    if estimate.half_life_s == inf and expected.lost < _SURELY_LOST:
        return ()
    return (
        expected,
        recovery(estimate.half_life_low_s, estimate.residual_low),
        recovery(estimate.half_life_high_s, estimate.residual_share),
    )


def _halved(elapsed_s: float, half_life_s: float) -> float:
    """Return the share that remains after a number of half-lives."""
    return 2.0 ** (-elapsed_s / half_life_s) if half_life_s > 0.0 else 0.0


def _kept_in_band(passed: float) -> float:
    """Return the mean of a Brownian motion that starts at one bound and is reflected at both, as a part of that
    bound."""
    return min(_BAND_SCALE * sum(exp(-passed * k * k) / (k * k) for k in _TERMS), 1.0)
