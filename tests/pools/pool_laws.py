"""What holds for pools of every family."""

from __future__ import annotations

import json

from hypothesis import assume

from swapcli.errors import PoolError
from swapcli.model.pool import Pool
from swapcli.pools import family


def swap_there_and_back(pool: Pool, token_in: str, token_out: str, amount_in: int) -> int:
    """Return what a sale brings after its output is sold again; reject examples that the pool refuses."""
    try:
        amount_out, between = pool.swap(token_in, token_out, amount_in)
        return between.swap(token_out, token_in, amount_out)[0]
    except PoolError:
        assume(False)
        raise


def check_state_round_trip(pool: Pool) -> None:
    """Require that the pool is what its state says, as a market file has it."""
    assert family(pool.family).from_state(pool.identity, json.loads(json.dumps(pool.state()))) == pool
