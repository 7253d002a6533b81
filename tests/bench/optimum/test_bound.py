"""The bound against brute force on toy markets, formulas by hand, and figures of an earlier, independent program."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from bench.optimum import exact_pools
from bench.optimum.bound import ALL_FAMILIES, EXACT_FAMILIES, Market, main
from bench.optimum.draws import ARBITRAGE_FREE
from bench.optimum.gen_market import generate, write_market
from tests.examples import few

RECORDED = json.loads((Path(__file__).parent / "recorded_bounds.json").read_text())
"""Bounds of all orders of five markets, computed by an earlier program with the same method; `loose` are the numbers of
orders on which it stopped before it converged."""

A, B, C = "0xa", "0xb", "0xc"
UNIT = 10**18
Pays = Callable[[float], float]


@pytest.mark.parametrize(
    "recorded", few(RECORDED, 1), ids=lambda each: f"{each['pools']}-{each['seed']}-{each['noise']}"
)
def test_bounds_are_those_of_an_independent_program(recorded: dict[str, Any]) -> None:
    made = generate(recorded["pools"], recorded["seed"], recorded["noise"])
    market = Market(made.document, recorded["families"])
    for order, expected in zip(made.orders, recorded["bounds"], strict=True):
        found = market.bound(order["token_in"], order["token_out"], int(order["amount_in"]))
        if order["id"] in recorded["loose"]:
            assert found.bound <= expected * (1 + 1e-9)
        else:
            assert found.bound == pytest.approx(expected, rel=1e-9)
        assert found.route_out is None or found.route_out <= found.bound * (1 + 1e-9)


# Toy markets


def document(*pools: dict[str, Any]) -> dict[str, Any]:
    """Return a market of pools of three tokens of a dollar, with 18 decimals."""
    tokens = [{"address": token, "symbol": token, "decimals": 18, "price_usd": 1.0} for token in (A, B, C)]
    numbered = [{"address": f"0x{number}", **pool} for number, pool in enumerate(pools)]
    return {"tokens": tokens, "pools": numbered}


def pair(first: str, second: str, x: float, y: float, fee_ppm: int = 3_000) -> dict[str, Any]:
    return {
        "family": "constant_product",
        "tokens": [first, second],
        "fee_ppm": fee_ppm,
        "reserves": [str(int(x * UNIT)), str(int(y * UNIT))],
    }


def pays(x: float, y: float, fee_ppm: int = 3_000) -> Pays:
    """Return what a pair pays, by Uniswap V2's formula in real numbers."""
    kept = 1 - fee_ppm / 1e6
    return lambda amount: kept * amount * y / (x + kept * amount)


def best_split(first: Pays, second: Pays) -> Pays:
    """Return what two concave ways pay for an amount that is split as well as can be, by ternary search."""

    def pay(amount: float) -> float:
        low, high = 0.0, amount
        for _ in range(80):
            left, right = low + (high - low) / 3, high - (high - low) / 3
            if first(left) + second(amount - left) < first(right) + second(amount - right):
                low = left
            else:
                high = right
        return first(low) + second(amount - low)

    return pay


def test_equal_pairs_are_one_pair() -> None:
    market = Market(document(pair(A, B, 1_000, 1_000), pair(A, B, 3_000, 3_000), pair(B, A, 2_000, 2_000)))
    assert market.bound(A, B, 500 * UNIT).bound / UNIT == pytest.approx(pays(6_000, 6_000)(500), rel=1e-10)


def test_one_pair_is_its_own_bound() -> None:
    found = Market(document(pair(A, B, 1_000, 2_000, 500))).bound(A, B, 100 * UNIT)
    assert found.bound / UNIT == pytest.approx(pays(1_000, 2_000, 500)(100), rel=1e-10)
    assert found.route_out == pytest.approx(found.bound, rel=1e-9)
    assert found.legs == 1


