"""A step of the resistor model balances every token with flows that are never negative."""

from __future__ import annotations

import random
from collections.abc import Iterator
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.errors import UnsatisfiedAssumption

from swapcli.core.routing.graph.market_graph import Arc
from swapcli.core.routing.solver.dual import Dual, DualPoint
from swapcli.core.routing.solver.newton_model import (
    Model,
    PairModel,
    minimize_model,
    predicted_decrease,
    secant_model,
    tangent_model,
)
from tests.core.routing.build import problem_of
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


def complete(dual: Dual, point: DualPoint) -> Model:
    """The model of a point with all arcs, as seen from a trial that is the point itself."""
    every = [arc for _, _, arcs in dual.pairs for arc in arcs]
    return secant_model(dual, point, tangent_model(point), point, every)


def arcs_of(model: Model) -> Iterator[tuple[PairModel, Arc, float, float]]:
    """Each arc with its pair, flow and conductance."""
    for pair in model:
        for arc, flow, conductance in zip(pair.arcs, pair.flows, pair.conductances, strict=True):
            yield pair, arc, flow, conductance


def flow_after(pair: PairModel, flow: float, conductance: float, step: list[float]) -> float:
    return max(0.0, flow + conductance * pair.change(step))


@given(points())
def test_in_the_model_an_idle_arc_starts_at_its_start_rate(drawn: Drawn) -> None:
    dual, point = drawn
    for pair, arc, flow, conductance in arcs_of(complete(dual, point)):
        if arc in point.arcs:
            assert flow > 0.0
        elif conductance > 0.0:
            price_in, price_out = point.prices[pair.token_in], point.prices[pair.token_out]
            assert -flow / conductance == pytest.approx(log(price_in / (price_out * arc.rate)), rel=1e-9, abs=1e-12)


@given(points(), st.floats(-1.0, 1.0))
def test_a_pair_flows_as_its_arcs_together(drawn: Drawn, change: float) -> None:
    for pair in complete(*drawn):
        flow, conductance = pair.line_at(change)
        arcs = zip(pair.flows, pair.conductances, strict=True)
        expected = [max(0.0, f + g * change) for f, g in arcs]
        scale = sum(map(abs, pair.flows)) + pair.conductance
        assert flow + conductance * change == pytest.approx(sum(expected), abs=1e-12 * scale)


@given(points(), st.floats(-1.0, 1.0))
def test_the_curvature_of_a_pair_is_its_arcs_energy(drawn: Drawn, change: float) -> None:
    """The integral of the flow that the change adds, by the trapezoids of a fine grid."""
    steps = 2_000
    for pair in complete(*drawn):
        before = sum(max(0.0, f) for f in pair.flows)
        added = []
        for n in range(steps + 1):
            flow, conductance = pair.line_at(change * n / steps)
            added.append(flow + conductance * change * n / steps - before)
        integral = (sum(added) - (added[0] + added[-1]) / 2) * change / steps
        scale = sum(map(abs, pair.flows)) + pair.conductance
        assert pair.curvature(change) == pytest.approx(integral, rel=1e-3, abs=1e-6 * scale)


@given(points())
def test_a_step_balances_every_token_with_nonnegative_flows(drawn: Drawn) -> None:
    """What flows in and out after the step adds up, but for what the resistance to ground takes."""
    dual, point = drawn
    model = complete(dual, point)
    step = minimize_model(point, model, DAMPING, with_line_search=True)
    before = {arc: flow for _, arcs, flows, _ in point.pair_flows() for arc, flow in zip(arcs, flows, strict=True)}
    balance, total = list(point.gradient), 0.0
    for pair, arc, flow, conductance in arcs_of(model):
        after = flow_after(pair, flow, conductance, step)
        total = max(total, after)
        change = after - before.get(arc, 0.0)
        balance[pair.token_in] -= change
        balance[pair.token_out] += change
    if not point.is_exhausted:
        scale = max(map(abs, point.gradient)) + total
        for token, left in enumerate(balance):
            if token != 1:
                grounded = -(DAMPING * abs(point.gradient[token]) + 1e-13 * point.value) * step[token]
                assert left == pytest.approx(grounded, abs=1e-2 * scale)


@given(points(), seeds)
def test_no_other_step_promises_more(drawn: Drawn, seed: int) -> None:
    """Within the model, and with the resistance to ground counted."""
    dual, point = drawn
    model, rng = complete(dual, point), random.Random(seed)
    step = minimize_model(point, model, DAMPING, with_line_search=True)
    if point.is_exhausted:
        return

    def value(given_step: list[float]) -> float:
        market = sum(DAMPING * abs(g) * d * d for g, d in zip(point.gradient, given_step, strict=True)) / 2
        return predicted_decrease(point, model, given_step) - market

    best = value(step)
    assert best >= -1e-9 * point.value
    for _ in range(20):
        part = rng.choice([0.0, 0.5, 0.99, 1.01, 2.0])
        other = [part * d + rng.gauss(0, 1e-6) for d in step]
        other[1] = 0.0
        assert value(other) <= best + 1e-6 * abs(best) + 1e-9 * point.value
