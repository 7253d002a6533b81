"""`extra_data`: what the router needs to know about a pool beyond its address, by family.

| family                                  | bytes                                  | why a router needs them          |
|-----------------------------------------|----------------------------------------|----------------------------------|
| wrapper                                 | none                                   |                                  |
| constant_product, solidly_stable        | fee in ppm, 2 or 3 bytes; none where   | a pair does not expose its fee   |
|                                         | the pair `computes_output`             |                                  |
| stableswap                              | coin sold, coin bought: 1 byte each    | `exchange(int128 i, ..`          |
| curve_meta                              | the same; 1 more byte, 1, where the    | `exchange_underlying`            |
|                                         | coins are those of the pool below      |                                  |
| cryptoswap                              | coin sold, coin bought: 1 byte each    | `exchange(uint256 i, ..`         |
| weighted, balancer_v2_*, balancer_v3_*  | none                                   | the pool knows its id            |
| balancer_v3_boosted                     | the shares that the pool holds of the  | the vault wraps and unwraps      |
|                                         | token sold, and of the one bought:     |                                  |
|                                         | 20 bytes each, 0 where it holds the    |                                  |
|                                         | token itself                           |                                  |
| concentrated, keyed by fee; iziswap     | fee in ppm, 2 or 3 bytes               | to check who calls it back       |
| concentrated, keyed by tick spacing     | tick spacing, int16                    | to check who calls it back       |
| concentrated, keyed by tokens (Algebra) | none                                   |                                  |
| concentrated, by pool id (Uniswap V4);  | abi.encode(PoolKey), 160 bytes         | the pool manager asks for it     |
| euler_swap                              |                                        |                                  |
| concentrated, PancakeSwap Infinity      | abi.encode(PoolKey), 192 bytes         | the pool manager asks for it     |
| infinity_bin                            | the same, and 1 byte, 1                | the bin manager's `swap` differs |
| fluid_t1                                | 1 if the first token is sold: 1 byte   | `swapIn(bool zeroForOne,..`      |
| liquidity_book                          | 1 if the first token is sold: 1 byte   | `swap(bool swapForY,..`          |
| vault (ERC-4626)                        | 1 if shares are sold: 1 byte           | `redeem`, else `deposit`         |
| bridge                                  | 1 if the first token is sold: 1 byte   | `burn` of it                     |
| psm, sampled                            | none                                   |                                  |
| the other families                      | none: the contract has no call of      |                                  |
|                                         | them; 0x Settler executes some         |                                  |

Numbers are big-endian; a fee takes the shortest of two or three bytes (0x0064 for 100). `ProtocolInfo.extra_keys`
says what a protocol's pools are keyed by. A PoolKey is (address currency0, address currency1, uint24 fee, int24
tickSpacing, address hooks), Infinity's (address currency0, address currency1, address hooks, address poolManager,
uint24 fee, bytes32 parameters); the native currency is the zero address: the list says wrapped, the router converts.

Only two samples are published: 0x0064 for a PancakeSwap V3 pool of fee 100 and for a Slipstream pool of tick spacing
100. The other rows are ours. Balancer's pools expose their vault themselves; a bridge's first token is the coin that
it mints.

That table is the form "two_bytes". Clients of the public router disagree on it, so there are other forms, which change
it as follows. The PoolKey, and nothing for a wrapper, are the same in all of them.

| form              | change                                                                                     |
|-------------------|--------------------------------------------------------------------------------------------|
| three_bytes       | every fee and tick spacing in 3 bytes                                                      |
| two_bytes_or_word | 32 zero bytes in place of none                                                             |
| word              | fee or tick spacing of a concentrated pool in 32 bytes, else 32 zero bytes                 |
| empty             | none                                                                                       |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import Final

from swapcli.core.encoding.abi import WORD, encode_address, encode_int, encode_uint, invalid_field
from swapcli.core.model.contract_kind import ContractKind
from swapcli.core.model.network import ProtocolInfo
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool
from swapcli.core.model.router_variant import ExtraDataForm
from swapcli.core.records import NamedTuple

_FEE_BITS: Final = 24
_FEE_BYTES: Final = 3
_INT16_LIMIT: Final = 1 << 15


class PoolUse(NamedTuple):
    """A pool as one entry of the router's list uses it. `protocol` is the network's, None where it has none."""

    pool: Pool
    token_in: str
    token_out: str
    protocol: ProtocolInfo | None


class _Fee(NamedTuple):
    """`is_tier` says that the fee identifies a concentrated pool."""

    ppm: int
    is_tier: bool = False


class _TickSpacing(NamedTuple):
    spacing: int


class _PoolKey(NamedTuple):
    encoded: bytes


_Data = bytes | _Fee | _TickSpacing | _PoolKey


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


class RouterFamily(NamedTuple):
    """How a router executes the pools of a family.

    `kind` is how this project's contract calls them, None if it cannot; `kinds_by_contract` are the kinds of those
    whose contracts are called in another way, by `ContractKind`. `extra_data` returns the data of one use.
    """

    kind: RouterPoolKind | None
    extra_data: Callable[[PoolUse], _Data]
    kinds_by_contract: Mapping[str, RouterPoolKind] = MappingProxyType({})

    def kind_of(self, contracts: Iterable[str]) -> RouterPoolKind | None:
        """Return how the contract calls the pools of a protocol with these contracts, None if it cannot."""
        kinds = (self.kinds_by_contract[each] for each in contracts if each in self.kinds_by_contract)
        return next(kinds, self.kind)


def encode_extra_data(use: PoolUse, form: ExtraDataForm = ExtraDataForm.TWO_BYTES) -> bytes:
    """Return the bytes by the tables above. Raises `InvalidInput` for a fee or spacing that does not fit its bytes."""
    data = BY_FAMILY[use.pool.family].extra_data(use)
    if isinstance(data, _PoolKey):
        return data.encoded
    if use.pool.is_wrapper:
        return b""
    match form:
        case ExtraDataForm.EMPTY:
            return b""
        case ExtraDataForm.WORD:
            return _word(data)
        case ExtraDataForm.THREE_BYTES:
            return _number(data, _FEE_BYTES)
        case ExtraDataForm.TWO_BYTES_OR_WORD:
            return _number(data) or bytes(WORD)
        case ExtraDataForm.TWO_BYTES:
            return _number(data)


def find_pool_key(use: PoolUse) -> bytes:
    """Return the key by which a pool manager finds a pool, in each form; empty for pools that are contracts."""
    if "hooks" not in use.pool.api_extra_data():  # which every key has
        return b""
    data = BY_FAMILY[use.pool.family].extra_data(use)
    return data.encoded if isinstance(data, _PoolKey) else b""


def _word(data: bytes | _Fee | _TickSpacing) -> bytes:
    """Return what the route of the interface has of the pool, as a word: a fee tier, a tick spacing, or zero."""
    is_tier = isinstance(data, _TickSpacing) or (isinstance(data, _Fee) and data.is_tier)
    return _number(data, WORD) if is_tier else bytes(WORD)


def _number(data: bytes | _Fee | _TickSpacing, length: int | None = None) -> bytes:
    """Return a number in `length` bytes, by default the shortest of the form "two_bytes"; other data as it is."""
    if isinstance(data, bytes):
        return data
    if isinstance(data, _TickSpacing):
        return data.spacing.to_bytes(length or 2, signed=True)
    return data.ppm.to_bytes(length or (_FEE_BYTES if data.ppm >> 16 else 2))


def _nothing(use: PoolUse) -> _Data:
    del use
    return b""


def _pair(use: PoolUse) -> _Data:
    return b"" if use.pool.computes_output else _fee(use.pool.fee_ppm)


def _coin_indices(use: PoolUse) -> _Data:
    tokens = use.pool.tokens
    return bytes((tokens.index(use.token_in), tokens.index(use.token_out)))


def _meta_coins(use: PoolUse) -> _Data:
    """Return the indices of `exchange`, or those of `exchange_underlying`, which leaves out the liquidity token."""
    i, j = (use.pool.tokens.index(token) for token in (use.token_in, use.token_out))
    return bytes((i, j)) if max(i, j) < 2 else bytes((max(i - 1, 0), max(j - 1, 0), 1))


def _concentrated(use: PoolUse) -> _Data:
    """A protocol that the network knows only by its id is treated as a fork of Uniswap V3."""
    traits = use.pool.api_extra_data()
    if "poolId" in traits:
        return _PoolKey(_infinity_key(use, traits) if "parameters" in traits else _v4_key(traits))
    keys = use.protocol.extra_keys if use.protocol and use.protocol.family else ("fee",)
    if "fee" in keys:
        return _fee(int(traits["fee"]))._replace(is_tier=True)
    return _tick_spacing(int(traits["tickSpacing"])) if "tickSpacing" in keys else b""


def _fee_tier(use: PoolUse) -> _Data:
    return _fee(use.pool.fee_ppm)._replace(is_tier=True)


def _sampled(use: PoolUse) -> _Data:
    """Return the key of a Uniswap V4 pool, nothing for others: what the public router wants is not published."""
    traits = use.pool.api_extra_data()
    return _PoolKey(_v4_key(traits)) if "hooks" in traits else b""


def _own_hook(use: PoolUse) -> _Data:
    """Return the key of the Uniswap V4 pool whose hook the pool is."""
    return _PoolKey(_v4_key(use.pool.api_extra_data()))


def _fee(fee_ppm: int) -> _Fee:
    if fee_ppm < 0 or fee_ppm >> _FEE_BITS:
        raise invalid_field("fee", f"{fee_ppm} does not fit uint{_FEE_BITS}")
    return _Fee(fee_ppm)


def _tick_spacing(spacing: int) -> _TickSpacing:
    if not -_INT16_LIMIT <= spacing < _INT16_LIMIT:
        raise invalid_field("tickSpacing", f"{spacing} does not fit int16")
    return _TickSpacing(spacing)


def _v4_key(traits: Mapping[str, int | str]) -> bytes:
    return bytes.fromhex(
        encode_address(str(traits["token0"]), "token0")
        + encode_address(str(traits["token1"]), "token1")
        + encode_uint(int(traits["fee"]), _FEE_BITS, "fee")
        + encode_int(int(traits["tickSpacing"]), 24, "tickSpacing")
        + encode_address(str(traits["hooks"]), "hooks")
    )


def _infinity_key(use: PoolUse, traits: Mapping[str, int | str]) -> bytes:
    """Return the key of an Infinity pool, whose address is that of its pool manager."""
    return bytes.fromhex(
        encode_address(str(traits["token0"]), "token0")
        + encode_address(str(traits["token1"]), "token1")
        + encode_address(str(traits["hooks"]), "hooks")
        + encode_address(use.pool.address, "poolManager")
        + encode_uint(int(traits["fee"]), _FEE_BITS, "fee")
        + encode_uint(int(str(traits["parameters"]), 16), 256, "parameters")
    )


def _infinity_bin(use: PoolUse) -> _Data:
    return _PoolKey(_infinity_key(use, use.pool.api_extra_data()) + b"\1")


def _are_shares_sold(use: PoolUse) -> _Data:
    """A vault's address is that of its shares."""
    return bytes((use.token_in == use.pool.address,))


