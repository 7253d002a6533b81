"""Calls to contract functions on Starknet, in the same form as on an EVM: bytes of 32-byte words.

The calldata of a call is the selector of its function, then the felts of its arguments, one word each; the return data
is the felts of the result. `StarknetNode` puts them into JSON. Return data is untrusted: the expected felts are read
and trailing ones are ignored. Every reader raises `InvalidUpstreamResponse`, whose message begins with the name of the
function.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from swapcli.core.encoding.abi import WORD
from swapcli.core.encoding.keccak import keccak256
from swapcli.core.networks.address import STARKNET_ADDRESS_LIMIT
from swapcli.families.reading.call_encoding import invalid_response, read_words
from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.views import Decode, View

_SELECTOR_LIMIT: Final = 1 << 250  # selectors are hashes modulo this
_HALF_BITS: Final = 128  # a u256 is two felts with this many bits
_MAX_SHORT_STRING: Final = 31  # bytes of text in a felt
_NO_CONTRACT: Final = f"0x{0:064x}"


@lru_cache
def selector(name: str) -> int:
    """Return the selector of a function, or the first key of an event: its Keccak-256 hash modulo 2^250."""
    return int.from_bytes(keccak256(name.encode())) % _SELECTOR_LIMIT


def starknet_call(contract: str, function: str, *felts: int) -> ContractCall:
    """Return the call of a function with `felts` as its arguments."""
    words = (selector(function), *felts)
    return ContractCall(contract, b"".join([word.to_bytes(WORD) for word in words]))


def starknet_view(field: str, contract: str, function: str, *felts: int, decode: Decode) -> View:
    """Return the view that calls a Starknet function."""
    return View(field, starknet_call(contract, function, *felts), decode, function)


def read_felt_addresses(contract: str, functions: Sequence[str]) -> BatchRead[tuple[str, ...]]:
    """Read the addresses, such as a pool's tokens, that a contract's `functions` return, in one round of calls."""
    answers = yield [starknet_call(contract, name) for name in functions]
    return tuple(map(read_felt_address, answers, functions))


def class_hash_call(contract: str) -> ContractCall:
    """Return the call that reads the hash of a contract's class, which changes when the contract is upgraded."""
    return ContractCall(contract, b"")


def block_time_call() -> ContractCall:
    """Return the pseudo-call that reads the block's time: it has no calldata, and the zero address as its contract."""
    return ContractCall(_NO_CONTRACT, b"")


def is_block_time(contract: str, calldata: bytes) -> bool:
    """Return whether a call is the one from `block_time_call`."""
    return contract == _NO_CONTRACT and not calldata


def signed_felts(value: int) -> tuple[int, int]:
    """Return the felts of a signed number in the form that Ekubo and JediSwap use: the magnitude, then 1 if
    negative."""
    return abs(value), int(value < 0)


def read_felts(data: ReturnData, count: int, function: str) -> tuple[int, ...]:
    """Return the first `count` felts."""
    return read_words(data, count, function)


def read_felt_address(data: ReturnData, function: str) -> str:
    """Return the first felt as an address in canonical form; all zeros means no contract."""
    return to_starknet_address(read_felts(data, 1, function)[0], function)


def read_u256(data: ReturnData, function: str, index: int = 0) -> int:
    """Return a u256 whose lower half is the felt number `index`."""
    return join_u256(read_felts(data, index + 2, function)[index:], function)


def read_felt_list(data: ReturnData, function: str, index: int = 0) -> tuple[int, ...]:
    """Return an array whose length is the felt number `index`."""
    count = read_felts(data, index + 1, function)[index]
    if data is None or count > len(data) // WORD:
        raise invalid_response(function, f"a list of {count} felts is longer than the data")
    return read_felts(data, index + 1 + count, function)[index + 1 :]


def join_u256(halves: tuple[int, ...], name: str) -> int:
    """Return the number in two felts, with the lower half first."""
    low, high = halves
    if (low | high) >> _HALF_BITS:
        raise invalid_response(name, "half of a u256 exceeds 128 bits")
    return low | high << _HALF_BITS


def join_signed(felts: tuple[int, ...], name: str) -> int:
    """Return the signed number with a given magnitude and sign."""
    magnitude, sign = felts
    if magnitude >> _HALF_BITS or sign > 1:
        raise invalid_response(name, "a magnitude beyond 128 bits, or a sign other than 0 and 1")
    return -magnitude if sign else magnitude


def to_starknet_address(felt: int, name: str) -> str:
    """Return a felt as an address in canonical form."""
    if felt >= STARKNET_ADDRESS_LIMIT:
        raise invalid_response(name, "not an address")
    return f"0x{felt:064x}"


def read_felt_text(data: ReturnData, function: str) -> str:
    """Return a string: either a short string in one felt, or Cairo's `ByteArray`."""
    felts = read_felts(data, len(data or b"") // WORD, function)
    if not felts:
        raise invalid_response(function, "no felts")
    if len(felts) == 1:
        return _short_string(felts[0])
    count = felts[0]
    if len(felts) < count + 3 or felts[count + 2] > _MAX_SHORT_STRING:
        raise invalid_response(function, "not a text")
    whole = b"".join([felt.to_bytes(WORD)[1:] for felt in felts[1 : count + 1]])
    last = felts[count + 1].to_bytes(WORD)[WORD - felts[count + 2] :]
    return (whole + last).decode("utf-8", "replace")


def _short_string(felt: int) -> str:
    return felt.to_bytes(WORD).lstrip(b"\0").decode("utf-8", "replace")
