"""The powers of a token's owner over its holders, according to standard slots and functions.

Only names are checked: a function with an unusual name is missed, and one that is found may be harmless.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from swapcli.core.encoding.abi import ADDRESS_BYTES, WORD
from swapcli.core.encoding.keccak import keccak256
from swapcli.core.records import NamedTuple


class Power(StrEnum):
    """A power that a token's owner may have over its holders."""

    UPGRADE = "upgrade"
    MINT = "mint"
    PAUSE = "pause"
    BLOCKLIST = "blocklist"


class TokenPower(NamedTuple):
    """A power, and the slot or function that shows it."""

    power: Power
    evidence: str


class TokenPowers(NamedTuple):
    """The powers over a token; `owner` is the result of the token's `owner()`, None if there is none."""

    token: str
    symbol: str
    powers: tuple[TokenPower, ...]
    owner: str | None = None

    @property
    def names(self) -> tuple[Power, ...]:
        """The powers, without duplicates."""
        return tuple(dict.fromkeys(each.power for each in self.powers))


def _eip1967(name: str) -> int:
    return int.from_bytes(keccak256(f"eip1967.proxy.{name}".encode())) - 1


IMPLEMENTATION_SLOTS: Final = {
    "EIP-1967 implementation": _eip1967("implementation"),
    "EIP-1822 implementation": int.from_bytes(keccak256(b"PROXIABLE")),
    "ZeppelinOS implementation": int.from_bytes(keccak256(b"org.zeppelinos.proxy.implementation")),
}
"""Slots that hold the address of a proxy's code."""
BEACON_SLOT: Final = ("EIP-1967 beacon", _eip1967("beacon"))
"""The slot that contains the address of a beacon, which names the code of its proxies."""

PAUSED_GETTERS: Final = ("paused()",)
BLOCKED_GETTERS: Final = (
    "isBlacklisted(address)",
    "isBlackListed(address)",
    "isBlocked(address)",
    "isBlocklisted(address)",
    "isFrozen(address)",
    "isSanctioned(address)",
    "getBlackListStatus(address)",
)
"""The functions that return whether an account is barred from transfers."""
_FUNCTIONS: Final[dict[Power, tuple[str, ...]]] = {
    Power.UPGRADE: ("upgradeTo(address)", "upgradeToAndCall(address,bytes)", "setImplementation(address)"),
    Power.MINT: (
        "mint(address,uint256)",
        "mint(uint256)",
        "mintTo(address,uint256)",
        "issue(uint256)",
        "issue(address,uint256)",
        "increaseSupply(uint256)",
        "crosschainMint(address,uint256)",
    ),
    Power.PAUSE: (
        *PAUSED_GETTERS,
        "pause()",
        "setPaused(bool)",
        "pauseTrading()",
        "setTradingEnabled(bool)",
        "enableTrading(bool)",
    ),
    Power.BLOCKLIST: (
        *BLOCKED_GETTERS,
        "blacklist(address)",
        "addBlackList(address)",
        "addToBlacklist(address)",
        "setBlacklist(address,bool)",
        "blacklistAddress(address,bool)",
        "blockAccount(address)",
        "addBlocked(address)",
        "addToBlockedList(address[])",
        "freeze(address)",
        "freezeAccount(address,bool)",
    ),
}
_PUSH1, _PUSH4, _PUSH32 = 0x60, 0x63, 0x7F
_MINIMAL_PROXY: Final = (bytes.fromhex("363d3d373d3d3d363d73"), bytes.fromhex("5af43d82803e903d91602b57fd5bf3"))
"""ERC-1167's code around the address to which it delegates, which never changes."""


def selector_of(signature: str) -> bytes:
    """Return the four bytes that select a function."""
    return keccak256(signature.encode())[:4]


def minimal_proxy_target(code: bytes) -> str | None:
    """Return the address to which an ERC-1167 proxy delegates, or None for other code."""
    head, tail = _MINIMAL_PROXY
    if not (code.startswith(head) and code.endswith(tail) and len(code) == len(head) + ADDRESS_BYTES + len(tail)):
        return None
    return f"0x{code[len(head) : len(head) + ADDRESS_BYTES].hex()}"


def selectors_in(code: bytes) -> frozenset[bytes]:
    """Return the four-byte constants that code pushes, which include the selectors of its functions."""
    found, position = set(), 0
    while position < len(code):
        opcode = code[position]
        size = opcode - _PUSH1 + 1 if _PUSH1 <= opcode <= _PUSH32 else 0
        if opcode == _PUSH4:
            found.add(code[position + 1 : position + 5])
        position += 1 + size
    return frozenset(found)


def powers_in(code: bytes, slots: Mapping[str, str]) -> tuple[TokenPower, ...]:
    """Return the powers shown by `code` and by `slots`, the addresses that a proxy stores by slot name.

    `code` is a token's own code, followed by its implementation's code.
    """
    of_slots = [TokenPower(Power.UPGRADE, f"{name} {address}") for name, address in slots.items()]
    selectors = selectors_in(code)
    of_code = [
        TokenPower(power, signature)
        for power, signatures in _FUNCTIONS.items()
        for signature in signatures
        if selector_of(signature) in selectors
    ]
    return (*of_slots, *of_code)


def address_in(word: bytes) -> str | None:
    """Return the address in a word, or None for zero and for anything else."""
    if len(word) < WORD or any(word[: WORD - ADDRESS_BYTES]) or not any(word[:WORD]):
        return None
    return f"0x{word[WORD - ADDRESS_BYTES : WORD].hex()}"
