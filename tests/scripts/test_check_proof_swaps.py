"""What pools pay by the checker: recorded swaps of the real contracts to the unit, and no trade above a curve."""

from __future__ import annotations

import json
import random
from collections import Counter
from decimal import localcontext
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.families.recorded import VECTORS, read_vectors
from tests.recorded.replay import exceptions, recorded_pools
from tests.scripts.checker import checker, pool_state, swap

WAD = 10**18
REFUSED = -1

# The tables of two public libraries of contracts, which the checker computes: Uniswap V3's `TickMath` and Balancer's
# `LogExpMath`. The first and the last of each.
TICK_FACTORS = {0: 0xFFFCB933BD6FAD37AA2D162D1A594001, 19: 0x048A170391F7DC42444E8FA2}
POWERS_OF_E = {2: 7896296018268069516100000000000000, 7: 271828182845904523536, 11: 106449445891785942956}

Record = dict[str, Any]


def test_the_computed_tables_are_those_of_the_contracts() -> None:
    module = checker()
    assert {k: module.TICK_FACTORS[k] for k in TICK_FACTORS} == TICK_FACTORS
    assert {k: module.POWERS_OF_E[k][1] for k in POWERS_OF_E} == POWERS_OF_E
    assert module.POWERS_OF_E[0][1] == 38877084059945950922200000000000000000000000000000000000 * 10**20
    assert module.price_at(-887272) == 4295128739
    assert module.price_at(887272) == 1461446703485210103287273052203988822378723970342
    assert module.price_at(0) == 1 << 96


def test_recorded_pools_pay_the_recorded_amounts() -> None:
    """Uniswap V2 and V3 and their forks, StableSwap and weighted pools, from the tests of other projects and chains."""
    outcomes = Counter[str]()
    for pool in recorded_pools():
        if pool["family"] not in checker().FAMILIES:
            continue
        explained = exceptions().get((pool["source"], pool["note"]), {"swaps": []})["swaps"]
        state = read(pool)
        for number, each in enumerate(pool["swaps"]):
            state = state if pool["sequential"] else read(pool)
            i, j = (pool["tokens"].index(each[key]) for key in ("token_in", "token_out"))
            paid = swap(state, i, j, int(each["amount_in"]))
            if number in explained:
                continue
            if each["amount_out"] is None:
                assert paid in (REFUSED, 0), pool["note"]
            else:
                assert paid == int(each["amount_out"]), (pool["source"], pool["note"], number)
            outcomes[pool["family"]] += 1
    assert outcomes == {"weighted": 269, "concentrated": 122, "stableswap": 40, "constant_product": 34}


def read(pool: Record) -> Record:
    return pool_state(pool["family"], pool["decimals"], pool["fee_ppm"], pool["state"])


