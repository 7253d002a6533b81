"""Choose the router dialect for a network, and find which pools its router can execute."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from swapcli.core.encoding.text import single_line
from swapcli.core.errors import InvalidOption, SwapcliError
from swapcli.core.model.market import MarketState
from swapcli.core.model.network import (
    DIALECTS,
    FIBROUS,
    INTERFACE_DIALECTS,
    OWN,
    SETTLER,
    UNIVERSAL_ROUTER,
    Kind,
    Network,
    ProtocolInfo,
    dialect_package,
)
from swapcli.core.model.router_execution import Execution
from swapcli.core.plugins import DIALECT_GROUP, load_plugin, skipped_plugin

if TYPE_CHECKING:
    from swapcli.core.model.router_dialect import InterfaceDialect, RouterDialect


_DIALECTS: Final[Mapping[Kind, Mapping[str, str]]] = {
    Kind.EVM: {
        FIBROUS: "evm.dialects.fibrous:FibrousDialect",
        OWN: "evm.dialects.fibrous:FibrousDialect",
        UNIVERSAL_ROUTER: "evm.dialects.universal_router:UniversalRouterDialect",
        SETTLER: "evm.dialects.settler:SettlerDialect",
    },
    Kind.STARKNET: {FIBROUS: "starknet.dialect:StarknetDialect"},
}
"""The class of each dialect for a kind of network; only that of the network's router is loaded.

An installed package may add a dialect: a class like these, instantiated for one network.
"""


def router_dialect(network: Network) -> RouterDialect:
    """Return the dialect of a network's router. Only the modules, or the package, of that dialect are imported.

    Raises `InvalidOption` if there are no routers of the dialect on that network.
    """
    name = network.router_dialect
    if name not in INTERFACE_DIALECTS and name in _DIALECTS[network.kind]:
        dialect: RouterDialect = _load(network)
        return dialect
    of_package = None if name in DIALECTS else load_plugin(DIALECT_GROUP, name, _check_class)
    return interface_dialect(network) if of_package is None else _made(of_package, network)


def _check_class(value: object) -> Callable[[Network], RouterDialect]:
    """Return the class of a package's dialect. Raises `TypeError` if it lacks a method."""
    from swapcli.core.model.router_dialect import RouterDialect

    methods = [name for name, member in vars(RouterDialect).items() if name[0] != "_" and callable(member)]
    missing = [name for name in methods if not hasattr(value, name)]
    if not callable(value) or missing:
        raise TypeError(f"it is not a router dialect class: it has no {', '.join(missing) or 'constructor'}")
    return value


def _made(of_package: Callable[[Network], RouterDialect], network: Network) -> RouterDialect:
    """Return a package's dialect for a network.

    Raises the errors of the package, and `InvalidOption` for results that swapcli never allows.
    """
    from swapcli.core.model.router_dialect import RouterDialect

    name, problem = network.router_dialect, ""
    try:
        made = of_package(network)
        missing = [each for each in vars(RouterDialect) if each[0] != "_" and not hasattr(made, each)]
        problem = f"it has no {', '.join(missing)}" if missing else "" if made.name == name else "its name is different"
    except SwapcliError:
        raise
    except Exception as error:
        problem = f"{type(error).__name__}: {single_line(str(error))}"
    if problem:
        raise InvalidOption(
            f"the router dialect {name} of the package {dialect_package(name)} cannot be used: {problem}",
            details={"dialect": name},
        )
    return made


def interface_dialect(network: Network) -> InterfaceDialect:
    """Return the dialect of a network whose router the Fibrous API describes.

    Raises `InvalidOption` for other routers.
    """
    dialects = [each for each in INTERFACE_DIALECTS if each in _DIALECTS[network.kind]]
    if network.router_dialect not in dialects:
        raise InvalidOption(
            f"the router dialect {network.router_dialect} cannot be used: {network.name} needs "
            + " or ".join(dialects),
            hint=skipped_plugin(DIALECT_GROUP, network.router_dialect) or f"use the router dialect {FIBROUS}",
            details={"dialect": network.router_dialect},
        )
    dialect: InterfaceDialect = _load(network)
    return dialect


