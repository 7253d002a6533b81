"""The commands of a Universal Router and the actions of its V4 swaps, as bytes.

A call is `execute(bytes commands, bytes[] inputs, uint256 deadline)`: one byte and one input for each command. An input
is the plain ABI encoding of the command's fields; the input of a V4 swap is (bytes actions, bytes[] params).
Source: Uniswap's universal-router, `Commands.sol`, `Dispatcher.sol`; v4-periphery, `Actions.sol`, `IV4Router.sol`.

The inputs of V2 and V3 swaps end with the smallest price of each hop (`minHopPriceX36`), or an empty array for none:
routers before 2.1.1 ignore it, and later ones need it. V4 swaps differ:

| version | one pool                                             | path                                              |
|---------|------------------------------------------------------|---------------------------------------------------|
| 2.0     | (key, zeroForOne, amountIn, minimum, hookData)       | (currencyIn, path, amountIn, minimum)             |
| 2.1.0   | as 2.0                                               | (currencyIn, path, prices, amountIn, minimum)     |
| 2.1.1   | (key, zeroForOne, amountIn, minimum, price, hookData)| as 2.1.0                                          |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from swapcli.core.encoding.abi import (
    Dynamic,
    encode_address,
    encode_bytes,
    encode_fields,
    encode_int,
    encode_list,
    encode_uint,
)
from swapcli.core.errors import ConfigError
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.records import NamedTuple

EXECUTE: Final = "3593564c"
"""`execute(bytes,bytes[],uint256)`."""

EXECUTE_WITHOUT_DEADLINE: Final = "24856bc3"
"""`execute(bytes,bytes[])`."""

ROUTER: Final = "0x0000000000000000000000000000000000000002"
"""The recipient value that means the router itself (`ActionConstants.ADDRESS_THIS`)."""

CONTRACT_BALANCE: Final = 1 << 255
"""The amount value that means the router's balance of the token."""

_FULL_DELTA: Final = 0
"""The amount value in V4 that means the whole credit or debt of a currency."""

_V3_SWAP: Final = 0x00
_PERMIT2_TRANSFER_FROM: Final = 0x02
_SWEEP: Final = 0x04
_PAY_FEE: Final = 0x06  # the router calls it PAY_PORTION
_V2_SWAP: Final = 0x08
_PERMIT2_PERMIT: Final = 0x0A
_WRAP: Final = 0x0B
_UNWRAP: Final = 0x0C
_V4_SWAP: Final = 0x10
MAY_FAIL: Final = 0x80
"""The bit of a command that lets it revert without reverting the call (FLAG_ALLOW_REVERT)."""

V4_SWAP_SINGLE: Final = 0x06
V4_SWAP_PATH: Final = 0x07
V4_SETTLE: Final = 0x0B
V4_TAKE: Final = 0x0E

_NO_PRICES: Final = encode_list(())
_NO_DATA: Final = Dynamic(encode_bytes(b""))


class Command(NamedTuple):
    """One command: its type byte, including flags, and its input in hex."""

    code: int
    content: str


class V4Encoding(NamedTuple):
    """How a router release encodes swaps in V4 pools: whether with prices for a single pool, and for a path."""

    prices_in_single: bool
    prices_in_path: bool


V4_ENCODINGS: Final = {
    "2.0": V4Encoding(prices_in_single=False, prices_in_path=False),
    "2.1.0": V4Encoding(prices_in_single=False, prices_in_path=True),
    "2.1.1": V4Encoding(prices_in_single=True, prices_in_path=True),
    "2.1.2": V4Encoding(prices_in_single=True, prices_in_path=True),
}


class V4Hop(NamedTuple):
    """One swap in a V4 pool, with the fee in its key. Currencies are addresses, zero for the native one."""

    currency_in: str
    currency_out: str
    key_fee: int
    tick_spacing: int
    hooks: str = ZERO_ADDRESS


def v4_encoding(version: str | None) -> V4Encoding:
    """Return the encoding of a release. Raises `ConfigError` for an unknown one, because the wrong encoding reverts."""
    found = V4_ENCODINGS.get(version or "")
    if found is None:
        raise ConfigError(
            f'Universal Router version "{version}" is not supported',
            hint=f"known versions: {', '.join(V4_ENCODINGS)}",
        )
    return found


def encode_execute(commands: Sequence[Command], deadline_s: int) -> str:
    """Return the calldata of `execute`, hex with 0x. Raises `InvalidInput` for a deadline out of range."""
    types = Dynamic(encode_bytes(bytes(each.code for each in commands)))
    inputs = encode_list([_bytes(each.content) for each in commands])
    return f"0x{EXECUTE}{encode_fields(types, inputs, encode_uint(deadline_s, 256, 'deadline'))}"


def v2_swap(tokens: Sequence[str], amount_in: int, *, pulls: bool) -> Command:
    """Swap through the V2 pairs of consecutive tokens, paying the router; `pulls` takes the input from the caller."""
    path = encode_list([encode_address(token, "path") for token in tokens])
    return Command(_V2_SWAP, _swap_fields(amount_in, path, pulls))


def v3_swap(tokens: Sequence[str], fees_ppm: Sequence[int], amount_in: int, *, pulls: bool) -> Command:
    """Swap through the V3 pools of consecutive tokens with the fees `fees_ppm`, paying the router; `pulls` as in
    `v2_swap`."""
    steps = (
        encode_uint(fee, 24, "fee")[-6:] + encode_address(token, "path")[-40:]
        for fee, token in zip(fees_ppm, tokens[1:], strict=True)
    )
    path = bytes.fromhex(encode_address(tokens[0], "path")[-40:] + "".join(steps))
    return Command(_V3_SWAP, _swap_fields(amount_in, Dynamic(encode_bytes(path)), pulls))


