"""Fees of pools that share a contract: an LP fee that a hook may set, and an additional protocol fee per direction.

Sources: `LPFeeLibrary.sol`, `ProtocolFeeLibrary.sol` of Uniswap v4-core and of PancakeSwap infinity-core.
"""

from __future__ import annotations

from swapcli.core.annotations import Final
from swapcli.core.errors import InvalidPoolState
from swapcli.core.model.units import PPM
from swapcli.families.state_fields import StateFields

DYNAMIC_FEE: Final = 0x800000
"""The fee in the key of a pool whose hook sets the LP fee, which is then part of the pool's state."""
NO_FEES: Final = (0, 0)


def with_protocol_fee(lp_fee_ppm: int, protocol_fee_ppm: int) -> int:
    """Return the total fee of a swap in ppm. The LP fee applies to the amount left after the protocol fee."""
    return protocol_fee_ppm + lp_fee_ppm - protocol_fee_ppm * lp_fee_ppm // PPM


def read_protocol_fees(fields: StateFields, lp_fee_ppm: int, max_fee_ppm: int) -> tuple[int, int]:
    """Read the optional `protocol_fees_ppm`, for selling the first token and the second. Raises `InvalidPoolState`."""
    if not fields.has("protocol_fees_ppm"):
        return NO_FEES
    sell_token0, sell_token1 = fields.integers("protocol_fees_ppm", 2, 0, max_fee_ppm)
    if with_protocol_fee(lp_fee_ppm, max(sell_token0, sell_token1)) >= PPM:
        raise InvalidPoolState(
            "protocol_fees_ppm", f"together with the LP fee of {lp_fee_ppm} ppm, they take the whole input"
        )
    return sell_token0, sell_token1
