"""Addresses written with their chain, as wallets and explorers show them.

Accepted are `base:0x...` (EIP-3770), `eip155:8453:0x...` and `starknet:SN_MAIN:0x...` (CAIP-10), and payment links such
as `ethereum:0x...@8453` (EIP-681), each on its own network. An address for a different chain is an error: the same
digits may belong to someone else, or to no one, on that chain.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from swapcli.core.encoding.text import SHOWN_INPUT_CHARACTERS, truncate
from swapcli.core.errors import InvalidAddress
from swapcli.core.model.network import Kind, Network

_SHORT_NAMES: Final[Mapping[int, tuple[str, ...]]] = MappingProxyType(
    {143: ("mon",), 999: ("hyper", "hyper_evm"), 4114: ("ctr",)}
)
"""Short names by chain ID, besides the network's own name (EIP-3770 takes them from ethereum-lists/chains)."""
_PREFIXED: Final = r"(?:([A-Za-z0-9_-]{1,32}):)?([A-Za-z0-9_-]{1,32}):(0[xX][0-9a-fA-F]+)"
_PAYMENT_LINK: Final = r"ethereum:(?:pay-)?(0[xX][0-9a-fA-F]+)@([0-9]{1,20})"
_EVM_NAMESPACE: Final = "eip155"


def _number_of(chain: str) -> int | None:
    return int(chain) if chain.isascii() and chain.isdecimal() else None


def _number_of_text(chain: str) -> int:
    """Return the chain ID as the number that encodes a short text in Cairo, such as SN_MAIN."""
    return int.from_bytes(chain.encode())


_NAMESPACES: Final[Mapping[Kind, tuple[str, Callable[[str], int | None]]]] = MappingProxyType(
    {Kind.EVM: (_EVM_NAMESPACE, _number_of), Kind.STARKNET: ("starknet", _number_of_text)}
)
"""The CAIP-2 namespace of each kind of network, and how it writes a chain ID."""


def strip_chain(text: str, network: Network) -> str:
    """Return the address from a text that may name its chain first; any other text stays unchanged.

    Raises `InvalidAddress` for an address on a different chain.
    """
    if link := re.fullmatch(_PAYMENT_LINK, text):
        address, chain = link.groups()
        is_own = _is_own(_EVM_NAMESPACE, chain, network)
        named = f"the chain with ID {chain}"
    elif prefixed := re.fullmatch(_PREFIXED, text):
        namespace, chain, address = prefixed.groups()
        is_own, named = _is_own(namespace, chain, network), _describe(namespace, chain)
    else:
        return text
    if is_own:
        return address
    shown = truncate(text, SHOWN_INPUT_CHARACTERS)
    raise InvalidAddress(
        f'"{shown}" is for {named}, not for {network.name}',
        hint=f"give an address on {network.name}",
        details={"address": shown, "network": network.name},
    )


def _is_own(namespace: str | None, chain: str, network: Network) -> bool:
    if namespace is None:
        names = (network.name, *_SHORT_NAMES.get(network.chain_id, ()), str(network.chain_id))
        return chain.lower() in names
    own_namespace, parse_chain_id = _NAMESPACES[network.kind]
    return namespace.lower() == own_namespace and parse_chain_id(chain) == network.chain_id


def _describe(namespace: str | None, chain: str) -> str:
    if namespace is None and not chain.isdecimal():
        return f"the chain {chain}"
    has_number = namespace is None or namespace.lower() == _EVM_NAMESPACE
    return f"the chain with ID {chain}" if has_number else f"the chain {namespace}:{chain}"
