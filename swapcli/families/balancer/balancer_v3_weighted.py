"""Balancer V3's weighted pools: the maths of `WeightedMath` on live balances, inside the Vault's `swap`.

They differ from V2's in rounding. Pools of the second version (2026) add one unit to the input's balance, and require
both balances to stay above a floor.
"""

from __future__ import annotations

from collections.abc import Sequence

from swapcli.core.annotations import ClassVar
from swapcli.core.errors import SwapReverts
from swapcli.core.frozen_dataclass import dataclass
from swapcli.core.model.units import WAD
from swapcli.families.balancer.balancer_pool import FieldTable, FurtherField, texts
from swapcli.families.balancer.balancer_v3 import BalancerV3
from swapcli.families.balancer.weighted import MAX_IN_RATIO, WeightedCurve, power_up, read_weights
from swapcli.families.rounding import mul_div_up
from swapcli.families.token_positions import token_indices


@dataclass(frozen=True, slots=True)
class BalancerV3Weighted(BalancerV3):
    """A Balancer V3 weighted pool.

    `weights` are fractions scaled by 10^18 that add up to one. `floors` are the lowest live balances allowed, empty in
    version 1.
    """

    weights: tuple[int, ...]
    floors: tuple[int, ...]

    family: ClassVar[str] = "balancer_v3_weighted"
    further_fields: ClassVar[FieldTable] = (
        FurtherField("weights", read_weights, texts),
        FurtherField("floors", lambda fields, n: fields.uints("floors", n, 128) if fields.has("floors") else (), texts),
    )
    swap_gas: ClassVar[int] = 134_700
    further_token_gas: ClassVar[int] = 12_000

    def scaled_amount_out(self, balances: Sequence[int], i: int, j: int, amount_in: int) -> int:
        """Return the output of `computeOutGivenExactIn`."""
        x, y = balances[i], balances[j]
        if self.floors:
            x += 1
        if amount_in > x * MAX_IN_RATIO // WAD:
            raise SwapReverts(f"pool {self.key} takes at most 30% of its balance in one swap")
        left = power_up(mul_div_up(x, WAD, x + amount_in), self.weights[i] * WAD // self.weights[j])
        bought = y * max(WAD - left, 0) // WAD
        if self.floors and (x < self.floors[i] or y - bought < self.floors[j]):
            raise SwapReverts(f"pool {self.key}: a balance would be below the pool's floor")
        return bought

    def curve(self, token_in: str, token_out: str) -> WeightedCurve:
        """Return the floating-point curve for selling `token_in` for `token_out`, in base units: the rates cancel
        out."""
        i, j = token_indices(self, token_in, token_out)
        x, y = self.reserves[i], self.reserves[j]
        max_in = x * MAX_IN_RATIO // (WAD - self.swap_fee)
        return WeightedCurve(x, y, self.weights[i] / self.weights[j], 1.0 - self.swap_fee / WAD, max_in)
