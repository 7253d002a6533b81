"""`extra_data`: what the router needs to know about a pool beyond its address, by family.

| family                                  | bytes                                  | why a router needs them          |
|-----------------------------------------|----------------------------------------|----------------------------------|
| wrapper                                 | none                                   |                                  |
| constant_product, Uniswap V2            | fee in ppm, 2 or 3 bytes               | a pair does not expose its fee   |
| constant_product, `is_solidly`          | none                                   | the pair has `getAmountOut`      |
| solidly_stable                          | none                                   | the pair has `getAmountOut`      |
| stableswap                              | coin sold, coin bought: 1 byte each    | `exchange(int128 i, int128 j,..` |
| weighted                                | pool id, 32 bytes, where the state has | else the pool's `getPoolId`      |
|                                         | it, else none                          |                                  |
| concentrated, keyed by fee              | fee in ppm, 2 or 3 bytes               | to check who calls it back       |
| concentrated, keyed by tick spacing     | tick spacing, int16                    | to check who calls it back       |
| concentrated, keyed by tokens (Algebra) | none                                   |                                  |
| concentrated, by pool id (Uniswap V4)   | abi.encode(PoolKey), 160 bytes         | the pool manager asks for it     |

Numbers are big-endian; a fee takes the shortest of two or three bytes (0x0064 for 100). What a protocol's pools are
keyed by says `ProtocolInfo.extra_keys`. A PoolKey is (address currency0, address currency1, uint24 fee, int24
tickSpacing, address hooks); the native currency is the zero address: the list says wrapped, the router converts.

Published are two samples only: 0x0064 for a PancakeSwap V3 pool of fee 100 and for a Slipstream pool of tick spacing
100. The other rows are ours. Of Curve's pools the family covers those whose `exchange` takes int128; a weighted pool of
Balancer exposes its vault itself.

That table is the form "two_bytes". Clients of the public router disagree on it, so there are other forms, which change
it as follows. The PoolKey, and nothing for a wrapper, are the same in all of them.

| form              | change                                                                                     |
|-------------------|--------------------------------------------------------------------------------------------|
| three_bytes       | every fee and tick spacing in 3 bytes                                                      |
| two_bytes_or_word | 32 zero bytes in place of none                                                             |
| word              | fee or tick spacing of a concentrated pool in 32 bytes, the pool id, else 32 zero bytes    |
| empty             | none                                                                                       |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from swapcli.encoding.abi import WORD, encode_address, encode_int, encode_uint, invalid_field
from swapcli.model.network import ProtocolInfo
from swapcli.model.pool import Pool
from swapcli.model.router_reading import ExtraDataForm

_FEE_BITS: Final = 24
_FEE_BYTES: Final = 3
_POOL_KEY_BYTES: Final = 5 * WORD
_INT16_LIMIT: Final = 1 << 15


class PoolUse(NamedTuple):
    """A pool as one entry of the router's list uses it. `protocol` is the network's, None where it has none."""

    pool: Pool
    token_in: str
    token_out: str
    protocol: ProtocolInfo | None


class _Fee(NamedTuple):
    ppm: int


class _TickSpacing(NamedTuple):
    spacing: int


_Data = bytes | _Fee | _TickSpacing


def encode_extra_data(use: PoolUse, form: ExtraDataForm = ExtraDataForm.TWO_BYTES) -> bytes:
    """Return the bytes by the tables above. Raises `InvalidInput` for a fee or spacing that does not fit its bytes."""
    data = BY_FAMILY[use.pool.family](use)
    if use.pool.family == "wrapper" or (isinstance(data, bytes) and len(data) == _POOL_KEY_BYTES):
        return data if isinstance(data, bytes) else b""
    match form:
        case ExtraDataForm.EMPTY:
            return b""
        case ExtraDataForm.WORD:
            return _word(use, data)
        case ExtraDataForm.THREE_BYTES:
            return _number(data, _FEE_BYTES)
        case ExtraDataForm.TWO_BYTES_OR_WORD:
            return _number(data) or bytes(WORD)
        case ExtraDataForm.TWO_BYTES:
            return _number(data)


def _word(use: PoolUse, data: _Data) -> bytes:
    """Return what the route of the interface has of the pool, as a word: the fee, the spacing, a pool id, or zero."""
    if use.pool.family == "concentrated":
        return _number(data, WORD) or bytes(WORD)
    return data if isinstance(data, bytes) and len(data) == WORD else bytes(WORD)


def _number(data: _Data, length: int | None = None) -> bytes:
    """Return a number in `length` bytes, by default the shortest of the form "two_bytes"; other data as it is."""
    if isinstance(data, bytes):
        return data
    if isinstance(data, _TickSpacing):
        return data.spacing.to_bytes(length or 2, signed=True)
    return data.ppm.to_bytes(length or (_FEE_BYTES if data.ppm >> 16 else 2))


def _nothing(use: PoolUse) -> _Data:
    del use
    return b""


def _constant_product(use: PoolUse) -> _Data:
    return b"" if use.pool.state().get("variant") == "solidly" else _fee(use.pool.fee_ppm)


def _coin_indices(use: PoolUse) -> _Data:
    tokens = use.pool.tokens
    return bytes((tokens.index(use.token_in), tokens.index(use.token_out)))


def _pool_id(use: PoolUse) -> _Data:
    pool_id = use.pool.api_extra_data().get("poolId")
    return bytes.fromhex(str(pool_id)[2:]) if pool_id else b""


def _concentrated(use: PoolUse) -> _Data:
    """A protocol that the network knows only by its id is treated as a fork of Uniswap V3."""
    traits = use.pool.api_extra_data()
    if "poolId" in traits:
        return _pool_key(traits)
    keys = use.protocol.extra_keys if use.protocol and use.protocol.family else ("fee",)
    if "fee" in keys:
        return _fee(int(traits["fee"]))
    return _tick_spacing(int(traits["tickSpacing"])) if "tickSpacing" in keys else b""


def _fee(fee_ppm: int) -> _Fee:
    if fee_ppm < 0 or fee_ppm >> _FEE_BITS:
        raise invalid_field("fee", f"{fee_ppm} does not fit uint{_FEE_BITS}")
    return _Fee(fee_ppm)


def _tick_spacing(spacing: int) -> _TickSpacing:
    if not -_INT16_LIMIT <= spacing < _INT16_LIMIT:
        raise invalid_field("tickSpacing", f"{spacing} does not fit int16")
    return _TickSpacing(spacing)


def _pool_key(traits: Mapping[str, int | str]) -> bytes:
    return bytes.fromhex(
        encode_address(str(traits["token0"]), "token0")
        + encode_address(str(traits["token1"]), "token1")
        + encode_uint(int(traits["fee"]), _FEE_BITS, "fee")
        + encode_int(int(traits["tickSpacing"]), 24, "tickSpacing")
        + encode_address(str(traits["hooks"]), "hooks")
    )


BY_FAMILY: Final[Mapping[str, Callable[[PoolUse], _Data]]] = MappingProxyType(
    {
        "wrapper": _nothing,
        "constant_product": _constant_product,
        "solidly_stable": _nothing,
        "stableswap": _coin_indices,
        "weighted": _pool_id,
        "concentrated": _concentrated,
    }
)
"""Every family that a pool may be of."""
