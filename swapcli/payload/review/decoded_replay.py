"""Replay the swaps of a decoded call on the current pools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from swapcli.core.model.decoded_call import DecodedSwap
from swapcli.core.model.pool import Pool
from swapcli.core.model.router_execution import Execution
from swapcli.core.model.units import PPM
from swapcli.core.records import NamedTuple
from swapcli.core.routing.replay import FlatSwap, execute, faults_as_reverts

_SCALE: Final = 10**18
"""The scale of shares: fine enough to express an absolute amount as a part of a balance."""


class ReviewedSwap(NamedTuple):
    """A swap with its tokens, in canonical and in wrapped form, and its pool (None if unknown).

    `share_ppm` is its part of the route's total sales of `token_in`, None if the call has amounts instead.
    """

    swap: DecodedSwap
    token_in: str
    token_out: str | None
    pool: Pool | None
    share_ppm: int | None


class DecodedReplay(NamedTuple):
    """The output of the swaps in a call. `estimated_pools` were not quoted for exactly the swapped amounts."""

    amount_out: int
    estimated_pools: tuple[str, ...]


def replay_decoded(
    swaps: Sequence[ReviewedSwap], token_in: str, token_out: str, amount_in: int, execution: Execution
) -> DecodedReplay | None:
    """Return the output of the swaps, with tokens in their wrapped forms.

    The result is None if a pool, a token or a share is unknown, or if a swap sells a token that no earlier swap has
    bought.

    Wrapping swaps pay one for one. Output that a later swap sells again does not count. Raises `PoolError` if a swap
    would revert.
    """
    pools: dict[str, Pool] = {}
    flat: list[FlatSwap] = []
    left, reached = amount_in, {token_in}
    for reviewed in swaps:
        pool, bought = reviewed.pool, reviewed.token_out
        if pool is not None and pool.is_wrapper:
            continue
        if pool is None or bought is None:
            return None
        if reviewed.token_in not in reached:
            return None
        reached.add(bought)
        pools[pool.key] = pool
        spent = reviewed.swap.amount_in
        share_ppm = reviewed.swap.share_ppm
        if spent is None:
            if share_ppm is None:
                return None
            rate = share_ppm * (_SCALE // PPM)
        else:
            if left <= 0 or reviewed.token_in != token_in:
                return None
            rate = min(_SCALE, -(-spent * _SCALE // left))
            left -= spent
        flat.append(FlatSwap(pool.key, reviewed.token_in, bought, rate))
    if not flat and swaps and token_in == token_out:
        return DecodedReplay(amount_in, ())
    if not flat or flat[0].token_in != token_in:
        return None
    with faults_as_reverts():
        done = execute(pools, flat, amount_in, execution._replace(rate_scale=_SCALE))
    paid = sum(step.amount_out for step in done.steps if step.token_out == token_out)
    sold_again = sum(step.amount_in for step in done.steps if step.token_in == token_out)
    return DecodedReplay(paid - sold_again, done.estimated_pools)
