"""The key of a Uniswap V4 pool as a call argument."""

from __future__ import annotations

from swapcli.core.encoding.abi_arguments import AbiValue
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.families.protocol_fees import DYNAMIC_FEE
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.uniswap.rows import V4Constants


def key_arguments(ref: PoolRef, key: V4Constants) -> list[AbiValue]:
    """Return (currency0, currency1, fee, tick spacing, hooks)."""
    return [
        ZERO_ADDRESS if key.is_native else ref.tokens[0],
        ref.tokens[1],
        DYNAMIC_FEE if key.has_dynamic_fee else ref.fee_ppm,
        key.tick_spacing,
        key.hooks,
    ]
