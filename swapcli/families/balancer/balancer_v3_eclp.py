"""Gyroscope's E-CLPs of Balancer V3: the maths of `eclp_math` behind the Vault of `balancer_v3`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from swapcli.core.model.pool import PoolIdentity
from swapcli.families.balancer.balancer_v3 import BalancerV3, read_vault_v3_state
from swapcli.families.balancer.eclp_math import EclpParameters
from swapcli.families.balancer.eclp_pool import EclpPool
from swapcli.families.identity_checks import check_multi_token, check_pair
from swapcli.families.state_fields import StateFields


@dataclass(frozen=True, slots=True)
class BalancerV3Eclp(EclpPool, BalancerV3):
    """An E-CLP of the Vault."""

    parameters: EclpParameters

    family: ClassVar[str] = "balancer_v3_eclp"
    swap_gas: ClassVar[int] = 196_000

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read the Vault's fields and the parameters; see `EclpParameters`."""
        check_multi_token(identity)
        check_pair(identity)
        fields = StateFields(state)
        shared, limits = read_vault_v3_state(identity, fields)
        return cls(*shared, *limits, EclpParameters.from_fields(fields))
