"""How routers call the pools of a family: the kind of call of this project's contract, and the pool's `extra_data`.

`swapcli.payload.evm.extra_data` describes the bytes of each family, and writes them in the forms that clients read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import Final

from swapcli.core.encoding.abi import encode_address, encode_int, encode_uint, invalid_field
from swapcli.core.model.network import ProtocolInfo
from swapcli.core.model.pool import Pool
from swapcli.core.records import NamedTuple

_FEE_BITS: Final = 24
_INT16_LIMIT: Final = 1 << 15


class PoolUse(NamedTuple):
    """A pool as one entry of the router's list uses it. `protocol` is the network's, None where it has none."""

    pool: Pool
    token_in: str
    token_out: str
    protocol: ProtocolInfo | None


class Fee(NamedTuple):
    """`is_tier` says that the fee identifies a concentrated pool."""

    ppm: int
    is_tier: bool = False


class TickSpacing(NamedTuple):
    """The tick spacing that identifies a concentrated pool."""

    spacing: int


class PoolKey(NamedTuple):
    """The key by which a pool manager finds a pool, as its ABI encodes it."""

    encoded: bytes


ExtraData = bytes | Fee | TickSpacing | PoolKey


class RouterPoolKind(IntEnum):
    """How this project's contract calls the pools of a protocol, in its table; it refuses those with the kind 0."""

    WRAPPER = 1
    PAIR = 2
    CONCENTRATED = 3
    SINGLETON = 4
    """Uniswap V4."""
    STABLESWAP = 5
    BALANCER_V2 = 6
    BALANCER_V3 = 7
    CURVE_CRYPTO = 8
    INFINITY = 9
    FLUID = 10
    VAULT = 11
    """ERC-4626."""
    PSM = 12
    LIQUIDITY_BOOK = 13
    BRIDGE = 14


def no_data(use: PoolUse) -> ExtraData:
    """Return nothing: the router needs no more than the pool's address, or cannot call it."""
    del use
    return b""


class RouterCall(NamedTuple):
    """How a router executes the pools of a family.

    `kind` is how this project's contract calls them, None if it cannot; `kinds_by_contract` are the kinds of those
    that are called in another way, by kind of contract. `extra_data` returns the data of one use.
    """

    kind: RouterPoolKind | None = None
    extra_data: Callable[[PoolUse], ExtraData] = no_data
    kinds_by_contract: Mapping[str, RouterPoolKind] = MappingProxyType({})

    def kind_of(self, contracts: Iterable[str]) -> RouterPoolKind | None:
        """Return how the contract calls the pools of a protocol with these contracts, None if it cannot."""
        kinds = (self.kinds_by_contract[each] for each in contracts if each in self.kinds_by_contract)
        return next(kinds, self.kind)


V4_AS_SINGLETON: Final[Mapping[str, RouterPoolKind]] = {"uniswap_v4": RouterPoolKind.SINGLETON}
"""Pools whose amounts are sampled, since hooks change them, are called like the others."""


def coin_indices(use: PoolUse) -> ExtraData:
    """Return the positions of the token sold and of the token bought, a byte each."""
    tokens = use.pool.tokens
    return bytes((tokens.index(use.token_in), tokens.index(use.token_out)))


def is_first_sold(use: PoolUse) -> ExtraData:
    """Return 1 if the first token is sold: one byte."""
    return bytes((use.token_in == use.pool.tokens[0],))


def fee_tier(use: PoolUse) -> ExtraData:
    """Return the fee that identifies a concentrated pool."""
    return fee_data(use.pool.fee_ppm)._replace(is_tier=True)


def v4_pool_key(use: PoolUse) -> ExtraData:
    """Return the key of a Uniswap V4 pool."""
    traits = use.pool.api_extra_data()
    return PoolKey(
        bytes.fromhex(
            encode_address(str(traits["token0"]), "token0")
            + encode_address(str(traits["token1"]), "token1")
            + encode_uint(int(traits["fee"]), _FEE_BITS, "fee")
            + encode_int(int(traits["tickSpacing"]), 24, "tickSpacing")
            + encode_address(str(traits["hooks"]), "hooks")
        )
    )


def infinity_pool_key(use: PoolUse) -> PoolKey:
    """Return the key of an Infinity pool, whose address is that of its pool manager."""
    traits = use.pool.api_extra_data()
    return PoolKey(
        bytes.fromhex(
            encode_address(str(traits["token0"]), "token0")
            + encode_address(str(traits["token1"]), "token1")
            + encode_address(str(traits["hooks"]), "hooks")
            + encode_address(use.pool.address, "poolManager")
            + encode_uint(int(traits["fee"]), _FEE_BITS, "fee")
            + encode_uint(int(str(traits["parameters"]), 16), 256, "parameters")
        )
    )


def fee_data(fee_ppm: int) -> Fee:
    """Return a fee as data. Raises `InvalidInput` if it does not fit its bits."""
    if fee_ppm < 0 or fee_ppm >> _FEE_BITS:
        raise invalid_field("fee", f"{fee_ppm} does not fit uint{_FEE_BITS}")
    return Fee(fee_ppm)


def tick_spacing_data(spacing: int) -> TickSpacing:
    """Return a tick spacing as data. Raises `InvalidInput` if it does not fit its bits."""
    if not -_INT16_LIMIT <= spacing < _INT16_LIMIT:
        raise invalid_field("tickSpacing", f"{spacing} does not fit int16")
    return TickSpacing(spacing)