@pytest.mark.parametrize("seed", range(8))
def test_brute_force_neither_beats_the_bound_nor_stays_far_below(seed: int) -> None:
    """Two direct pairs and two on each side of a token between: every routing of the order but cycles."""
    rng = Random(seed)
    pools, ways = [], []
    for first, second in ((A, B), (A, B), (A, C), (A, C), (C, B), (C, B)):
        x, fee_ppm = 10 ** rng.uniform(2, 5), rng.choice((500, 3_000))
        y = x * (1 + rng.uniform(-0.4, 0.4) * fee_ppm / 1e6)  # no cycle gains
        pools.append(pair(first, second, x, y, fee_ppm))
        ways.append(pays(x, y, fee_ppm))
    direct, to_c, from_c = (best_split(*ways[k : k + 2]) for k in (0, 2, 4))
    amount = 10 ** rng.uniform(0, 4)
    brute_force = _best_of_two(direct, lambda part: from_c(to_c(part)), amount)
    found = Market(document(*pools)).bound(A, B, int(amount * UNIT)).bound / UNIT
    assert brute_force <= found * (1 + 1e-12)
    assert found == pytest.approx(brute_force, rel=1e-6)


def _best_of_two(first: Pays, second: Pays, amount: float) -> float:
    return max(first(amount), second(amount), best_split(first, second)(amount))


def stableswap(x: float, y: float, amplification: int, fee_ppm: int) -> Pays:
    """Return what Curve's pool of two tokens pays, from its invariant by bisection."""
    ann = 2 * amplification

    def error(d: float, x: float, y: float) -> float:
        return ann * (x + y) + d - ann * d - d**3 / (4 * x * y)

    d = bisect(lambda d: error(d, x, y), 0.0, 2 * (x + y))
    return lambda amount: (y - bisect(lambda left: -error(d, x + amount, left), 1e-9 * y, y)) * (1 - fee_ppm / 1e6)


def solidly(x: float, y: float, fee_ppm: int) -> Pays:
    """Return what a stable pool of Solidly pays, from its invariant by bisection."""
    k = x**3 * y + x * y**3

    def left(x: float) -> float:
        return bisect(lambda y: k - x**3 * y - x * y**3, 0.0, 2 * y)

    return lambda amount: y - left(x + amount * (1 - fee_ppm / 1e6))


def weighted(x: float, y: float, weight_in: float, fee_ppm: int) -> Pays:
    """Return what Balancer's pool pays, by its formula."""
    kept = 1 - fee_ppm / 1e6
    return lambda amount: y * (1 - (x / (x + kept * amount)) ** (weight_in / (1 - weight_in)))


def bisect(falls: Callable[[float], float], low: float, high: float) -> float:
    """Return where a falling function is 0."""
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if falls(middle) > 0.0 else (low, middle)
    return low


def concentrated(pool: dict[str, Any]) -> Pays:
    """Return what a concentrated pool pays, by the integers of its contract."""
    return lambda amount: exact_pools.Concentrated(pool).swap(A, int(amount * UNIT)) / UNIT if amount > 0 else 0.0


