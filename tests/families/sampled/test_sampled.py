"""Sampled pools: what was quoted is repeated exactly, anything else is an estimate from below, marked as one."""

from __future__ import annotations

from itertools import pairwise
from math import exp

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, PoolError, SwapReverts
from swapcli.core.model.pool import PoolIdentity
from swapcli.families import family
from swapcli.families.sampled.sampled import MAX_SAMPLES, Sampled
from swapcli.families.sampled.sampled_curve import QuotedSale, SampledCurve, increasing_hull

TOKENS = ("0x" + "11" * 20, "0x" + "22" * 20)
IDENTITY = PoolIdentity("0x" + "ab" * 20, "test", TOKENS, (18, 6), 0)

rising = st.lists(st.integers(1, 10**30), min_size=1, max_size=20, unique=True).map(sorted)


@st.composite
def ladders(draw: st.DrawFn) -> tuple[QuotedSale, ...]:
    """Samples with rising inputs and outputs that never fall, of any shape."""
    inputs = draw(rising)
    outputs = sorted(draw(st.lists(st.integers(0, 10**30), min_size=len(inputs), max_size=len(inputs))))
    assume(outputs[-1])
    return tuple(map(QuotedSale, inputs, outputs))


@st.composite
def honest_quotes(draw: st.DrawFn) -> tuple[int, int]:
    """Reserves of a constant-product market maker, which quotes `quote`."""
    return draw(st.integers(10**9, 10**27)), draw(st.integers(10**9, 10**27))


def quote(reserves: tuple[int, int], amount_in: int) -> int:
    reserve_in, reserve_out = reserves
    return amount_in * reserve_out // (reserve_in + amount_in)


def pool_of(samples: tuple[QuotedSale, ...]) -> Sampled:
    return Sampled(*IDENTITY, forward_samples=samples)


@given(ladders())
def test_a_sample_swaps_for_its_exact_output(samples: tuple[QuotedSale, ...]) -> None:
    pool = pool_of(samples)
    for sample in samples:
        if sample.amount_out:
            amount_out, after = pool.swap(*TOKENS, sample.amount_in)
            assert amount_out == sample.amount_out
            assert not after.is_estimated
        else:
            with pytest.raises(SwapReverts):
                pool.swap(*TOKENS, sample.amount_in)


@given(honest_quotes(), rising, st.integers(1, 10**30))
def test_an_estimate_is_no_more_than_the_quote(reserves: tuple[int, int], inputs: list[int], amount: int) -> None:
    pool = pool_of(tuple(QuotedSale(each, quote(reserves, each)) for each in inputs))
    assume(amount < inputs[-1])
    try:
        amount_out, after = pool.swap(*TOKENS, amount)
    except SwapReverts:
        return
    assert after.is_estimated is (amount not in inputs)
    assert amount_out <= quote(reserves, amount)


@given(ladders(), st.data())
def test_the_estimate_is_between_its_neighbours(samples: tuple[QuotedSale, ...], data: st.DataObject) -> None:
    for before, after in pairwise(samples):
        amount = data.draw(st.integers(before.amount_in, after.amount_in))
        assume(before.amount_out)
        assert before.amount_out <= pool_of(samples).swap(*TOKENS, amount)[0] <= after.amount_out


@given(ladders(), st.integers(1, 10**30))
def test_no_amount_above_the_largest_sample_is_taken(samples: tuple[QuotedSale, ...], more: int) -> None:
    with pytest.raises(InsufficientLiquidity):
        pool_of(samples).swap(*TOKENS, samples[-1].amount_in + more)


@given(ladders())
def test_a_second_swap_reverts(samples: tuple[QuotedSale, ...]) -> None:
    _, after = pool_of(samples).swap(*TOKENS, samples[-1].amount_in)
    with pytest.raises(SwapReverts):
        after.swap(*TOKENS, samples[-1].amount_in)
    assert after.curve(*TOKENS).start_rate == 0.0


def test_without_samples_nothing_is_sold() -> None:
    pool = Sampled.from_state(IDENTITY, {})
    assert not pool.has_samples
    assert pool.curve(*TOKENS).start_rate == 0.0
    with pytest.raises(InsufficientLiquidity):
        pool.swap(*TOKENS, 1)


@given(ladders(), st.integers(1, 10**30), st.integers(1, 10**30))
def test_a_new_sample_replaces_what_it_contradicts(samples: tuple[QuotedSale, ...], amount_in: int, out: int) -> None:
    pool = pool_of(samples).with_sample(*TOKENS, QuotedSale(amount_in, out))
    amount_out, after = pool.swap(*TOKENS, amount_in)
    assert (amount_out, after.is_estimated) == (out, False)
    assert all(a.amount_in < b.amount_in and a.amount_out <= b.amount_out for a, b in pairwise(pool.forward_samples))


