"""Gyroscope's E-CLPs of Balancer V2: the maths of `eclp_math` on scaled balances, settled by the Vault."""

from __future__ import annotations

from swapcli.core.annotations import ClassVar
from swapcli.core.frozen_dataclass import dataclass
from swapcli.families.balancer.balancer_v2_vault import BalancerV2
from swapcli.families.balancer.eclp_math import EclpParameters
from swapcli.families.balancer.eclp_pool import EclpPool


@dataclass(frozen=True, slots=True)
class BalancerV2Eclp(EclpPool, BalancerV2):
    """An E-CLP of the Vault."""

    parameters: EclpParameters

    family: ClassVar[str] = "balancer_v2_eclp"
    swap_gas: ClassVar[int] = 149_000
    """That of weighted pools (`Weighted`), plus what an E-CLP of V3 takes more than a weighted pool of V3: 61,000."""
