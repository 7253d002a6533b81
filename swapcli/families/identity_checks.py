"""Checks on the tokens and the fee of pools with two or more tokens."""

from __future__ import annotations

from swapcli.core.annotations import Final
from swapcli.core.errors import InvalidPoolState
from swapcli.core.model.pool import PoolIdentity
from swapcli.core.model.units import PPM
from swapcli.families.reserves import MAX_DECIMALS

MAX_TOKENS: Final = 8  # tokens in a pool: the maximum of the families' contracts, where they have one


def check_pair(identity: PoolIdentity) -> None:
    """Raise `InvalidPoolState` unless there are two different tokens and the fee is less than the whole input."""
    if len(identity.tokens) != 2:
        raise InvalidPoolState("tokens", f"expected 2 tokens, not {len(identity.tokens)}")
    if identity.tokens[0] == identity.tokens[1]:
        raise InvalidPoolState("tokens", f"{identity.tokens[0]} is on both sides")
    if not 0 <= identity.fee_ppm < PPM:
        raise InvalidPoolState("fee_ppm", f"expected a whole number from 0 to {PPM - 1}, not {identity.fee_ppm}")


def check_multi_token(identity: PoolIdentity, max_tokens: int = MAX_TOKENS) -> None:
    """Raise `InvalidPoolState` unless the tokens, their decimals and the fee are supported."""
    count = len(identity.tokens)
    if not 2 <= count <= max_tokens:
        raise InvalidPoolState("tokens", f"expected 2 to {max_tokens} tokens, not {count}")
    if len(set(identity.tokens)) != count:
        raise InvalidPoolState("tokens", "duplicate token")
    if max(identity.decimals) > MAX_DECIMALS:
        raise InvalidPoolState("decimals", f"at most {MAX_DECIMALS} are supported, got {max(identity.decimals)}")
    if not 0 <= identity.fee_ppm < PPM:
        raise InvalidPoolState("fee_ppm", f"expected a whole number from 0 to {PPM - 1}, not {identity.fee_ppm}")


def check_no_fee(identity: PoolIdentity) -> None:
    """Raise `InvalidPoolState` unless the fee is 0."""
    if identity.fee_ppm:
        raise InvalidPoolState("fee_ppm", f"expected 0, not {identity.fee_ppm}")
