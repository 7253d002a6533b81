"""Parse and display addresses.

Inside the program an address is always canonical: `0x` and lower-case hex, 40 digits on an EVM network, 64 on Starknet.
`_FORMATS` has the differences between the kinds of networks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import Final

from swapcli.core.encoding.text import SHOWN_INPUT_CHARACTERS, truncate
from swapcli.core.errors import InvalidAddress
from swapcli.core.model.network import Kind, Network
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.records import NamedTuple

NATIVE_PLACEHOLDER = "0x" + "e" * 40
"""The address that many clients use for the native token; the zero address means the same."""

STARKNET_ADDRESS_LIMIT = 1 << 251  # contract addresses have 251 bits

_EVM = re.compile(r"0[xX][0-9a-fA-F]{40}")
_STARKNET = re.compile(r"0[xX][0-9a-fA-F]{1,64}")
_EVM_IN_TEXT = re.compile(r"(?<![0-9a-zA-Z])0[xX][0-9a-fA-F]{40}(?![0-9a-zA-Z])")
_NEVER_IN_NAMES = frozenset("/\\:@?#%&=<>\u2026")

_HINT_CHECKSUM: Final = "copy the address again from its source: at least one character is wrong"
"""The checksum catches typing errors and forged addresses, so hints never show how to bypass it."""

_EVM_ADDRESS_CHARACTERS = 42  # 0x and 40 digits
_checksummed: dict[str, str] = {}
_MAX_HASHED_TOGETHER = 4_096  # entries in the cache
_hashed_together: dict[str, str] = {}
"""Addresses and their checksums; only the newest are kept, since any order can add more."""


def parse_address(text: str, kind: Kind) -> str:
    """Return the canonical form of `text`. Raises `InvalidAddress`, also for a wrong checksum.

    Digits that are all upper or all lower case carry no checksum and are accepted. Starknet: 0 < address < 2^251.
    """
    return _FORMATS[kind].parse(text)


def parse_network_address(text: str, network: Network) -> str:
    """Return the canonical form of an address that may name its chain, as in `base:0x...`.

    Raises `InvalidAddress`, also for an address on a different chain.
    """
    return parse_address(without_chain(text, network), network.kind)


def without_chain(text: str, network: Network) -> str:
    """Return the address from a text that may name its chain first; any other text stays unchanged.

    Raises `InvalidAddress` for an address on a different chain.
    """
    if ":" not in text:
        return text
    from swapcli.core.networks.chain_address import strip_chain

    return strip_chain(text, network)


def is_canonical(text: str, kind: Kind) -> bool:
    """Return whether `text` is an address in its canonical form."""
    return _FORMATS[kind].canonical.fullmatch(text) is not None


@lru_cache(maxsize=4096)
def display_address(address: str, kind: Kind) -> str:
    """Return a canonical address in display form: with its EIP-55 checksum on EVM networks, unchanged on Starknet.

    32-byte pool IDs have no checksum.
    """
    if not kind.traits.has_checksums or len(address) != _EVM_ADDRESS_CHARACTERS:
        return address
    return _checksummed.get(address) or _hashed_together.get(address) or _with_checksum(address)


def display_of(kind: Kind, addresses: Iterable[str]) -> Callable[[str], str]:
    """Return `display_address` for networks of a kind, with the checksums of `addresses` computed in advance."""
    prepare_display(addresses, kind)
    return partial(display_address, kind=kind)


def prepare_display(addresses: Iterable[str], kind: Kind) -> None:
    """Compute the checksums of many addresses at once, before they are shown. This is many times faster than one by
    one."""
    if not kind.traits.has_checksums:
        return
    plain = {address for address in addresses if len(address) == _EVM_ADDRESS_CHARACTERS}
    new = list(plain - _checksummed.keys() - _hashed_together.keys())
    if not new:
        return
    from swapcli.core.encoding.keccak import keccak256_many

    if len(_hashed_together) + len(new) > _MAX_HASHED_TOGETHER:
        _hashed_together.clear()
    hashes = keccak256_many([address[2:].encode() for address in new])
    _hashed_together.update((address, _mark(address, digest)) for address, digest in zip(new, hashes, strict=True))


def cache_checksums(addresses: Iterable[str]) -> None:
    """Remember EVM addresses that are known to be in checksum form, so that displaying them does not need the hash.

    Loading the hash takes longer than finding a route; the caller guarantees the checksums.
    """
    _checksummed.update((address.lower(), address) for address in addresses)


def is_native(address: str, kind: Kind = Kind.EVM) -> bool:
    """Return whether an address, in any letter case, means the native token. On Starknet, no address does, because the
    native token is an ordinary token."""
    return not kind.traits.native_is_token and address.lower() in (ZERO_ADDRESS, NATIVE_PLACEHOLDER)


def _parse_evm(text: str) -> str:
    if not _EVM.fullmatch(text):
        raise _invalid(text, "not an EVM address: expected 0x and 40 hexadecimal digits")
    digits, canonical = text[2:], text.lower()
    if digits not in (digits.lower(), digits.upper()) and digits != _with_checksum(canonical)[2:]:
        raise _invalid(text, "an address with a wrong checksum", hint=_HINT_CHECKSUM, has_wrong_checksum=True)
    return canonical


def _parse_starknet(text: str) -> str:
    if not _STARKNET.fullmatch(text):
        raise _invalid(text, "not a Starknet address: expected 0x and up to 64 hexadecimal digits")
    if not 0 < int(text, 16) < STARKNET_ADDRESS_LIMIT:
        raise _invalid(text, "not a Starknet address: expected a number above 0 and below 2^251")
    return "0x" + text[2:].lower().zfill(64)


class _Format(NamedTuple):
    """How the addresses of one kind of network are written: the parser, and the pattern of the canonical form."""

    parse: Callable[[str], str]
    canonical: re.Pattern[str]


_FORMATS: Final = {
    Kind.EVM: _Format(_parse_evm, re.compile(r"0x[0-9a-f]{40}")),
    # Above zero and below 2^251, whose 64 digits begin with 08.
    Kind.STARKNET: _Format(_parse_starknet, re.compile(r"0x(?!0{64})0[0-7][0-9a-f]{62}")),
}


def _invalid(text: str, problem: str, *, hint: str | None = None, has_wrong_checksum: bool = False) -> InvalidAddress:
    shown = truncate(text, SHOWN_INPUT_CHARACTERS)
    details = {"address": shown}
    return InvalidAddress(f'"{shown}" is {problem}', hint=hint, details=details, has_wrong_checksum=has_wrong_checksum)


def _with_checksum(address: str) -> str:
    """Return the address in EIP-55 form: a digit from a to f is upper-case if the digit of the hash is 8 or more."""
    from swapcli.core.encoding.keccak import keccak256

    return _mark(address, keccak256(address[2:].encode()))


def _mark(address: str, digest: bytes) -> str:
    """Return the address with the letter case that the hash of its digits determines."""
    marks = digest.hex()
    return "0x" + "".join([d.upper() if mark >= "8" else d for d, mark in zip(address[2:], marks, strict=False)])


def hash_code(code: bytes) -> str:
    """Return the Keccak-256 hash of a contract's code, in hex with 0x, as nodes write it."""
    from swapcli.core.encoding.keccak import keccak256

    return f"0x{keccak256(code).hex()}"


