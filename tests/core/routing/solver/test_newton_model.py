"""A step of the resistor model balances every token with flows that are never negative."""

from __future__ import annotations

import itertools
import random
from math import exp, inf, log

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.errors import UnsatisfiedAssumption

from swapcli.core.routing.graph.market_graph import MAX_PRICE, MIN_PRICE, Arc
from swapcli.core.routing.solver.dual import Dual, DualPoint
from swapcli.core.routing.solver.newton_model import (
    Model,
    PairModel,
    minimize_model,
    piecewise_model,
    predicted_decrease,
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
    dual = Dual(problem.arcs_between(prices), 0, 1, float(problem.spec.amount))
    rng, spread = random.Random(draw(seeds)), draw(st.sampled_from([1e-4, 1e-2, 1.0]))
    return dual, moved(dual, [prices[t] for t in dual.tokens], rng, -spread * 0.5, 0.0)


def moved(dual: Dual, prices: list[float], rng: random.Random, least: float, most: float) -> DualPoint:
    """The dual where each price but the target's has changed by a random logarithm."""
    logs = [0.0 if t == 1 else rng.uniform(least, most) for t in range(len(prices))]
    return DualPoint(dual, [min(max(p * exp(d), MIN_PRICE), MAX_PRICE) for p, d in zip(prices, logs, strict=True)])


def idle_arcs(dual: Dual, point: DualPoint) -> list[Arc]:
    trading = set(point.arcs)
    return [arc for _, _, arcs in dual.pairs for arc in arcs if arc not in trading]


def complete(dual: Dual, point: DualPoint) -> Model:
    """The model of a point with all arcs, as seen from a trial that is the point itself."""
    return piecewise_model(dual, point, point, idle_arcs(dual, point))


def flow_after(pair: PairModel, change: float) -> float:
    return sum(min(max(0.0, flow + conductance * change), most) for flow, conductance, most in pair.pieces)


def size(pair: PairModel) -> float:
    return sum(abs(flow) + conductance for flow, conductance, _ in pair.pieces)


@given(points())
def test_a_tangent_model_has_the_flows_and_slopes_of_its_point(drawn: Drawn) -> None:
    _, point = drawn
    model = tangent_model(point)
    assert [(pair.token_in, pair.token_out) for pair in model] == [(i, j) for i, j, _ in point.pairs]
    pieces = [piece for pair in model for piece in pair.pieces]
    for arc, amount, slope, piece in zip(point.arcs, point.amounts_in, point.slopes, pieces, strict=True):
        price = point.prices[{t: k for k, t in enumerate(drawn[0].tokens)}[arc.token_in]]
        assert piece == (price * amount, price * slope, inf)


@given(points(), seeds, st.sampled_from([1e-4, 1e-2, 1.0]))
def test_a_piecewise_model_has_the_flows_of_point_and_trial(drawn: Drawn, seed: int, spread: float) -> None:
    """In value at the prices of the point, as nothing but the amounts of a pool changes with a rate."""
    dual, point = drawn
    trial = moved(dual, point.prices, random.Random(seed), -spread, spread)
    for pair in piecewise_model(dual, point, trial, idle_arcs(dual, point)):
        i, j = pair.token_in, pair.token_out
        change = log(point.prices[i] / point.prices[j] * trial.prices[j] / trial.prices[i])
        for other, at in ((point, 0.0), (trial, change)):
            sold = [
                amount
                for arc, amount in zip(other.arcs, other.amounts_in, strict=True)
                if (dual.number[arc.token_in], dual.number[arc.token_out]) == (i, j)
            ]
            assert flow_after(pair, at) == pytest.approx(point.prices[i] * sum(sold), rel=1e-6, abs=1e-9 * size(pair))


@given(points(), seeds)
def test_a_bent_flow_never_falls_as_the_price_rises(drawn: Drawn, seed: int) -> None:
    dual, point = drawn
    trial = moved(dual, point.prices, random.Random(seed), -1.0, 1.0)
    for pair in piecewise_model(dual, point, trial, idle_arcs(dual, point)):
        flows = [flow_after(pair, -2.0 + 0.1 * n) for n in range(41)]
        assert all(after >= before - 1e-9 * size(pair) for before, after in itertools.pairwise(flows))


@given(points())
def test_in_the_model_an_idle_arc_starts_at_its_start_rate(drawn: Drawn) -> None:
    dual, point = drawn
    starts: dict[tuple[int, int], list[float]] = {}
    for arc in idle_arcs(dual, point):
        i, j = dual.number[arc.token_in], dual.number[arc.token_out]
        if arc.depth > 0.0:
            starts.setdefault((i, j), []).append(log(point.prices[i] / (point.prices[j] * arc.rate)))
    for pair in complete(dual, point):
        found = [-flow / conductance for flow, conductance, _ in pair.pieces if flow <= 0.0 < conductance]
        expected = starts.get((pair.token_in, pair.token_out), [])
        assert sorted(found) == pytest.approx(sorted(expected), rel=1e-9, abs=1e-12)


@given(points(), seeds, st.floats(-1.0, 1.0))
def test_a_pair_flows_as_its_pieces_together(drawn: Drawn, seed: int, change: float) -> None:
    dual, point = drawn
    trial = moved(dual, point.prices, random.Random(seed), -0.5, 0.5)
    for pair in piecewise_model(dual, point, trial, idle_arcs(dual, point)):
        flow, conductance = pair.line_at(change)
        assert flow + conductance * change == pytest.approx(flow_after(pair, change), abs=1e-12 * size(pair))


@given(points(), seeds, st.floats(-1.0, 1.0))
def test_the_curvature_of_a_pair_is_its_energy(drawn: Drawn, seed: int, change: float) -> None:
    """The integral of the flow that the change adds, by the trapezoids of a fine grid."""
    steps, (dual, point) = 2_000, drawn
    trial = moved(dual, point.prices, random.Random(seed), -0.5, 0.5)
    for pair in piecewise_model(dual, point, trial, idle_arcs(dual, point))[:4]:
        before = flow_after(pair, 0.0)
        added = [flow_after(pair, change * n / steps) - before for n in range(steps + 1)]
        integral = (sum(added) - (added[0] + added[-1]) / 2) * change / steps
        assert pair.curvature(change) == pytest.approx(integral, rel=1e-3, abs=1e-6 * size(pair))


@given(points())
def test_a_step_balances_every_token_with_nonnegative_flows(drawn: Drawn) -> None:
    """What flows in and out after the step adds up, but for what the resistance to ground takes."""
    dual, point = drawn
    model = complete(dual, point)
    step = minimize_model(point, model, with_line_search=True)
    balance, total = list(point.gradient), 0.0
    for pair in model:
        before, after = flow_after(pair, 0.0), flow_after(pair, pair.change(step))
        total = max(total, after)
        balance[pair.token_in] -= after - before
        balance[pair.token_out] += after - before
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
    step = minimize_model(point, model, with_line_search=True)

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