def test_recorded_exchanges_of_stableswap_are_repeated_to_the_unit() -> None:
    repeated = 0
    for pool in json.loads((VECTORS / "stableswap.json").read_text())["pools"]:
        rates = [int(rate) // 10 ** (18 - n) for rate, n in zip(pool["rates"], pool["decimals"], strict=True)]
        fields = {"reserves": pool["balances_before"], "amp": pool["amp"], "rates": rates}
        fields["offpeg_fee_multiplier"] = pool["offpeg_fee_multiplier_1e10"]
        state = pool_state("stableswap", pool["decimals"], pool["fee_1e10"] // 10_000, fields)
        for i, j, dx, dy, after in pool["steps"]:
            assert swap(state, i, j, int(dx)) == int(dy)
            assert state["reserves"] == list(map(int, after))
            repeated += 1
    assert repeated == 1490


def test_recorded_exchanges_of_older_pools_are_repeated_to_the_unit() -> None:
    repeated = 0
    for pool in read_vectors("stableswap_plain")["pools"]:
        fields = {key: pool[key] for key in ("reserves", "amp", "variant")}
        state = pool_state(
            "stableswap", pool["decimals"], pool["fee_ppm"], fields | {"rates": [WAD] * len(pool["decimals"])}
        )
        for step in pool["steps"]:
            paid = swap(state, step["i"], step["j"], int(step["amount_in"]))
            if step["amount_out"] is not None:  # else an oracle or a limit of the contract refuses
                assert paid == int(step["amount_out"])
                repeated += 1
            state["reserves"] = list(map(int, step["reserves"]))
    assert repeated == 703


def test_recorded_swaps_of_infinity_are_repeated_with_the_state_after() -> None:
    """Concentrated pools with protocol fees and every spacing."""
    repeated = 0
    for pool in read_vectors("infinity_cl")["pools"]:
        for step in pool["steps"]:
            before, amount = step["before"], int(step["amount"])
            if step["exact"] != "in" or not int(step.get("amount_out") or 0) or step["amount_in"] != step["amount"]:
                continue
            fields = {key: before[key] for key in ("sqrt_price_x96", "tick", "liquidity")}
            fields |= {"tick_spacing": pool["tick_spacing"], "ticks": pool["ticks"], "pool_id": "0x" + "11" * 32}
            fields |= {"protocol_fees_ppm": before["protocol_fee"]}
            state = pool_state("concentrated", [18, 18], before["lp_fee"], fields)
            down = step["zero_for_one"]
            assert swap(state, *((0, 1) if down else (1, 0)), amount) == int(step["amount_out"])
            assert {key: str(state[key]) for key in step["after"]} == {
                key: str(step["after"][key]) for key in step["after"]
            }
            repeated += 1
    assert repeated == 529


def pools(seed: int) -> Record:
    """A pool of a family and variant that the seed picks."""
    rng = random.Random(seed)
    decimals = [rng.choice([6, 8, 18]) for _ in range(2)]
    whole = 10 ** rng.uniform(1, 7)
    reserves = [str(int(whole * rng.uniform(0.3, 3) * 10**each)) for each in decimals]
    family = rng.choice(["uniswap_v2", "solidly", "stableswap", "weighted", "concentrated"])
    if family in ("uniswap_v2", "solidly"):
        fields: Record = {"reserves": reserves, "variant": family}
        return pool_state("constant_product", decimals, rng.choice([100, 3000]), fields)
    if family == "stableswap":
        fields = {"reserves": reserves, "amp": rng.choice([1, 100, 2000]), "rates": [str(WAD)] * 2}
        return pool_state("stableswap", decimals, rng.choice([0, 400]), fields)
    if family == "weighted":
        weight = rng.choice([2, 5, 8]) * WAD // 10
        return pool_state("weighted", decimals, 3000, {"reserves": reserves, "weights": [weight, WAD - weight]})
    ticks = sorted(rng.sample(range(-300, 300), 6))
    amounts = [int(10 ** rng.uniform(10, 22)) for _ in range(3)]
    nets = [amounts[0], amounts[1], -amounts[0], amounts[2], -amounts[1], -amounts[2]]
    tick = rng.choice(ticks[:-1])
    price = checker().price_at(tick * 10) + rng.randrange(10**6)
    active = sum(net for each, net in zip(ticks, nets, strict=True) if each <= tick)
    fields = {"sqrt_price_x96": price, "tick": tick * 10, "liquidity": active, "tick_spacing": 10}
    fields["ticks"] = [[each * 10, net] for each, net in zip(ticks, nets, strict=True)]
    return pool_state("concentrated", decimals, rng.choice([100, 3000]), fields)


@given(st.integers(0, 10**9), st.floats(-9, 1), st.floats(-9, 1), st.booleans())
def test_no_swap_pays_more_than_a_line_of_the_curve(seed: int, sold: float, touched: float, forward: bool) -> None:
    """Whichever point the line touches at, and up to the units that the curve says rounding may add."""
    module, pool = checker(), pools(seed)
    i, j = (0, 1) if forward else (1, 0)
    scale = 10 ** pool["decimals"][i] * 1000
    amount, point = int(scale * 10**sold) + 1, Fraction(int(scale * 10**touched) + 1)
    with localcontext(module.Context(prec=60)):
        curve = module.FAMILIES[pool["family"]][1](pool, i, j)
        given_in, paid, slope = curve.at(point)
        paid_by_contract = swap(pool, i, j, amount)
        line = paid + slope * (amount + curve.gift_in - given_in) + curve.gift_out
        assert paid_by_contract <= line
        most = curve.gain(Fraction(0), Fraction(1), Fraction(0), Fraction(0), Fraction(amount))
        assert paid_by_contract <= most + curve.gift(Fraction(0), Fraction(1), Fraction(amount))


@given(st.integers(0, 10**9), st.floats(0.5, 1.5), st.booleans())
def test_no_swap_gains_more_than_the_bound(seed: int, price: float, forward: bool) -> None:
    """The bound of the gain is found at any first guess, and is hardly above what trades near the best one gain."""
    module, pool = checker(), pools(seed)
    i, j = (0, 1) if forward else (1, 0)
    with localcontext(module.Context(prec=60)):
        curve = module.FAMILIES[pool["family"]][1](pool, i, j)
        v_out, v_in = Fraction(1), Fraction(price) * curve.start
        guesses = [curve.gain(v_in, v_out, Fraction(0), Fraction(first), None) for first in (0, 1, 10**12, 10**30)]
        if price >= 1:
            assert guesses == [0] * 4
            return
        slack = curve.gift_out + v_in * curve.gift_in
        best = Fraction(0)
        for each in range(40):
            amount = random.Random(seed + each).randrange(1, 10 ** pool["decimals"][i] * 10**7)
            amount = min(amount, int(curve.capacity))
            line = curve.at(Fraction(amount))
            best = max(best, line[1] - v_in * line[0])
        assert min(guesses) >= best - slack
        assert max(guesses) <= min(guesses) * (1 + Fraction(1, 10**9)) + 1


@pytest.mark.parametrize("family", ["constant_product", "concentrated", "stableswap", "weighted"])
def test_an_empty_pool_pays_nothing(family: str) -> None:
    fields: Record = {"reserves": ["0", "0"], "amp": 100, "rates": [WAD, WAD], "weights": [WAD // 2, WAD // 2]}
    if family == "concentrated":
        fields = {"sqrt_price_x96": 1 << 96, "tick": 0, "liquidity": 0, "tick_spacing": 10, "ticks": []}
    pool = pool_state(family, [18, 18], 3000, fields)
    curve = checker().FAMILIES[family][1](pool, 0, 1)
    assert curve.gain(Fraction(1, 2), Fraction(1), Fraction(0), Fraction(0), Fraction(100)) == 0
    assert swap(pool, 0, 1, 1000) == REFUSED
