"""Gyroscope's E-CLPs in Balancer V2: the maths of `eclp_math` on scaled balances, settled by the Vault."""

from __future__ import annotations

from swapcli.core.annotations import ClassVar
from swapcli.core.frozen_dataclass import dataclass
from swapcli.families.balancer.balancer_v2_vault import BalancerV2
from swapcli.families.balancer.eclp_math import EclpParameters
from swapcli.families.balancer.eclp_pool import EclpPool


@dataclass(frozen=True, slots=True)
class BalancerV2Eclp(EclpPool, BalancerV2):
    """An E-CLP in Balancer V2's Vault."""

    parameters: EclpParameters

    family: ClassVar[str] = "balancer_v2_eclp"
    swap_gas: ClassVar[int] = 149_000
    """The gas of weighted pools (`Weighted`), plus the 61,000 by which a V3 E-CLP exceeds a V3 weighted pool."""
