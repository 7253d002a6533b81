"""The numerical constants of the solver, each with the origin of its value.

"Empirical" values were chosen by measuring gap and time on markets of 100 to 10,000 pools; results change little around
them. None decides a shown amount: those come from the exact replay.
"""

from __future__ import annotations

from swapcli.core.annotations import Final

# --- the dual and its prices

OUTPUT_WEIGHT: Final = 1e-2
"""Weight of the dual, beside the order's value, in the scale of imbalances. An order that drains its pools is worth
next to nothing at the marginal prices that imbalances are measured with. Arbitrage can move far more value than the
order, and balancing it to a fraction of the order would take too many iterations. Empirical."""

# --- Newton's method

MAX_ITERATIONS: Final = 24
"""5 to 15 iterations are typical; the rest is a reserve for markets with many kinks."""

MAX_ATTEMPTS: Final = 4
"""Models tried for one step, before coordinate descent. Empirical."""

FAR_RESIDUAL: Final = 10.0
"""Above it the pools trade ten times the order at wrong prices, where no model holds far: coordinate descent comes
first. Empirical."""

ARMIJO_FRACTION: Final = 0.2
"""Part of the predicted decrease that an accepted step must reach: the usual range is 0.01 to 0.3 (Boyd, Vandenberghe,
Convex Optimization, section 9.2)."""

RESIDUAL_HALVED: Final = 0.5
ROUNDING: Final = 1e-14
"""A step that does not raise the dual, but for so much of it, is accepted as well if it halves the residual: near the
minimum, floats no longer show the decrease. Empirical; sums of some hundred trades lose that much."""

SLOW_RATIO: Final = 0.7
"""A step that leaves more of the residual than this is followed by a coordinate descent step. Empirical."""

MAX_STEP: Final = 3.0
"""Largest change of a logarithmic price in one iteration: a factor of 20, which no model is valid beyond."""

DAMPING: Final = 0.25
"""Levenberg-Marquardt damping per unit of imbalance. Without any conductance, it lets a logarithmic price move by
1 / 0.25 = 4, just above `MAX_STEP`."""

# --- the quadratic model

MAX_BISECTIONS: Final = 6
"""Halvings of a price change in search of a jump of a pool's flow: to a 64th of it. Empirical."""

MAX_SLOPE_RATIO: Final = 2.0
"""A pool's flow counts as straight between two prices if its slopes there differ from the secant by less. Empirical."""

FREE_ROUNDS: Final = 3
SEARCH_ROUNDS: Final = 24
"""Rounds in which the set of active arcs changes freely, then with a line search, which rules out cycling.
Empirical."""

REGULARIZATION: Final = 1e-13
"""Diagonal term, in multiples of the dual, that keeps the system positive definite: some 500 times the rounding error
of floats."""

# --- coordinate descent

COORDINATE_TOL: Final = 3e-3
COORDINATE_PART: Final = 0.1
"""One coordinate step stops at the larger of two imbalances: a part of the imbalance scale, and a part of the token's
own, as the other tokens' steps disturb its balance again. Empirical."""

FIRST_STEP: Final = 0.3
STEP_OUT: Final = 4.0
MAX_LOG_STEP: Final = 40.0
"""Largest first step of a logarithmic price, and its growth until the zero is bracketed. Empirical. The search
stops after a step of `MAX_LOG_STEP`, beyond the range of real prices."""

LOG_ROOT_STEPS: Final = 24
"""Four are typical; the rest is a reserve for jumps, which halve the bracket."""

# --- the least integer that suffices

SECANT_ITERATIONS: Final = 8
"""The secant method converges with order 1.6: from a percent to the last of 27 digits in seven steps."""

MAX_DUE_WIDTHS: Final = 8
"""Limit, in widths of the bracket, of what its next width is compared with: after fast steps, three slow ones are
allowed before bisection."""

MAX_FUTILE: Final = 2
"""After so many estimated jumps in a row that leave more than a quarter of the bracket, none is tried any more.
Empirical."""

STEP_OUT_GROWTH: Final = 16
"""Factor on the steps that bracket an integer after the secant method. Empirical: 4 and 64 take more evaluations."""

# --- the split of one hop

HOP_ITERATIONS: Final = 150
"""Bisection over the whole range of floats takes at most about this many halvings."""

HOP_TOL: Final = 1e-9
"""Part of a hop's input left over by its split: far below the wire's shares of 1e-4."""

ADJACENT_FLOATS: Final = 4e-16
"""Relative distance of two rates with hardly a float between them: two units in the last place."""

NEARLY_FULL: Final = 1 - 1e-8
"""Part of a pool's capacity from which it counts as full: `HOP_TOL` with a margin."""

MIN_SLOPE_PROGRESS: Final = 0.5
"""A Newton step on the rate must leave at most this part of the missing input; otherwise bisection follows."""

# --- bounds on liquidity

UNBOUNDED_AMOUNT: Final = 2.0**256
"""No token has more units; stands in for infinite capacities in sums."""

ROUNDING_MARGIN: Final = 1.0 + 1e-9
"""Factor on bounds that keeps them above what floats round away."""

BRACKET_FACTOR: Final = 4.0
BISECTIONS: Final = 12
"""Steps of the search for the input that pays a given output: 12 halvings of a factor of 4 leave less than 0.1% above
it. The upper end is used, so that the result stays a bound."""
