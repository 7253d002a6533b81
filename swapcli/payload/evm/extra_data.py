"""`extra_data`: the router's data about a pool besides its address, by family.

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
| concentrated, by pool id (Uniswap V4);  | abi.encode(PoolKey), 160 bytes         | the pool manager requests it     |
| euler_swap                              |                                        |                                  |
| concentrated, PancakeSwap Infinity      | abi.encode(PoolKey), 192 bytes         | the pool manager requests it     |
| infinity_bin                            | the same, and 1 byte, 1                | the bin manager's `swap` differs |
| fluid_t1                                | 1 if the first token is sold: 1 byte   | `swapIn(bool zeroForOne,..`      |
| liquidity_book                          | 1 if the first token is sold: 1 byte   | `swap(bool swapForY,..`          |
| vault (ERC-4626)                        | 1 if shares are sold: 1 byte           | `redeem`, else `deposit`         |
| bridge                                  | 1 if the first token is sold: 1 byte   | `burn` of it                     |
| psm, sampled                            | none                                   |                                  |
| the other families                      | none: the contract has no call of      |                                  |
|                                         | them; 0x Settler executes some         |                                  |

Numbers are big-endian; a fee takes the shortest of two or three bytes (0x0064 for 100). `ProtocolInfo.extra_keys` shows
what a protocol's pools are keyed by. A PoolKey is (address currency0, address currency1, uint24 fee, int24 tickSpacing,
address hooks), Infinity's (address currency0, address currency1, address hooks, address poolManager, uint24 fee,
bytes32 parameters); the native currency is the zero address: the list has the wrapped token, and the router converts
it.

Only two samples are published: 0x0064 for a PancakeSwap V3 pool of fee 100 and for a Slipstream pool of tick spacing
100. The other rows are this project's. Balancer's pools expose their vault themselves; a bridge's first token is the
coin that it mints.

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

from typing import Final

from swapcli.core.encoding.abi import WORD
from swapcli.core.model.router_variant import ExtraDataForm
from swapcli.families import family_row
from swapcli.families.row import Fee, PoolKey, PoolUse, TickSpacing

_FEE_BYTES: Final = 3  # of a uint24


def encode_extra_data(use: PoolUse, form: ExtraDataForm = ExtraDataForm.TWO_BYTES) -> bytes:
    """Return the bytes that the tables of this module define. Raises `InvalidInput` for a fee or spacing that does not
    fit its bytes."""
    data = family_row(use.pool.family).router.extra_data(use)
    if isinstance(data, PoolKey):
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
    """Return the key by which a pool manager finds a pool. It is the same in every form, and empty for pools that are
    contracts."""
    if "hooks" not in use.pool.api_extra_data():  # which every key has
        return b""
    data = family_row(use.pool.family).router.extra_data(use)
    return data.encoded if isinstance(data, PoolKey) else b""


def _word(data: bytes | Fee | TickSpacing) -> bytes:
    """Return, as a word, the pool's data in a Fibrous API route: a fee tier, a tick spacing, or zero."""
    is_tier = isinstance(data, TickSpacing) or (isinstance(data, Fee) and data.is_tier)
    return _number(data, WORD) if is_tier else bytes(WORD)


def _number(data: bytes | Fee | TickSpacing, length: int | None = None) -> bytes:
    """Return a number in `length` bytes, by default as short as in the form "two_bytes"; other data is returned
    unchanged."""
    if isinstance(data, bytes):
        return data
    if isinstance(data, TickSpacing):
        return data.spacing.to_bytes(length or 2, signed=True)
    return data.ppm.to_bytes(length or (_FEE_BYTES if data.ppm >> 16 else 2))
