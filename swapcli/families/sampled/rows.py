"""The `FAMILIES` and `KINDS` rows for pools quoted by their protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from swapcli.core.records import NamedTuple
from swapcli.families.row import V4_AS_SINGLETON, ExtraData, FamilyRow, KindRow, PoolUse, RouterEncoding, v4_pool_key


class SampledConstants(NamedTuple):
    """The constants of a pool quoted by its protocol.

    `values` are the arguments of its functions, as (name, value) pairs.
    """

    pool_id: str = ""
    values: tuple[tuple[str, str], ...] = ()


def _v4_key_if_any(use: PoolUse) -> ExtraData:
    """Return the key of a Uniswap V4 pool, nothing for others: the public router's format for them is not published."""
    return v4_pool_key(use) if "hooks" in use.pool.api_extra_data() else b""


FAMILIES: Final[Mapping[str, FamilyRow]] = {
    "sampled": FamilyRow(
        ("nothing: samples go stale with their block",),
        RouterEncoding(extra_data=_v4_key_if_any, kinds_by_contract=V4_AS_SINGLETON),
    ),
}

KINDS: Final[Mapping[str, KindRow]] = {
    "sampled": KindRow(
        ("sampled",),
        roles=(),
        is_sampled=True,
        constants=SampledConstants,
        unannounced="prices of the protocol's own",
    ),
}
