"""The numerical constants of the solver, each with the origin of its value.

"Empirical" values were chosen by measuring gap and time on markets of 100 to 10,000 pools; results change little around
them. None of them affects a shown amount directly: shown amounts come from the exact replay.
"""

from __future__ import annotations

from swapcli.core.annotations import Final

# --- the dual and its prices

OUTPUT_WEIGHT: Final = 1e-2
"""The weight of the dual, relative to the order's value, in the scale of imbalances.

An order that drains its pools is worth next to nothing at the marginal prices by which imbalances are measured.
Arbitrage can move far more value than the order, and balancing it to a fraction of the order would take too many
iterations. Empirical.
"""

# --- Newton's method

MAX_ITERATIONS: Final = 24
"""5 to 15 iterations are typical; the rest is a reserve for markets with many kinks."""

MAX_ATTEMPTS: Final = 4
"""The maximum number of models tried for one step, before coordinate descent. Empirical."""

FAR_RESIDUAL: Final = 10.0
"""The residual above which coordinate descent comes first: the pools trade ten times the order at wrong prices, too far
from the solution for any model. Empirical."""

ARMIJO_FRACTION: Final = 0.2
"""The fraction of the predicted decrease that an accepted step must reach: the usual range is 0.01 to 0.3 (Boyd,
Vandenberghe, Convex Optimization, section 9.2)."""

RESIDUAL_HALVED: Final = 0.5
ROUNDING: Final = 1e-14
"""The rounding error of the dual.

A step that raises the dual by no more than this is also accepted if it halves the residual: near the minimum, floats no
longer show the decrease. Empirical; sums of some hundred trades lose that much.
"""

SLOW_RATIO: Final = 0.7
"""The fraction of the residual above which a step counts as slow and is followed by a coordinate descent step.

Empirical.
"""

MAX_STEP: Final = 3.0
"""The largest change of a logarithmic price in one iteration: a factor of 20, beyond which no model is valid."""

DAMPING: Final = 0.25
"""The Levenberg-Marquardt damping per unit of imbalance.

Without any conductance, it lets a logarithmic price move by 1 / 0.25 = 4, slightly more than `MAX_STEP`.
"""

# --- the quadratic model

MAX_BISECTIONS: Final = 6
"""The number of halvings of a price change when searching for a jump of a pool's flow: down to a 64th of the change.

Empirical.
"""

MAX_SLOPE_RATIO: Final = 2.0
"""The ratio of slopes up to which a pool's flow counts as straight between two prices, compared with the secant.

Empirical.
"""

FREE_ROUNDS: Final = 3
SEARCH_ROUNDS: Final = 24
"""The rounds in which the set of active arcs changes freely, and then the rounds with a line search, which rules out
cycling. Empirical."""

REGULARIZATION: Final = 1e-13
"""The diagonal term, in multiples of the dual, that keeps the system positive definite: some 500 times the float
rounding error."""

# --- coordinate descent

COORDINATE_TOL: Final = 3e-3
COORDINATE_PART: Final = 0.1
"""The imbalance at which a coordinate step stops: the larger of a part of the imbalance scale and a part of the token's
own imbalance, since the other tokens' steps disturb its balance again. Empirical."""

FIRST_STEP: Final = 0.3
STEP_OUT: Final = 4.0
MAX_LOG_STEP: Final = 40.0
"""The largest first step of a logarithmic price, and its growth until the zero is bracketed.

Empirical. The search stops after a step of `MAX_LOG_STEP`, beyond the range of real prices.
"""

LOG_ROOT_STEPS: Final = 24
"""The maximum number of steps. Four are typical; the rest is a reserve for jumps, which halve the bracket."""

# --- the least integer that suffices

SECANT_ITERATIONS: Final = 8
"""The maximum number of iterations of the secant method, which converges with order 1.6: from a percent to the last of
27 digits in seven steps."""

MAX_DUE_WIDTHS: Final = 8
"""The widths of the bracket over which its progress is measured: after fast steps, three slow ones are allowed before
bisection."""

MAX_FUTILE: Final = 2
"""The number of consecutive estimated jumps that leave more than a quarter of the bracket, after which no jump is tried
any more. Empirical."""

STEP_OUT_GROWTH: Final = 16
"""The factor on the steps that bracket an integer after the secant method.

Empirical: 4 and 64 take more evaluations.
"""

# --- the split of one hop

HOP_ITERATIONS: Final = 150
"""The maximum number of iterations: bisection over the whole range of floats takes about this many halvings."""

HOP_TOL: Final = 1e-9
"""The fraction of a hop's input that its split may leave over: far below the API's share step of 1e-4."""

ADJACENT_FLOATS: Final = 4e-16
"""The relative distance of two rates with hardly a float between them: two units in the last place."""

NEARLY_FULL: Final = 1 - 1e-8
"""The fraction of a pool's capacity from which it counts as full: `HOP_TOL` with a margin."""

MIN_SLOPE_PROGRESS: Final = 0.5
"""The fraction of the missing input that a Newton step on the rate may leave at most; otherwise bisection follows."""

# --- bounds on liquidity

UNBOUNDED_AMOUNT: Final = 2.0**256
"""An amount that stands in for infinite capacities in sums: no token has more units."""

ROUNDING_MARGIN: Final = 1.0 + 1e-9
"""A factor on bounds that keeps them above float rounding errors."""

BRACKET_FACTOR: Final = 4.0
BISECTIONS: Final = 12
"""The steps of the search for the input that pays a given output: 12 halvings of a factor of 4 leave less than 0.1%
above it. The upper end is used, so that the result remains a bound."""
