"""Check the guarantee of `Pool.swap`: for any state that the family accepts, any tokens and any integer."""

from __future__ import annotations

import json
from itertools import permutations
from random import Random
from typing import Final

from swapcli.core.model.pool import Pool
from swapcli.testing.changed_pools import random_amount
from swapcli.testing.pool_laws import swap_or_refuse

UNKNOWN_TOKEN: Final = "0x" + "99" * 20
_AMOUNTS: Final = (0, -1, -(10**18), -(2**255), -(2**300), 1, 10**6, 10**18, 2**127, 2**255, 2**256 - 1, 2**256, 2**300)
_SWAPS_PER_STATE: Final = 4


def check_swap(pool: Pool, token_in: str, token_out: str, amount_in: int) -> tuple[int, Pool] | None:
    """Require that a swap keeps the guarantee; return its output and the pool after it, or None if the swap is
    rejected."""
    swapped = swap_or_refuse(pool, (token_in, token_out), amount_in)
    if swapped is None:
        return None
    amount_out, after = swapped
    assert 0 < amount_in < 2**256
    assert type(amount_out) is int
    assert amount_out > 0
    assert pool.unspent(token_in, token_out, amount_in) < amount_in
    assert {token_in, token_out} <= set(pool.tokens)
    assert token_in != token_out
    again = type(after).from_state(after.identity, json.loads(json.dumps(after.state())))
    # A sampled pool is also marked once its quotes are used up, which no file records. In a single-use pool, a second
    # swap is not predicted, because its derived values still belong to the first one.
    assert again.state() == after.state() if pool.is_sampled or pool.is_single_use else again == after
    return amount_out, after


def check_way_back(pool: Pool, token_in: str, token_out: str, amount_in: int, done: tuple[int, Pool]) -> None:
    """Require that selling the output pays no more than was spent, up to the contract's rounding.

    The rounding is a few units of both tokens at the pool's price, plus the rounding of the contracts' 18 digits.
    """
    amount_out, after = done
    if pool.is_single_use:
        return  # in these pools, the state after the swap is not the contract's
    back = check_swap(after, token_out, token_in, amount_out)
    if back is None:
        return
    curve = after.curve(token_out, token_in)
    dust = 10.0 * (2.0 + curve.start_rate) + 1e-12 * (amount_in + curve.amount_out(min(curve.capacity, 1e60)))
    spent = amount_in - pool.unspent(token_in, token_out, amount_in)
    assert back[0] - spent <= dust


def check_any_tokens_and_amounts(pool: Pool) -> None:
    """Require that any two tokens, even unknown ones, and any integer are swapped or rejected, and that some are
    swapped."""
    swapped = 0
    for pair in permutations((*dict.fromkeys((*pool.tokens[:2], pool.tokens[-1])), UNKNOWN_TOKEN, ""), 2):
        swapped += sum(check_swap(pool, *pair, amount_in) is not None for amount_in in _AMOUNTS)
    assert swapped
    for token in pool.tokens:
        assert not any(check_swap(pool, token, token, amount_in) for amount_in in _AMOUNTS)


def check_random_swaps(pool: Pool, rng: Random, *, way_back: bool = True) -> int:
    """Require the guarantee for four consecutive swaps, and return how many were not rejected.

    With `way_back`, selling each output again must gain nothing.
    """
    swapped = 0
    for _ in range(_SWAPS_PER_STATE):
        token_in, token_out = way = _random_way(rng, pool)
        amount_in = random_amount(rng, pool, *way) if len({*way} & {*pool.tokens}) == 2 else 10**18
        done = check_swap(pool, token_in, token_out, amount_in)
        if done is None:
            continue
        swapped += 1
        if way_back:
            check_way_back(pool, token_in, token_out, amount_in, done)
        pool = done[1]
    return swapped


def _random_way(rng: Random, pool: Pool) -> tuple[str, str]:
    """Return two tokens of a pool or, rarely, others."""
    token_in, token_out = rng.sample(pool.tokens, 2)
    return token_in, token_out if rng.random() < 0.97 else rng.choice((UNKNOWN_TOKEN, token_in))
