"""References to pools: everything that must be known before a pool's state is read."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from swapcli.model.network import Network, ProtocolInfo
from swapcli.model.order import ZERO_ADDRESS
from swapcli.model.pool import Pool
from swapcli.networks.pool_addresses import is_solidly
from swapcli.pools.concentrated import Concentrated
from swapcli.pools.constant_product import ConstantProduct


class ContractKind(StrEnum):
    """Kinds of contracts, by how they are read."""

    UNISWAP_V2 = "uniswap_v2"
    SOLIDLY = "solidly"
    UNISWAP_V3 = "uniswap_v3"
    ALGEBRA = "algebra_integral"
    UNISWAP_V4 = "uniswap_v4"
    STABLESWAP = "stableswap"
    WEIGHTED = "weighted"


KINDS_BY_FAMILY: Final[Mapping[str, tuple[ContractKind, ...]]] = {
    "constant_product": (ContractKind.UNISWAP_V2, ContractKind.SOLIDLY),
    "solidly_stable": (ContractKind.SOLIDLY,),
    "concentrated": (ContractKind.UNISWAP_V3, ContractKind.ALGEBRA, ContractKind.UNISWAP_V4),
    "stableswap": (ContractKind.STABLESWAP,),
    "weighted": (ContractKind.WEIGHTED,),
}
"""The contract kinds of each pool family; a family that is not read from a node has none."""


class PoolRef(NamedTuple):
    """A pool to read. `address` is the contract to call: the manager for Uniswap V4. `tokens` are in its order.

    `fee_ppm` and `tick_spacing` are set only if they never change (Uniswap V2, V4; V3, V4); a Uniswap V4 pool whose fee
    is dynamic `has_dynamic_fee` instead. `hooks` is the hook of a Uniswap V4 pool. `factory` is a Solidly
    pool's factory or a Balancer pool's vault; if it is empty, reading takes one more round. `pool_id` is Uniswap V4's
    or Balancer's. `last_tick` is the tick of the last read, and `known_ticks` are the initialised ticks around it: if
    only amounts have changed since, one round is enough to read them.
    """

    address: str
    protocol: str
    family: str
    kind: ContractKind
    tokens: tuple[str, ...]
    decimals: tuple[int, ...]
    fee_ppm: int = 0
    tick_spacing: int = 0
    pool_id: str = ""
    native: bool = False
    factory: str = ""
    last_tick: int | None = None
    known_ticks: tuple[int, ...] = ()
    hooks: str = ZERO_ADDRESS
    has_dynamic_fee: bool = False

    @property
    def key(self) -> str:
        """As `Pool.key`."""
        return self.pool_id if self.kind is ContractKind.UNISWAP_V4 else self.address


def ref_of_pool(pool: Pool) -> PoolRef | None:
    """Return the reference of a known pool; None if it has no state to read."""
    kind = _kind_of_pool(pool)
    if kind is None:
        return None
    ref = PoolRef(pool.address, pool.protocol, pool.family, kind, pool.tokens, pool.decimals, pool.fee_ppm)
    if not isinstance(pool, Concentrated):
        return ref
    tick_list = pool.tick_list
    return ref._replace(
        fee_ppm=0 if tick_list.has_dynamic_fee else pool.fee_ppm,
        tick_spacing=tick_list.tick_spacing,
        pool_id=tick_list.pool_id or "",
        native=tick_list.is_native,
        last_tick=pool.tick,
        known_ticks=tuple(tick_list.ticks),
        hooks=tick_list.hooks,
        has_dynamic_fee=tick_list.has_dynamic_fee,
    )


def contract_kind(protocol: ProtocolInfo, network: Network) -> ContractKind | None:
    """Return the contract kind of a protocol's pools; None if they cannot be read.

    Protocols of concentrated pools differ in the extra data that the router needs.
    """
    if protocol.family == ConstantProduct.family:
        return ContractKind.SOLIDLY if is_solidly(network, protocol.amm_name) else ContractKind.UNISWAP_V2
    if protocol.family == Concentrated.family:
        if "poolId" in protocol.extra_keys:
            return ContractKind.UNISWAP_V4
        return ContractKind.UNISWAP_V3 if protocol.extra_keys else ContractKind.ALGEBRA
    return _only_kind(protocol.family)


def _kind_of_pool(pool: Pool) -> ContractKind | None:
    if isinstance(pool, ConstantProduct):
        return ContractKind.SOLIDLY if pool.is_solidly else ContractKind.UNISWAP_V2
    if isinstance(pool, Concentrated):
        if pool.tick_list.pool_id:
            return ContractKind.UNISWAP_V4
        return ContractKind.UNISWAP_V3 if pool.tick_list.word_ticks else ContractKind.ALGEBRA
    return _only_kind(pool.family)


def _only_kind(family: str | None) -> ContractKind | None:
    kinds = KINDS_BY_FAMILY.get(family or "", ())
    return kinds[0] if len(kinds) == 1 else None
