"""Encode calldata from a function's signature and arguments.

All one-word types, `bytes`, tuples, and lists of any supported type can be encoded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from swapcli.core.encoding.abi import Dynamic, encode_bytes, encode_fields, encode_word, invalid_field

AbiValue: TypeAlias = "int | str | bytes | Sequence[AbiValue]"
"""A number of any sign, a boolean, an address or 32 bytes in hex, the content of `bytes`, or the parts of a list or
tuple."""


def argument_types(signature: str) -> tuple[str, ...]:
    """Return the types of a function's arguments. Raises `InvalidInput` for text that is not a signature.

    Example: `argument_types("f((address,bool),uint256[])")` is `("(address,bool)", "uint256[]")`.
    """
    name, parenthesis, _ = signature.partition("(")
    if not (name.isidentifier() and parenthesis and signature.endswith(")")):
        raise invalid_field("signature", f'expected name(types), not "{signature}"')
    return tuple(split_types(signature[len(name) + 1 : -1]))


def encode_arguments(signature: str, values: Sequence[AbiValue]) -> bytes:
    """Return the encoded arguments of a call, without its selector.

    Raises `InvalidInput` for values of the wrong type.
    """
    return bytes.fromhex(encode_fields(*_encode_parts(argument_types(signature), values, signature)))


def _encode_parts(types: Sequence[str], values: Sequence[AbiValue], field: str) -> list[str | Dynamic]:
    if len(types) != len(values):
        raise invalid_field(field, f"expected {len(types)} values, not {len(values)}")
    return [_encode(kind, value, field) for kind, value in zip(types, values, strict=True)]


def _encode(kind: str, value: AbiValue, field: str) -> str | Dynamic:
    if kind == "bytes":
        if not isinstance(value, bytes):
            raise invalid_field(field, f"expected bytes, not {value!r}")
        return Dynamic(encode_bytes(value))
    if kind.endswith("[]"):
        entries = _require_list(value, field)
        words = encode_fields(*_encode_parts([kind[:-2]] * len(entries), entries, field))
        return Dynamic(f"{len(entries):064x}{words}")
    if kind.startswith("("):
        types = tuple(split_types(kind[1:-1]))
        words = encode_fields(*_encode_parts(types, _require_list(value, field), field))
        return Dynamic(words) if any(map(is_dynamic, types)) else words
    if not isinstance(value, int | str):
        raise invalid_field(field, f"expected one value of {kind}, not {value!r}")
    return encode_word(value).hex()


def is_dynamic(kind: str) -> bool:
    """Return whether values of a type vary in length, so that the head contains only an offset."""
    if kind == "bytes" or kind.endswith("[]"):
        return True
    return kind.startswith("(") and any(map(is_dynamic, split_types(kind[1:-1])))


def _require_list(value: AbiValue, field: str) -> Sequence[AbiValue]:
    if isinstance(value, int | str | bytes):
        raise invalid_field(field, f"expected several values, not {value!r}")
    return value


def split_types(types: str) -> Iterator[str]:
    """Yield the types in a comma-separated list. A tuple in parentheses is one type."""
    start = depth = 0
    for at, character in enumerate(types):
        depth += (character == "(") - (character == ")")
        if character == "," and not depth:
            yield types[start:at]
            start = at + 1
    if types:
        yield types[start:]
