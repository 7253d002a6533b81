"""Balancer V3's stable pools: `StableMath` on live balances, inside the Vault's `swap`.

Pools of the third version (2026) also reject swaps after which the largest balance is 10,000 times the smallest. `amp`
is the value at the quoted block; while it changes, the state is valid only at that block.
"""

from __future__ import annotations

from collections.abc import Sequence

from swapcli.core.annotations import ClassVar, Final
from swapcli.core.errors import SwapReverts
from swapcli.core.frozen_dataclass import dataclass
from swapcli.core.model.pool import RateCurve
from swapcli.families.balancer.balancer_pool import FieldTable, flag
from swapcli.families.balancer.balancer_stable_math import AMP_FIELD, amount_out, balance_v3, invariant, stable_curve
from swapcli.families.balancer.balancer_v3 import BalancerV3
from swapcli.families.token_positions import token_indices

_MAX_IMBALANCE: Final = 10_000
"""`StableMath.MAX_IMBALANCE_RATIO` of the third version."""


@dataclass(frozen=True, slots=True)
class BalancerV3Stable(BalancerV3):
    """A Balancer V3 stable pool. `amp` is A times 1000. `limits_imbalance` is true from the third version on."""

    amp: int
    limits_imbalance: bool

    family: ClassVar[str] = "balancer_v3_stable"
    further_fields: ClassVar[FieldTable] = (AMP_FIELD, flag("limits_imbalance"))
    swap_gas: ClassVar[int] = 146_600
    further_token_gas: ClassVar[int] = 16_300

    def scaled_amount_out(self, balances: Sequence[int], i: int, j: int, amount_in: int) -> int:
        """Return the output of `computeOutGivenExactIn`."""
        bought = amount_out(balances, i, j, amount_in, self.amp, invariant(balances, self.amp), balance_v3)
        if self.limits_imbalance:
            highest, lowest = max(*balances, balances[i] + amount_in), min(*balances, balances[j] - bought)
            if lowest <= 0 or highest // lowest >= _MAX_IMBALANCE:
                raise SwapReverts(f"pool {self.key}: balances would be too far apart")
        return bought

    def curve(self, token_in: str, token_out: str) -> RateCurve:
        """Return the floating-point curve for selling `token_in` for `token_out`."""
        i, j = token_indices(self, token_in, token_out)
        return stable_curve(self.scaled_balances(), (i, j), self.amp, self.base_units_per_scaled(i, j))
