"""One module per family of pool maths, behind `swapcli.core.model.pool.Pool`.

To add a family, add a line here. A family is imported when its first pool is read.
"""

from __future__ import annotations

from importlib import import_module
from typing import cast

from swapcli.core.model.pool import Pool

_CLASS_NAMES: dict[str, str] = {
    "constant_product": "ConstantProduct",
    "concentrated": "Concentrated",
    "solidly_stable": "SolidlyStable",
    "cryptoswap": "CryptoSwap",
    "curve_meta": "CurveMeta",
    "stableswap": "StableSwap",
    "weighted": "Weighted",
    "balancer_v2_composable": "BalancerV2Composable",
    "balancer_v2_eclp": "BalancerV2Eclp",
    "balancer_v2_stable": "BalancerV2Stable",
    "balancer_v3_2clp": "BalancerV3TwoClp",
    "balancer_v3_boosted": "BalancerV3Boosted",
    "balancer_v3_eclp": "BalancerV3Eclp",
    "balancer_v3_reclamm": "BalancerV3Reclamm",
    "balancer_v3_stable": "BalancerV3Stable",
    "balancer_v3_stable_surge": "BalancerV3StableSurge",
    "balancer_v3_weighted": "BalancerV3Weighted",
    "ekubo": "Ekubo",
    "infinity_bin": "InfinityBin",
    "liquidity_book": "LiquidityBook",
    "fluid_t1": "FluidT1",
    "psm": "PegStabilityModule",
    "vault": "ShareVault",
    "bridge": "StablecoinBridge",
    "wrapper": "WrappedNative",
    "sampled": "Sampled",
}

FAMILIES: tuple[str, ...] = tuple(_CLASS_NAMES)
"""Names as in the `family` field of market files."""


def family(name: str) -> type[Pool]:
    """Return the class of the family `name`, from `core/pools/<name>.py`. Raises `KeyError` for an unknown one."""
    module = import_module(f"swapcli.core.pools.{name}") if name in _CLASS_NAMES else None
    return cast(type[Pool], getattr(module, _CLASS_NAMES[name]))
