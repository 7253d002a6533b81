"""Swaps with the pool token of a Balancer V2 composable stable pool: single-token joins and exits, step by step.

Amounts and balances are scaled to 18 decimals with rates, and `balances` omit the pool's own token. Before each swap,
the contract mints the protocol's share of the growth since the last join or exit; after the swap, it mints the
protocol's share of the swap fee. Both dilute the pool token, so the output depends on them.

The formulas come from `ComposableStablePool`, `ComposableStablePoolProtocolFees` and `StableMath`, whose functions the
docstrings name; where versions differ, the code follows their bytecode.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, expm1, inf, log, log1p, sqrt

from swapcli.core.annotations import Final
from swapcli.core.errors import InsufficientLiquidity, SwapReverts
from swapcli.core.model.units import WAD
from swapcli.core.records import NamedTuple
from swapcli.families.balancer.balancer_stable_math import AMP_PRECISION, balance_v2, invariant
from swapcli.families.hull_curve import HullCurve
from swapcli.families.rounding import div_up, mul_div_up

VERSIONS: Final = range(1, 7)
"""The versions of `ComposableStablePool`."""
_FIRST_VERSION: Final = 1
"""The version that rounds the tokens minted for the protocol twice."""
_CAPPED_GROWTH_VERSION: Final = 5
"""The first version in which a fallen rate does not count as growth from swap fees."""
_MAX_NEWTON_STEPS: Final = 60
"""The number of steps that bisection would need for the precision of a float."""
_STEP_TOLERANCE: Final = 1e-15
"""A few rounding errors of a float."""
_MAX_EXIT_LOG_DEPTH: Final = 30.0
"""An exit leaves at least e^-30 of the invariant, which is less than one unit of 10^13 units of a token."""
_MAX_JOIN_LOG_DEPTH: Final = 60.0
"""A join of e^60 times the invariant is above 2^86 times the pool, and e^(60 * 9) still fits a float."""


class PoolToken(NamedTuple):
    """The state that matters only for swaps with the pool token. Lists have one entry for each of the other tokens.

    `position` is the position of the pool token among the tokens of the Vault. `last_amp` and `last_invariant` are the
    values after the last join or exit, and `old_rates` the rates at that time. Both fees are the protocol's fee shares
    that the pool has cached, as fractions scaled by 10^18.
    """

    position: int
    version: int
    total_supply: int
    last_amp: int
    last_invariant: int
    old_rates: tuple[int, ...]
    protocol_swap_fee: int
    protocol_yield_fee: int
    yield_fee_exempt: tuple[int, ...]


class JoinOrExit(NamedTuple):
    """The pool before a swap with its pool token, after the protocol's share has been minted.

    `supply` is the number of pool tokens that holders have, and `minted` the number of those that were just minted.
    """

    balances: tuple[int, ...]
    amp: int
    swap_fee: int
    invariant: int
    supply: int
    minted: int

    def join(self, k: int, amount_in: int) -> int:
        """Return the pool tokens minted for `amount_in` of the k-th token, as `_calcBptOutGivenExactTokensIn` does.

        Raises `SwapReverts`.
        """
        balances, total = self.balances, sum(self.balances)
        ratios = [WAD] * len(balances)
        ratios[k] = (balances[k] + amount_in) * WAD // balances[k]
        weighted = zip(ratios, balances, strict=True)
        mean = sum(ratio * (balance * WAD // total) // WAD for ratio, balance in weighted)
        joined = list(balances)
        taxed = amount_in
        if ratios[k] > mean:
            free = balances[k] * (mean - WAD) // WAD
            # Rounding can move the mean below 1 for small inputs, and above the ratio for unequal balances.
            if not 0 <= free <= amount_in:
                raise SwapReverts("the contract would tax a negative amount")
            taxed = free + (amount_in - free) * (WAD - self.swap_fee) // WAD
        joined[k] += taxed
        ratio = invariant(joined, self.amp) * WAD // self.invariant
        return self.supply * max(0, ratio - WAD) // WAD

    def exit(self, k: int, amount_in: int) -> int:
        """Return the amount of the k-th token paid for `amount_in` pool tokens, as `_calcTokenOutGivenExactBptIn` does.

        Raises `SwapReverts` and `InsufficientLiquidity`.
        """
        if amount_in > self.supply:
            raise InsufficientLiquidity("more pool tokens are sold than exist")
        balances, total = self.balances, sum(self.balances)
        rest = div_up((self.supply - amount_in) * WAD, self.supply)
        left = mul_div_up(rest, self.invariant, WAD)
        gross = balances[k] - balance_v2(balances, k, self.amp, left)
        if gross < 0:
            raise SwapReverts("the output is less than the contract's rounding")
        taxed = mul_div_up(gross, WAD - balances[k] * WAD // total, WAD)
        return gross - taxed + taxed * (WAD - self.swap_fee) // WAD


def begin(
    token: PoolToken, own_reserve: int, pool: tuple[Sequence[int], Sequence[int]], amp: int, fee: int
) -> JoinOrExit:
    """Return the state from which a join or exit starts, as `_beforeJoinExit` computes it.

    `pool` has its balances and rates; `own_reserve` is its own token balance in the Vault. Raises `PoolError` for a
    pool that cannot be joined.
    """
    balances, rates = pool
    supply = token.total_supply - own_reserve
    if supply <= 0 or not all(balances):
        raise InsufficientLiquidity("the pool is empty")
    now = invariant(balances, token.last_amp)
    share = _protocol_share(token, balances, rates, now)
    minted = _minted(token.version, supply, share)
    current = now if amp == token.last_amp else invariant(balances, amp)
    return JoinOrExit(tuple(balances), amp, fee, current, supply + minted, minted)


def finish(
    token: PoolToken, before: JoinOrExit, after: Sequence[int], supply: int, rates: tuple[int, ...]
) -> PoolToken:
    """Return the state after a swap that leaves the balances `after` and `supply` pool tokens, as
    `_updateInvariantAfterJoinExit` computes it. Raises `SwapReverts`."""
    d = invariant(after, before.amp)
    without_fees = before.invariant * (supply * WAD // before.supply) // WAD
    share = (d - without_fees) * token.protocol_swap_fee // d if d > without_fees else 0
    return token._replace(
        total_supply=token.total_supply + before.minted + _minted(token.version, supply, share),
        last_amp=before.amp,
        last_invariant=d,
        old_rates=rates,
    )


def _protocol_share(token: PoolToken, balances: Sequence[int], rates: Sequence[int], now: int) -> int:
    """Return the protocol's share of the pool, from swap fees and yield, as a fraction scaled by 10^18:
    `_getProtocolPoolOwnershipPercentage`.

    `now` is the invariant of the balances with the last `amp`.
    """
    old = [balance * old // rate for balance, old, rate in zip(balances, token.old_rates, rates, strict=True)]
    without_yield = invariant(old, token.last_amp)
    is_capped = token.version >= _CAPPED_GROWTH_VERSION
    if is_capped:
        without_yield = min(without_yield, now)
    pairs = zip(token.yield_fee_exempt, old, balances, strict=True)
    taxed = [before if is_exempt else balance for is_exempt, before, balance in pairs]
    if taxed == old:  # in pools since version 5, either all tokens with a rate are exempt, or none are
        taxed_yield = without_yield
    elif taxed == balances:
        taxed_yield = now
    else:
        taxed_yield = invariant(taxed, token.last_amp)
    start = max(without_yield, token.last_invariant) if is_capped else without_yield
    by_fees = max(0, without_yield - token.last_invariant) * WAD // now
    by_yield = max(0, taxed_yield - start) * WAD // now
    return by_fees * token.protocol_swap_fee // WAD + by_yield * token.protocol_yield_fee // WAD


def _minted(version: int, supply: int, share: int) -> int:
    """Return the pool tokens to mint for the protocol's share of the total: `bptForPoolOwnershipPercentage`."""
    if share >= WAD:
        raise SwapReverts("the protocol would own the whole pool")
    if version == _FIRST_VERSION:
        return supply * share // WAD * WAD // (WAD - share)
    return supply * share // (WAD - share)


