"""Balancer V3's ReClAMMs ("readjusting concentrated liquidity"): x y = k with virtual balances that move with time.

Outside a target price range, and while the range is being changed, the pool's virtual balances move with the block
time. `computeCurrentVirtualBalances()` returns them at the block read. A swap in that block uses and stores them; later
swaps in the same block do not move them.
"""

from __future__ import annotations

from collections.abc import Sequence

from swapcli.core.annotations import ClassVar
from swapcli.core.errors import SwapReverts
from swapcli.core.frozen_dataclass import dataclass
from swapcli.core.model.pool import RateCurve
from swapcli.families.balancer.balancer_pool import FieldTable, FurtherField, texts
from swapcli.families.balancer.balancer_v3 import BalancerV3
from swapcli.families.balancer.virtual_balance_curve import curve_with_virtual_balances
from swapcli.families.rounding import require_uint256
from swapcli.families.token_positions import token_indices

_BITS = 128
"""The number of bits in which the contract stores virtual balances."""


@dataclass(frozen=True, slots=True)
class BalancerV3Reclamm(BalancerV3):
    """A ReClAMM with the `virtual_balances` of both tokens at the block read, with 18 decimals."""

    virtual_balances: tuple[int, ...]

    family: ClassVar[str] = "balancer_v3_reclamm"
    swap_gas: ClassVar[int] = 142_000
    """The gas of a 2-CLP, plus two storage writes of 5,000 each: the timestamp and the virtual balances."""
    can_be_one_sided: ClassVar[bool] = True
    is_pair: ClassVar[bool] = True
    moves_with_time: ClassVar[bool] = True
    further_fields: ClassVar[FieldTable] = (
        FurtherField("virtual_balances", lambda fields, n: fields.uints("virtual_balances", n, _BITS), texts),
    )

    def scaled_amount_out(self, balances: Sequence[int], i: int, j: int, amount_in: int) -> int:
        """Return the output; see `BalancerPool.scaled_amount_out`."""
        virtual = self.virtual_balances
        product = require_uint256((balances[j] + virtual[j]) * amount_in)
        bought = product // (balances[i] + virtual[i] + amount_in)
        if bought > balances[j]:
            raise SwapReverts(f"pool {self.key} does not have enough of the bought token")
        return bought

    def curve(self, token_in: str, token_out: str) -> RateCurve:
        """Return the floating-point curve for selling `token_in` for `token_out`."""
        i, j = token_indices(self, token_in, token_out)
        units = self.base_units_per_scaled(i, j)
        return curve_with_virtual_balances(self.scaled_balances(), self.virtual_balances, i, j, units)
