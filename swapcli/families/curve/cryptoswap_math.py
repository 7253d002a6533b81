"""The integer maths of Curve's cryptoswap pools of two and three coins, step by step like their maths contracts.

Balances are in units of coin 0 with 18 decimals, scaled by the price scale. The invariant is

    K D^(n-1) S + P = K D^n + (D/n)^n,  K = A K0 gamma^2 / (gamma + 1 - K0)^2,  K0 = n^n P / D^n

with the sum S and the product P of the balances. `amp` is A n^n 10^4, as the pools' `A()` returns it; `gamma`, `k0` and
prices are scaled by 10^18.

The contracts find a balance with a closed form for the root of a cubic, whose truncations decide the last digits, and
the invariant by Newton's method. Divisions truncate towards zero. Some products in the contracts wrap around at 256
bits; a swap in which that happens is rejected here.

Sources: curvefi/twocrypto-ng 1c800bd (v2.0.0) and d21b270 (v2.1.0), curvefi/tricrypto-ng 584591e.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isqrt
from types import MappingProxyType

from swapcli.core.annotations import Final, NoReturn
from swapcli.core.errors import SwapReverts
from swapcli.core.model.units import WAD
from swapcli.core.records import NamedTuple
from swapcli.families.curve.stableswap_math import MAX_NEWTON_STEPS
from swapcli.families.rounding import UINT256_LIMIT, require_uint256

A_MULTIPLIER: Final = 10_000  # the contract's constant of this name
_INT: Final = 1 << 255  # above every int256
_CBRT_LIMIT: Final = 115792089237316195423570985008687907853269
"""2^256 / 10^36, as in the contracts."""
_CBRT_SCALES: Final = ((_CBRT_LIMIT * WAD, 1, 10**12), (_CBRT_LIMIT, WAD, 10**6))
"""(lower limit, factor of the argument, factor of the root) for arguments that cannot be multiplied by 10^36."""
_CBRT_STEPS: Final = 7  # the number of Newton steps in the contract

# Limits of the contracts: `MIN_GAMMA`, and the range of the invariant in `get_y`.
MIN_GAMMA: Final = 10**10
MIN_INVARIANT: Final = 10**17  # of `get_y`
MAX_INVARIANT: Final = 10**33  # of `get_y`
_MAX_GAMMA_SMALL: Final = 2 * 10**16  # the contract's constant of this name

Solution = tuple[int, int]
"""A balance and its k0, which is 0 if the contract has to fall back to Newton's method."""


class Maths(NamedTuple):
    """One version of the maths contract for a given number of coins: its limits and its functions.

    The functions' first arguments are `amp` and `gamma`; balances are in the order of the coins.
    """

    max_gamma: int
    min_ann: int
    max_ann: int
    find_balance: Callable[[int, int, Sequence[int], int, int], Solution]
    """(balances, d, i) -> the i-th balance that gives the invariant d with the others."""
    find_invariant: Callable[[int, int, Sequence[int], int], int]
    """(balances, k0) -> the invariant; k0 is that of the last balance found, or 0."""
    mean: Callable[[Sequence[int]], int]
    """(values) -> their geometric mean."""
    share_range: Callable[[int], tuple[float, float]]
    """(gamma) -> the smallest and the largest part of the invariant that a balance may have in a swap."""
    checks_new_shares: bool
    """Whether the pool contract checks the balances again at a new price scale."""

    def check_limits(self, amp: int, gamma: int, d: int) -> None:
        """Raise `SwapReverts` for values that the contract rejects."""
        if not (self.min_ann <= amp <= self.max_ann and MIN_GAMMA <= gamma <= self.max_gamma):
            _refuse("A or gamma is out of the contract's range")
        if not MIN_INVARIANT <= d <= MAX_INVARIANT:
            _refuse("the invariant is out of the contract's range")


