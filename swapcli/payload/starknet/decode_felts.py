"""Decode the felts of a Starknet call: a router's swap, or a token approval."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from swapcli.core.encoding.text import truncate
from swapcli.core.errors import InvalidInput
from swapcli.core.model.decoded_call import DecodedApproval, DecodedCall, DecodedOrder, DecodedSwap, PoolHint
from swapcli.core.model.network import FIBROUS
from swapcli.payload.starknet.felts import address_of_felt, from_felt_text, join_u256
from swapcli.payload.starknet.swap_call_felts import deserialise_call_with_rest

FUNCTIONS = ("approve", "swap")
"""The entry points whose felts are decoded."""

_APPROVE_FELTS = 3  # spender, and an amount of two felts
_MAX_FELTS = 100_000  # a bound against hostile input; chosen


def decode_felts(felts: Sequence[int]) -> DecodedCall:
    """Decode the arguments of `approve` or `swap`. Raises `InvalidInput`."""
    if len(felts) == _APPROVE_FELTS:
        amount = join_u256("amount", felts[1], felts[2])
        return DecodedCall("approve", approval=DecodedApproval(None, address_of_felt("spender", felts[0]), amount))
    call, left = deserialise_call_with_rest(felts)
    route = call.route
    order = DecodedOrder(route.token_in, route.token_out, route.amount_in, route.min_received, route.recipient)
    swaps = tuple(
        DecodedSwap(
            swap.token_in,
            swap.token_out,
            PoolHint(swap.pool_address, protocol_id=swap.protocol_id, extra_felts=swap.extra_felts),
            swap.rate,
        )
        for swap in call.swaps
    )
    # A list of felts has nothing after its call, whereas calldata may end with a wallet's mark.
    oddities = (f"{left} felts follow the end of the call, which quotes never have",) if left else ()
    return DecodedCall("swap", dialect=FIBROUS, order=order, swaps=swaps, oddities=oddities)


def parse_felts(text: str) -> tuple[int, ...] | None:
    """Parse felts separated by commas or blanks, or in a JSON array. Return None if the text is not a list of felts.

    Raises `InvalidInput` for a list with an entry that is not a felt.
    """
    stripped = text.strip()
    if stripped.startswith("["):
        try:
            entries = json.loads(stripped)
        except (ValueError, RecursionError):
            raise InvalidInput(f"this is not a JSON array of felts: {truncate(stripped, 40)}") from None
        if not isinstance(entries, list):
            return None
        words = [str(entry) if isinstance(entry, int) else entry for entry in entries]
    else:
        words = [word for word in re.split(r"[\s,]+", stripped) if word]
        if len(words) < 2:
            return None
    if len(words) > _MAX_FELTS or not all(isinstance(word, str) for word in words):
        raise InvalidInput("this is not a list of felts")
    return tuple(map(from_felt_text, words))
