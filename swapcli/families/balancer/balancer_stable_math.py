"""The stable maths of Balancer V2 and V3, step by step in integers.

Balances are scaled to 18 decimals, with rates. `amp` is A times 1000, as `getAmplificationParameter` returns it. Both
iterations stop at a step of at most one unit. V2 and V3 compute the invariant in the same way, but round the balance
for an invariant differently. `MetaStablePool`, from 2021, computes its invariant in an older way, rounded up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from swapcli.core.annotations import Final
from swapcli.core.errors import InsufficientLiquidity, PoolError, SwapReverts
from swapcli.core.model.pool import RateCurve
from swapcli.families.balancer.balancer_pool import integer
from swapcli.families.curve.stableswap_curve import StableSwapCurve
from swapcli.families.hull_curve import ZeroCurve
from swapcli.families.rounding import div_up, require_uint256

AMP_PRECISION: Final = 1000
"""`StableMath._AMP_PRECISION`."""
MAX_AMP: Final = 50_000 * AMP_PRECISION
"""The maximum in V3's second version, the highest of all versions."""
AMP_FIELD: Final = integer("amp", AMP_PRECISION, MAX_AMP, int)
"""The field for A times 1000."""
_MAX_NEWTON_STEPS: Final = 255
"""The number of steps after which the contracts revert."""

BalanceSolver = Callable[[Sequence[int], int, int, int], int]
"""Returns a balance from (balances, position, amp, invariant)."""


def invariant(balances: Sequence[int], amp: int) -> int:
    """Return the invariant as V3's `computeInvariant` does (and V2's since 2022), or 0 if all balances are zero. Raises
    `SwapReverts`."""
    count, total = len(balances), sum(balances)
    if not total:
        return 0
    a = amp * count
    weighted_sum = require_uint256(a * total) // AMP_PRECISION
    d = total
    for _ in range(_MAX_NEWTON_STEPS):
        p = d
        for balance in balances:
            if not balance:
                raise InsufficientLiquidity("a balance is zero")
            p = require_uint256(p * d) // require_uint256(balance * count)
        before = d
        numerator = require_uint256((weighted_sum + p * count) * d)
        d = numerator // (require_uint256((a - AMP_PRECISION) * d) // AMP_PRECISION + (count + 1) * p)
        if -1 <= d - before <= 1:
            return d
    raise _no_convergence()


def invariant_rounded_up(balances: Sequence[int], amp: int) -> int:
    """Return the invariant rounded up, as `_calculateInvariant` in `MetaStablePool` does, or 0 if all balances are
    zero. Raises `SwapReverts`."""
    count, total = len(balances), sum(balances)
    if not total:
        return 0
    a = amp * count
    d = total
    for _ in range(_MAX_NEWTON_STEPS):
        p = count * balances[0]
        for balance in balances[1:]:
            p = div_up(require_uint256(require_uint256(p * balance) * count), d)
        before = d
        numerator = require_uint256(require_uint256(count * d) * d)
        numerator += div_up(require_uint256(require_uint256(a * total) * p), AMP_PRECISION)
        divisor = require_uint256((count + 1) * d) + require_uint256((a - AMP_PRECISION) * p) // AMP_PRECISION
        d = div_up(numerator, divisor)
        if -1 <= d - before <= 1:
            return d
    raise _no_convergence()


def balance_v2(balances: Sequence[int], k: int, amp: int, d: int) -> int:
    """Return the k-th token's balance as V2's `_getTokenBalanceGivenInvariantAndAllOtherBalances` computes it. Raises
    `SwapReverts`."""
    a = amp * len(balances)
    p = _product(balances, d)
    c = require_uint256(div_up(require_uint256(d * d), _positive(require_uint256(a * p))) * AMP_PRECISION * balances[k])
    return _solve_balance(sum(balances) - balances[k] + d // a * AMP_PRECISION, c, d)


def balance_v3(balances: Sequence[int], k: int, amp: int, d: int) -> int:
    """Return the k-th token's balance as V3's `computeBalance` computes it. Raises `SwapReverts`."""
    a = amp * len(balances)
    p = _product(balances, d)
    c = div_up(require_uint256(d * d * AMP_PRECISION), _positive(require_uint256(a * p))) * balances[k]
    return _solve_balance(sum(balances) - balances[k] + require_uint256(d * AMP_PRECISION) // a, require_uint256(c), d)


def amount_out(
    balances: Sequence[int], i: int, j: int, amount_in: int, amp: int, d: int, solve_balance: BalanceSolver
) -> int:
    """Return the output of token `j` for `amount_in` of token `i`; `d` is the invariant before the swap.

    Raises `SwapReverts`, also if the contracts' rounding takes more than the whole output.
    """
    after = list(balances)
    after[i] += amount_in
    bought = balances[j] - solve_balance(after, j, amp, d) - 1
    if bought < 0:
        raise SwapReverts("the output is less than the contract's rounding")
    return bought


def stable_curve(
    balances: Sequence[int], direction: tuple[int, int], amp: int, units: tuple[float, float]
) -> RateCurve:
    """Return the floating-point curve for selling the first token of `direction` for the second.

    `units` are the numbers of base units per scaled unit, for the whole input and for the output.
    """
    try:
        d = invariant(balances, amp)
    except PoolError:
        d = 0
    if not d:
        return ZeroCurve()
    return StableSwapCurve(balances, d, direction, amp / AMP_PRECISION, 0.0, 0.0, units)


def _product(balances: Sequence[int], d: int) -> int:
    """Return n^n times the product of the balances, divided by d^(n - 1)."""
    count = len(balances)
    p = balances[0] * count
    for balance in balances[1:]:
        p = require_uint256(require_uint256(p * balance) * count) // _positive(d)
    return p


def _solve_balance(b: int, c: int, d: int) -> int:
    """Return the y with y^2 + (b - d) y = c, rounded up."""
    y = div_up(require_uint256(d * d + c), _positive(d + b))
    for _ in range(_MAX_NEWTON_STEPS):
        before = y
        y = div_up(require_uint256(y * y + c), _positive(2 * y + b - d))
        if -1 <= y - before <= 1:
            return y
    raise _no_convergence()


def _positive(divisor: int) -> int:
    if divisor <= 0:
        raise SwapReverts("the contract would divide by zero")
    return divisor


def _no_convergence() -> SwapReverts:
    return SwapReverts("the contract's iteration does not converge")
