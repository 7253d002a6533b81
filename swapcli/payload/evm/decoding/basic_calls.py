"""Decode the calls that 0x Settler's action BASIC makes in order to swap; `payload/evm/basic_calls` has their
encoding."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from swapcli.core.encoding.abi import ADDRESS_BYTES, invalid_field
from swapcli.core.model.decoded_call import PoolHint
from swapcli.core.records import NamedTuple
from swapcli.payload.evm import basic_calls
from swapcli.payload.evm.basic_calls import V3_FEE_BYTES
from swapcli.payload.evm.decoding.arguments import Arguments

BASIC: Final = "BASIC"


class CalledSwap(NamedTuple):
    """A swap through a call: the bought token (None if only the pool determines it), and the contracts that pay or are
    paid.

    `is_paid_before` means that the contract swaps an amount that it received before the call. `sold` is None if the
    call does not name it.
    """

    pool: PoolHint
    sold: str | None = None
    bought: str | None = None
    accounts: tuple[str, ...] = ()
    is_paid_before: bool = False


def read_called_swap(called: str, selector: str, words: Arguments) -> CalledSwap | None:
    """Return the swap in a call to the contract `called`, or None for other calls. Raises `InvalidInput`."""
    read = _CALLS.get(selector)
    return None if read is None else read(called, words)


def _exchange(called: str, words: Arguments) -> CalledSwap:
    return CalledSwap(PoolHint(called, BASIC, coin_out=words.uint(1, "coin", 8)))


def _vault_swap(called: str, words: Arguments) -> CalledSwap:
    swap = words.nested(0, "swap")
    accounts = words.address(1, "sender"), words.address(3, "recipient")
    hint = PoolHint(f"0x{swap.uint(0, 'pool id'):064x}", BASIC, contract=called)
    return CalledSwap(hint, bought=swap.address(3, "bought token"), accounts=accounts)


def _gmx_swap(called: str, words: Arguments) -> CalledSwap:
    tokens = words.address(0, "sold token"), words.address(1, "bought token")
    return CalledSwap(PoolHint(called, BASIC), *tokens, (words.address(2, "recipient"),), is_paid_before=True)


def _swap_amount(called: str, words: Arguments) -> CalledSwap:
    swap = words.nested(0, "swap")
    path = swap.content(0, "path")
    if len(path) != 2 * ADDRESS_BYTES + V3_FEE_BYTES:
        raise invalid_field("path", f"{len(path)} bytes, but one pool takes {2 * ADDRESS_BYTES + V3_FEE_BYTES}")
    sold, bought = f"0x{path[:ADDRESS_BYTES].hex()}", f"0x{path[-ADDRESS_BYTES:].hex()}"
    fee_ppm = int.from_bytes(path[ADDRESS_BYTES:-ADDRESS_BYTES])
    hint = PoolHint(None, BASIC, fee_ppm, family="iziswap", contract=called)
    return CalledSwap(hint, sold, bought, (swap.address(1, "recipient"),))


def _swap_exact_tokens(called: str, words: Arguments) -> CalledSwap:
    path = words.addresses(2, "path")
    if len(path) != 2:
        raise invalid_field("path", f"{len(path)} tokens, but one pool takes 2")
    sold, bought = path
    hint = PoolHint(None, BASIC, family="smardex", contract=called)
    return CalledSwap(hint, sold, bought, (words.address(3, "recipient"),))


def _any_to_any_swap(called: str, words: Arguments) -> CalledSwap:
    tokens = words.address(3, "debit token"), words.address(4, "credit token")
    words.uint(6, "minimum")
    markets = words.addresses(0, "markets")
    if len(markets) != 1:
        raise invalid_field("markets", f"{len(markets)}, and one pool takes 1")
    for index, field in ((1, "is buy"), (2, "native send")):
        flags = words.nested(index, field)
        if flags.uint(0, field) != 1:
            raise invalid_field(field, "expected one for the market")
        flags.uint(1, field, 1)
    return CalledSwap(PoolHint(markets[0], BASIC, contract=called), *tokens)


def _spend(called: str, words: Arguments) -> CalledSwap:
    """Read a `spend` call in one book. It settles the sold and the bought token, except for the native token."""
    orders, tokens = list(words.tuples(0, "orders")), words.addresses(1, "tokens")
    list(words.tuples(2, "permits"))
    words.uint(3, "deadline", 64)
    if len(orders) != 1:
        raise invalid_field("orders", f"{len(orders)}, and one pool takes 1")
    (order,) = orders
    order.content(4, "hook data")
    hint = PoolHint(f"0x{order.uint(0, 'book id'):064x}", BASIC, coin_out=1, contract=called)
    return CalledSwap(hint, bought=tokens[1] if len(tokens) > 1 else None)


_CALLS: Final[Mapping[str, Callable[[str, Arguments], CalledSwap]]] = MappingProxyType(
    {
        basic_calls.EXCHANGE: _exchange,
        basic_calls.VAULT_SWAP: _vault_swap,
        basic_calls.GMX_SWAP: _gmx_swap,
        basic_calls.SWAP_AMOUNT: _swap_amount,
        basic_calls.SWAP_EXACT_TOKENS: _swap_exact_tokens,
        basic_calls.ANY_TO_ANY_SWAP: _any_to_any_swap,
        basic_calls.SPEND: _spend,
    }
)
