"""The calls and actions of 0x Settler as bytes.

    AllowanceHolder  exec(address operator, address token, uint256 amount, address target, bytes data)
    Settler          execute((address recipient, address buyToken, uint256 minAmountOut), bytes[] actions, bytes32)

    TRANSFER_FROM    (address recipient, ((address token, uint256 amount), uint256 nonce, uint256 deadline), bytes sig)
    NATIVE_CHECK     (uint256 deadline, uint256 msgValue)
    UNISWAPV2        (address recipient, address sellToken, uint256 bps, address pool, uint24 swapInfo, uint256 min)
    UNISWAPV3        (address recipient, uint256 bps, bytes path, uint256 min)
    UNISWAPV4        (address recipient, address sellToken, uint256 bps, bool feeOnTransfer, uint256 hashMul,
                      uint256 hashMod, bytes fills, uint256 min)
    DODOV2           (address recipient, address sellToken, uint256 bps, address pool, bool quoteForBase, uint256 min)
    MAVERICKV2       (address recipient, address sellToken, uint256 bps, address pool, bool tokenAIn, int32 tickLimit,
                      uint256 min)
    BASIC            (address sellToken, uint256 bps, address pool, uint256 offset, bytes data)

Source: github 0xProject/0x-settler, `src/ISettlerActions.sol` and the contracts in `src/core`. An action spends
`floor(balance * bps / 10_000)` of Settler's balance of a token. Only the minimum of the whole swap is used, so the
minimums of actions are 0. Every function returns hex digits without a prefix and raises `InvalidInput` for a value that
does not fit its type.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Final

from swapcli.core.encoding.abi import (
    WORD,
    encode_address,
    encode_bytes,
    encode_int,
    encode_uint,
    invalid_field,
)
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.swap_terms import NO_DEADLINE_S
from swapcli.core.records import NamedTuple

EXEC: Final = "2213bc0b"
EXECUTE: Final = "1fff991f"
TRANSFER_FROM: Final = "c1fb425e"
NATIVE_CHECK: Final = "bd01c226"
UNISWAPV2: Final = "103b48be"
UNISWAPV3: Final = "8d68a156"
UNISWAPV4: Final = "af72634f"
DODOV2: Final = "ca9e5d0f"
MAVERICKV2: Final = "9b59756f"
BASIC: Final = "38c9c147"

NATIVE: Final = "0x" + "ee" * 20
"""Settler's address of the native token."""
ALL: Final = 10_000
"""The whole balance, in bps."""

# The tightest limits that a pool accepts: one inside `TickMath.MIN_SQRT_RATIO` and `MAX_SQRT_RATIO` of Uniswap V3.
_LOWEST_SQRT_PRICE: Final = 4_295_128_740
_HIGHEST_SQRT_PRICE: Final = 1_461_446_703_485_210_103_287_273_052_203_988_822_378_723_970_341
_PATH_NUMBER_BITS: Final = 24
_LAST_TICK: Final = 2**31 - 1
"""A swap in a Maverick V2 pool with this limit, or with the lowest 32-bit number, has no limit."""
_HASH_MODULUS: Final = 2**64 - 59
"""The largest 64-bit prime, which Settler's source recommends."""
_HASH_SLOTS: Final = 8
"""`NotesLib.MAX_TOKENS`: the maximum number of tokens in one UNISWAPV4 action."""
_FIRST_FILL: Final = 1
"""The key of a fill that sells the action's token and names the token to buy."""


class V4Key(NamedTuple):
    """The key of a Uniswap V4 pool without its two currencies."""

    fee: int
    tick_spacing: int
    hooks: str = ZERO_ADDRESS


def encode_exec(settler: str, token: str, amount: int, data: str) -> str:
    """Encode AllowanceHolder's call that lets Settler take `amount` of `token` during the call `data` (hex)."""
    words = (
        encode_address(settler, "settler"),
        encode_address(token, "token"),
        encode_uint(amount, 256, "amount"),
        encode_address(settler, "settler"),
    )
    return EXEC + _with_bytes(words, data)


