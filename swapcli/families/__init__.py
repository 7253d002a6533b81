"""Pool families: the maths of each behind `swapcli.core.model.pool.Pool`, its readers, and its row.

To add a family, add a line here for it and one for its kind of contract; `make family` does. Families, readers and rows
are imported when their first pool needs them. What several folders share stands beside them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

from swapcli.core.model.pool import Pool

if TYPE_CHECKING:
    from swapcli.families.row import FamilyRow, KindRow

PUBLIC = (
    "ekubo", "order_books", "protocol_fees", "reading", "row", "sampled", "solidly", "state_fields",
    "tick_math", "uniswap", "wrap",
)  # fmt: skip

_CLASSES: dict[str, tuple[str, str]] = {
    "constant_product": ("uniswap", "ConstantProduct"),
    "concentrated": ("uniswap", "Concentrated"),
    "uniswap_v4_hooked": ("uniswap", "UniswapV4Hooked"),
    "solidly_stable": ("solidly", "SolidlyStable"),
    "stableswap": ("curve", "StableSwap"),
    "curve_meta": ("curve", "CurveMeta"),
    "cryptoswap": ("curve", "CryptoSwap"),
    "weighted": ("balancer", "Weighted"),
    "balancer_v2_stable": ("balancer", "BalancerV2Stable"),
    "balancer_v2_composable": ("balancer", "BalancerV2Composable"),
    "balancer_v2_eclp": ("balancer", "BalancerV2Eclp"),
    "balancer_v3_weighted": ("balancer", "BalancerV3Weighted"),
    "balancer_v3_stable": ("balancer", "BalancerV3Stable"),
    "balancer_v3_stable_surge": ("balancer", "BalancerV3StableSurge"),
    "balancer_v3_boosted": ("balancer", "BalancerV3Boosted"),
    "balancer_v3_eclp": ("balancer", "BalancerV3Eclp"),
    "balancer_v3_2clp": ("balancer", "BalancerV3TwoClp"),
    "balancer_v3_reclamm": ("balancer", "BalancerV3Reclamm"),
    "balancer_v3_lbp": ("balancer", "BalancerV3Lbp"),
    "balancer_v3_fixed_lbp": ("balancer", "BalancerV3FixedLbp"),
    "balancer_v3_quantamm": ("balancer", "BalancerV3QuantAmm"),
    "infinity_bin": ("bins", "InfinityBin"),
    "liquidity_book": ("bins", "LiquidityBook"),
    "clober_v2": ("order_books", "CloberV2"),
    "hanji": ("order_books", "Hanji"),
    "kuru": ("order_books", "Kuru"),
    "fluid_t1": ("fluid", "FluidT1"),
    "dodo_v2": ("dodo", "DodoV2"),
    "iziswap": ("iziswap", "IziSwap"),
    "smardex": ("smardex", "SmarDex"),
    "ekubo": ("ekubo", "Ekubo"),
    "ekubo_evm": ("ekubo", "EkuboEvm"),
    "ekubo_twamm": ("ekubo", "EkuboTwamm"),
    "maverick_v2": ("maverick", "MaverickV2"),
    "psm": ("fixed_rate", "PegStabilityModule"),
    "vault": ("fixed_rate", "ShareVault"),
    "bridge": ("fixed_rate", "StablecoinBridge"),
    "wrapper": ("fixed_rate", "WrappedNative"),
    "gmx_vault": ("gmx", "GmxVault"),
    "valantis_stex": ("valantis", "ValantisStex"),
    "ring_pair": ("uniswap", "RingPair"),
    "euler_swap": ("euler", "EulerSwap"),
    "lunarbase": ("oracle_priced", "Lunarbase"),
    "lfj_poe": ("oracle_priced", "LfjPoe"),
    "mento_fpmm": ("oracle_priced", "MentoFpmm"),
    "sampled": ("sampled", "Sampled"),
}

_FOLDERS_OF_KINDS: dict[str, str] = {
    "uniswap_v2": "uniswap",
    "solidly": "solidly",
    "solidly_v1": "solidly",
    "uniswap_v3": "uniswap",
    "solidly_v3": "uniswap",
    "ramses_v3": "uniswap",
    "algebra_integral": "uniswap",
    "uniswap_v4": "uniswap",
    "stableswap": "curve",
    "cryptoswap": "curve",
    "jediswap": "uniswap",
    "10kswap": "uniswap",
    "sithswap": "solidly",
    "starkdefi": "solidly",
    "nostra": "uniswap",
    "jediswap_cl": "uniswap",
    "ekubo": "ekubo",
    "ekubo_evm": "ekubo",
    "infinity_cl": "uniswap",
    "infinity_bin": "bins",
    "balancer_v2": "balancer",
    "balancer_v3": "balancer",
    "fluid_t1": "fluid",
    "psm": "fixed_rate",
    "vault": "fixed_rate",
    "bridge": "fixed_rate",
    "token_migration": "fixed_rate",
    "liquidity_book": "bins",
    "clober_v2": "order_books",
    "kuru": "order_books",
    "dodo_v2": "dodo",
    "iziswap": "iziswap",
    "maverick_v2": "maverick",
    "smardex": "smardex",
    "gmx_vault": "gmx",
    "euler_swap": "euler",
    "hanji": "order_books",
    "valantis_stex": "valantis",
    "ring_pair": "uniswap",
    "lunarbase": "oracle_priced",
    "lfj_poe": "oracle_priced",
    "mento_fpmm": "oracle_priced",
    "sampled": "sampled",
}

FAMILIES: tuple[str, ...] = tuple(_CLASSES)
"""Names as in the `family` field of market files."""
KIND_NAMES: tuple[str, ...] = tuple(_FOLDERS_OF_KINDS)
"""The kinds of contracts that pools belong to, by how they are read: names as in definitions and stores."""


def family(name: str) -> type[Pool]:
    """Return the class of the family `name`. Raises `KeyError` for an unknown one."""
    folder, class_name = _CLASSES[name]
    return cast(type[Pool], getattr(import_module(f"{__name__}.{folder}.{name}"), class_name))


def family_row(name: str) -> FamilyRow:
    """Return the row of the family `name`. Raises `KeyError` for an unknown one."""
    return cast("FamilyRow", _row("FAMILIES", _CLASSES[name][0], name))


def kind_row(name: str) -> KindRow:
    """Return the row of the kind `name`. Raises `KeyError` for an unknown one."""
    return cast("KindRow", _row("KINDS", _FOLDERS_OF_KINDS[name], name))


def reader_name(kind: str) -> str:
    """Return the name of the module that reads the pools of a kind. Raises `KeyError` for an unknown one."""
    return f"{__name__}.{_FOLDERS_OF_KINDS[kind]}.{kind_row(kind).reader or kind}_reader"


def _row(table: str, folder: str, name: str) -> object:
    rows: dict[str, object] = getattr(import_module(f"{__name__}.{folder}.rows"), table)
    if name not in rows:
        raise LookupError(f"{name} has no row: add it to {table} in swapcli/families/{folder}/rows.py")
    return rows[name]
