"""Functions with named arguments, as in a published ABI, and calls that use the names.

A function is written as in Solidity, without modifiers: `approve(address spender, uint256 value)`, with a tuple as
`((address token, uint256 amount) order, bytes[] actions)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from swapcli.core.encoding.abi import SELECTOR_BYTES, WORD, invalid_field
from swapcli.core.encoding.abi_arguments import AbiValue, argument_types, encode_arguments, is_dynamic, split_types
from swapcli.core.encoding.keccak import keccak256
from swapcli.core.errors import InvalidInput
from swapcli.core.records import NamedTuple

_NAMED = re.compile(r"(.*?)(?: ([A-Za-z_][A-Za-z0-9_]*))?", re.DOTALL)


class NamedArgument(NamedTuple):
    """An argument, or a part of a tuple. `type` is the type in a JSON ABI: a tuple's is "tuple" or "tuple[]"."""

    name: str
    type: str
    components: tuple[NamedArgument, ...] = ()

    @property
    def canonical_type(self) -> str:
        """The type in a signature, such as "(address,uint256)[]"."""
        if not self.type.startswith("tuple"):
            return self.type
        return f"({','.join(each.canonical_type for each in self.components)}){self.type.removeprefix('tuple')}"


class Function(NamedTuple):
    """A function of a contract, with the names of its arguments."""

    name: str
    inputs: tuple[NamedArgument, ...]

    @property
    def signature(self) -> str:
        """The name with the canonical types, such as "approve(address,uint256)"."""
        return f"{self.name}({','.join(each.canonical_type for each in self.inputs)})"

    @property
    def selector(self) -> bytes:
        """The first four bytes of the function's calldata."""
        return keccak256(self.signature.encode())[:SELECTOR_BYTES]

    def encode(self, values: Sequence[AbiValue]) -> bytes:
        """Return the calldata of a call. Raises `InvalidInput` for values of the wrong types."""
        return self.selector + encode_arguments(self.signature, values)

    def decode(self, calldata: bytes) -> tuple[AbiValue, ...] | None:
        """Return the arguments of a call: words as numbers, `bytes`, and tuples and lists as tuples.

        The result is None if the calldata is not exactly the encoding of this function's arguments.
        """
        if calldata[:SELECTOR_BYTES] != self.selector:
            return None
        try:
            values = _decode_parts(argument_types(self.signature), calldata[SELECTOR_BYTES:], 0)
        except InvalidInput:
            return None
        return values if self.encode(values) == calldata else None


def parse_function(text: str) -> Function:
    """Parse a function as it is written in Solidity. Raises `InvalidInput`."""
    name, parenthesis, rest = text.partition("(")
    if not (name.isidentifier() and parenthesis and rest.endswith(")")):
        raise invalid_field("function", f'expected name(type name, ...), not "{text}"')
    return Function(name, tuple(map(_parse_argument, _parts(rest[:-1]))))


def _parts(text: str) -> Iterator[str]:
    return (each.strip() for each in split_types(text))


def _parse_argument(text: str) -> NamedArgument:
    end = text.rfind(")") + 1
    match = _NAMED.fullmatch(text[end:])
    kind, name = (match[1], match[2] or "") if match else (text[end:], "")
    if not end:
        return NamedArgument(name, kind)
    return NamedArgument(name, f"tuple{kind}", tuple(map(_parse_argument, _parts(text[1 : end - 1]))))


def _decode_parts(types: Sequence[str], raw: bytes, start: int) -> tuple[AbiValue, ...]:
    """Decode consecutive values; offsets count from `start`."""
    values, at = [], start
    for kind in types:
        if is_dynamic(kind):
            values.append(_decode(kind, raw, start + _word(raw, at)))
            at += WORD
        else:
            values.append(_decode(kind, raw, at))
            at += _static_size(kind)
    return tuple(values)


def _decode(kind: str, raw: bytes, at: int) -> AbiValue:
    if kind == "bytes":
        end = at + WORD + _word(raw, at)
        if end > len(raw):
            raise invalid_field("calldata", "ends inside bytes")
        return raw[at + WORD : end]
    if kind.endswith("[]"):
        count = _word(raw, at)
        if count * WORD > len(raw):
            raise invalid_field("calldata", f"has no room for {count} entries")
        return _decode_parts([kind.removesuffix("[]")] * count, raw, at + WORD)
    if kind.startswith("("):
        return _decode_parts(tuple(split_types(kind[1:-1])), raw, at)
    return _word(raw, at)


def _word(raw: bytes, at: int) -> int:
    if at + WORD > len(raw):
        raise invalid_field("calldata", "ends inside a word")
    return int.from_bytes(raw[at : at + WORD])


def _static_size(kind: str) -> int:
    return sum(map(_static_size, split_types(kind[1:-1]))) if kind.startswith("(") else WORD
