"""Gyroscope's E-CLPs of Balancer V2: the maths of `eclp_math` on scaled balances, settled by the Vault."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from swapcli.core.model.pool import PoolIdentity
from swapcli.families.balancer.balancer_v2_vault import BalancerV2, read_vault_v2_state
from swapcli.families.balancer.eclp_math import EclpParameters
from swapcli.families.balancer.eclp_pool import EclpPool
from swapcli.families.identity_checks import check_multi_token, check_pair
from swapcli.families.state_fields import StateFields


@dataclass(frozen=True, slots=True)
class BalancerV2Eclp(EclpPool, BalancerV2):
    """An E-CLP of the Vault."""

    parameters: EclpParameters

    family: ClassVar[str] = "balancer_v2_eclp"
    swap_gas: ClassVar[int] = 149_000
    """That of weighted pools (`Weighted`), plus what an E-CLP of V3 takes more than a weighted pool of V3: 61,000."""

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read the fields of `read_vault_v2_state`, and the parameters."""
        check_multi_token(identity)
        check_pair(identity)
        fields = StateFields(state)
        shared, pool_id = read_vault_v2_state(identity, fields)
        return cls(*shared, pool_id, EclpParameters.from_fields(fields))
