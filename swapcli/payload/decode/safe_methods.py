"""Encode a call as Safe's Transaction Builder does: a method with its inputs as text, in place of calldata.

The call is encoded as the Transaction Builder encodes it with ethers (apps/tx-builder/src/utils.ts of github
safe-global/safe- wallet-monorepo). Inputs that the Transaction Builder might read differently are rejected, such as a
number beyond JSON's range or text that is not a value of its type. If the Transaction Builder cannot encode a value, it
sends no data at all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from swapcli.core.encoding.abi import WORD
from swapcli.core.encoding.abi_arguments import AbiValue
from swapcli.core.encoding.strict_json import parse_json
from swapcli.core.errors import InvalidInput
from swapcli.core.model.network import Kind
from swapcli.core.networks.address import parse_address
from swapcli.core.validation.values import describe
from swapcli.payload.evm.abi_functions import Function, NamedArgument

METHOD: Final = "contractMethod"
VALUES: Final = "contractInputsValues"

_NAME: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]{0,199}")
_NEVER_ENCODED: Final = frozenset({"receive", "fallback"})
_KIND: Final = re.compile(r"(address|bool|bytes|bytes32|tuple|u?int([1-9][0-9]{0,2}))(\[\])?")
_NUMBER: Final = re.compile(r"-?[0-9]{1,78}")
_ADDRESS: Final = re.compile(r"0x[0-9a-fA-F]{40}")
_BYTES: Final = re.compile(r"0x(?:[0-9a-fA-F]{2})*")
_BOOLEANS: Final = {"true": 1, "1": 1, "false": 0, "0": 0}
_MAX_LEVELS: Final = 8  # a bound against hostile input; chosen
_MAX_INPUTS: Final = 64  # a bound against hostile input; chosen


def encode_method(method: object, values: object, path: str) -> str:
    """Return the calldata (hex with 0x) of a method with its inputs. `path` is the path of the fields.

    Raises `InvalidInput`.
    """
    function = _parse_method(method, f"{path}{METHOD}")
    place = f"{path}{VALUES}"
    texts = values if isinstance(values, Mapping) else {}
    if values is not None and not isinstance(values, Mapping):
        raise _wrong(place, "an object", values)
    names = [each.name or str(number) for number, each in enumerate(function.inputs)]
    if set(texts) != set(names):
        raise InvalidInput(f"{place}: its names differ from the method's inputs", details={"field": place})
    parsed = [
        _parse_input(each, texts[name], f"{place}.{name}") for name, each in zip(names, function.inputs, strict=True)
    ]
    return f"0x{function.encode(parsed).hex()}"


def _parse_method(method: object, path: str) -> Function:
    if not isinstance(method, Mapping):
        raise _wrong(path, "an object", method)
    name = method.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name in _NEVER_ENCODED:
        raise _wrong(f"{path}.name", "the name of a function", name)
    return Function(name, _parse_arguments(method.get("inputs"), f"{path}.inputs", 0))


def _parse_arguments(inputs: object, path: str, level: int) -> tuple[NamedArgument, ...]:
    if not isinstance(inputs, list) or len(inputs) > _MAX_INPUTS or level > _MAX_LEVELS:
        raise _wrong(path, "a list of inputs", inputs)
    return tuple(_parse_argument(each, f"{path}[{number}]", level) for number, each in enumerate(inputs))


def _parse_argument(entry: object, path: str, level: int) -> NamedArgument:
    if not isinstance(entry, Mapping):
        raise _wrong(path, "an object", entry)
    kind, name = entry.get("type"), entry.get("name")
    match = _KIND.fullmatch(kind) if isinstance(kind, str) else None
    if not isinstance(kind, str) or match is None or (match[2] and (int(match[2]) % 8 or int(match[2]) > 256)):
        raise _wrong(f"{path}.type", "a type that decode can encode", kind)
    if not isinstance(name, str):
        raise _wrong(f"{path}.name", "a text", name)
    components: tuple[NamedArgument, ...] = ()
    if match[1] == "tuple":
        components = _parse_arguments(entry.get("components"), f"{path}.components", level + 1)
    return NamedArgument(name, kind, components)


def _parse_input(argument: NamedArgument, value: object, path: str) -> AbiValue:
    """Parse a method's input: text, which is JSON for tuples, and a list in brackets for arrays."""
    if not isinstance(value, str):
        raise _wrong(path, "a text", value)
    text = value.strip()
    if argument.type.startswith("tuple"):
        return _parse_value(argument, parse_json(text.encode(errors="replace"), path), path)
    if not argument.type.endswith("[]"):
        return _parse_value(argument, text, path)
    if not (text.startswith("[") and text.endswith("]")) or "[" in text[1:]:
        raise _wrong(path, "a list in brackets", value)
    entries = text[1:-1].split(",") if text[1:-1].strip() else []
    entry = argument._replace(type=argument.type.removesuffix("[]"))
    return [_parse_value(entry, _unquoted(each), f"{path}[{number}]") for number, each in enumerate(entries)]


def _unquoted(text: str) -> str:
    return text.replace('"', "").replace("'", "").strip()


def _parse_value(argument: NamedArgument, value: object, path: str) -> AbiValue:
    kind = argument.type
    if kind.endswith("[]"):
        entry = argument._replace(type=kind.removesuffix("[]"))
        return [_parse_value(entry, each, f"{path}[{k}]") for k, each in enumerate(_require_list(value, path))]
    if kind == "tuple":
        parts = _require_list(value, path)
        if len(parts) != len(argument.components):
            raise _wrong(path, f"a list of {len(argument.components)} values", value)
        pairs = zip(argument.components, parts, strict=True)
        return [_parse_value(part, each, f"{path}[{k}]") for k, (part, each) in enumerate(pairs)]
    if not isinstance(value, str):
        raise _wrong(path, "a text", value)
    return _parse_word(kind, value, path)


def _parse_word(kind: str, text: str, path: str) -> AbiValue:
    if kind == "address" and _ADDRESS.fullmatch(text):
        return int(parse_address(text, Kind.EVM), 16)
    if kind == "bytes" and _BYTES.fullmatch(text):
        return bytes.fromhex(text[2:])
    if kind == "bytes32" and _BYTES.fullmatch(text) and len(text) == 2 + 2 * WORD:
        return int(text, 16)
    if kind == "bool" and text in _BOOLEANS:
        return _BOOLEANS[text]
    if "int" in kind and _NUMBER.fullmatch(text):
        bits = int(kind.removeprefix("u").removeprefix("int"))
        low, high = (0, 1 << bits) if kind.startswith("u") else (-(1 << bits - 1), 1 << bits - 1)
        if low <= int(text) < high:
            return int(text)
    raise _wrong(path, f"a value of {kind}", text)


def _require_list(value: object, path: str) -> Sequence[object]:
    if not isinstance(value, list):
        raise _wrong(path, "a list", value)
    return value


def _wrong(path: str, expected: str, value: object) -> InvalidInput:
    return InvalidInput(
        f"{path}: expected {expected}, not {describe(value)}",
        hint="encode the data with the tool that wrote it",
        details={"field": path},
    )
