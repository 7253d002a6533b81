"""Builds a pool from the state that was read. Its family checks it like the state of any market file."""

from __future__ import annotations

from collections.abc import Mapping

from swapcli.chain.call_encoding import invalid_response
from swapcli.chain.pool_ref import PoolRef
from swapcli.errors import InvalidPoolState
from swapcli.model.pool import Pool, PoolIdentity
from swapcli.model.units import PPM
from swapcli.pools import family


def build_pool(ref: PoolRef, fee_ppm: int, state: Mapping[str, object]) -> Pool:
    """Return the pool. Raises `InvalidPoolState` naming the field."""
    if not 0 <= fee_ppm < PPM:
        raise InvalidPoolState("fee_ppm", f"expected a whole number from 0 to {PPM - 1}, not {fee_ppm}")
    identity = PoolIdentity(ref.address, ref.protocol, ref.tokens, ref.decimals, fee_ppm)
    return family(ref.family).from_state(identity, state)


def fee_in_ppm(fee: int, whole: int, name: str) -> int:
    """Return `fee / whole` in parts per million. Raises `InvalidUpstreamResponse` if that is not a whole number."""
    ppm, rest = divmod(fee * PPM, whole)
    if rest:
        raise invalid_response(name, f"a fee of {fee} in {whole} is no whole number of parts per million")
    return ppm
