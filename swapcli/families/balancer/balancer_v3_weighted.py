"""Weighted pools of Balancer V3: the maths of `WeightedMath` on live balances, inside the Vault's `swap`.

They differ from V2's in rounding. Pools of the second version (2026) add a unit to the input's balance, and require
both balances to stay above a floor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from swapcli.core.errors import SwapReverts
from swapcli.core.model.pool import PoolIdentity
from swapcli.core.model.units import WAD
from swapcli.families.balancer.balancer_v3 import BalancerV3, read_vault_v3_state
from swapcli.families.balancer.weighted import MAX_IN_RATIO, WeightedCurve, power_up, read_weights
from swapcli.families.identity_checks import check_multi_token
from swapcli.families.rounding import mul_div_up
from swapcli.families.state_fields import StateFields
from swapcli.families.token_positions import token_indices


@dataclass(frozen=True, slots=True)
class BalancerV3Weighted(BalancerV3):
    """`weights` are 10^18 fractions that sum to one. `floors` are the least live balances; empty in version 1."""

    weights: tuple[int, ...]
    floors: tuple[int, ...]

    family: ClassVar[str] = "balancer_v3_weighted"
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
        """Return the direction in floats, in base units: the rates cancel."""
        i, j = token_indices(self, token_in, token_out)
        x, y = self.reserves[i], self.reserves[j]
        max_in = x * MAX_IN_RATIO // (WAD - self.swap_fee)
        return WeightedCurve(x, y, self.weights[i] / self.weights[j], 1.0 - self.swap_fee / WAD, max_in)

    def state(self) -> dict[str, object]:
        """Return the fields of the Vault, `weights` and, in version 2, `floors`."""
        state = self.vault_state() | {"weights": [str(weight) for weight in self.weights]}
        if self.floors:
            state["floors"] = [str(floor) for floor in self.floors]
        return state

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read the fields of the Vault, `weights`, each at least 1%, and `floors`, which version 1 has not."""
        check_multi_token(identity)
        fields = StateFields(state)
        count = len(identity.tokens)
        floors = fields.uints("floors", count, 128) if fields.has("floors") else ()
        shared, limits = read_vault_v3_state(identity, fields)
        return cls(*shared, *limits, read_weights(fields, count), floors)
