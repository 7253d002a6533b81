"""Minimise a convex function with kinks: Newton's method with an approximate inverse of the Hessian (BFGS).

The method also finds the minimum of nonsmooth functions if the line search enforces Wolfe's weak conditions (Lewis,
Overton, Nonsmooth optimization via quasi-Newton methods, 2013). When a kink stops it, it collects the gradients on the
sides of the kink, and continues in a direction in which the function falls on all sides (bundle methods; Lemaréchal,
1975). Any point on the way has a valid value, so it may stop anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf

from swapcli.core.annotations import Final
from swapcli.core.records import NamedTuple

_SUFFICIENT_DECREASE: Final = 1e-4
_SUFFICIENT_CURVATURE: Final = 0.9
"""The usual constants of Wolfe's conditions."""
_MAX_STEP: Final = 1.0  # of a variable: the variables here are logarithms of prices
_MAX_TRIALS: Final = 12  # halvings of a step; below 1 / 4096 of it, the direction is useless
_MIN_DECREASE: Final = 1e-9  # of the value, in one step: a smaller decrease is below the rounding of a bound
_ROUNDING: Final = 1e-12  # of the value: a smaller slope is a rounding error
_MAX_NEARBY: Final = 24  # gradients around a point. Empirical: kinks rarely have more sides
_MEAN_STEPS: Final = 20  # towards the shortest mean of these gradients. Empirical
_MIN_PRODUCT: Final = 1e-300  # of a step times the change of the gradient: the update divides by it

Evaluation = tuple[float, list[float]]
"""The value of a function and its gradient, or a subgradient at a kink."""


class Minimum(NamedTuple):
    """The smallest value found, and its position."""

    value: float
    point: list[float]


def minimize(
    evaluate: Callable[[Sequence[float]], Evaluation],
    start: Sequence[float],
    curvatures: Sequence[float],
    *,
    max_evaluations: int,
    enough: float = -inf,
) -> Minimum:
    """Minimise from `start`, in about `max_evaluations` evaluations, or until a value is at most `enough`.

    `curvatures` are rough second derivatives by variable, which scale the first step; values that are not positive
    count as the largest positive one.
    """
    point = list(start)
    value, gradient = evaluate(point)
    best, count = Minimum(value, point), 1
    inverse, is_scaled = _diagonal_inverse(curvatures, gradient), False
    nearby = [gradient]
    while count < max_evaluations and best.value > enough and len(nearby) <= _MAX_NEARBY:
        direction, slope = _descent(inverse, nearby)
        if slope >= -_ROUNDING * abs(value):
            break
        reached = _search_line(evaluate, point, value, direction, slope)
        count += reached.trials
        if reached.value < best.value:
            best = Minimum(reached.value, reached.point)
        if reached.value > value - _MIN_DECREASE * abs(value):
            nearby.append(reached.gradient)
            continue
        step, change = (
            list(map(float.__sub__, *pair)) for pair in ((reached.point, point), (reached.gradient, gradient))
        )
        if not is_scaled:
            _scale(inverse, step, change)
            is_scaled = True
        _update(inverse, step, change)
        point, value, gradient = reached.point, reached.value, reached.gradient
        nearby = [gradient]
    return best


def _descent(inverse: list[list[float]], gradients: Sequence[list[float]]) -> tuple[list[float], float]:
    """Return a direction in which the function falls on all sides of a kink, and its slope in that direction.

    It is the direction of steepest descent for the mean of `gradients` that is shortest in the metric of the inverse
    Hessian, as found by Frank and Wolfe's method.
    """
    mean = gradients[0]
    image = _multiply(inverse, mean)
    for _ in range(_MEAN_STEPS if len(gradients) > 1 else 0):
        nearest = min(gradients, key=lambda each: sum(map(float.__mul__, each, image)))
        away = list(map(float.__sub__, nearest, mean))
        away_image = _multiply(inverse, away)
        length = sum(map(float.__mul__, away, away_image))
        if length <= 0.0:
            break
        part = min(1.0, -sum(map(float.__mul__, away, image)) / length)
        if part <= 0.0:
            break
        mean = [m + part * a for m, a in zip(mean, away, strict=True)]
        image = [m + part * a for m, a in zip(image, away_image, strict=True)]
    longest = max(map(abs, image), default=0.0)
    scale = _MAX_STEP / longest if longest > _MAX_STEP else 1.0
    direction = [-scale * each for each in image]
    return direction, max((sum(map(float.__mul__, direction, each)) for each in gradients), default=0.0)


def _multiply(matrix: list[list[float]], vector: list[float]) -> list[float]:
    return [sum(map(float.__mul__, row, vector)) for row in matrix]


class _Reached(NamedTuple):
    """A point on a line, and the number of points tried."""

    point: list[float]
    value: float
    gradient: list[float]
    trials: int


def _search_line(
    evaluate: Callable[[Sequence[float]], Evaluation],
    point: Sequence[float],
    value: float,
    direction: Sequence[float],
    slope: float,
) -> _Reached:
    """Return the first point in a direction that meets Wolfe's weak conditions, or otherwise the last one tried."""
    step, below, above = 1.0, 0.0, inf
    for trial in range(1, _MAX_TRIALS + 1):
        tried = [x + step * d for x, d in zip(point, direction, strict=True)]
        reached = _Reached(tried, *evaluate(tried), trial)
        if reached.value > value + _SUFFICIENT_DECREASE * step * slope:
            above = step
        elif sum(map(float.__mul__, direction, reached.gradient)) < _SUFFICIENT_CURVATURE * slope:
            below = step
        else:
            break
        step = 2.0 * below if above == inf else (below + above) / 2.0
    return reached


def _diagonal_inverse(curvatures: Sequence[float], gradient: Sequence[float]) -> list[list[float]]:
    """Return the inverse of a diagonal matrix of curvatures.

    If all are zero, the result makes a step of one in each variable.
    """
    largest = max(curvatures, default=0.0) or max(map(abs, gradient), default=0.0) or 1.0
    inverse = [[0.0] * len(curvatures) for _ in curvatures]
    for number, curvature in enumerate(curvatures):
        inverse[number][number] = 1.0 / (curvature if curvature > 0.0 else largest)
    return inverse


def _scale(inverse: list[list[float]], step: list[float], change: list[float]) -> None:
    """Scale the first inverse by the result of a step (Oren, Luenberger, 1974): without this, an update would lose
    digits."""
    product = sum(map(float.__mul__, step, change))
    length = sum(map(float.__mul__, change, _multiply(inverse, change)))
    if product > 0.0 and length > 0.0:
        for number, row in enumerate(inverse):
            inverse[number] = [each * product / length for each in row]


def _update(inverse: list[list[float]], step: list[float], change: list[float]) -> None:
    """Update the inverse Hessian from a step and the change of the gradient: the BFGS formula."""
    product = sum(map(float.__mul__, step, change))
    if product <= _MIN_PRODUCT:
        return
    image = _multiply(inverse, change)
    factor = (1.0 + sum(map(float.__mul__, change, image)) / product) / product
    for i in range(len(step)):
        row, scaled, image_i = inverse[i], factor * step[i], image[i] / product
        step_i = step[i] / product
        inverse[i] = [
            entry + scaled * s - image_i * s - step_i * m for entry, s, m in zip(row, step, image, strict=True)
        ]
