"""Gyroscope's E-CLPs of Balancer V2: the maths of `eclp_math` on scaled balances, settled by the Vault."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

from swapcli.model.pool import PoolIdentity, RateCurve
from swapcli.pools.balancer_v2 import BalancerV2, read_vault_v2_state
from swapcli.pools.eclp_curve import eclp_curve
from swapcli.pools.eclp_math import EclpParameters
from swapcli.pools.identity_checks import check_multi_token, check_pair
from swapcli.pools.state_fields import StateFields
from swapcli.pools.token_positions import token_indices
from swapcli.records import dataclass


@dataclass(frozen=True, slots=True)
class BalancerV2Eclp(BalancerV2):
    """`parameters` as `getECLPParams()` has them."""

    parameters: EclpParameters

    family: ClassVar[str] = "balancer_v2_eclp"
    swap_gas: ClassVar[int] = 149_000
    """That of weighted pools (`Weighted`), plus what an E-CLP of V3 takes more than a weighted pool of V3: 61,000."""
    can_be_one_sided: ClassVar[bool] = True

    def scaled_amount_out(self, balances: Sequence[int], i: int, j: int, amount_in: int) -> int:
        """Return the output on the ellipse."""
        del j
        return self.parameters.amount_out((balances[0], balances[1]), i, amount_in)

    def curve(self, token_in: str, token_out: str) -> RateCurve:
        """Return the direction in floats."""
        i, j = token_indices(self, token_in, token_out)
        x, y = self.scaled_balances()
        return eclp_curve(self.parameters, (x, y), i, self.base_units_per_scaled(i, j))

    def state(self) -> dict[str, object]:
        """Return `reserves`, `rates`, the parameters, and those of the other fields that are not their defaults."""
        return self.vault_state() | self.parameters.state()

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read the fields of `read_vault_v2_state`, and the parameters."""
        check_multi_token(identity)
        check_pair(identity)
        fields = StateFields(state)
        shared, pool_id = read_vault_v2_state(identity, fields)
        return cls(*shared, pool_id, EclpParameters.from_fields(fields))
