"""Serialise a router call's `swap(route, swap_parameters)` to felts, and deserialise it.

The layout is Cairo's own (Serde) of these arguments, members in order:

    route            token_in, token_out: ContractAddress; amount_in, min_received: u256; destination: ContractAddress
    swap_parameters  Array of (token_in, token_out: ContractAddress; rate, protocol_id: u32;
                               pool_address: ContractAddress; extra_data: Array<felt252>)

An array is its length, then its members. So the fields of a swap end with the length of its `extra_data` (0 if it is
empty) and its felts. The order of the members and the length of the list are published. The length of `extra_data` is
taken from the Cairo interfaces of contracts that call the public router.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from swapcli.core.errors import InvalidInput
from swapcli.core.model.quote import RATE_SCALE
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import RouterCall, RouterRouteParam, RouterSwapParam
from swapcli.payload.starknet.felts import (
    U32_LIMIT,
    address_of_felt,
    check_felt,
    check_range,
    felt_of_address,
    join_u256,
    split_u256,
)

_FELTS_PER_SWAP = 6
"""The felts of a swap without extra data, including the length of that data."""


def serialise_call(call: RouterCall) -> tuple[int, ...]:
    """Serialise the arguments of `swap`. Raises `InvalidAddress`, and `InvalidInput`, which names the field that is out
    of range.

    The felts contain neither `amount_out` nor swap types. Integrator data cannot be serialised, so it raises an error.
    """
    if call.integrator_data:
        raise InvalidInput("the router on Starknet does not support integrators")
    if not call.swaps:
        raise InvalidInput("a call needs at least one swap")
    swaps = (felt for number, swap in enumerate(call.swaps) for felt in _swap_felts(number, swap))
    return (*_route_felts(call.route), len(call.swaps), *swaps)


def deserialise_call(felts: Sequence[int], *, amount_out: int = 0) -> RouterCall:
    """Deserialise the arguments of `swap`: the inverse of `serialise_call`, with the same checks.

    The felts do not contain `amount_out`, so the caller provides it; every swap is from token to token. Raises
    `InvalidInput`, which names the field, for a number out of range, felts that end early, and felts left over.
    """
    call, left = deserialise_call_with_rest(felts, amount_out=amount_out)
    if left:
        raise InvalidInput(f"{left} felts are left over after the last swap")
    return call


def deserialise_call_with_rest(felts: Sequence[int], *, amount_out: int = 0) -> tuple[RouterCall, int]:
    """Return the call of `deserialise_call`, and the number of felts after its end. Raises `InvalidInput`."""
    if not felts:
        raise InvalidInput("the list is empty", hint="give the felts of a call, or a list of transactions")
    reader = _Reader(felts)
    route = _read_route(reader, amount_out)
    count = check_range("swaps", reader.next("swaps"), 1, reader.left // _FELTS_PER_SWAP + 1)
    swaps = tuple(_read_swap(reader, f"swaps[{number}]") for number in range(count))
    return RouterCall(route, swaps), reader.left


def _route_felts(route: RouterRouteParam) -> Iterator[int]:
    yield felt_of_address(route.token_in)
    yield felt_of_address(route.token_out)
    yield from split_u256("amount_in", route.amount_in, minimum=1)
    yield from split_u256("min_received", route.min_received)
    yield felt_of_address(route.recipient)


def _swap_felts(number: int, swap: RouterSwapParam) -> Iterator[int]:
    at = f"swaps[{number}]"
    yield felt_of_address(swap.token_in)
    yield felt_of_address(swap.token_out)
    yield check_range(f"{at}.rate", swap.rate, 1, RATE_SCALE + 1)
    yield check_range(f"{at}.protocol", swap.protocol_id, 0, U32_LIMIT)
    yield felt_of_address(swap.pool_address)
    yield len(swap.extra_felts)
    for extra in swap.extra_felts:
        yield check_felt(f"{at}.extra", extra)


class _Reader:
    """Reads felts in order. `left` is the number of felts not yet read."""

    def __init__(self, felts: Sequence[int]) -> None:
        self._felts = iter(felts)
        self.left = len(felts)

    def next(self, field: str) -> int:
        felt = next(self._felts, None)
        if felt is None:
            raise InvalidInput(f"the felts end before {field}", details={"field": field})
        self.left -= 1
        return felt

    def address(self, field: str) -> str:
        return address_of_felt(field, self.next(field))

    def u256(self, field: str) -> int:
        return join_u256(field, self.next(f"{field}.low"), self.next(f"{field}.high"))


def _read_route(reader: _Reader, amount_out: int) -> RouterRouteParam:
    token_in, token_out = reader.address("token_in"), reader.address("token_out")
    amount_in = reader.u256("amount_in")
    if not amount_in:
        raise InvalidInput("amount_in must be at least 1", details={"field": "amount_in"})
    return RouterRouteParam(
        token_in=token_in,
        token_out=token_out,
        amount_in=amount_in,
        amount_out=amount_out,
        min_received=reader.u256("min_received"),
        recipient=reader.address("destination"),
        swap_type=SwapType.TOKEN_TO_TOKEN,
    )


def _read_swap(reader: _Reader, at: str) -> RouterSwapParam:
    return RouterSwapParam(
        token_in=reader.address(f"{at}.token_in"),
        token_out=reader.address(f"{at}.token_out"),
        rate=check_range(f"{at}.rate", reader.next(f"{at}.rate"), 1, RATE_SCALE + 1),
        protocol_id=check_range(f"{at}.protocol", reader.next(f"{at}.protocol"), 0, U32_LIMIT),
        pool_address=reader.address(f"{at}.pool_address"),
        swap_type=SwapType.TOKEN_TO_TOKEN,
        extra_felts=_read_extra(reader, f"{at}.extra"),
    )


def _read_extra(reader: _Reader, at: str) -> tuple[int, ...]:
    count = check_range(f"{at}.length", reader.next(f"{at}.length"), 0, reader.left + 1)
    return tuple(check_felt(at, reader.next(at)) for _ in range(count))
