"""The router's calls as bytes: `swap`, `swapIntegrator`, `swapWithPermit` and `swapBefore`, encoded and decoded.

    RouteParam  (address token_in, address token_out, uint256 amount_in, uint256 amount_out, uint256 min_received,
                 address destination, uint8 swap_type)
    SwapParams  (address token_in, address token_out, uint32 rate, int24 protocol_id, address pool_address,
                 uint8 swap_type, bytes extra_data)

    swap(RouteParam, SwapParams[])
    swapIntegrator(RouteParam, SwapParams[], bytes integrator_data)
    swapWithPermit(RouteParam, SwapParams[], uint256 deadline, uint8 v, bytes32 r, bytes32 s)
    swapBefore(uint256 deadline, RouteParam, SwapParams[], bytes integrator_data)

Only this project's router has `swapBefore`, whose integrator data may be empty.

Only the canonical encoding of every ABI encoder is accepted: contents in the order of their offsets, without gaps,
padded with zeros, nothing after them. A decoded call encodes to the same bytes again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NoReturn

from swapcli.core.encoding.abi import (
    SELECTOR_BYTES,
    WORD,
    AbiReader,
    encode_address,
    encode_bytes,
    encode_bytes32,
    encode_int,
    encode_uint,
    invalid_field,
    parse_hex,
)
from swapcli.core.errors import InvalidInput
from swapcli.core.model.quote import RATE_SCALE
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import RouterCall, RouterRouteParam, RouterSwapParam
from swapcli.core.records import NamedTuple

SWAP: Final = "8619b04e"
SWAP_INTEGRATOR: Final = "21ed51f7"
SWAP_WITH_PERMIT: Final = "df9f8e3a"
SWAP_BEFORE: Final = "54f53f8b"

_CALLS: Final = {SWAP: "swap", SWAP_INTEGRATOR: "swapIntegrator", SWAP_BEFORE: "swapBefore"}
_ROUTE_WORDS: Final = 7
_SWAP_WORDS: Final = 7  # of a swap before its data
# An entry of the list takes at least its offset, its words and the length of its extra data.
_LEAST_SWAP_BYTES: Final = (1 + _SWAP_WORDS + 1) * WORD
_SWAP_TYPES: Final = {int(each): each for each in SwapType}


class Permit(NamedTuple):
    """An owner's signature (EIP-2612) that lets the router take the input until `deadline` (Unix seconds)."""

    deadline: int
    v: int
    r: bytes
    s: bytes


def encode_call(call: RouterCall) -> str:
    """Return the calldata of `swap`, of `swapIntegrator` with integrator data, or of `swapBefore` with a deadline: hex
    with 0x.

    Raises `InvalidInput`, which names the field whose value is out of range.
    """
    swaps = _list_words(call.swaps)
    route = _route_words(call.route)
    if call.deadline_s is not None:
        head = _ROUTE_WORDS + 3
        offsets = _offset(head) + f"{head * WORD + len(swaps) // 2:064x}"
        deadline = encode_uint(call.deadline_s, 256, "deadline")
        return f"0x{SWAP_BEFORE}{deadline}{route}{offsets}{swaps}{encode_bytes(call.integrator_data)}"
    if not call.integrator_data:
        return f"0x{SWAP}{route}{_offset(_ROUTE_WORDS + 1)}{swaps}"
    head = _ROUTE_WORDS + 2
    offsets = _offset(head) + f"{head * WORD + len(swaps) // 2:064x}"
    return f"0x{SWAP_INTEGRATOR}{route}{offsets}{swaps}{encode_bytes(call.integrator_data)}"


def decode_call(calldata: str) -> RouterCall:
    """Decode calldata of `swap`, `swapIntegrator` or `swapBefore`: the exact inverse of `encode_call`.

    Raises `InvalidInput` for anything else, with the problem. Time and memory grow with the length of the input.
    """
    selector, reader = _open(calldata)
    if selector not in _CALLS:
        _refuse_selector(selector, _CALLS)
    call = _read_call(selector, reader)
    reader.end("calldata")
    return call


