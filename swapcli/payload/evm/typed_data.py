"""Typed data to sign (EIP-712): its JSON, as accepted by `eth_signTypedData_v4`, and its digest.

    digest = keccak(0x1901 || hashStruct(domain) || hashStruct(message))
    hashStruct(s) = keccak(keccak(encodeType(s)) || the words of its fields)

Fields are addresses, numbers, strings and structs, which is all that permits need.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from swapcli.core.encoding.abi import encode_address, encode_uint
from swapcli.core.encoding.keccak import keccak256
from swapcli.core.records import NamedTuple

DOMAIN: Final = "EIP712Domain"
_PREFIX: Final = b"\x19\x01"
_DOMAIN_FIELDS: Final = {
    "name": "string",
    "version": "string",
    "chainId": "uint256",
    "verifyingContract": "address",
}

Struct = Mapping[str, str]
"""The types of the fields of a struct, by name, in order."""


class TypedData(NamedTuple):
    """A message to sign. `types` has the structs by name; `domain` has its fields in the order of the standard.

    Values are strings, numbers, addresses in canonical form, and mappings for structs.
    """

    types: Mapping[str, Struct]
    primary_type: str
    domain: Mapping[str, Any]
    message: Mapping[str, Any]

    def document(self) -> dict[str, Any]:
        """Return the JSON. Numbers of more than 53 bits would lose digits in JavaScript, so they are strings."""
        types = {DOMAIN: self._domain_type(), **self.types}
        return {
            "types": {
                name: [{"name": field, "type": kind} for field, kind in fields.items()]
                for name, fields in types.items()
            },
            "primaryType": self.primary_type,
            "domain": dict(self.domain),
            "message": self._rendered(self.primary_type, self.message),
        }

    def digest(self) -> bytes:
        """Return the 32 bytes that are signed. Raises `InvalidInput` for a value that does not fit its type."""
        separator = domain_separator(self.domain)
        return keccak256(_PREFIX + separator + _hash_struct(self.primary_type, self.types, self.message))

    def _domain_type(self) -> Struct:
        return {field: kind for field, kind in _DOMAIN_FIELDS.items() if field in self.domain}

    def _rendered(self, name: str, values: Mapping[str, Any]) -> dict[str, Any]:
        return {
            field: self._rendered(kind, values[field]) if kind in self.types else str(values[field])
            for field, kind in self.types[name].items()
        }


def domain_separator(domain: Mapping[str, Any]) -> bytes:
    """Return the hash of a domain, in the form that contracts return."""
    fields = {field: kind for field, kind in _DOMAIN_FIELDS.items() if field in domain}
    return _hash_struct(DOMAIN, {DOMAIN: fields}, domain)


def _hash_struct(name: str, types: Mapping[str, Struct], values: Mapping[str, Any]) -> bytes:
    words = (_word(kind, types, values[field]) for field, kind in types[name].items())
    return keccak256(keccak256(_encode_type(name, types).encode()) + b"".join(words))


def _encode_type(name: str, types: Mapping[str, Struct]) -> str:
    """Return the struct, then the structs of its fields by name."""
    used: set[str] = set()
    new = {name}
    while new:
        used |= new
        new = {kind for each in new for kind in types[each].values() if kind in types} - used
    return "".join(
        f"{each}({','.join(f'{kind} {field}' for field, kind in types[each].items())})"
        for each in (name, *sorted(used - {name}))
    )


def _word(kind: str, types: Mapping[str, Struct], value: Any) -> bytes:
    if kind in types:
        return _hash_struct(kind, types, value)
    if kind == "string":
        return keccak256(value.encode())
    if kind == "address":
        return bytes.fromhex(encode_address(value, kind))
    return bytes.fromhex(encode_uint(value, int(kind.removeprefix("uint")), kind))