@given(ladders())
def test_the_hull_is_concave_and_above_all_samples(samples: tuple[QuotedSale, ...]) -> None:
    hull = increasing_hull(samples)
    edges = list(pairwise(hull))
    for (a, b), (_, c) in pairwise(edges):
        assert (b.amount_out - a.amount_out) * (c.amount_in - b.amount_in) > (c.amount_out - b.amount_out) * (
            b.amount_in - a.amount_in
        )
    curve = SampledCurve(samples)
    for sample in samples:
        assert curve.amount_out(float(sample.amount_in)) >= sample.amount_out * (1 - 1e-8)
        covering = [(a, b) for a, b in edges if a.amount_in <= sample.amount_in <= b.amount_in]
        for a, b in covering:
            chord = (sample.amount_in - a.amount_in) * (b.amount_out - a.amount_out)
            assert (sample.amount_out - a.amount_out) * (b.amount_in - a.amount_in) <= chord


drops = st.floats(-8.0, 1.0).map(lambda exponent: 10.0**exponent)


@given(ladders(), st.lists(drops, min_size=2, max_size=6))
def test_the_curve_is_increasing_and_concave(samples: tuple[QuotedSale, ...], falls: list[float]) -> None:
    curve = SampledCurve(samples)
    rates = [curve.start_rate * exp(-drop) for drop in sorted(falls)]
    trades = [(0.0, 0.0, curve.start_rate), *((*curve.trade_to_marginal_rate(rate)[:2], rate) for rate in rates)]
    for (amount_in, amount_out, rate), (more_in, more_out, less) in pairwise(trades):
        assert more_in >= amount_in * (1 - 1e-12)
        gain = more_out - amount_out
        if more_in < curve.capacity:
            assert less * (more_in - amount_in) <= gain + 1e-9 * more_out
        assert gain <= rate * (more_in - amount_in) + 1e-9 * more_out


@given(ladders(), drops)
def test_trading_to_a_rate_reaches_it(samples: tuple[QuotedSale, ...], drop: float) -> None:
    curve = SampledCurve(samples)
    rate = curve.start_rate * exp(-drop)
    amount_in, amount_out, slope = curve.trade_to_marginal_rate(rate)
    assert 0 < amount_in <= curve.capacity
    assert slope >= 0
    assert curve.amount_out(amount_in) == pytest.approx(amount_out, rel=1e-9)
    assert curve.rate(amount_in * (1 + 1e-9)) <= rate * (1 + 1e-9)
    assert curve.rate(amount_in * (1 - 1e-9)) >= rate * (1 - 1e-9)
    assert curve.trade_to_marginal_rate(curve.start_rate) == (0.0, 0.0, 0.0)


@given(honest_quotes())
def test_the_curve_follows_an_honest_pool(reserves: tuple[int, int]) -> None:
    reserve_in, reserve_out = reserves
    samples = [QuotedSale(n, quote(reserves, n)) for n in sorted({reserve_in * k // 16 for k in range(1, 17)})]
    curve = SampledCurve(samples)
    for part in (0.03, 0.2, 0.5, 0.9):
        exact = reserve_out * part / (1 + part)
        assert curve.amount_out(reserve_in * part) == pytest.approx(exact, rel=5e-3, abs=2.0)


@given(ladders())
def test_state_keeps_the_pool_without_its_samples(samples: tuple[QuotedSale, ...]) -> None:
    constants = (("fee", "3000"), ("hooks", "0x" + "cd" * 20))
    pool = Sampled(*IDENTITY, constants, "0x" + "ef" * 32, (10**40, 10**40), samples)
    read = family("sampled").from_state(IDENTITY, pool.state())
    assert read == pool.without_samples()
    assert read.key == pool.key == "0x" + "ef" * 32


@pytest.mark.parametrize(
    ("state", "field"),
    [
        ({"samples": [[[1, 2], [2, 1]], []]}, "samples[0]"),
        ({"samples": [[], [[2, 1], [2, 1]]]}, "samples[1]"),
        ({"samples": [[[0, 1]], []]}, "samples[0]"),
        ({"samples": [[[1, 0], [2, 0]], []]}, "samples[0]"),
        ({"samples": [[[1, 11]], []], "balances": [100, 10]}, "samples[0]"),
        ({"samples": [[], [[1, 101]]], "balances": [100, 200]}, "samples[1]"),
        ({"samples": [[[1, 2, 3]], []]}, "samples[0]"),
        ({"samples": [[[1, -1]], []]}, "samples[0]"),
        ({"samples": [[[1, 1 << 256]], []]}, "samples[0]"),
        ({"samples": [[[k, k] for k in range(1, MAX_SAMPLES + 2)], []]}, "samples[0]"),
        ({"samples": [[]]}, "samples"),
        ({"constants": {"fee": 1}}, "constants.fee"),
        ({"constants": {"fee": "high"}}, "constants.fee"),
        ({"constants": {"fee": "0x" + "1" * 65}}, "constants.fee"),
        ({"pool_id": "0x12"}, "pool_id"),
    ],
)
def test_a_state_that_contradicts_itself_is_refused(state: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidPoolState) as caught:
        Sampled.from_state(IDENTITY, state)
    assert caught.value.field == field


def test_other_tokens_are_refused() -> None:
    with pytest.raises(PoolError):
        pool_of((QuotedSale(1, 1),)).swap(TOKENS[0], "0x" + "33" * 20, 1)
