"""A step of the resistor model balances every token with flows that are never negative."""

from __future__ import annotations

import random
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.errors import UnsatisfiedAssumption

from swapcli.routing.solver.dual import ActiveArc, Dual, DualPoint
from swapcli.routing.solver.newton_model import minimize_model, predicted_decrease, secant_model
from tests.routing.build import problem_of
from tests.support.pools import build_random_market, seeds

DAMPING = 0.25
amounts = st.floats(15, 21).map(lambda digits: int(10**digits))

Drawn = tuple[Dual, DualPoint]


@st.composite
def points(draw: st.DrawFn) -> Drawn:
    """A dual at prices somewhat below those of a vanishing order, so that some arcs trade and others do not."""
    market = build_random_market(draw(seeds), pools=draw(st.integers(6, 20)), every_family=draw(st.booleans()))
    problem = problem_of(market, draw(amounts))
    prices = {t: price for t in range(len(market.tokens)) if (price := problem.spot.value(t)) > 0.0} | {1: 1.0}
    if not problem.spot.path(0):
        raise UnsatisfiedAssumption
    dual = Dual(problem.arcs_between(prices), 0, 1, float(problem.spec.amount), lambda t: prices[t])
    rng, spread = random.Random(draw(seeds)), draw(st.sampled_from([1e-4, 1e-2, 1.0]))
    lower = [prices[t] * (1 - spread * rng.random() * 0.5) if t != 1 else 1.0 for t in dual.tokens]
    return dual, DualPoint(dual, dual.clamp(lower))


def complete(dual: Dual, point: DualPoint) -> dict[int, ActiveArc]:
    """The model of a point with all arcs, as seen from a trial that is the point itself."""
    return secant_model(dual, point, {entry[0]: entry for entry in point.active_flows}, point, range(len(dual.arcs)))


def flows(model: dict[int, ActiveArc], step: list[float]) -> dict[int, float]:
    return {k: max(0.0, flow + g * (step[j] - step[i])) for k, (_, i, j, flow, g) in model.items()}


@given(points())
def test_in_the_model_an_idle_arc_starts_at_its_start_rate(drawn: Drawn) -> None:
    dual, point = drawn
    live = {entry[0] for entry in point.active_flows}
    for k, (_, i, j, flow, g) in complete(dual, point).items():
        if k in live:
            assert flow > 0.0
        elif g > 0.0:
            price_in, price_out = point.prices[i], point.prices[j]
            assert -flow / g == pytest.approx(log(price_in / (price_out * dual.arcs[k][2])), rel=1e-9, abs=1e-12)


@given(points())
def test_a_step_balances_every_token_with_nonnegative_flows(drawn: Drawn) -> None:
    """What flows in and out after the step adds up, but for what the resistance to ground takes."""
    dual, point = drawn
    model = complete(dual, point)
    step = minimize_model(point, list(model.values()), DAMPING, with_line_search=True)
    after = flows(model, step)
    before = {entry[0]: entry[3] for entry in point.active_flows}
    balance = list(point.gradient)
    for k, (_, i, j, _, _) in model.items():
        change = after[k] - before.get(k, 0.0)
        balance[i] -= change
        balance[j] += change
    if not point.is_exhausted:
        scale = max(map(abs, point.gradient)) + max(after.values(), default=0.0)
        for token, left in enumerate(balance):
            if token != 1:
                grounded = -(DAMPING * abs(point.gradient[token]) + 1e-13 * point.value) * step[token]
                assert left == pytest.approx(grounded, abs=1e-2 * scale)


@given(points(), seeds)
def test_no_other_step_promises_more(drawn: Drawn, seed: int) -> None:
    """Within the model, and with the resistance to ground counted."""
    dual, point = drawn
    model, rng = complete(dual, point), random.Random(seed)
    step = minimize_model(point, list(model.values()), DAMPING, with_line_search=True)
    if point.is_exhausted:
        return

    def value(given_step: list[float]) -> float:
        market = sum(DAMPING * abs(g) * d * d for g, d in zip(point.gradient, given_step, strict=True)) / 2
        return predicted_decrease(point, model.values(), given_step) - market

    best = value(step)
    assert best >= -1e-9 * point.value
    for _ in range(20):
        part = rng.choice([0.0, 0.5, 0.99, 1.01, 2.0])
        other = [part * d + rng.gauss(0, 1e-6) for d in step]
        other[1] = 0.0
        assert value(other) <= best + 1e-6 * abs(best) + 1e-9 * point.value