def encode_execute(recipient: str, buy_token: str, min_amount_out: int, actions: Sequence[str]) -> str:
    """Encode Settler's call that runs the actions and pays its whole balance of `buy_token` to the recipient."""
    tails = [encode_bytes(bytes.fromhex(action)) for action in actions]
    offsets, position = [], len(tails) * WORD
    for tail in tails:
        offsets.append(f"{position:064x}")
        position += len(tail) // 2
    return "".join((
        EXECUTE,
        encode_address(recipient, "recipient"),
        encode_address(buy_token, "buy token"),
        encode_uint(min_amount_out, 256, "minimum"),
        f"{5 * WORD:064x}",
        f"{0:064x}",  # no affiliate
        f"{len(tails):064x}",
        *offsets,
        *tails,
    ))  # fmt: skip


def encode_transfer_from(recipient: str, token: str, amount: int, deadline_s: int | None) -> str:
    """Encode the transfer of the input through AllowanceHolder, which needs no nonce and no signature."""
    words = (
        encode_address(recipient, "recipient"),
        encode_address(token, "token"),
        encode_uint(amount, 256, "amount"),
        f"{0:064x}",
        _deadline(deadline_s),
    )
    return TRANSFER_FROM + _with_bytes(words, "")


def encode_native_check(value: int, deadline_s: int | None) -> str:
    """Encode the check of the deadline and of the native token sent with the call."""
    return NATIVE_CHECK + _deadline(deadline_s) + encode_uint(value, 256, "value")


def encode_uniswap_v2(recipient: str, sell_token: str, bps: int, pool: str, fee_bps: int, is_forward: bool) -> str:
    """Encode a swap in a pair. `bps` 0 sells the amount already paid to the pair; `is_forward` sells its token 0."""
    if not 0 <= fee_bps < ALL:
        raise invalid_field("fee", f"{fee_bps} bps is not below the whole input")
    return "".join((
        UNISWAPV2,
        encode_address(recipient, "recipient"),
        encode_address(sell_token, "sell token"),
        _bps(bps),
        encode_address(pool, "pool"),
        f"{fee_bps << 8 | is_forward:064x}",
        f"{0:064x}",
    ))  # fmt: skip


def encode_uniswap_v3(recipient: str, sell_token: str, buy_token: str, bps: int, fork_id: int, pool_id: int) -> str:
    """Encode a swap in a Uniswap V3 fork's pool, which Settler finds by the tokens and `pool_id`.

    `pool_id` is the fee in ppm, or the tick spacing if that distinguishes a fork's pools.
    """
    path = (
        _packed_address(sell_token, "sell token")
        + _packed_uint(fork_id, 8, "fork")
        + _packed_uint(pool_id, _PATH_NUMBER_BITS, "pool id")
        + _price_limit(_number(sell_token) < _number(buy_token))
        + _packed_address(buy_token, "buy token")
    )
    return UNISWAPV3 + _with_bytes((encode_address(recipient, "recipient"), _bps(bps)), path, f"{0:064x}")


def encode_uniswap_v4(recipient: str, sell_token: str, buy_token: str, bps: int, key: V4Key) -> str:
    """Encode a swap in one Uniswap V4 pool. The native token is `NATIVE`."""
    is_forward = sell_token == NATIVE or (buy_token != NATIVE and _number(sell_token) < _number(buy_token))
    fill = (
        _packed_uint(ALL, 16, "share of the fill")
        + _price_limit(is_forward)
        + _packed_uint(_FIRST_FILL, 8, "key")
        + _packed_address(buy_token, "buy token")
        + _packed_uint(key.fee, 24, "fee")
        + encode_int(key.tick_spacing, 24, "tick spacing")[-6:]
        + _packed_address(key.hooks, "hooks")
        + _packed_uint(0, 24, "length of the hook's data")
    )
    words = (
        encode_address(recipient, "recipient"),
        encode_address(sell_token, "sell token"),
        _bps(bps),
        f"{0:064x}",  # a token without transfer fees
        f"{hash_multiplier(sell_token, buy_token):064x}",
        f"{_HASH_MODULUS:064x}",
    )
    return UNISWAPV4 + _with_bytes(words, fill, f"{0:064x}")