def encode_permit_call(call: RouterCall, permit: Permit) -> str:
    """Return the calldata of `swapWithPermit`: hex with 0x.

    The call cannot contain integrator data. Raises `InvalidInput`.
    """
    if call.integrator_data:
        raise invalid_field("integrator_data", "swapWithPermit does not take any")
    if call.deadline_s is not None:
        raise invalid_field("deadline", "swapWithPermit uses its permit's")
    route, offset, swaps = _route_words(call.route), _offset(_ROUTE_WORDS + 5), _list_words(call.swaps)
    return f"0x{SWAP_WITH_PERMIT}{route}{offset}{_permit_words(permit)}{swaps}"


def decode_permit_call(calldata: str) -> tuple[RouterCall, Permit]:
    """Decode calldata of `swapWithPermit`: the exact inverse of `encode_permit_call`.

    Raises `InvalidInput` in the same cases as `decode_call`.
    """
    selector, reader = _open(calldata)
    if selector != SWAP_WITH_PERMIT:
        _refuse_selector(selector, {SWAP_WITH_PERMIT: "swapWithPermit"})
    decoded = _read_permit_call(reader)
    reader.end("calldata")
    return decoded


class DecodedRouterCall(NamedTuple):
    """A router call, and the number of bytes after its end."""

    call: RouterCall
    permit: Permit | None
    trailing_bytes: int


def decode_any_call(calldata: str) -> DecodedRouterCall:
    """Decode a call of any of the functions, even with bytes after its end. Raises `InvalidInput` in the same cases as
    `decode_call`."""
    selector, reader = _open(calldata)
    permit = None
    if selector == SWAP_WITH_PERMIT:
        call, permit = _read_permit_call(reader)
    elif selector in _CALLS:
        call = _read_call(selector, reader)
    else:
        _refuse_selector(selector, {**_CALLS, SWAP_WITH_PERMIT: "swapWithPermit"})
    return DecodedRouterCall(call, permit, reader.remaining)


def _read_call(selector: str, reader: AbiReader) -> RouterCall:
    """Read the arguments of `swap`, `swapIntegrator` or `swapBefore`."""
    deadline_s = reader.uint(256, "deadline") if selector == SWAP_BEFORE else None
    route = _read_route(reader)
    if selector == SWAP:
        reader.offset((_ROUTE_WORDS + 1) * WORD, "swaps")
        return RouterCall(route, _read_list(reader))
    reader.offset((_ROUTE_WORDS + (2 if deadline_s is None else 3)) * WORD, "swaps")
    integrator_offset = reader.uint(256, "integrator_data offset")
    swaps = _read_list(reader)
    if integrator_offset != reader.position:
        raise invalid_field("integrator_data offset", f"expected {reader.position}, not {integrator_offset}")
    integrator_data = reader.content("integrator_data")
    if not integrator_data and deadline_s is None:
        raise invalid_field("integrator_data", "empty, although the call is swapIntegrator")
    return RouterCall(route, swaps, integrator_data, deadline_s)


def _read_permit_call(reader: AbiReader) -> tuple[RouterCall, Permit]:
    """Read the arguments of `swapWithPermit`."""
    route = _read_route(reader)
    reader.offset((_ROUTE_WORDS + 5) * WORD, "swaps")
    permit = Permit(reader.uint(256, "deadline"), reader.uint(8, "v"), reader.word("r"), reader.word("s"))
    return RouterCall(route, _read_list(reader)), permit


def _offset(words: int) -> str:
    return f"{words * WORD:064x}"


def _route_words(route: RouterRouteParam) -> str:
    return (
        encode_address(route.token_in, "token_in")
        + encode_address(route.token_out, "token_out")
        + encode_uint(route.amount_in, 256, "amount_in")
        + encode_uint(route.amount_out, 256, "amount_out")
        + encode_uint(route.min_received, 256, "min_received")
        + encode_address(route.recipient, "destination")
        + encode_uint(_known_type(route.swap_type), 8, "swap_type")
    )


def _permit_words(permit: Permit) -> str:
    return (
        encode_uint(permit.deadline, 256, "deadline")
        + encode_uint(permit.v, 8, "v")
        + encode_bytes32(permit.r, "r")
        + encode_bytes32(permit.s, "s")
    )


