"""Gyroscope's E-CLPs in Balancer V3: the maths of `eclp_math` inside the Vault of `balancer_v3`."""

from __future__ import annotations

from swapcli.core.annotations import ClassVar
from swapcli.core.frozen_dataclass import dataclass
from swapcli.families.balancer.balancer_v3 import BalancerV3
from swapcli.families.balancer.eclp_math import EclpParameters
from swapcli.families.balancer.eclp_pool import EclpPool


@dataclass(frozen=True, slots=True)
class BalancerV3Eclp(EclpPool, BalancerV3):
    """An E-CLP in Balancer V3's Vault."""

    parameters: EclpParameters

    family: ClassVar[str] = "balancer_v3_eclp"
    swap_gas: ClassVar[int] = 196_000
