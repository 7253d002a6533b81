"""Estimate the input at which a route's output jumps.

A pool that pays out a token with few units pays one more unit only from a certain input upwards, and the pools after it
turn that unit into many units of their tokens. Between two inputs with such a jump neither tangents nor secants help,
and bisection takes a replay of the whole route for each of some forty binary digits. But the pool alone determines the
input that it needs for that unit, and its input is almost linear between the two inputs of the route.
"""

from __future__ import annotations

from collections.abc import Mapping

from swapcli.core.errors import PoolError
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote import Step
from swapcli.core.routing.replay import Replay, swap_exactly

_MAX_JUMPS = 4  # between two inputs: if there are more, most are the wrong ones, and bisection excludes half of them


def estimate_jump(pools: Mapping[str, Pool], low: tuple[int, Replay], high: tuple[int, Replay]) -> int | None:
    """Return approximately the smallest input, above that of `low`, from which a swap pays one unit more, as in `high`.

    `low` and `high` are two inputs of one route, each with its replay on `pools`. None if no swap pays exactly one unit
    more for several units of its own input, or if more than a few do.
    """
    (amount, before), (larger, after) = low, high
    jumps = [
        (step, larger_step)
        for step, larger_step in zip(before.steps, after.steps, strict=True)
        if larger_step.amount_out - step.amount_out == 1 and larger_step.amount_in - step.amount_in > 1
    ]
    if not 0 < len(jumps) <= _MAX_JUMPS or not _are_independent(before):
        return None
    short, enough = min(jumps, key=lambda jump: jump[0].amount_out)  # its unit is worth most
    needed = _least_input(pools[short.pool], short, enough)
    if needed is None:
        return None
    # The route's input grows in line with the step's: to halfway between the step's needed input and one unit less.
    part, whole = 2 * (needed - short.amount_in) - 1, 2 * (enough.amount_in - short.amount_in)
    return amount + (larger - amount) * part // whole


def _least_input(pool: Pool, short: Step, enough: Step) -> int | None:
    """Return the smallest input above that of `short` for which `pool` pays as much as in `enough`."""
    low, high = short.amount_in, enough.amount_in
    while high - low > 1:
        middle = (low + high) // 2
        try:
            paid, _ = swap_exactly(pool, short.token_in, short.token_out, middle)
        except PoolError:
            return None
        low, high = (low, middle) if paid >= enough.amount_out else (middle, high)
    return high


def _are_independent(replay: Replay) -> bool:
    """Return whether each pool swaps once, and no two share a contract, so that none changes another's output."""
    shared = [state.address for pool in replay.pools_after.values() for state in pool.shared_states]
    return len(replay.pools_after) == len(replay.steps) and len(set(shared)) == len(shared)