def _is_first_sold(use: PoolUse) -> _Data:
    return bytes((use.token_in == use.pool.tokens[0],))


def _shares(use: PoolUse) -> _Data:
    """Return for each token of the swap the share that a boosted pool has of it, or zero."""
    tokens, own = use.pool.tokens, use.pool.state()["pool_tokens"]
    shares = dict(zip(tokens, own, strict=True)) if isinstance(own, list) else {}
    used = (ZERO_ADDRESS if shares[token] == token else shares[token] for token in (use.token_in, use.token_out))
    return b"".join(bytes.fromhex(address[2:]) for address in used)


_V4: Final[Mapping[str, RouterPoolKind]] = {ContractKind.UNISWAP_V4: RouterPoolKind.SINGLETON}
"""Pools whose amounts are sampled, since hooks change them, are called like the others."""
_V4_OR_INFINITY: Final[Mapping[str, RouterPoolKind]] = {
    **_V4,
    ContractKind.INFINITY_CL: RouterPoolKind.INFINITY,
    ContractKind.INFINITY_BIN: RouterPoolKind.INFINITY,
}
_BALANCER_V2: Final = RouterFamily(RouterPoolKind.BALANCER_V2, _nothing)
_BALANCER_V3: Final = RouterFamily(RouterPoolKind.BALANCER_V3, _nothing)

