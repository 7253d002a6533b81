"""A swap of an exact input through bins, as PancakeSwap Infinity and Liquidity Book compute it.

X is the first token, Y the second. Every bin trades at its own constant price. A swap empties the bought token from the
active bin, then continues to the next one: down when X is sold, up when Y is sold. In an emptied bin, the fee is added
to the price; in the last bin, it is deducted from the remaining input. Each fee is rounded separately.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping

from swapcli.core.annotations import Final, Protocol
from swapcli.core.errors import SwapReverts
from swapcli.core.model.units import WAD
from swapcli.core.records import NamedTuple
from swapcli.families.bins.bin_math import SCALE_BITS, output_of, price_of_bin, value_up
from swapcli.families.bins.bin_state import Bins
from swapcli.families.rounding import UINT128_LIMIT, mul_div_up

_MAX_LIQUIDITY: Final = 65_251_743_116_719_673_010_965_625_540_244_653_191_619_923_014_385_985_379_600_384_103_134_737
"""`MAX_LIQUIDITY_PER_BIN` in the contracts, in Y with 128 fractional bits."""


class BinFees(Protocol):
    """The fees of one direction of a pool, scaled by `WAD`."""

    def fee_of_bin(self, bin_id: int) -> int:
        """Return the fee in a bin as a fraction scaled by `WAD`, below one."""

    def protocol_part(self, fee_amount: int) -> int:
        """Return the part of a fee that leaves the pool."""


class BinSwap(NamedTuple):
    """The result of a swap: the output, the unsold part of the input, the last bin, and the new amounts by position."""

    amount_out: int
    amount_left: int
    active_id: int
    amounts: Mapping[int, tuple[int, int]]


def positions_ahead(bins: Bins, active_id: int, swap_for_y: bool) -> range:
    """Return the positions of the bins that a swap visits, in order, starting with the active one if it is in the
    list."""
    if swap_for_y:
        return range(bisect_right(bins.ids, active_id) - 1, -1, -1)
    return range(bisect_left(bins.ids, active_id), len(bins.ids))


def swap_through_bins(
    bins: Bins, active_id: int, bin_step: int, swap_for_y: bool, amount_in: int, fees: BinFees
) -> BinSwap:
    """Sell `amount_in` of X (`swap_for_y`) or Y until it is spent or the bins end. Raises `SwapReverts`."""
    amount_left, amount_out = amount_in, 0
    amounts: dict[int, tuple[int, int]] = {}
    for i in positions_ahead(bins, active_id, swap_for_y):
        active_id, x, y = bins.ids[i], bins.amounts_x[i], bins.amounts_y[i]
        reserve = y if swap_for_y else x
        if reserve:
            price = price_of_bin(bin_step, active_id)
            sold, bought, fee_amount = _swap_in_bin(reserve, price, swap_for_y, amount_left, fees.fee_of_bin(active_id))
            amount_left -= sold
            amount_out += bought
            gain = sold - fees.protocol_part(fee_amount)
            x, y = (x + gain, y - bought) if swap_for_y else (x - bought, y + gain)
            if x >= UINT128_LIMIT or y >= UINT128_LIMIT or x * price + (y << SCALE_BITS) > _MAX_LIQUIDITY:
                raise SwapReverts(f"bin {active_id} would hold more than the contract allows")
            amounts[i] = (x, y)
        if not amount_left:
            break
    return BinSwap(amount_out, amount_left, active_id, amounts)


def _swap_in_bin(reserve: int, price: int, swap_for_y: bool, amount_left: int, fee: int) -> tuple[int, int, int]:
    """Return (input with fee, output, fee) of a swap in a bin that holds `reserve` of the bought token."""
    value = value_up(reserve, price, swap_for_y)
    fee_amount = mul_div_up(value, fee, WAD - fee)
    input_to_empty = value + fee_amount
    if input_to_empty >= UINT128_LIMIT:
        raise SwapReverts("the input that empties a bin exceeds 2^128 - 1")
    if amount_left >= input_to_empty:
        return input_to_empty, reserve, fee_amount
    fee_amount = mul_div_up(amount_left, fee, WAD)
    return amount_left, min(output_of(amount_left - fee_amount, price, swap_for_y), reserve), fee_amount
