"""The choice of the router dialect for a network, and what follows from it for routes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from swapcli.core.errors import InvalidOption
from swapcli.core.model.market import MarketState
from swapcli.core.model.network import (
    FIBROUS,
    INTERFACE_DIALECTS,
    OWN,
    SETTLER,
    UNIVERSAL_ROUTER,
    Kind,
    Network,
    ProtocolInfo,
)
from swapcli.core.model.router_execution import Execution

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
"""The class of each dialect on a kind of network; only that of the network's router is loaded."""


def router_dialect(network: Network) -> RouterDialect:
    """Return the dialect of a network's router. Only the modules of that dialect are imported.

    Raises `InvalidOption` if there are no routers of the dialect on that network.
    """
    if network.router_dialect in INTERFACE_DIALECTS or network.router_dialect not in _DIALECTS[network.kind]:
        return interface_dialect(network)
    dialect: RouterDialect = _load(network)
    return dialect


def interface_dialect(network: Network) -> InterfaceDialect:
    """Return the dialect of a network whose router the interface describes. Raises `InvalidOption` for another one."""
    dialects = [each for each in INTERFACE_DIALECTS if each in _DIALECTS[network.kind]]
    if network.router_dialect not in dialects:
        raise InvalidOption(
            f"the router dialect {network.router_dialect} cannot be used here: {network.name} needs "
            + " or ".join(dialects),
            hint=f"use the router dialect {FIBROUS}",
            details={"dialect": network.router_dialect},
        )
    dialect: InterfaceDialect = _load(network)
    return dialect


def _load(network: Network) -> Any:
    """Return the dialect of a network's router, of the class that `_DIALECTS` names."""
    module, _, name = _DIALECTS[network.kind][network.router_dialect].partition(":")
    return getattr(import_module(f"{__package__}.{module}"), name)(network)


def execution_of(network: Network) -> Execution:
    """Return how the network's router executes a route."""
    if network.router_dialect in INTERFACE_DIALECTS:
        return Execution(rate_variant=network.router_variant.rate)
    return router_dialect(network).execution


def executable_market(market: MarketState) -> MarketState:
    """Return the market with the pools that the network's router can execute, as it executes them.

    It is the same market if the router executes all of them.
    """
    if _executes_all(market.network):
        return market
    return update_executable(market._replace(pools={}), market, market.pools.keys())


def update_executable(executable: MarketState, market: MarketState, changed: Set[str]) -> MarketState:
    """Return `executable_market` of a market from that of an earlier one, which differs in the pools `changed`."""
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
    """Raise `InvalidRoute` if the network's router cannot execute a pool with one of these keys.

    Pools that the market does not have are left to the replay.
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
    """Return whether the network's router executes every pool: the public router does, by protocol id."""
    return network.router_dialect == FIBROUS


def executing_dialects(protocol: ProtocolInfo, network: Network) -> tuple[str, ...]:
    """Return the names of the router dialects that execute pools of a protocol, as far as their routers are known.

    The public router executes what the interface lists. A router may still leave single pools out: see
    `RouterDialect.executable_pool`.
    """
    from swapcli.payload.router_trust import known_dialects

    if protocol.family is None:
        return ()
    found = []
    if not protocol.is_extended and FIBROUS in known_dialects(network):
        found.append(FIBROUS)
    if OWN in _DIALECTS[network.kind] and _has_own_call(protocol):
        found.append(OWN)
    found += [
        name for name, router in network.routers.items() if protocol.is_wrapper or protocol.amm_name in router.protocols
    ]
    return tuple(name for name in _DIALECTS[network.kind] if name in found)


def _has_own_call(protocol: ProtocolInfo) -> bool:
    """Return whether this project's router contract has a call of the protocol's pools."""
    from swapcli.payload.evm.router import pool_kind

    return pool_kind(protocol) is not None


def has_dialects(network: Network) -> bool:
    """Return whether networks of its kind have several router dialects."""
    return len(_DIALECTS[network.kind]) > 1


def has_variants(network: Network) -> bool:
    """Return whether payloads of the network are for the public router, whose variant is not published."""
    return not network.kind.traits.has_felts and network.router_dialect == FIBROUS


def known_contracts(network: Network) -> set[str]:
    """Return the routers and spenders of all dialects that are known on a network."""
    routers = [network.dialect_router, *network.routers.values()]
    return {address for each in routers for address in (each.address, each.spender) if address}
