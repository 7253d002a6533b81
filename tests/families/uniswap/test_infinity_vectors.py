"""Concentrated pools of PancakeSwap Infinity against swaps recorded from the real contracts, to the unit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from swapcli.core.errors import InsufficientLiquidity, SwapReverts
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.families.tick_math import MAX_SQRT_RATIO, MIN_SQRT_RATIO
from swapcli.families.uniswap.concentrated import Concentrated
from swapcli.testing.strategies import ADDRESS, TOKENS
from tests.families.recorded import read_vectors

A, B = TOKENS[:2]
HOOK = "0x" + "42" * 20

Fields = Mapping[str, Any]


def test_recorded_inputs_into_concentrated_agree() -> None:
    outcomes: Counter[str] = Counter()
    for step, pool in concentrated_steps("in"):
        tokens, amount_in = direction(step["zero_for_one"]), int(step["amount"])
        outcome = concentrated_outcome(step)
        outcomes[outcome] += 1
        if outcome == "swap":
            amount_out, after = pool.swap(*tokens, amount_in)
            assert (int(step["amount_in"]), int(step["amount_out"])) == (amount_in, amount_out)
            assert after.state() == pool.state() | step["after"]
        elif outcome in ("partial fill", "InvalidSqrtPriceLimit"):
            with pytest.raises(InsufficientLiquidity):
                pool.swap(*tokens, amount_in)
        elif outcome in ("no output", "SafeCastOverflow"):
            with pytest.raises(SwapReverts):
                pool.swap(*tokens, amount_in)
    assert outcomes == {
        "swap": 529,
        "no output": 233,
        "partial fill": 101,
        "limited": 70,
        "InvalidSqrtPriceLimit": 9,
    }


def test_recorded_outputs_and_limits_need_that_input() -> None:
    # Swaps of an exact output or with a narrow price limit are not modelled, but their amounts fit those that are.
    limited = [step for step in concentrated_steps("in") if concentrated_outcome(step[0]) == "limited"]
    checked = 0
    for step, pool in [*limited, *concentrated_steps("out")]:
        amount_in, amount_out = int(step.get("amount_in") or 0), int(step.get("amount_out") or 0)
        if not (amount_in and amount_out):
            continue
        checked += 1
        tokens = direction(step["zero_for_one"])
        assert pool.swap(*tokens, amount_in)[0] >= amount_out
        too_little = amount_in * 99 // 100 - 3
        if too_little > 0:
            assert output_or_zero(pool, tokens, too_little) <= amount_out
    assert checked == 242


def concentrated_outcome(step: Fields) -> str:
    if "revert" in step:
        return str(step["revert"]) if is_widest(step) else "limited"
    if step["amount_in"] != step["amount"]:
        return "partial fill" if is_widest(step) else "limited"
    return "swap" if int(step["amount_out"]) else "no output"


def is_widest(step: Fields) -> bool:
    limits = {True: MIN_SQRT_RATIO + 1, False: MAX_SQRT_RATIO - 1}
    return int(step["sqrt_price_limit_x96"]) == limits[step["zero_for_one"]]


def concentrated_steps(exact: str) -> Iterator[tuple[Fields, Concentrated]]:
    """Yield the recorded swaps of an exact "in" or "out", each with the pool before it."""
    for pool in read_vectors("infinity_cl")["pools"]:
        for step in pool["steps"]:
            if step["exact"] == exact and int(step["amount"]):
                yield step, concentrated_pool(pool, step["before"])


def concentrated_pool(pool: Fields, slot: Fields) -> Concentrated:
    state = {
        **{name: slot[name] for name in ("sqrt_price_x96", "tick", "liquidity")},
        "tick_spacing": pool["tick_spacing"],
        "ticks": pool["ticks"],
        "protocol_fees_ppm": slot["protocol_fee"],
        **key_fields(pool["fee"] == "dynamic", pool["tick_spacing"]),
    }
    return Concentrated.from_state(PoolIdentity(ADDRESS, "test", (A, B), (18, 18), slot["lp_fee"]), state)


def output_or_zero(pool: Pool, tokens: tuple[str, str], amount_in: int) -> int:
    try:
        return pool.swap(*tokens, amount_in)[0]
    except SwapReverts:
        return 0


def key_fields(is_dynamic: bool, step: int) -> dict[str, object]:
    return {
        "pool_id": "0x" + "11" * 32,
        "hooks": HOOK if is_dynamic else ZERO_ADDRESS,
        "parameters": f"0x{step << 16:064x}",
        "dynamic_fee": is_dynamic,
    }


def direction(zero_for_one: bool) -> tuple[str, str]:
    return (A, B) if zero_for_one else (B, A)
