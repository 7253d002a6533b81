"""The minimum of convex functions, smooth and with kinks."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.routing.solver.quasi_newton import Evaluation, minimize

points = st.lists(st.floats(-3.0, 3.0), min_size=1, max_size=6)


@given(points, st.floats(1.0, 30.0), st.booleans())
def test_finds_the_minimum_of_sums(target: list[float], spread: float, has_kinks: bool) -> None:
    """Of quadratics of different curvature, with an absolute value of each variable's distance or without."""
    weights = [spread**number for number in range(len(target))]

    def evaluate(point: Sequence[float]) -> Evaluation:
        value, gradient = 1.0, []
        for x, goal, weight in zip(point, target, weights, strict=True):
            distance = x - goal
            kink = (distance > 0) - (distance < 0) if has_kinks else 0
            value += weight * distance**2 / 2 + kink * distance
            gradient.append(weight * distance + kink)
        return value, gradient

    found = minimize(evaluate, [0.0] * len(target), weights, max_evaluations=600)
    assert 1.0 <= found.value <= 1.001
    assert found.value == evaluate(found.point)[0]


@given(st.floats(-2.0, 2.0))
def test_a_wrong_curvature_costs_only_steps(start: float) -> None:
    found = minimize(
        lambda point: (exp(point[0]) - point[0], [exp(point[0]) - 1.0]), [start], [0.0], max_evaluations=99
    )
    assert found.value == pytest.approx(1.0, abs=1e-6)


def test_stops_when_a_value_is_enough() -> None:
    seen: list[float] = []

    def evaluate(point: Sequence[float]) -> Evaluation:
        seen.append(point[0] ** 2)
        return seen[-1], [2.0 * point[0]]

    assert minimize(evaluate, [2.0], [200.0], max_evaluations=500, enough=1.0).value <= 1.0
    assert sum(value <= 1.0 for value in seen) == 1
    assert minimize(evaluate, [2.0], [200.0], max_evaluations=3).value < 4.0


def test_no_variables_have_one_value() -> None:
    assert minimize(lambda _: (5.0, []), [], [], max_evaluations=9).value == 5.0
