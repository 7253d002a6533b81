"""What the families of two-token pools share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, Final

from swapcli.errors import InvalidPoolState, PoolError
from swapcli.model.pool import Pool, PoolIdentity

PPM: Final = 1_000_000
"""The whole, in the unit of `fee_ppm`."""


def check_pair(identity: PoolIdentity) -> None:
    """Two different tokens and a fee below the whole input, else `InvalidPoolState`."""
    if len(identity.tokens) != 2:
        raise InvalidPoolState("tokens", f"expected 2 tokens, not {len(identity.tokens)}")
    if identity.tokens[0] == identity.tokens[1]:
        raise InvalidPoolState("tokens", f"{identity.tokens[0]} stands on both sides")
    if not 0 <= identity.fee_ppm < PPM:
        raise InvalidPoolState("fee_ppm", f"expected a whole number from 0 to {PPM - 1}, not {identity.fee_ppm}")


def is_forward(pool: Pool, token_in: str, token_out: str) -> bool:
    """Whether the first token is sold for the second; False the other way. Raises `PoolError` for other tokens."""
    first, second = pool.tokens
    if token_in == first and token_out == second:
        return True
    if token_in == second and token_out == first:
        return False
    raise PoolError(f"pool {pool.key} does not trade {token_in} for {token_out}")


def slot_setters(family: type[Pool]) -> tuple[Callable[[Pool, Any], None], ...]:
    """Functions that set the family's fields, in order, on an object that is not finished yet.

    A frozen dataclass's own constructor takes twice as long, which a swap would notice.
    """
    return tuple(getattr(family, field.name).__set__ for field in fields(family))