RESERVES = {"tokens": [A, B], "reserves": [str(2_000 * UNIT), str(1_000 * UNIT)], "fee_ppm": 400}
CONCENTRATED = {
    "family": "concentrated", "tokens": [A, B], "fee_ppm": 500, "tick_spacing": 10, "tick": -6_932,
    "sqrt_price_x96": str(int(math.sqrt(0.5) * 2**96)), "liquidity": str(5_000 * UNIT),
    "ticks": [[-30_000, str(1_000 * UNIT)], [-7_000, str(4_000 * UNIT)], [-6_900, str(-4_000 * UNIT)],
              [5_000, str(-1_000 * UNIT)]],
    "reserves": ["0", "0"],
}  # fmt: skip
FAMILIES: dict[str, tuple[dict[str, Any], Pays]] = {
    "stableswap": (
        {**RESERVES, "family": "stableswap", "amp": 100, "rates": [str(UNIT)] * 2},
        stableswap(2_000, 1_000, 100, 400),
    ),
    "solidly_stable": ({**RESERVES, "family": "solidly_stable"}, solidly(2_000, 1_000, 400)),
    "weighted": (
        {**RESERVES, "family": "weighted", "weights": [str(UNIT * 8 // 10), str(UNIT * 2 // 10)]},
        weighted(2_000, 1_000, 0.8, 400),
    ),
    "concentrated": (CONCENTRATED, concentrated(CONCENTRATED)),
}


@pytest.mark.parametrize(("family", "amount"), list(product(FAMILIES, (0.5, 30.0, 700.0))))
def test_each_family_beside_a_pair(family: str, amount: float) -> None:
    pool, other = FAMILIES[family]
    rate = other(1e-3) / 1e-3
    market = Market(document(pool, pair(A, B, 500, 500 * rate)), ALL_FAMILIES)
    found = market.bound(A, B, int(amount * UNIT))
    brute_force = _best_of_two(other, pays(500, 500 * rate), amount)
    assert brute_force <= found.bound / UNIT * (1 + 1e-11)
    assert found.bound / UNIT == pytest.approx(brute_force, rel=1e-8)


def test_concentrated_curves_follow_the_integers_of_the_contract() -> None:
    """A swap may lose a few units of either token to rounding, more for each tick that it crosses."""
    made = generate(100, 3).document
    market = Market(made)
    unit = {token["address"]: token["price_usd"] / 10 ** token["decimals"] for token in made["tokens"]}
    compared = 0
    for direction, (pool, sold, bought) in enumerate(_directions(made)):
        if pool["family"] != "concentrated":
            continue
        reserve = int(pool["reserves"][pool["tokens"].index(sold)])
        for part in (1e-4, 1e-2, 0.3):
            amount = int(reserve * part)
            paid = exact_pools.Concentrated(pool).swap(sold, amount) if amount else 0
            if min(amount, paid) > 1_000:
                slack = (4 + 2 * len(pool["ticks"])) * (1 / amount + 1 / paid)
                real = market.pay(direction, amount * unit[sold]) / unit[bought]
                assert real == pytest.approx(paid, rel=1e-9 + slack)
                compared += 1
    assert compared > 100


def _directions(made: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str, str]]:
    """Yield the directions in the order in which a market numbers them."""
    for pool in made["pools"]:
        if pool["family"] in EXACT_FAMILIES:
            first, second = pool["tokens"]
            yield pool, first, second
            yield pool, second, first


# Any prices


@pytest.mark.parametrize("seed", range(4))
def test_any_prices_bound_what_pools_pay(seed: int) -> None:
    """No amount gains more in a direction than the trade that is called the best."""
    market = Market(generate(100, seed).document, ALL_FAMILIES)
    prices = np.exp(np.random.default_rng(seed).normal(0.0, 0.02, market.token_count))
    trades = market.best_trades(prices)
    assert len(trades.direction) > 20
    for direction, sold, bought, amount_in, amount_out, _ in zip(*trades, strict=True):
        value = prices[bought] * amount_out - prices[sold] * amount_in
        for part in (0.5, 0.99, 1.0, 1.01, 2.0):
            gained = prices[bought] * market.pay(direction, amount_in * part) - prices[sold] * amount_in * part
            assert gained <= value + 1e-9 * prices[sold] * amount_in
    quiet = np.setdiff1d(np.arange(len(market.token_in)), trades.direction)
    for direction in quiet:
        sold, bought = market.token_in[direction], market.token_out[direction]
        assert prices[bought] * market.pay(direction, 1.0) <= prices[sold] * (1 + 1e-12)


def test_a_route_is_evaluated_leg_by_leg() -> None:
    market = Market(document(pair(A, C, 1_000, 1_000), pair(C, B, 2_000, 2_000), pair(A, B, 500, 500)))
    legs = [("0x2", A, B, 0.25), ("0x0", A, C, 1.0), ("0x1", C, B, 1.0)]
    expected = pays(500, 500)(25) + pays(2_000, 2_000)(pays(1_000, 1_000)(75))
    assert market.evaluate(A, B, 100 * UNIT, legs) / UNIT == pytest.approx(expected, rel=1e-12)
    with pytest.raises(ValueError, match="twice"):
        market.evaluate(A, B, 100, [legs[0], legs[0]])


def test_tokens_that_no_pool_connects_have_a_bound_of_nothing() -> None:
    assert Market(document(pair(A, C, 1_000, 1_000))).bound(A, B, UNIT).bound < 1e-3


@pytest.mark.slow
def test_the_command_prints_gaps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    market = write_market(12, 1, tmp_path, ARBITRAGE_FREE)
    main([str(market)])
    assert "20 orders" in capsys.readouterr().out
    main([str(market), "--families", "all", "--json"])
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(rows) == 20
    assert all(row["route_out"] is None or row["route_out"] <= row["bound"] * (1 + 1e-9) for row in rows)