BY_FAMILY: Final[Mapping[str, RouterFamily]] = MappingProxyType(
    {
        "wrapper": RouterFamily(RouterPoolKind.WRAPPER, _nothing),
        "constant_product": RouterFamily(RouterPoolKind.PAIR, _pair),
        "solidly_stable": RouterFamily(RouterPoolKind.PAIR, _pair),
        "concentrated": RouterFamily(RouterPoolKind.CONCENTRATED, _concentrated, _V4_OR_INFINITY),
        "uniswap_v4_hooked": RouterFamily(RouterPoolKind.SINGLETON, _concentrated),
        "stableswap": RouterFamily(RouterPoolKind.STABLESWAP, _coin_indices),
        "curve_meta": RouterFamily(RouterPoolKind.STABLESWAP, _meta_coins),
        "cryptoswap": RouterFamily(RouterPoolKind.CURVE_CRYPTO, _coin_indices),
        "weighted": _BALANCER_V2,
        "balancer_v2_stable": _BALANCER_V2,
        "balancer_v2_eclp": _BALANCER_V2,
        "balancer_v2_composable": _BALANCER_V2,
        "balancer_v3_weighted": _BALANCER_V3,
        "balancer_v3_stable": _BALANCER_V3,
        "balancer_v3_stable_surge": _BALANCER_V3,
        "balancer_v3_boosted": RouterFamily(RouterPoolKind.BALANCER_V3, _shares),
        "balancer_v3_2clp": _BALANCER_V3,
        "balancer_v3_eclp": _BALANCER_V3,
        "balancer_v3_reclamm": _BALANCER_V3,
        "balancer_v3_lbp": _BALANCER_V3,
        "infinity_bin": RouterFamily(RouterPoolKind.INFINITY, _infinity_bin),
        "liquidity_book": RouterFamily(RouterPoolKind.LIQUIDITY_BOOK, _is_first_sold),
        "fluid_t1": RouterFamily(RouterPoolKind.FLUID, _is_first_sold),
        "vault": RouterFamily(RouterPoolKind.VAULT, _are_shares_sold),
        "bridge": RouterFamily(RouterPoolKind.BRIDGE, _is_first_sold),
        "psm": RouterFamily(RouterPoolKind.PSM, _nothing),
        "clober_v2": RouterFamily(None, _nothing),
        "hanji": RouterFamily(None, _nothing),
        "kuru": RouterFamily(None, _nothing),
        "ekubo": RouterFamily(None, _nothing),
        "ekubo_evm": RouterFamily(None, _nothing),
        "ekubo_twamm": RouterFamily(None, _nothing),
        "dodo_v2": RouterFamily(None, _nothing),
        "iziswap": RouterFamily(None, _fee_tier),
        "maverick_v2": RouterFamily(None, _nothing),
        "smardex": RouterFamily(None, _nothing),
        "gmx_vault": RouterFamily(None, _nothing),
        "valantis_stex": RouterFamily(None, _nothing),
        "ring_pair": RouterFamily(None, _nothing),
        "euler_swap": RouterFamily(RouterPoolKind.SINGLETON, _own_hook),
        "sampled": RouterFamily(None, _sampled, _V4),
    }
)
"""Every family that a pool may be of: one line a family."""