def _load(network: Network) -> Any:
    """Return the dialect of a network's router, using the class that `_DIALECTS` names."""
    module, _, name = _DIALECTS[network.kind][network.router_dialect].partition(":")
    try:
        return getattr(import_module(f"{__package__}.{module}"), name)(network)
    except InvalidOption as error:
        from swapcli.payload.router_trust import other_dialect_hint

        error.hint = other_dialect_hint(network, network.router_dialect)
        raise


def execution_of(network: Network) -> Execution:
    """Return how the network's router executes a route."""
    if network.router_dialect in INTERFACE_DIALECTS:
        return Execution(rate_variant=network.router_variant.rate)
    return router_dialect(network).execution


def executable_market(market: MarketState) -> MarketState:
    """Return the market with the pools that the network's router can execute, in the form in which it executes them.

    It is the same market if the router executes all pools.
    """
    if _executes_all(market.network):
        return market
    return update_executable(market._replace(pools={}), market, market.pools.keys())


def update_executable(executable: MarketState, market: MarketState, changed: Set[str]) -> MarketState:
    """Return `executable_market` of `market`, based on `executable`, its result for an earlier market. Only the
    `changed` pools may differ."""
    if _executes_all(market.network):
        return market
    dialect = router_dialect(market.network)
    pools = {}
    for key, pool in market.pools.items():
        known = dialect.executable_pool(pool) if key in changed else executable.pools.get(key)
        if known is not None:
            pools[key] = known
    return market._replace(pools=pools)


def check_executable(keys: Iterable[str], market: MarketState) -> None:
    """Raise `InvalidRoute` if the network's router cannot execute a pool with one of the `keys`.

    Pools that are missing from the market are left for the replay to check.
    """
    if _executes_all(market.network):
        return
    dialect = router_dialect(market.network)
    for key in keys:
        pool = market.pools.get(key)
        if pool is not None and dialect.executable_pool(pool) is None:
            from swapcli.core.model.router_dialect import not_executable

            raise not_executable(dialect, pool)


def _executes_all(network: Network) -> bool:
    """Return whether the network's router executes every pool: the public router does, by protocol ID."""
    return network.router_dialect == FIBROUS


def executing_dialects(protocol: ProtocolInfo, network: Network) -> tuple[str, ...]:
    """Return the names of the router dialects that execute pools of a protocol, as far as their routers are known.

    The public router executes the protocols that the Fibrous API lists, but no family from a package. A router may
    still omit single pools: see `RouterDialect.executable_pool`.
    """
    from swapcli.families import is_built_in
    from swapcli.payload.router_trust import known_dialects

    if protocol.family is None:
        return ()
    found = []
    if not protocol.is_extended and is_built_in(protocol.family) and FIBROUS in known_dialects(network):
        found.append(FIBROUS)
    if OWN in _DIALECTS[network.kind] and _has_own_call(protocol):
        found.append(OWN)
    found += [
        name for name, router in network.routers.items() if protocol.is_wrapper or protocol.amm_name in router.protocols
    ]
    if network.router_dialect not in DIALECTS:  # from a package; only its payloads show which pools it omits
        found.append(network.router_dialect)
    known = dict.fromkeys((*_DIALECTS[network.kind], *network.routers, network.router_dialect))
    return tuple(name for name in known if name in found)


def _has_own_call(protocol: ProtocolInfo) -> bool:
    """Return whether this project's router contract has a call for the protocol's pools."""
    from swapcli.payload.evm.router import pool_kind

    return pool_kind(protocol) is not None


def has_dialects(network: Network) -> bool:
    """Return whether there are several router dialects for networks of the same kind."""
    return len(_DIALECTS[network.kind]) > 1


def has_variants(network: Network) -> bool:
    """Return whether the network's payloads are for the public router, whose variant is not published."""
    return not network.kind.traits.has_felts and network.router_dialect == FIBROUS


def known_contracts(network: Network) -> set[str]:
    """Return the known routers and spenders of all dialects on a network."""
    routers = [network.dialect_router, *network.routers.values()]
    return {address for each in routers for address in (each.address, each.spender) if address}
