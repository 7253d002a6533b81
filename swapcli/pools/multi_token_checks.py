"""Checks and arithmetic of pools with two to eight tokens."""

from __future__ import annotations

from typing import Final

from swapcli.errors import InvalidPoolState, PoolError
from swapcli.model.pool import Pool, PoolIdentity
from swapcli.pools.two_token_checks import PPM

MAX_TOKENS: Final = 8
MAX_DECIMALS: Final = 18


def check_multi_token(identity: PoolIdentity) -> None:
    """Raise `InvalidPoolState` unless tokens, decimals and fee are supported; see the messages below."""
    count = len(identity.tokens)
    if not 2 <= count <= MAX_TOKENS:
        raise InvalidPoolState("tokens", f"expected 2 to {MAX_TOKENS} tokens, not {count}")
    if len(set(identity.tokens)) != count:
        raise InvalidPoolState("tokens", "duplicate token")
    if max(identity.decimals) > MAX_DECIMALS:
        raise InvalidPoolState("decimals", f"at most {MAX_DECIMALS} are supported, got {max(identity.decimals)}")
    if not 0 <= identity.fee_ppm < PPM:
        raise InvalidPoolState("fee_ppm", f"expected a whole number from 0 to {PPM - 1}, not {identity.fee_ppm}")


def token_indices(pool: Pool, token_in: str, token_out: str) -> tuple[int, int]:
    """Return the positions of both tokens in the pool. Raises `PoolError` unless it holds both and they differ."""
    tokens = pool.tokens
    if token_in in tokens and token_out in tokens and token_in != token_out:
        return tokens.index(token_in), tokens.index(token_out)
    raise PoolError(f"pool {pool.key} does not trade {token_in} for {token_out}")


def to_18_decimals(decimals: int) -> int:
    """Return the factor that scales an amount to 18 decimals."""
    factor: int = 10 ** (MAX_DECIMALS - decimals)
    return factor


def reserves_after_swap(reserves: tuple[int, ...], i: int, amount_in: int, j: int, amount_out: int) -> tuple[int, ...]:
    """Return the reserves with `amount_in` added to the i-th and `amount_out` taken from the j-th."""
    after = list(reserves)
    after[i] += amount_in
    after[j] -= amount_out
    return tuple(after)