def check_account(address: str, kind: Kind) -> None:
    """Raise `InvalidAddress` for a canonical address that no account on this kind of network can have."""
    if not is_foreign_account(address, kind):
        return
    shown = f"0x{int(address, 16):040x}"
    raise InvalidAddress(
        f"{shown} is an Ethereum address, not a Starknet account",
        hint="give your Starknet wallet's address, which has up to 64 digits",
        details={"address": shown},
    )


def is_foreign_account(address: str, kind: Kind) -> bool:
    """Return whether a canonical address is too small to be an account, as addresses from a different kind of chain
    are."""
    return int(address, 16) < kind.traits.lowest_account


def is_name(text: str) -> bool:
    """Return whether `text` can be a name in a name service. Every such name has a dot, and no address does.

    Shortened addresses, URLs and email addresses also have dots, but their other characters never occur in names.
    """
    return "." in text and "" not in text.split(".") and not _NEVER_IN_NAMES.intersection(text)


def advise_address(text: str) -> str | None:
    """Return a hint for a text that is not an address; None if there is none."""
    found = _EVM_IN_TEXT.findall(text)
    if "/" in text and len(found) == 1:
        return f"give only the address: {found[0]}"
    if "..." in text or "\u2026" in text:
        return "this address is shortened: give the full address"
    return None
