"""Build a pool from the state read from a node. The pool's family checks this state as it checks a market file's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from swapcli.core.errors import InvalidPoolState
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.core.model.units import PPM, WAD
from swapcli.families import family
from swapcli.families.reading.call_encoding import invalid_response
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.swap_fees import FEE_PER_PPM, write_swap_fee

PAUSED: Final = "the factory has paused all swaps"
"""The reason for temporarily omitting a factory's pools."""

CHECKED_AMOUNT: Final = 10**24 + 123_456_789_012_345_678
"""One million tokens with 18 decimals, with digits down to the last, so that a conversion reveals all rounding."""


def build_pool(ref: PoolRef, fee_ppm: int, state: Mapping[str, object]) -> Pool:
    """Return the pool that `ref` and `state` describe. Raises `InvalidPoolState`, which names the field."""
    if not 0 <= fee_ppm < PPM:
        raise InvalidPoolState("fee_ppm", f"expected a whole number from 0 to {PPM - 1}, not {fee_ppm}")
    identity = PoolIdentity(ref.address, ref.protocol, ref.tokens, ref.decimals, fee_ppm)
    return family(ref.family).from_state(identity, state)


def build_pool_with_fee(ref: PoolRef, fee_wad: int, state: Mapping[str, object]) -> Pool:
    """Return the pool with a fee scaled by 10^18. The fee is written to the state if parts per million are too
    coarse."""
    fee_ppm = fee_wad // FEE_PER_PPM
    return build_pool(ref, fee_ppm, {**state, **write_swap_fee(fee_wad, fee_ppm)})


def fee_in_wad(fee: int, whole: int, name: str) -> int:
    """Return `fee / whole`, scaled by 10^18. Raises `InvalidUpstreamResponse` if that is not an integer."""
    wad, rest = divmod(fee * WAD, whole)
    if rest:
        raise invalid_response(name, f"a fee of {fee} in {whole} has more than 18 decimals")
    return wad
