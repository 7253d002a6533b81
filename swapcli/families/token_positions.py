"""The direction of a swap: the positions of its tokens in the pool."""

from __future__ import annotations

from swapcli.core.errors import PoolError
from swapcli.core.model.pool import Pool


def is_forward(pool: Pool, token_in: str, token_out: str) -> bool:
    """Return whether the first token is sold for the second. Raises `PoolError` for other tokens."""
    first, second = pool.tokens
    if token_in == first and token_out == second:
        return True
    if token_in == second and token_out == first:
        return False
    raise PoolError(f"pool {pool.key} does not trade {token_in} for {token_out}")


def token_indices(pool: Pool, token_in: str, token_out: str) -> tuple[int, int]:
    """Return the positions of both tokens in the pool. Raises `PoolError` unless the pool has both tokens and they
    differ."""
    tokens = pool.tokens
    if token_in in tokens and token_out in tokens and token_in != token_out:
        return tokens.index(token_in), tokens.index(token_out)
    raise PoolError(f"pool {pool.key} does not trade {token_in} for {token_out}")