def encode_dodo_v2(recipient: str, sell_token: str, bps: int, pool: str, sells_quote: bool) -> str:
    """Encode a swap in a DODO V2 pool. `bps` 0 sells the amount already paid to the pool."""
    return "".join((
        DODOV2,
        encode_address(recipient, "recipient"),
        encode_address(sell_token, "sell token"),
        _bps(bps),
        encode_address(pool, "pool"),
        f"{sells_quote:064x}",
        f"{0:064x}",
    ))  # fmt: skip


def encode_maverick_v2(recipient: str, sell_token: str, bps: int, pool: str, sells_a: bool) -> str:
    """Encode a swap in a Maverick V2 pool, up to any tick. `sells_a` sells its token A."""
    return "".join((
        MAVERICKV2,
        encode_address(recipient, "recipient"),
        encode_address(sell_token, "sell token"),
        _bps(bps),
        encode_address(pool, "pool"),
        f"{sells_a:064x}",
        encode_int(_LAST_TICK if sells_a else -_LAST_TICK - 1, 32, "tick limit"),
        f"{0:064x}",
    ))  # fmt: skip


def encode_basic(sell_token: str, bps: int, pool: str, offset: int = 0, data: str = "") -> str:
    """Encode a call to any contract with `data` (hex), into which Settler writes the amount at `offset` (bytes).

    Settler approves the contract unless it is the sold token; for the native token, it sends the amount.
    """
    words = (
        encode_address(sell_token, "sell token"),
        _bps(bps),
        encode_address(pool, "pool"),
        encode_uint(offset, 256, "offset"),
    )
    return BASIC + _with_bytes(words, data)


def encode_call(contract: str, data: str) -> str:
    """Encode a call to any contract with unchanged `data` (hex): BASIC without a sold token."""
    return encode_basic(ZERO_ADDRESS, 0, contract, 0, data)


def hash_multiplier(*tokens: str) -> int:
    """Return the smallest number with which Settler's hashes of a UNISWAPV4 action's tokens are all different."""
    numbers = [_number(token) for token in tokens]
    return next(
        multiplier
        for multiplier in count(1)
        if len({number * multiplier % _HASH_MODULUS % _HASH_SLOTS for number in numbers}) == len(numbers)
    )


def _with_bytes(words: Sequence[str], content: str, *after: str) -> str:
    """Return the words of a tuple whose only dynamic value, `content` (hex), comes before the words `after`."""
    head = (len(words) + 1 + len(after)) * WORD
    return "".join((*words, f"{head:064x}", *after, encode_bytes(bytes.fromhex(content))))


def _deadline(deadline_s: int | None) -> str:
    return encode_uint(NO_DEADLINE_S if deadline_s is None else deadline_s, 256, "deadline")


def _bps(bps: int) -> str:
    if not 0 <= bps <= ALL:
        raise invalid_field("share", f"{bps} is not between 0 and {ALL} bps")
    return f"{bps:064x}"


def _price_limit(is_forward: bool) -> str:
    return f"{_LOWEST_SQRT_PRICE if is_forward else _HIGHEST_SQRT_PRICE:040x}"


def _packed_address(address: str, field: str) -> str:
    return encode_address(address, field)[-40:]


def _packed_uint(value: int, bits: int, field: str) -> str:
    return encode_uint(value, bits, field)[-bits // 4 :]


def _number(address: str) -> int:
    return int(address, 16)
