"""Pool families. Each has its maths behind `swapcli.core.model.pool.Pool`, its readers, and its row of data.

To add a family, add one line here for it and one for its kind of contract; `make family` does both. Families, readers
and rows are imported when their first pool needs them. Code that several families share is in this folder itself.

An installed package may add families, each in a Python package structured like a folder here. `core.plugins` finds it
by name if the program allows installed packages.
"""

from __future__ import annotations

from swapcli.core.annotations import TYPE_CHECKING, Any, cast
from swapcli.core.errors import UnknownFamily
from swapcli.core.model.pool import Pool
from swapcli.core.plugins import FAMILY_GROUP, load_plugin, plugins, skipped_plugin
from swapcli.core.records import NamedTuple
from swapcli.core.validation.argument_types import checks_arguments

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
"""The built-in families, by the name in the `family` field of market files."""
KIND_NAMES: tuple[str, ...] = tuple(_FOLDERS_OF_KINDS)
"""The built-in kinds of pool contracts, which differ in how they are read.

The names are those in definitions and stores.
"""


class _PluginFamily(NamedTuple):
    """A family from another package: its class, and the Python package with `rows` and the readers."""

    pool_class: type[Pool]
    package: str


_USED: set[str] = set()
"""The families from other packages that have been used so far."""
_PACKAGES_OF_KINDS: dict[str, str] = {}
"""The Python packages of these families' kinds."""


def is_family(name: str) -> bool:
    """Return whether a family is built in or comes from an installed package."""
    return name in _CLASSES or _plugin_family(name) is not None


def is_built_in(name: str) -> bool:
    """Return whether a family is part of swapcli, rather than of an installed package."""
    return name in _CLASSES


def is_kind(name: str) -> bool:
    """Return whether a kind of contract is built in, belongs to a family that has been used, or has the name of a
    family."""
    return name in _FOLDERS_OF_KINDS or name in _PACKAGES_OF_KINDS or (is_family(name) and name in _PACKAGES_OF_KINDS)


def family_names() -> tuple[str, ...]:
    """Return the names of all families, without importing them. Families of installed packages come last."""
    return (*FAMILIES, *plugins(FAMILY_GROUP))


def families_in_use() -> tuple[str, ...]:
    """Return the families that pools in this process can have: the built-in families, and the families from packages
    used so far."""
    return (*FAMILIES, *_USED)


def kind_names() -> tuple[str, ...]:
    """Return the names of all kinds of contracts: the built-in kinds, and the kinds from packages used so far."""
    return (*KIND_NAMES, *_PACKAGES_OF_KINDS)


@checks_arguments
def family(name: str) -> type[Pool]:
    """Return the pool class of the family `name`. Raises `UnknownFamily`, a `KeyError`."""
    if name not in _CLASSES:
        return _require_plugin(name).pool_class
    folder, class_name = _CLASSES[name]
    return cast(type[Pool], _import(f"{__name__}.{folder}.{name}", class_name))


def family_row(name: str) -> FamilyRow:
    """Return the `FamilyRow` of the family `name`. Raises `UnknownFamily`, a `KeyError`."""
    built_in = _CLASSES.get(name)
    package = f"{__name__}.{built_in[0]}" if built_in else _require_plugin(name).package
    return cast("FamilyRow", _row("FAMILIES", package, name))


def kind_row(name: str) -> KindRow:
    """Return the `KindRow` of the kind `name`. Raises `KeyError` for an unknown kind."""
    return cast("KindRow", _row("KINDS", _package_of_kind(name), name))


def reader_name(kind: str) -> str:
    """Return the name of the module that reads the pools of a kind. Raises `KeyError` for an unknown kind."""
    return f"{_package_of_kind(kind)}.{kind_row(kind).reader or kind}_reader"


def _package_of_kind(kind: str) -> str:
    folder = _FOLDERS_OF_KINDS.get(kind)
    if folder is None and is_kind(kind):
        return _PACKAGES_OF_KINDS[kind]
    return f"{__name__}.{_FOLDERS_OF_KINDS[kind]}"


def _import(module: str, name: str) -> Any:
    # This does not use `importlib`, which also loads `warnings`.
    return getattr(__import__(module, fromlist=(name,)), name)


def _row(table: str, package: str, name: str) -> object:
    rows: dict[str, object] = _import(f"{package}.rows", table)
    if name not in rows:
        raise LookupError(f"{name} has no row: add it to {table} in {package.replace('.', '/')}/rows.py")
    return rows[name]


def _require_plugin(name: str) -> _PluginFamily:
    found = _plugin_family(name)
    if found is None:
        from swapcli.core.encoding.closest import closest_names, did_you_mean

        hint = skipped_plugin(FAMILY_GROUP, name) or did_you_mean(closest_names(name, family_names()))
        raise UnknownFamily(f'no pool family "{name}"', hint=hint or None)
    return found


def _plugin_family(name: str) -> _PluginFamily | None:
    """Return a family from an installed package, structured like a folder here, or None if there is none."""

    def check(value: object) -> _PluginFamily:
        from swapcli.families.row import FamilyRow, KindRow

        if not isinstance(value, type) or not issubclass(value, Pool) or value is Pool:
            raise TypeError("it is not a class derived from swapcli.Pool")
        missing = sorted(getattr(value, "__abstractmethods__", ()))
        if missing:
            raise TypeError(f"its class has no {', '.join(missing)}")
        if getattr(value, "family", None) != name:
            raise ValueError(f'the `family` of its class is not "{name}"')
        package = value.__module__.rpartition(".")[0]
        families, kinds = (_import(f"{package}.rows", table) for table in ("FAMILIES", "KINDS"))
        if not isinstance(families.get(name), FamilyRow):
            raise TypeError(f"FAMILIES of {package}.rows has no FamilyRow of that name")
        for kind, row in kinds.items():
            if not isinstance(row, KindRow):
                raise TypeError(f"{kind} in KINDS of {package}.rows is not a KindRow")
            if kind in _FOLDERS_OF_KINDS or _PACKAGES_OF_KINDS.get(kind, package) != package:
                raise ValueError(f"the contract kind {kind} already exists")
        _USED.add(name)
        _PACKAGES_OF_KINDS.update(dict.fromkeys(kinds, package))
        return _PluginFamily(value, package)

    return load_plugin(FAMILY_GROUP, name, check)
