"""Gyroscope's elliptic concentrated liquidity (E-CLP), computed step by step like the contract's library.

The pool's two balances, scaled to 18 decimals, lie on an ellipse: the unit circle times the invariant r, stretched by
lambda, rotated by the angle with cosine c and sine s, and shifted by the offsets (a, b) so that the prices at its ends
are alpha and beta. A swap computes r from both balances with a bound on its error, and solves a quadratic equation for
the balance of the bought token. r is computed as an underestimate and as an overestimate, and each place uses the one
that is worse for the trader. Every product has its own rounding, so the order of operations matters.

Formulas: "E-CLP Mathematics", sections 2.1 and 2.2 (github.com/gyrostable/technical-papers). tau_alpha and tau_beta are
the points of the circle at the prices alpha and beta; u, v, w, z are the components of A chi, the image of the corner
chi of the ellipse's box. s and c have 18 decimals, so s^2 + c^2 = d_sq is not exactly one; each formula divides it out.
"""

from __future__ import annotations

from math import dist, hypot

from swapcli.core.annotations import Final, Self
from swapcli.core.errors import InvalidPoolState, SwapReverts
from swapcli.core.frozen_dataclass import dataclass
from swapcli.core.model.units import WAD
from swapcli.core.records import NamedTuple
from swapcli.families.balancer.signed_fixed_point import (
    ONE_38,
    div_38,
    div_down,
    div_up,
    mul_38,
    mul_down,
    mul_mixed_down,
    mul_mixed_up,
    mul_up,
    sqrt,
    truncate,
)
from swapcli.families.state_fields import StateFields

# Limits of the contract's constructor.
_NORM_TOLERANCE: Final = 10**3
_NORM_TOLERANCE_38: Final = 10**23
_MAX_LAMBDA: Final = 10**26
_MAX_INVERSE_DENOMINATOR: Final = 10**43
_DERIVED_TOLERANCE: Final = 1e-6
"""Floats err by up to 10^-16 lambda, at most 10^-8; wrong parameters are off by more than a millionth."""
# Limits of each swap.
_MAX_BALANCES: Final = 10**34
_MAX_INVARIANT: Final = 3 * 10**37
# Terms of the contract's error bounds, in units of the last digit.
_ROUNDING_OF_SQUARE: Final = 9
_ROUNDING_OF_TAU: Final = 7
_ROUNDING_OF_QUOTIENT: Final = 3
_NUMERATOR_ERROR_FACTOR: Final = 20
_DENOMINATOR_ERROR_FACTOR: Final = 40
_ROOT_OF_ONE_UNIT: Final = 10**9

_NAMES: Final = ("alpha", "beta", "c", "s", "lambda")
_VECTOR_NAMES: Final = ("tau_alpha", "tau_beta")
_DERIVED_NAMES: Final = ("u", "v", "w", "z", "d_sq")
_MAX_38: Final = 2 * ONE_38
"""More than any component of a vector of length one, including the contract's tolerance."""


class Invariant(NamedTuple):
    """An upper and a lower bound on the invariant r."""

    over: int
    under: int


class _Direction(NamedTuple):
    """The constants for selling one token, written for the first token; the second's are those of the first in the
    mirrored ellipse.

    (`s`, `c`) have 18 decimals, all others 38. tau = (tau_x, tau_y) is the point of the circle where the pool's balance
    of this token is zero; each factor with tau is divided by its power of d_sq.
    """

    s: int
    c: int
    tau_x: int
    tau_y: int
    width: int
    height: int
    tilt: Invariant
    root_factor: int
    inverse: Invariant
    tau_xy: int
    tau_xx: int
    tau_yy: int


class _InvariantTerms(NamedTuple):
    """Factors of the invariant that depend only on the parameters, with 38 decimals."""

    across: int
    along: int
    along_v: int
    x_squared: int
    mixed: int
    y_squared: int
    inverse_d_sq: int
    inverse_denominator: int


class _DerivedValues:
    """The values that are computed once from the parameters."""

    __slots__ = ("_directions", "_terms")
    _directions: tuple[_Direction, _Direction]
    _terms: _InvariantTerms


