"""Swap fees that need not be a whole number of parts per million: fractions scaled by 10^18, as in contracts.

A state contains such a fee as `swap_fee`, and `fee_ppm` is its value rounded down; without the field, the two are
equal.
"""

from __future__ import annotations

from swapcli.core.annotations import Final
from swapcli.core.errors import InvalidPoolState
from swapcli.core.model.pool import PoolIdentity
from swapcli.core.model.units import PPM, WAD
from swapcli.families.state_fields import StateFields

FEE_PER_PPM: Final = WAD // PPM


def read_swap_fee(identity: PoolIdentity, fields: StateFields) -> int:
    """Read `swap_fee`, a fraction scaled by 10^18 whose rounded-down value is `fee_ppm`; by default, the two are
    equal."""
    fee = fields.optional_uint("swap_fee")
    if fee is None:
        return identity.fee_ppm * FEE_PER_PPM
    if fee // FEE_PER_PPM != identity.fee_ppm:
        raise InvalidPoolState("swap_fee", f"{fee} / 10^18 is not the fee of {identity.fee_ppm} ppm")
    return fee


def read_fee_remainder(identity: PoolIdentity, fields: StateFields, unit: int = 1) -> int:
    """Read `swap_fee`, and return the part that `fee_ppm` rounds off, as a fraction scaled by 10^18: a multiple of
    `unit`."""
    remainder = read_swap_fee(identity, fields) % FEE_PER_PPM
    if remainder % unit:
        raise InvalidPoolState("swap_fee", f"expected a multiple of {unit}, the smallest fee of the contract")
    return remainder


def floored_fee_units(swap_fee: int) -> float:
    """Return the `input_units` of `RoundingGain` for a fee, a fraction scaled by 10^18, that a contract deducts from
    the input, rounded down.

    Of x, less than (1 - fee) x + 1 remains, which is what would remain of x + 1 / (1 - fee), and never more than x.
    """
    return WAD / (WAD - swap_fee)


def write_swap_fee(swap_fee: int, fee_ppm: int) -> dict[str, object]:
    """Return the field `swap_fee`, or no field if `fee_ppm` is exact."""
    return {} if swap_fee == fee_ppm * FEE_PER_PPM else {"swap_fee": str(swap_fee)}
