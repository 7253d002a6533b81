"""Stable pools of Balancer V2, exactly as their contracts compute swaps.

`StablePool` (since 2022) rounds its invariant down, `MetaStablePool` (2021) up. `amp` and `rates` are their values at
the quoted block.
"""

from __future__ import annotations

from collections.abc import Sequence

from swapcli.core.annotations import ClassVar
from swapcli.core.frozen_dataclass import dataclass
from swapcli.core.model.pool import RateCurve
from swapcli.families.balancer.balancer_pool import FieldTable, flag
from swapcli.families.balancer.balancer_stable_math import (
    AMP_FIELD,
    amount_out,
    balance_v2,
    invariant,
    invariant_rounded_up,
    stable_curve,
)
from swapcli.families.balancer.balancer_v2_vault import BalancerV2
from swapcli.families.token_positions import token_indices


@dataclass(frozen=True, slots=True)
class BalancerV2Stable(BalancerV2):
    """A Balancer V2 stable pool. `amp` is A times 1000. `is_metastable` means that the contract is a
    `MetaStablePool`."""

    amp: int
    is_metastable: bool

    family: ClassVar[str] = "balancer_v2_stable"
    further_fields: ClassVar[FieldTable] = (AMP_FIELD, flag("is_metastable"))
    swap_gas: ClassVar[int] = 110_400
    further_token_gas: ClassVar[int] = 12_100
    """Gas units for each token beyond two.

    Both figures are those of `Weighted`, plus the measured difference of direct swaps with the published bytecode.
    """

    def scaled_amount_out(self, balances: Sequence[int], i: int, j: int, amount_in: int) -> int:
        """Return the output that keeps the invariant of `balances`, rounded like the contract's output."""
        d = invariant_rounded_up(balances, self.amp) if self.is_metastable else invariant(balances, self.amp)
        return amount_out(balances, i, j, amount_in, self.amp, d, balance_v2)

    def curve(self, token_in: str, token_out: str) -> RateCurve:
        """Return the floating-point curve for selling `token_in` for `token_out`."""
        i, j = token_indices(self, token_in, token_out)
        return stable_curve(self.scaled_balances(), (i, j), self.amp, self.base_units_per_scaled(i, j))