@dataclass(frozen=True, slots=True)
class EclpParameters(_DerivedValues):
    """A pool's parameters as returned by `getECLPParams()`: the first five with 18 decimals, the others with 38.

    Raises `InvalidPoolState` for parameters that the contract's constructor rejects, and for derived parameters above
    one, which no ellipse has.
    """

    alpha: int
    beta: int
    c: int
    s: int
    lambda_: int
    tau_alpha: tuple[int, int]
    tau_beta: tuple[int, int]
    u: int
    v: int
    w: int
    z: int
    d_sq: int

    def __post_init__(self) -> None:
        _check(self)
        (alpha_x, alpha_y), (beta_x, beta_y) = self.tau_alpha, self.tau_beta
        first = _direction(self, self.s, self.c, self.tau_beta, self.tau_alpha)
        second = _direction(self, self.c, self.s, (-alpha_x, alpha_y), (-beta_x, beta_y))
        object.__setattr__(self, "_directions", (first, second))
        object.__setattr__(self, "_terms", _invariant_terms(self))

    def __reduce__(self) -> tuple[type[Self], tuple[object, ...]]:
        """Return the data for copies and pickles: only the parameters."""
        return type(self), tuple(getattr(self, name) for name in self.__match_args__)

    @classmethod
    def from_fields(cls, fields: StateFields) -> Self:
        """Read the fields that `state` returns."""
        alpha, beta, c, s, lambda_ = (fields.integer(name, 0, _MAX_LAMBDA) for name in _NAMES)
        (ax, ay), (bx, by) = (fields.integers(name, 2, -_MAX_38, _MAX_38) for name in _VECTOR_NAMES)
        u, v, w, z, d_sq = (fields.integer(name, -_MAX_38, _MAX_38) for name in _DERIVED_NAMES)
        return cls(alpha, beta, c, s, lambda_, (ax, ay), (bx, by), u, v, w, z, d_sq)

    def state(self) -> dict[str, object]:
        """Return the parameters as JSON values, under the names that `from_fields` reads."""
        numbers = (self.alpha, self.beta, self.c, self.s, self.lambda_, self.u, self.v, self.w, self.z, self.d_sq)
        state: dict[str, object] = dict(zip((*_NAMES, *_DERIVED_NAMES), map(str, numbers), strict=True))
        points = zip(_VECTOR_NAMES, (self.tau_alpha, self.tau_beta), strict=True)
        state |= {name: [str(component) for component in point] for name, point in points}
        return state

    def invariant(self, x: int, y: int) -> Invariant:
        """Return the invariant r for the balances x and y. Raises `SwapReverts` beyond the contract's limits."""
        if x + y > _MAX_BALANCES:
            raise SwapReverts("the pool's balances exceed the contract's limit")
        terms, s, c, lambda_ = self._terms, self.s, self.c, self.lambda_
        numerator = (
            mul_mixed_down(mul_down(x, c) - mul_down(y, s), terms.across)
            + mul_mixed_down(mul_down(mul_down(x, lambda_), s) + mul_down(mul_down(y, lambda_), c), terms.along)
            + mul_mixed_down(mul_down(x, s) + mul_down(y, c), terms.along_v)
        )
        radicand = self._radicand(x, y)
        root = sqrt(radicand) if radicand > 0 else 0
        error = (mul_up(x, x) + mul_up(y, y)) // ONE_38
        error = div_up(error + 1, 2 * root) if root else sqrt(error) or _ROOT_OF_ONE_UNIT
        error = (mul_up(lambda_, x + y) // ONE_38 + error + 1) * _NUMERATOR_ERROR_FACTOR
        inverse = terms.inverse_denominator
        r = mul_mixed_down(numerator + root - error, inverse)
        relative = mul_mixed_up(r, inverse) * (lambda_ * lambda_ // WAD**2) * _DENOMINATOR_ERROR_FACTOR
        error = mul_mixed_up(error, inverse) + truncate(relative, ONE_38) + 1
        if r + error > _MAX_INVARIANT:
            raise SwapReverts("the pool's invariant exceeds the contract's limit")
        return Invariant(r + 2 * error, r)

    def max_balance(self, invariant: Invariant, token: int) -> int:
        """Return the largest balance of a token that the contract accepts. At that point, the other token's balance is
        zero."""
        direction = self._directions[token]
        over, under = invariant
        s, height = direction.s, direction.height
        wide = mul_mixed_down(mul_down(mul_down(under, self.lambda_), direction.c), direction.width)
        return min(_MAX_BALANCES, wide + mul_mixed_down(mul_down(under, s) if height > 0 else mul_up(over, s), height))

    def amount_out(self, balances: tuple[int, int], token_in: int, net_in: int) -> int:
        """Return the output for `net_in`, the input after the fee; all amounts have 18 decimals.

        Raises `SwapReverts` if the contract reverts.
        """
        invariant = self.invariant(*balances)
        balance_in = balances[token_in] + net_in
        if balance_in > self.max_balance(invariant, token_in):
            raise SwapReverts("the pool does not have enough of the bought token (AssetBoundsExceeded)")
        balance_out = self._other_balance(balance_in, invariant, token_in)
        if not 0 <= balance_out <= balances[1 - token_in]:
            raise SwapReverts("the pool's balance of the bought token leaves its range")
        return balances[1 - token_in] - balance_out

    def offset(self, invariant: Invariant, token: int) -> int:
        """Return the virtual offset of a token, a or b, rounded up."""
        direction = self._directions[token]
        over, under = invariant
        if direction.tau_x > 0:
            stretched = mul_up(mul_up(over, self.lambda_), direction.c)
        else:
            stretched = mul_down(mul_down(under, self.lambda_), direction.c)
        rotated = mul_mixed_up(mul_up(over, direction.s), direction.tau_y)
        return mul_mixed_up(stretched, direction.tau_x) + rotated

    def _radicand(self, x: int, y: int) -> int:
        """Return (A t . A chi)^2 - (A chi . A chi - 1) (A t . A t), the square of the root in r, by components."""
        terms, s, c, lambda_ = self._terms, self.s, self.c, self.lambda_
        xx_up, yy_up = mul_up(x, x), mul_up(y, y)
        across = (
            mul_up(mul_up(xx_up, c), c) + mul_up(mul_up(yy_up, s), s) - mul_down(mul_down(mul_down(x, y), 2 * c), s)
        )
        radicand = mul_mixed_down(-across, terms.x_squared) + mul_mixed_down(
            div_down(div_down(across - _ROUNDING_OF_SQUARE, lambda_), lambda_), terms.inverse_d_sq
        )
        xy = mul_down(y, 2 * x)
        mixed = mul_down(mul_down(mul_down(x, x) - yy_up, 2 * c), s)
        mixed += mul_down(mul_down(xy, c), c) - mul_down(mul_down(xy, s), s)
        radicand += mul_mixed_down(mixed, terms.mixed)
        along = mul_up(mul_up(xx_up, s), s) + mul_up(mul_up(yy_up, c), c) + mul_up(mul_up(mul_up(x, y), 2 * s), c)
        return (
            radicand
            + mul_mixed_down(-along, terms.y_squared)
            + mul_mixed_down(along - _ROUNDING_OF_SQUARE, terms.inverse_d_sq)
        )

    def _other_balance(self, x: int, invariant: Invariant, token: int) -> int:
        """Return the other token's balance, overestimated, when the balance of `token` is `x`: proposition 14."""
        direction = self._directions[token]
        s, c, under = direction.s, direction.c, invariant.under
        shifted = x - self.offset(invariant, token)
        if shifted > 0:
            linear = mul_mixed_up(mul_down(mul_down(-shifted, s), c), direction.tilt.under)
        else:
            linear = mul_mixed_up(mul_up(mul_up(-shifted, s), c), direction.tilt.over)
        radicand = mul_mixed_down(mul_down(under, under), direction.root_factor) - self._shifted_square(
            x, invariant, direction
        )
        difference = linear - (sqrt(radicand) if radicand > 0 else 0)
        inverse = direction.inverse.over if difference > 0 else direction.inverse.under
        return mul_mixed_up(difference, inverse) + self.offset(invariant, 1 - token)

    def _shifted_square(self, x: int, invariant: Invariant, direction: _Direction) -> int:
        """Return (x - offset)^2 / lambda^2, overestimated, by powers of 1 / lambda."""
        s, c, tau_x, lambda_ = direction.s, direction.c, direction.tau_x, self.lambda_
        over, under = invariant
        over_squared = mul_up(over, over)
        if direction.tau_xy > 0:
            first = mul_mixed_up(mul_up(mul_up(over_squared, 2 * s), c), direction.tau_xy + _ROUNDING_OF_TAU)
        else:
            first = mul_mixed_up(mul_down(mul_down(mul_down(under, under), 2 * s), c), direction.tau_xy)
        if tau_x < 0:
            first += mul_mixed_up(mul_up(mul_up(over, x), 2 * c), _ROUNDING_OF_QUOTIENT - tau_x)
        else:
            first += mul_mixed_up(mul_down(mul_down(-under, x), 2 * c), tau_x)
        second = mul_mixed_up(mul_up(mul_up(over_squared, s), s), direction.tau_yy)
        second += mul_mixed_up(mul_down(mul_down(-under, x), 2 * s), direction.tau_y) + mul_up(x, x)
        first += div_up(second, lambda_) if second > 0 else div_down(second, lambda_)
        first = div_up(first, lambda_) if first > 0 else div_down(first, lambda_)
        return mul_mixed_up(mul_up(mul_up(over_squared, c), c), direction.tau_xx) + first


def _check(p: EclpParameters) -> None:
    """Raise `InvalidPoolState` for parameters that the contract's constructor rejects."""
    _require(0 <= p.s <= WAD and 0 <= p.c <= WAD, "s", "s and c are not from 0 to 10^18")
    _require(abs(mul_down(p.s, p.s) + mul_down(p.c, p.c) - WAD) <= _NORM_TOLERANCE, "s", "s^2 + c^2 is not one")
    _require(WAD <= p.lambda_ <= _MAX_LAMBDA, "lambda", f"expected 10^18 to 10^26, not {p.lambda_}")
    _require(0 < p.alpha < p.beta, "alpha", "expected 0 < alpha < beta")
    for name, (x, y) in (("tau_alpha", p.tau_alpha), ("tau_beta", p.tau_beta)):
        norm = mul_38(x, x) + mul_38(y, y)
        _require(y > 0 and abs(norm - ONE_38) <= _NORM_TOLERANCE_38, name, "is not on the upper half of the circle")
    _require(p.tau_beta[0] > p.tau_alpha[0], "tau_beta", "is not to the right of tau_alpha")
    for name, value in (("u", p.u), ("v", p.v), ("w", p.w), ("z", p.z)):
        _require(abs(value) <= ONE_38, name, f"expected at most 10^38, not {value}")
    _require(abs(p.d_sq - ONE_38) <= _NORM_TOLERANCE_38, "d_sq", f"expected 10^38, not {p.d_sq}")
    _check_derived(p)
    excess = _chi_squared(p) - ONE_38
    _require(
        excess > 0 and div_38(ONE_38, excess) <= _MAX_INVERSE_DENOMINATOR, "u", "u, v, w and z do not define an ellipse"
    )


def _check_derived(p: EclpParameters) -> None:
    """Raise `InvalidPoolState` if a derived parameter does not follow from the first five; no contract checks this."""
    s, c, lambda_ = p.s / WAD, p.c / WAD, p.lambda_ / WAD
    points = []
    for name, price, (x, y) in (("tau_alpha", p.alpha / WAD, p.tau_alpha), ("tau_beta", p.beta / WAD, p.tau_beta)):
        tangent = lambda_ * (c * price - s) / (c + s * price)
        point = tangent / hypot(1.0, tangent), 1.0 / hypot(1.0, tangent)
        _require(dist(point, (x / ONE_38, y / ONE_38)) < _DERIVED_TOLERANCE, name, "is at a different price")
        points.append(point)
    (alpha_x, alpha_y), (beta_x, beta_y) = points
    for name, expected, exact in (
        ("u", s * c * (beta_x - alpha_x), p.u),
        ("v", s * s * beta_y + c * c * alpha_y, p.v),
        ("w", s * c * (beta_y - alpha_y), p.w),
        ("z", c * c * beta_x + s * s * alpha_x, p.z),
    ):
        _require(abs(exact / ONE_38 - expected) < _DERIVED_TOLERANCE, name, "does not belong to the other parameters")


def _require(is_valid: bool, field_name: str, problem: str) -> None:
    if not is_valid:
        raise InvalidPoolState(field_name, problem)


def _direction(p: EclpParameters, s: int, c: int, tau: tuple[int, int], other: tuple[int, int]) -> _Direction:
    """Return the constants of one direction; `tau` is its end of the curve, `other` the other token's."""
    (tau_x, tau_y), d_sq = tau, p.d_sq
    d_sq_2 = mul_38(d_sq, d_sq)
    flatness_over = ONE_38 - div_down(div_down(ONE_38, p.lambda_), p.lambda_)
    flatness_under = ONE_38 - div_up(div_up(ONE_38, p.lambda_), p.lambda_)
    square_over = ONE_38 - div_38(mul_down(mul_down(flatness_under, s), s), d_sq)
    square_under = ONE_38 - div_38(mul_up(mul_up(flatness_over, s), s), d_sq + 1) - 1
    return _Direction(
        s,
        c,
        div_38(tau_x, d_sq),
        div_38(tau_y, d_sq),
        div_38(tau_x - other[0], d_sq),
        div_38(tau_y - other[1], d_sq),
        Invariant(div_38(flatness_over, d_sq) + 1, div_38(flatness_under, d_sq)),
        square_under,
        Invariant(div_38(ONE_38, square_under) + 1, div_38(ONE_38, square_over)),
        div_38(mul_38(tau_x, tau_y), d_sq_2),
        div_38(mul_38(tau_x, tau_x), d_sq_2) + _ROUNDING_OF_TAU,
        div_38(mul_38(tau_y, tau_y), d_sq_2) + _ROUNDING_OF_TAU,
    )


def _invariant_terms(p: EclpParameters) -> _InvariantTerms:
    u, v, w, z, lambda_, d_sq = p.u, p.v, p.w, p.z, p.lambda_, p.d_sq
    d_sq_2 = mul_38(d_sq, d_sq)
    d_sq_4 = mul_38(mul_38(d_sq_2, d_sq), d_sq)
    x_squared = mul_38(u, u) + div_down(mul_38(2 * u, v), lambda_) + div_down(div_down(mul_38(v, v), lambda_), lambda_)
    mixed = (
        mul_38(z, u)
        + div_down(div_down(mul_38(w, v), lambda_), lambda_)
        + div_down(mul_38(w, u) + mul_38(z, v), lambda_)
    )
    y_squared = mul_38(z, z) + div_down(div_down(mul_38(w, w), lambda_), lambda_) + div_down(mul_38(2 * z, w), lambda_)
    return _InvariantTerms(
        div_38(div_down(div_down(w, lambda_) + z, lambda_), d_sq_2),
        div_38(u, d_sq_2),
        div_38(v, d_sq_2),
        div_38(x_squared, d_sq_4),
        div_38(mixed, d_sq_4),
        div_38(y_squared, d_sq_4),
        div_38(ONE_38, d_sq),
        div_38(ONE_38, _chi_squared(p) - ONE_38),
    )


def _chi_squared(p: EclpParameters) -> int:
    """Return A chi . A chi with 38 decimals, rounded up."""
    u, v, lambda_ = p.u, p.v, p.lambda_
    d_sq_3 = mul_38(mul_38(p.d_sq, p.d_sq), p.d_sq)
    total = mul_up(lambda_, div_38(mul_38(2 * u, v), d_sq_3))
    total += mul_up(mul_up(div_38(mul_38(u + 1, u + 1), d_sq_3), lambda_), lambda_)
    total += div_38(mul_38(v, v), d_sq_3)
    x = div_up(p.w, lambda_) + p.z
    return total + div_38(mul_38(x, x), d_sq_3)
