"""Pools of bins of PancakeSwap Infinity against swaps recorded from the real contract, to the unit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from swapcli.core.errors import InsufficientLiquidity, SwapReverts
from swapcli.core.model.pool import PoolIdentity
from swapcli.families.bins.infinity_bin import InfinityBin
from swapcli.testing.strategies import ADDRESS, TOKENS
from tests.families.recorded import read_vectors
from tests.families.uniswap.test_infinity_vectors import Fields, direction, key_fields, output_or_zero

A, B = TOKENS[:2]
BIN_ERRORS = {
    "BinPool__OutOfLiquidity": InsufficientLiquidity,
    "BinPool__InsufficientAmountUnSpecified": SwapReverts,
}


def test_recorded_inputs_into_bins_agree() -> None:
    outcomes: Counter[str] = Counter()
    for step, pool in bin_steps("in"):
        outcomes[step.get("revert", "swap")] += 1
        tokens, amount_in = direction(step["swap_for_y"]), int(step["amount"])
        if "revert" in step:
            with pytest.raises(BIN_ERRORS[step["revert"]]):
                pool.swap(*tokens, amount_in)
            continue
        amount_out, after = pool.swap(*tokens, amount_in)
        assert (int(step["amount_in"]), int(step["amount_out"])) == (amount_in, amount_out)
        expected = rows_of(pool) | {row[0]: row for row in step["after"]["bins"]}
        assert (after.active_id, rows_of(after)) == (step["after"]["active_id"], expected)
    assert outcomes == {"swap": 791, **dict(zip(BIN_ERRORS, (30, 67), strict=True))}


def test_recorded_outputs_of_bins_need_that_input() -> None:
    outcomes: Counter[str] = Counter()
    for step, pool in bin_steps("out"):
        outcomes[step.get("revert", "swap")] += 1
        if "revert" in step:
            assert sum(pool.bins.amounts_y if step["swap_for_y"] else pool.bins.amounts_x) < int(step["amount"])
            continue
        tokens, amount_in, amount_out = direction(step["swap_for_y"]), int(step["amount_in"]), int(step["amount_out"])
        bought, after = pool.swap(*tokens, amount_in)
        assert bought >= amount_out
        # The contract rounds value and fee up in every bin: with less than that, the output is out of reach.
        visited = 1 + abs(after.active_id - pool.active_id)
        too_little = amount_in - 2 * visited - 1
        if too_little > 0:
            assert output_or_zero(pool, tokens, too_little) <= amount_out
    assert outcomes == {"swap": 279, "BinPool__OutOfLiquidity": 23}


def bin_steps(exact: str) -> Iterator[tuple[Fields, InfinityBin]]:
    """Yield the recorded swaps of an exact "in" or "out", each with the pool before it."""
    for pool in read_vectors("infinity_bin")["pools"]:
        rows = {row[0]: row for row in pool["bins"]}
        for step in pool["steps"]:
            if step["exact"] == exact and int(step["amount"]):
                yield step, bin_pool(pool, step["before"], rows)
            rows |= {row[0]: row for row in step.get("after", {}).get("bins", [])}


def bin_pool(pool: Fields, slot: Fields, rows: Mapping[int, list[Any]]) -> InfinityBin:
    state = {
        "active_id": slot["active_id"],
        "bin_step": pool["bin_step"],
        "bins": [rows[bin_id] for bin_id in sorted(rows)],
        "protocol_fees_ppm": slot["protocol_fee"],
        **key_fields(pool["fee"] == "dynamic", pool["bin_step"]),
    }
    return InfinityBin.from_state(PoolIdentity(ADDRESS, "test", (A, B), (18, 18), slot["lp_fee"]), state)


def rows_of(pool: InfinityBin) -> dict[object, list[object]]:
    return {row[0]: row for row in pool.bins.state()}
