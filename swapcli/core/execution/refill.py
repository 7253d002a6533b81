"""How fast a displaced price comes back: arbitrage down to the fee, and then the market's own moves."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, inf, log, pi, sqrt

from swapcli.core.records import NamedTuple

_TERMS = (1, 3, 5, 7)
_SURELY_LOST = 0.5
_BAND_SCALE = 8.0 / pi**2


class RefillEstimate(NamedTuple):
    """The share of a displacement that is left `t` seconds after a swap: `r + (1 - r) * 2**(-t / half_life_s)`.

    `r` is `residual_share`: arbitrage ends where the fee takes its gain. Displacements are log prices (0.003 is 30
    bps). `displacement` is the median one of the `swaps` measured, so arbitrage leaves `r * displacement`. The fields
    with `low` and `high` bound a 90% interval. A half-life of infinity means that nothing comes back, 0.0 that all of
    it does at once.
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
    """How a displaced price comes back, in log prices and seconds.

    Arbitrage halves what exceeds `band`, the pools' fees, every `half_life_s`, but for a share `lost`. Inside the band,
    the market's price moves by `volatility` per square root of a second between bounds where arbitrage follows it. Of
    several `hops` each has its part of the band and its own moves.
    """

    half_life_s: float
    lost: float
    band: float
    volatility: float
    hops: float = 1.0

    def remaining(self, displacement: float, elapsed_s: float) -> float:
        """Return what is expected to be left of a `displacement` after `elapsed_s` seconds.

        Inside the band that is the expectation of a Brownian motion reflected at both bounds. A negative displacement
        is a price that is too good.
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
        """Return the variance of the log price of the pools around the fair price, by chance and without our swaps.

        With arbitrageurs that come at random it is uniform within the band and exponential beyond (Milionis, Moallemi
        and Roughgarden, "Automated Market Making and Arbitrage Profits in the Presence of Fees", theorem 1).
        """
        bound, tail = self.band / self.hops, 0.0
        if self.half_life_s < inf:
            tail = self.volatility * sqrt(self.half_life_s / (2.0 * log(2.0) * self.hops))
        beyond = tail / (tail + bound) if tail else 0.0
        within = bound * bound / 3.0
        outside = bound * bound + 2.0 * bound * tail + 2.0 * tail * tail
        return self.hops * ((1.0 - beyond) * within + beyond * outside)

    def mispricing_memory(self, elapsed_s: float) -> float:
        """Return the correlation of two such deviations `elapsed_s` seconds apart."""
        return max(_halved(elapsed_s, self.half_life_s), exp(-self._band_rate * elapsed_s))

    @property
    def _band_rate(self) -> float:
        """The rate per second at which a reflected Brownian motion forgets where in its band it was."""
        return self.hops * (pi * self.volatility / self.band) ** 2 / 8.0 if self.band else inf


NO_REFILL = PriceRecovery(inf, 1.0, 0.0, 0.0)
FULL_REFILL = PriceRecovery(0.0, 0.0, 0.0, 0.0)


def recoveries_of(
    estimate: RefillEstimate | None, fees: Sequence[float], volatility: float
) -> tuple[PriceRecovery, ...]:
    """Return the recovery that an estimate means for pools with these fees by hop: expected, at best and at worst.

    Nothing is known if the measured swaps stay within the fees, where no arbitrage gains, or if their prices may have
    come back as well as not. What did not come back beyond the fees may be lost to every swap, or those swaps followed
    a price elsewhere. Our order follows none, so that the measured share is the worst case and the lower end of its
    interval the expectation.
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
    """Return the share that is left after some half-lives."""
    return 2.0 ** (-elapsed_s / half_life_s) if half_life_s > 0.0 else 0.0


def _kept_in_band(passed: float) -> float:
    """Return the mean of a Brownian motion that starts at a bound and is reflected by both, as a part of that bound."""
    return min(_BAND_SCALE * sum(exp(-passed * k * k) / (k * k) for k in _TERMS), 1.0)