class PoolTokenCurve(HullCurve):
    """A join or an exit of the k-th token in floating point. The trade t multiplies the invariant by e^t or e^-t.

    The fee takes a constant fraction of the token's amount, so both directions are concave: the invariant is a concave
    function of one balance. Balances are in units of the invariant, pool tokens in units of the supply.
    """

    __slots__ = ("_a", "_after_fee", "_c", "_is_join", "_n", "_others", "_z")

    def __init__(
        self, before: JoinOrExit, k: int, *, is_join: bool, units: tuple[float, float], max_out: float
    ) -> None:
        """Take `units`, the base units per scaled unit, in and out; `max_out` is the Vault's balance of the output."""
        d = before.invariant
        shares = [balance / d for balance in before.balances]
        self._n, self._is_join, self._z = len(shares), is_join, shares[k]
        self._a = before.amp / AMP_PRECISION * self._n
        others = [share for position, share in enumerate(shares) if position != k]
        self._others = sum(others)
        self._after_fee = 1.0 - before.swap_fee / WAD * (1.0 - self._z / (self._z + self._others))
        self._c = 1.0 / self._n / self._a
        for share in others:
            self._c /= self._n * share
        sizes = (float(d), float(before.supply)) if is_join else (float(before.supply), float(d))
        max_t = _MAX_EXIT_LOG_DEPTH
        if is_join:
            max_t = min(_MAX_JOIN_LOG_DEPTH, log1p(max_out / before.supply))
        self._prepare((units[0] * sizes[0], units[1] * sizes[1]), max_t=max_t)

    def _trade_by_input(self, sold: float) -> tuple[float, float]:
        if not self._is_join:
            t = -log1p(-sold) if sold < 1.0 else inf
            t = min(t, self._max_t)
            return -self._moved(-t)[0], t
        if not sold:
            return 0.0, 0.0
        goal = sold * self._after_fee
        # Start at the tangent, which overestimates it; the logarithms depend on each other almost linearly.
        grown = goal / self._slopes(0.0)[0]
        for _ in range(_MAX_NEWTON_STEPS):
            t = log1p(grown)
            moved, _ = self._moved(t)
            step = log(moved / goal) * moved / (self._slopes(t)[0] * grown)
            grown *= exp(-step)
            if abs(step) <= _STEP_TOLERANCE:
                break
        return grown, log1p(grown)

    def _trade_by_log_depth(self, t: float) -> tuple[float, float, float]:
        if self._is_join:
            return self._moved(t)[0] / self._after_fee, expm1(t), t
        return -expm1(-t), -self._moved(-t)[0], t

    def _subtract_fee(self, sold: float, gross: float, place: float) -> float:
        del sold, place
        return gross if self._is_join else gross * self._after_fee

    def _marginal(self, sold: float, gross: float, place: float) -> tuple[float, float, float]:
        del sold, gross
        t = place if self._is_join else -place
        per_invariant, fall = self._slopes(t)  # d z / d D, and -d ln (d D / d z) / d ln D
        if self._is_join:
            reach = per_invariant * exp(t) / self._after_fee
            return self._after_fee / per_invariant, reach / fall if fall > 0.0 else inf, reach
        reach = exp(t)
        return self._after_fee * per_invariant, reach / fall if fall > 0.0 else inf, reach

    def _balance(self, t: float) -> tuple[float, float]:
        """Return (z, z + b) of the positive root of z^2 + b z = c at the invariant e^t."""
        d = exp(t)
        c = self._c * exp((self._n + 1) * t)
        b = self._others - d * (1.0 - 1.0 / self._a)
        root = sqrt(b * b + 4.0 * c)
        z = 0.5 * (root - b) if b < 0.0 else 2.0 * c / (root + b)
        return z, c / z

    def _moved(self, t: float) -> tuple[float, float]:
        """Return (how far the balance moves from t = 0, the balance), without cancellation in the difference."""
        z, above = self._balance(t)
        rise = self._c * expm1((self._n + 1) * t) + expm1(t) * (1.0 - 1.0 / self._a) * self._z
        return rise / (self._z + above), z

    def _slopes(self, t: float) -> tuple[float, float]:
        """Return (d z / d D, d ln (d z / d D) / d ln D) at the invariant D = e^t.

        From a (S - D) + D = P, with P = D^(n + 1) / (n^n times the product of the balances).
        """
        z, above = self._balance(t)
        d, n = exp(t), self._n
        p = self._a * above / z  # P / z
        by_balance = self._a + p
        by_invariant = self._a - 1.0 + (n + 1) * p * z / d
        slope = by_invariant / by_balance
        p1 = (n + 1) / d - slope / z  # d ln P / d D
        fall = (n + 1) * p * z / d * (p1 - 1.0 / d) / by_invariant - p * (p1 - slope / z) / by_balance
        return slope, fall * d
