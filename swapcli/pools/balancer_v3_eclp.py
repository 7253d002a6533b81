"""Gyroscope's E-CLPs of Balancer V3: the maths of `eclp_math` behind the Vault of `balancer_v3`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

from swapcli.model.pool import PoolIdentity, RateCurve
from swapcli.pools.balancer_v3 import BalancerV3, read_vault_v3_state
from swapcli.pools.eclp_curve import eclp_curve
from swapcli.pools.eclp_math import EclpParameters
from swapcli.pools.identity_checks import check_multi_token, check_pair
from swapcli.pools.state_fields import StateFields
from swapcli.pools.token_positions import token_indices
from swapcli.records import dataclass


@dataclass(frozen=True, slots=True)
class BalancerV3Eclp(BalancerV3):
    """`parameters` as the pool's `getECLPParams()` returns them."""

    parameters: EclpParameters

    family: ClassVar[str] = "balancer_v3_eclp"
    swap_gas: ClassVar[int] = 196_000
    can_be_one_sided: ClassVar[bool] = True

    def scaled_amount_out(self, balances: Sequence[int], i: int, j: int, amount_in: int) -> int:
        """Return the output; see `BalancerPool.scaled_amount_out`."""
        del j
        return self.parameters.amount_out((balances[0], balances[1]), i, amount_in)

    def curve(self, token_in: str, token_out: str) -> RateCurve:
        """Return the direction in floats."""
        i, j = token_indices(self, token_in, token_out)
        balances = self.scaled_balances()
        return eclp_curve(self.parameters, (balances[0], balances[1]), i, self.base_units_per_scaled(i, j))

    def state(self) -> dict[str, object]:
        """Return the Vault's fields and the parameters."""
        return self.vault_state() | self.parameters.state()

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read the Vault's fields and the parameters; see `EclpParameters`."""
        check_multi_token(identity)
        check_pair(identity)
        fields = StateFields(state)
        shared, limits = read_vault_v3_state(identity, fields)
        return cls(*shared, *limits, EclpParameters.from_fields(fields))