def cbrt(x: int) -> int:
    """Return 10^12 times the cube root of the integer `x`, rounded as by the contracts. If `x` has 18 decimals, so has
    the result."""
    if not x:
        return 0
    scaled, lift = x * 10**36, 1
    for limit, factor, root_factor in _CBRT_SCALES:
        if x >= limit:
            scaled, lift = x * factor, root_factor
            break
    log = scaled.bit_length() - 1
    root: int = (1260 ** (log % 3) << log // 3) // 1000 ** (log % 3)
    for _ in range(_CBRT_STEPS):
        root = (2 * root + scaled // (root * root)) // 3
    return root * lift


def fee_reduction(balances: Sequence[int], fee_gamma: int) -> int:
    """Return the weight of the lowest fee, scaled by 10^18: one in balance, approaching zero out of balance."""
    total = sum(balances)
    if len(balances) == 2:
        k = 4 * WAD * balances[0] // total * balances[1] // total
    else:
        k = 3 * WAD * balances[0] // total
        k = k * 3 * balances[1] // total * 3 * balances[2] // total
    return fee_gamma * WAD // (fee_gamma + WAD - k)


def _find_balance_of_two(amp: int, gamma: int, other: int, d: int, limits: tuple[int, int, int, int]) -> Solution:
    """Return the balance that belongs to `other`.

    `limits` apply to 2 other / d and to the balance / d, scaled by 10^18.
    """
    low, high, min_share, max_share = limits
    k0_other = 2 * WAD * other // d
    if not low <= k0_other <= high:
        _refuse("the balances are too far from the price scale")
    gamma_2 = gamma * gamma
    ann_gamma_2 = amp * gamma_2
    a = 10**32
    b = d * ann_gamma_2 // 400_000_000 // other - 3 * 10**32 - 2 * gamma * 10**14
    slope = 4 * ann_gamma_2 // 400_000_000
    c = 3 * 10**32 + 4 * gamma * 10**14 + gamma_2 // 10**4 + slope * other // d - slope
    e = -((WAD + gamma) ** 2 // 10**4)
    delta_0 = _divide(3 * a * c, b) - b
    delta_1 = 3 * delta_0 + b - _divide(_int256(_divide(27 * a * a, b) * e), b)
    divider = _divider_of_two(min(abs(delta_0), abs(delta_1), a))
    a //= divider
    b, c, e = _truncate(b, divider), _truncate(c, divider), _truncate(e, divider)
    delta_0 = _truncate(3 * a * c, b) - b
    delta_1 = 3 * delta_0 + b - _truncate(_truncate(27 * a * a, b) * e, b)
    square = _int256(delta_1 * delta_1 + _int256(_truncate(_int256(4 * delta_0 * delta_0), b) * delta_0))
    if square <= 0:
        return _iterate_balance_of_two(amp, gamma, other, d, k0_other), 0
    second = _signed_cbrt(delta_1, isqrt(square))
    c_1 = _truncate(_int256(cbrt(abs(b)) ** 2 // WAD * second), WAD)
    k0 = _divide(_int256(WAD * c_1 - WAD * b - _divide(_int256(WAD * b), c_1) * delta_0), 3 * a)
    if k0 < 0:
        _refuse("the balances have no solution")
    y = _int256(d * d // other * k0) // 4 // WAD
    if not min_share <= y * WAD // d <= max_share:
        _refuse("the balance bought would be too far from the price scale")
    return y, k0


def _divider_of_two(threshold: int) -> int:
    """Return the power of ten by which the contract divides the cubic's coefficients, for precision in 256 bits."""
    for exponent in range(48, 28, -2):
        if threshold > 10**exponent:
            return int(10 ** (exponent - 18))
    for limit, divider in ((10**28, 10**10), (10**26, 10**8), (10**24, 10**6), (10**20, 10**2)):
        if threshold > limit:
            return divider
    return 1


def _iterate_balance_of_two(amp: int, gamma: int, other: int, d: int, k0_other: int) -> int:
    start = d * d // (other * 4)
    return _iterate_balance(amp, gamma, d, other, k0_other, start, max(other // 10**14, d // 10**14, 100), 2)


def _iterate_balance(
    amp: int, gamma: int, d: int, others: int, k0_others: int, start: int, tolerance: int, n: int
) -> int:
    """Return the contracts' `_newton_y`: the balance that belongs to others with the sum `others`, starting at
    `start`."""
    y = start
    for _ in range(MAX_NEWTON_STEPS):
        before = y
        k0 = k0_others * y * n // d
        total = others + y
        g = abs(gamma + WAD - k0) + 1
        mul_1 = require_uint256(WAD * d // gamma * g // gamma * g * A_MULTIPLIER) // amp
        mul_2 = WAD + 2 * WAD * k0 // g
        y_f_prime = require_uint256(WAD * y + require_uint256(total * mul_2) + mul_1) - d * mul_2
        if y_f_prime < 0:
            y = before // 2
            continue
        f_prime = _quotient(y_f_prime, y)
        y_minus = _quotient(mul_1, f_prime)
        y_plus = (y_f_prime + WAD * d) // f_prime + _quotient(y_minus * WAD, k0)
        y_minus += WAD * total // f_prime
        y = before // 2 if y_plus < y_minus else y_plus - y_minus
        if abs(y - before) < max(tolerance, y // 10**14):
            return y
    return _refuse("the contract's iteration does not converge")


def _find_balance_of_three(amp: int, gamma: int, balances: Sequence[int], d: int, i: int) -> Solution:
    j, k = (position for position in range(3) if position != i)
    x_j, x_k = balances[j], balances[k]
    for x in (x_j, x_k):
        if not 10**16 <= x * WAD // d <= 10**20:
            _refuse("the balances are too far from the price scale")
    gamma_2 = gamma * gamma
    a = 10**36 // 27
    b = 10**36 // 9 + 2 * WAD * gamma // 27 - _int256(d * d // x_j * gamma_2 * amp) // 729 // A_MULTIPLIER // x_k
    c = 10**36 // 9 + gamma * (gamma + 4 * WAD) // 27
    c += _truncate(_truncate(_int256(_truncate(_int256(gamma_2 * (x_j + x_k - d)), d) * amp), 27), A_MULTIPLIER)
    e = (WAD + gamma) ** 2 // 27
    divider = _divider_of_three(abs(_divide(_int256(3 * a * c), b) - b))
    if a > abs(b):
        precision = a // abs(b)
        a, b, c, e = (_truncate(_int256(each * precision), divider) for each in (a, b, c, e))
    else:
        precision = abs(b) // a
        a, b, c, e = (_truncate(_truncate(each, precision), divider) for each in (a, b, c, e))
    a_c = _int256(3 * a * c)
    delta_0 = _truncate(a_c, b) - b
    delta_1 = _truncate(_int256(3 * a_c), b) - 2 * b - _truncate(_int256(_truncate(27 * a * a, b) * e), b)
    square = _int256(_int256(delta_1 * delta_1) + _int256(_truncate(_int256(4 * delta_0 * delta_0), b) * delta_0))
    if square <= 0:
        return _iterate_balance_of_three(amp, gamma, x_j, x_k, d), 0
    second = _signed_cbrt(delta_1, isqrt(square))
    c_1 = _truncate(_int256(cbrt(abs(b)) ** 2 // WAD * second), WAD)
    root = _truncate(_int256(b + _divide(_int256(b * delta_0), c_1) - c_1), 3)
    y = _truncate(_int256(d * d // 27 // x_k * d // x_j * root), a)
    k0 = _truncate(_int256(WAD * root), a)
    if y < 0 or k0 < 0:
        _refuse("the balances have no solution")
    if not 10**16 - 1 <= y * WAD // d <= 10**20:
        _refuse("the balance bought would be too far from the price scale")
    return y, k0


def _divider_of_three(threshold: int) -> int:
    """Do the same as `_divider_of_two`, in the steps of the three-coin contract."""
    for exponent in range(48, 20, -4):
        if threshold > 10**exponent:
            return int(10 ** (exponent - 18))
    return 100 if threshold > 10**20 else 1


def _iterate_balance_of_three(amp: int, gamma: int, x_j: int, x_k: int, d: int) -> int:
    large, small = max(x_j, x_k), min(x_j, x_k)
    start = d // 3 * d // (small * 3) * d // (large * 3)
    k0_others = WAD * large * 3 // d * small * 3 // d
    tolerance = max(large // 10**14, d // 10**14, 100)
    y = _iterate_balance(amp, gamma, d, large + small, k0_others, start, tolerance, 3)
    if not 10**16 <= y * WAD // d <= 10**20:
        _refuse("the balance bought would be too far from the price scale")
    return y


def _find_invariant_of_two(
    amp: int, gamma: int, balances: Sequence[int], k0_hint: int, min_share: int, max_share: int
) -> int:
    small, large = sorted(balances)
    if not 10**9 <= large <= MAX_INVARIANT or small * WAD // large < 10**14:
        _refuse("the balances are too far from the price scale")
    total = small + large
    d = min(isqrt(require_uint256(4 * large * small // k0_hint * WAD)), total) if k0_hint else 2 * isqrt(large * small)
    for _ in range(MAX_NEWTON_STEPS):
        if not d:
            break
        before = d
        k0 = 4 * WAD * large // d * small // d
        d = _improve_invariant(amp, gamma, 2, d, total, k0)
        if abs(d - before) * 10**14 < max(10**16, d):
            _check_shares(balances, d, min_share, max_share)
            return d
    return _refuse("the contract's iteration does not converge")


def _find_invariant_of_three(amp: int, gamma: int, balances: Sequence[int], k0_hint: int) -> int:
    small, middle, large = sorted(balances)
    if not 0 < large < (UINT256_LIMIT - 1) // WAD * 27:
        _refuse("the balances are too far from the price scale")
    total = small + middle + large
    if not k0_hint:
        d = 3 * _mean_of_three((large, middle, small))
    elif total > 10**36:
        d = cbrt(require_uint256(require_uint256(large * middle) // 10**36 * small // k0_hint * 27 * 10**12))
    elif total > 10**24:
        d = cbrt(require_uint256(require_uint256(large * middle) // 10**24 * small // k0_hint * 27 * 10**6))
    else:
        d = cbrt(require_uint256(require_uint256(large * middle) // 10**18 * small // k0_hint * 27))
    for _ in range(MAX_NEWTON_STEPS):
        if not d:
            break
        before = d
        k0 = require_uint256(require_uint256(require_uint256(3 * WAD * large) // d * middle * 3) // d * small * 3) // d
        d = _improve_invariant(amp, gamma, 3, d, total, k0)
        if abs(d - before) * 10**14 < max(10**16, d):
            _check_shares(balances, d, 10**16 - 1, 10**20)
            return d
    return _refuse("the contract's iteration does not converge")


def _improve_invariant(amp: int, gamma: int, n: int, d: int, total: int, k0: int) -> int:
    """Return the invariant after one Newton step from `d`, at which the balances have `k0`."""
    if not k0:
        _refuse("the contract's iteration does not converge")
    g = abs(gamma + WAD - k0) + 1
    mul_1 = require_uint256(WAD * d // gamma * g // gamma * g * A_MULTIPLIER) // amp
    mul_2 = 2 * n * WAD * k0 // g
    slope = total + require_uint256(total * mul_2) // WAD + mul_1 * n // k0 - mul_2 * d // WAD
    if slope <= 0:
        _refuse("the contract's iteration does not converge")
    d_plus = require_uint256(d * (slope + total)) // slope
    d_minus = d * d // slope
    gap = abs(WAD - k0)
    change = require_uint256(d * (mul_1 // slope) // WAD * gap) // k0
    d_minus += change if k0 < WAD else -change
    if d_minus < 0:
        _refuse("the contract's iteration does not converge")
    return d_plus - d_minus if d_plus > d_minus else (d_minus - d_plus) // 2


def _check_shares(balances: Sequence[int], d: int, minimum: int, maximum: int) -> None:
    for balance in balances:
        if not minimum <= _quotient(balance * WAD, d) <= maximum:
            _refuse("the balances would be too far from the price scale")


def marginal_prices(amp: int, gamma: int, balances: Sequence[int], d: int) -> tuple[int, ...]:
    """Return the marginal price of each coin after the first, without the price scale, as in the contracts' `get_p`."""
    if not MIN_INVARIANT <= d <= MAX_INVARIANT:
        _refuse("the invariant is out of the contract's range")
    n = len(balances)
    if n == 2:
        k0 = 4 * balances[0] * balances[1] // d * 10**36 // d
    else:
        k0 = require_uint256(27 * balances[0] * balances[1] // d * balances[2] // d * 10**36) // d
    g_k0 = 2 * k0 * k0 // 10**36 * k0 // 10**36 + (gamma + WAD) ** 2
    g_k0 -= k0 * k0 // 10**36 * (2 * gamma + 3 * WAD) // WAD
    if g_k0 < 0:
        _refuse("the contract's price underflows")
    weight = amp * gamma * gamma // A_MULTIPLIER
    first, *others = balances

    def slope(balance: int) -> int:
        return g_k0 + weight * balance // d * k0 // 10**36

    slope_of_first = slope(first)

    def price(balance: int) -> int:
        """Return first / balance * slope(balance) / slope(first), rounded like the contract."""
        numerator = _quotient(require_uint256(first * slope(balance)), balance)
        return _quotient(require_uint256(numerator * WAD), slope_of_first)

    return tuple(price(each) for each in others)


def _mean_of_two(values: Sequence[int]) -> int:
    return isqrt(values[0] * values[1])


def _mean_of_three(values: Sequence[int]) -> int:
    return cbrt(require_uint256(require_uint256(values[0] * values[1]) // WAD * values[2]) // WAD)


def _signed_cbrt(delta_1: int, root: int) -> int:
    return cbrt((delta_1 + root) // 2) if delta_1 > 0 else -cbrt((root - delta_1) // 2)


def _truncate(a: int, b: int) -> int:
    """Return a / b, rounded towards zero; 0 if b is 0, as in the EVM."""
    if not b:
        return 0
    return a // b if (a >= 0) is (b > 0) else -(-a // b)


def _divide(a: int, b: int) -> int:
    """Return a / b, rounded towards zero. Raises `SwapReverts` if b is 0, as the compiler's check does."""
    if not b:
        _refuse("the contract divides by zero")
    return a // b if (a >= 0) is (b > 0) else -(-a // b)


def _quotient(a: int, b: int) -> int:
    """Return a / b for numbers that are not negative. Raises `SwapReverts` if b is 0."""
    if not b:
        _refuse("the contract divides by zero")
    return a // b


def _int256(value: int) -> int:
    if not -_INT <= value < _INT:
        _refuse("the amount overflows the contract's arithmetic")
    return value


def _refuse(problem: str) -> NoReturn:
    raise SwapReverts(problem)


def _wide_limits(gamma: int) -> tuple[int, int, int, int]:
    """Return the limits for two-coin pools of version 2.0.0."""
    del gamma
    return 2 * 10**16, 2 * 10**20, 10**16 - 1, 10**20


def _limits_by_gamma(gamma: int) -> tuple[int, int, int, int]:
    """Return the limits for two-coin pools of version 2.1.0, which are narrower for a large gamma."""
    high = 100 * WAD
    if gamma > _MAX_GAMMA_SMALL:
        high = high * _MAX_GAMMA_SMALL // gamma
    return 10**36 // high, high, 10**36 // 2 // high, high // 2


def _maths_of_two(
    max_gamma: int, limits: Callable[[int], tuple[int, int, int, int]], new_shares: tuple[int, int], *, checks: bool
) -> Maths:
    def find_balance(amp: int, gamma: int, balances: Sequence[int], d: int, i: int) -> Solution:
        return _find_balance_of_two(amp, gamma, balances[1 - i], d, limits(gamma))

    def find_invariant(amp: int, gamma: int, balances: Sequence[int], k0_hint: int) -> int:
        return _find_invariant_of_two(amp, gamma, balances, k0_hint, *new_shares)

    def share_range(gamma: int) -> tuple[float, float]:
        return limits(gamma)[2] / WAD, limits(gamma)[3] / WAD

    unit = 4 * A_MULTIPLIER
    return Maths(max_gamma, unit // 10, unit * 1000, find_balance, find_invariant, _mean_of_two, share_range, checks)


MATHS: Final[Mapping[tuple[int, str], Maths]] = MappingProxyType(
    {
        (2, "v2.0.0"): _maths_of_two(2 * 10**15, _wide_limits, (10**16 - 1, 10**20), checks=True),
        (2, "v2.1.0"): _maths_of_two(199 * 10**15, _limits_by_gamma, (10**16 // 2, 10**20 // 2), checks=False),
        (3, "v2.0.0"): Maths(
            5 * 10**16,
            27 * A_MULTIPLIER // 100,
            27 * A_MULTIPLIER * 1000,
            _find_balance_of_three,
            _find_invariant_of_three,
            _mean_of_three,
            lambda _: (0.01, 100.0),
            checks_new_shares=True,
        ),
    }
)
"""The known maths contracts, by number of coins and version."""
