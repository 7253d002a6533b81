"""One module per family of pool maths, behind `swapcli.core.model.pool.Pool`, in a folder for each kind of contract.

To add a family, add a line here. A family is imported when its first pool is read. What several folders share stands
beside them.
"""

from __future__ import annotations

from importlib import import_module
from typing import cast

from swapcli.core.model.pool import Pool

PUBLIC = ("ekubo", "protocol_fees", "reading", "sampled", "solidly", "state_fields", "uniswap", "wrap")

_CLASSES: dict[str, tuple[str, str]] = {
    "constant_product": ("uniswap", "ConstantProduct"),
    "concentrated": ("uniswap", "Concentrated"),
    "uniswap_v4_hooked": ("uniswap", "UniswapV4Hooked"),
    "solidly_stable": ("solidly", "SolidlyStable"),
    "cryptoswap": ("curve", "CryptoSwap"),
    "curve_meta": ("curve", "CurveMeta"),
    "stableswap": ("curve", "StableSwap"),
    "weighted": ("balancer", "Weighted"),
    "balancer_v2_composable": ("balancer", "BalancerV2Composable"),
    "balancer_v2_eclp": ("balancer", "BalancerV2Eclp"),
    "balancer_v2_stable": ("balancer", "BalancerV2Stable"),
    "balancer_v3_2clp": ("balancer", "BalancerV3TwoClp"),
    "balancer_v3_boosted": ("balancer", "BalancerV3Boosted"),
    "balancer_v3_eclp": ("balancer", "BalancerV3Eclp"),
    "balancer_v3_lbp": ("balancer", "BalancerV3Lbp"),
    "balancer_v3_reclamm": ("balancer", "BalancerV3Reclamm"),
    "balancer_v3_stable": ("balancer", "BalancerV3Stable"),
    "balancer_v3_stable_surge": ("balancer", "BalancerV3StableSurge"),
    "balancer_v3_weighted": ("balancer", "BalancerV3Weighted"),
    "dodo_v2": ("dodo", "DodoV2"),
    "ekubo": ("ekubo", "Ekubo"),
    "ekubo_evm": ("ekubo", "EkuboEvm"),
    "ekubo_twamm": ("ekubo", "EkuboTwamm"),
    "infinity_bin": ("bins", "InfinityBin"),
    "iziswap": ("iziswap", "IziSwap"),
    "liquidity_book": ("bins", "LiquidityBook"),
    "fluid_t1": ("fluid", "FluidT1"),
    "clober_v2": ("order_books", "CloberV2"),
    "hanji": ("order_books", "Hanji"),
    "kuru": ("order_books", "Kuru"),
    "maverick_v2": ("maverick", "MaverickV2"),
    "smardex": ("smardex", "SmarDex"),
    "psm": ("fixed_rate", "PegStabilityModule"),
    "vault": ("fixed_rate", "ShareVault"),
    "bridge": ("fixed_rate", "StablecoinBridge"),
    "wrapper": ("fixed_rate", "WrappedNative"),
    "gmx_vault": ("gmx", "GmxVault"),
    "valantis_stex": ("valantis", "ValantisStex"),
    "ring_pair": ("uniswap", "RingPair"),
    "euler_swap": ("euler", "EulerSwap"),
    "sampled": ("sampled", "Sampled"),
}

FAMILIES: tuple[str, ...] = tuple(_CLASSES)
"""Names as in the `family` field of market files."""


def family(name: str) -> type[Pool]:
    """Return the class of the family `name`. Raises `KeyError` for an unknown one."""
    folder, class_name = _CLASSES[name]
    return cast(type[Pool], getattr(import_module(f"{__name__}.{folder}.{name}"), class_name))