def _list_words(swaps: Sequence[RouterSwapParam]) -> str:
    """Return the words of an array: its length, the offset of each entry (in bytes after the length), then the
    entries."""
    offsets, entries, at = [], [], len(swaps) * WORD
    for k, swap in enumerate(swaps):
        offsets.append(f"{at:064x}")
        try:
            entries.append(_swap_words(swap))
        except InvalidInput as error:
            _refuse_entry(k, error)
        at += len(entries[-1]) // 2
    return f"{len(swaps):064x}{''.join(offsets)}{''.join(entries)}"


def _swap_words(swap: RouterSwapParam) -> str:
    return (
        encode_address(swap.token_in, "token_in")
        + encode_address(swap.token_out, "token_out")
        + encode_uint(_possible_rate(swap.rate), 32, "rate")
        + encode_int(swap.protocol_id, 24, "protocol_id")
        + encode_address(swap.pool_address, "pool_address")
        + encode_uint(_known_type(swap.swap_type), 8, "swap_type")
        + _offset(_SWAP_WORDS)
        + encode_bytes(swap.extra_data)
    )


def _open(calldata: str) -> tuple[str, AbiReader]:
    """Return the selector in hex, and a reader for the arguments."""
    raw = parse_hex(calldata, "calldata")
    if len(raw) < SELECTOR_BYTES:
        raise invalid_field("selector", f"expected {SELECTOR_BYTES} bytes, not {len(raw)}")
    return raw[:SELECTOR_BYTES].hex(), AbiReader(raw[SELECTOR_BYTES:])


def _read_route(reader: AbiReader) -> RouterRouteParam:
    return RouterRouteParam(
        token_in=reader.address("token_in"),
        token_out=reader.address("token_out"),
        amount_in=reader.uint(256, "amount_in"),
        amount_out=reader.uint(256, "amount_out"),
        min_received=reader.uint(256, "min_received"),
        recipient=reader.address("destination"),
        swap_type=_known_type(reader.uint(8, "swap_type")),
    )


def _read_list(reader: AbiReader) -> tuple[RouterSwapParam, ...]:
    count = reader.uint(256, "swaps length")
    if count > reader.remaining // _LEAST_SWAP_BYTES:
        raise invalid_field("swaps length", f"{count} entries do not fit the {reader.remaining} bytes that are left")
    start = reader.position
    offsets = [reader.uint(256, f"swaps[{k}] offset") for k in range(count)]
    return tuple(_read_entry(reader, k, offset, start) for k, offset in enumerate(offsets))


def _read_entry(reader: AbiReader, k: int, offset: int, start: int) -> RouterSwapParam:
    if offset != reader.position - start:
        raise invalid_field(f"swaps[{k}] offset", f"expected {reader.position - start}, not {offset}")
    try:
        return _read_swap(reader)
    except InvalidInput as error:
        _refuse_entry(k, error)


def _read_swap(reader: AbiReader) -> RouterSwapParam:
    token_in, token_out = reader.address("token_in"), reader.address("token_out")
    rate = _possible_rate(reader.uint(32, "rate"))
    protocol_id = reader.signed(24, "protocol_id")
    pool_address = reader.address("pool_address")
    swap_type = _known_type(reader.uint(8, "swap_type"))
    reader.offset(_SWAP_WORDS * WORD, "extra_data")
    return RouterSwapParam(
        token_in, token_out, rate, protocol_id, pool_address, swap_type, reader.content("extra_data")
    )


def _possible_rate(rate: int) -> int:
    """Check a rate: the router rejects others (`RateZero`, `RateExceedsMaximum`)."""
    if not 0 < rate <= RATE_SCALE:
        raise invalid_field("rate", f"expected 1 to {RATE_SCALE}, not {rate}")
    return rate


def _known_type(number: int) -> SwapType:
    known = _SWAP_TYPES.get(number)
    if known is None:
        raise invalid_field("swap_type", f"expected 0, 1 or 2, not {number}")
    return known


def _refuse_selector(selector: str, known: dict[str, str]) -> NoReturn:
    expected = " or ".join(f"0x{each} ({name})" for each, name in known.items())
    raise invalid_field("selector", f"expected {expected}, not 0x{selector}")


def _refuse_entry(k: int, error: InvalidInput) -> NoReturn:
    """Raise the same error with the entry to which it belongs."""
    raise InvalidInput(
        f"swaps[{k}].{error.message}", details={"field": f"swaps[{k}].{error.details['field']}"}
    ) from None