def v4_swap(hops: Sequence[V4Hop], amount_in: int, encoding: V4Encoding, *, pulls: bool) -> Command:
    """Swap through V4 pools, paying the router. The input is the caller's if `pulls` is set, otherwise the router's.

    For `CONTRACT_BALANCE`, the router pays first and swaps the amount it has paid; otherwise it swaps and then pays its
    debt.
    """
    first, last = hops[0].currency_in, hops[-1].currency_out
    pays_first = amount_in == CONTRACT_BALANCE
    code, swap = _v4_swap_action(hops, _FULL_DELTA if pays_first else amount_in, encoding)
    settled = CONTRACT_BALANCE if pays_first else _FULL_DELTA
    settle = encode_address(first, "currency") + encode_uint(settled, 256, "amount") + _boolean(pulls)
    take = encode_address(last, "currency") + encode_address(ROUTER, "recipient") + encode_uint(_FULL_DELTA, 256, "a")
    actions = [(V4_SETTLE, settle), (code, swap)] if pays_first else [(code, swap), (V4_SETTLE, settle)]
    actions.append((V4_TAKE, take))
    types = Dynamic(encode_bytes(bytes(each for each, _ in actions)))
    return Command(_V4_SWAP, encode_fields(types, encode_list([_bytes(content) for _, content in actions])))


def pull(token: str, amount: int) -> Command:
    """Take a token from the caller to the router, through Permit2."""
    words = encode_address(token, "token") + encode_address(ROUTER, "recipient") + encode_uint(amount, 160, "amount")
    return Command(_PERMIT2_TRANSFER_FROM, words)


def wrap(amount: int) -> Command:
    """Wrap the router's native currency."""
    return Command(_WRAP, encode_address(ROUTER, "recipient") + encode_uint(amount, 256, "amount"))


def unwrap(recipient: str = ROUTER, minimum: int = 0) -> Command:
    """Unwrap all of the router's wrapped native currency, at least `minimum`, for `recipient`."""
    return Command(_UNWRAP, encode_address(recipient, "recipient") + encode_uint(minimum, 256, "minimum"))


def pay_fee(token: str, recipient: str, bps: int) -> Command:
    """Pay `floor(balance * bps / 10,000)` of the router's balance of a token (the zero address is the native one)."""
    words = encode_address(token, "token") + encode_address(recipient, "integrator") + encode_uint(bps, 256, "bps")
    return Command(_PAY_FEE, words)


def sweep(token: str, recipient: str, minimum: int) -> Command:
    """Pay the router's whole balance of a token (the zero address is the native one), at least `minimum`."""
    # 2.1.0 reads the minimum as uint160.
    words = encode_address(token, "token") + encode_address(recipient, "recipient")
    return Command(_SWEEP, words + encode_uint(minimum, 160, "minimum"))


def permit(permit_single: str, signature: bytes) -> Command:
    """Pass a signed permit to Permit2: the six words of `PermitSingle`, and its signature.

    The command may fail: anyone can send the permit to Permit2 first, and the swap then uses its allowance.
    """
    return Command(_PERMIT2_PERMIT | MAY_FAIL, encode_fields(permit_single, Dynamic(encode_bytes(signature))))


def _swap_fields(amount_in: int, path: Dynamic, pulls: bool) -> str:
    amounts = encode_uint(amount_in, 256, "amount_in") + encode_uint(0, 256, "minimum")
    return encode_fields(encode_address(ROUTER, "recipient"), amounts, path, _boolean(pulls), _NO_PRICES)


def _v4_swap_action(hops: Sequence[V4Hop], amount_in: int, encoding: V4Encoding) -> tuple[int, str]:
    """Return the action and its parameters: one tuple, which is a dynamic field."""
    amounts = encode_uint(amount_in, 128, "amount_in") + encode_uint(0, 128, "minimum")
    if len(hops) == 1:
        (hop,) = hops
        price = [encode_uint(0, 256, "price")] if encoding.prices_in_single else []
        ordered = sorted((hop.currency_in, hop.currency_out))
        key = "".join(encode_address(each, "currency") for each in ordered) + _pool_words(hop)
        swap = encode_fields(key, _boolean(hop.currency_in == ordered[0]), amounts, *price, _NO_DATA)
        return V4_SWAP_SINGLE, encode_fields(Dynamic(swap))
    prices = [_NO_PRICES] if encoding.prices_in_path else []
    path = encode_list([_path_key(hop) for hop in hops])
    swap = encode_fields(encode_address(hops[0].currency_in, "currency"), path, *prices, amounts)
    return V4_SWAP_PATH, encode_fields(Dynamic(swap))


def _path_key(hop: V4Hop) -> Dynamic:
    return Dynamic(encode_fields(encode_address(hop.currency_out, "currency"), _pool_words(hop), _NO_DATA))


def _pool_words(hop: V4Hop) -> str:
    fee, spacing = encode_uint(hop.key_fee, 24, "fee"), encode_int(hop.tick_spacing, 24, "tick_spacing")
    return fee + spacing + encode_address(hop.hooks, "hooks")


def _boolean(value: bool) -> str:
    return encode_uint(value, 1, "boolean")


def _bytes(content: str) -> Dynamic:
    return Dynamic(encode_bytes(bytes.fromhex(content)))
