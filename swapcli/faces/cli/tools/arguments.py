"""The arguments of a tool: checked, and written as the words of its command."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from swapcli.core.encoding.closest import closest_names, did_you_mean
from swapcli.core.encoding.json_text import to_json
from swapcli.core.encoding.text import printable, truncate
from swapcli.core.errors import InvalidOption
from swapcli.core.records import NamedTuple
from swapcli.faces.cli.command_app import CommandParameter, OptionText
from swapcli.faces.cli.tools.tool_table import ToolDefinition

MAX_TEXT = 10_000
"""Characters of an argument: the system limits the words of a command to 128 KiB each."""
MAX_STDIN_TEXT = 1_000_000
"""Characters of an argument on stdin, which the command limits itself."""
_SHOWN = 60
_WHOLE = frozenset({"N", "BPS", "PRICE"})
_DECIMAL = frozenset({"PERCENT", "SECONDS"})


class CommandLine(NamedTuple):
    """The words of a command, without the program's name, and its stdin."""

    words: tuple[str, ...]
    stdin: str = ""


class ServerOptions(NamedTuple):
    """The options that the server's own command line sets, by parameter. They hold for every tool that has them, and no
    agent changes them."""

    values: Mapping[str, object] = MappingProxyType({})


NO_SERVER_OPTIONS = ServerOptions()


def json_types(parameter: CommandParameter) -> tuple[str, ...]:
    """Return the JSON types of an argument; numbers are also taken as text, as on a command line."""
    note, kind = parameter.annotation.__metadata__[0], parameter.annotation.__origin__
    if kind is bool:
        return ("boolean",)
    if kind in (list[str], list[str] | None):
        return ("array",)
    metavar = note.metavar if isinstance(note, OptionText) else None
    if metavar in _WHOLE:
        return ("integer", "string")
    return ("number", "string") if metavar in _DECIMAL else ("string",)


def choices(parameter: CommandParameter) -> tuple[str, ...]:
    """Return the values that an option takes if its metavar lists them, as in v1|v2."""
    note = parameter.annotation.__metadata__[0]
    metavar = (note.metavar or "") if isinstance(note, OptionText) else ""
    return tuple(metavar.strip("[]").split("|")) if "|" in metavar else ()


def build_command_line(tool: ToolDefinition, arguments: Mapping[str, Any], server: ServerOptions) -> CommandLine:
    """Return the command line of a call. Raises `InvalidOption` for arguments that the tool does not take."""
    allowed = allowed_parameters(tool, server)
    given = {name: value for name, value in arguments.items() if value is not None}
    for name in given:
        if name not in allowed:
            raise _unknown_argument(tool, name, allowed, server)
    for name in tool.required:
        if name not in given:
            raise InvalidOption(f"the argument {name} is missing", hint=f"{tool.name} needs {', '.join(tool.required)}")
    values = dict(tool.defaults) | {name: _check(allowed[name], value, tool) for name, value in given.items()}
    stdin = str(values.pop(tool.stdin)) if tool.stdin else ""
    options: list[str] = []
    words = ["-"] if tool.stdin else []
    for parameter in tool.registered().parameters():
        value = server.values.get(parameter.name) or values.get(parameter.name)
        note = parameter.annotation.__metadata__[0]
        if isinstance(note, OptionText):
            options.extend(_option_words(note, value))
        elif value is not None:
            words.extend(value if isinstance(value, list) else [str(value)])
    # Behind -- no word is an option. Only Typer knows it, whose import takes long, so it stands where it is needed.
    guard = ["--"] if any(word.startswith("-") and word != "-" for word in words) else []
    return CommandLine((tool.command, *options, "--json", *guard, *words), stdin)


def allowed_parameters(tool: ToolDefinition, server: ServerOptions) -> dict[str, CommandParameter]:
    """Return the parameters that an agent may set on this server, by name."""
    return {name: each for name, each in tool.parameters().items() if name not in server.values}


def _option_words(option: OptionText, value: object) -> Iterator[str]:
    """Yield the words of an option with its value: one word each, so that no value is taken for an option."""
    if value is True:
        yield option.name
    elif value is not None and value is not False:
        for each in value if isinstance(value, list) else [value]:
            yield f"{option.name}={each}"


def _check(parameter: CommandParameter, value: object, tool: ToolDefinition) -> str | bool | list[str]:
    """Return a value as the command takes it. Raises `InvalidOption`."""
    name, types = parameter.name, json_types(parameter)
    if types == ("boolean",):
        if not isinstance(value, bool):
            raise _wrong_type(name, "true or false", value)
        return value
    if types == ("array",):
        if isinstance(value, str):
            value = [value]
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise _wrong_type(name, "an array of strings", value)
        return [_check_text(name, each, MAX_TEXT) for each in value]
    if isinstance(value, int | float) and not isinstance(value, bool) and types[0] != "string":
        return str(value)
    if name == tool.stdin and isinstance(value, dict | list):
        value = to_json(value)  # transactions come from wallets and nodes as objects
    if not isinstance(value, str):
        raise _wrong_type(name, "a string" if types == ("string",) else "a number", value)
    return _check_text(name, value, MAX_STDIN_TEXT if name == tool.stdin else MAX_TEXT)


def _check_text(name: str, text: str, limit: int) -> str:
    """Return text that can be a word of a command line. Raises `InvalidOption`."""
    if len(text) > limit:
        raise InvalidOption(f"{name}: {len(text):,} characters are too many", hint=f"at most {limit:,}")
    if any(character == "\0" or "\ud800" <= character <= "\udfff" for character in text):
        raise InvalidOption(f"{name}: has characters that no text has", hint="leave out NUL and lone surrogates")
    return text


def _wrong_type(name: str, expected: str, value: object) -> InvalidOption:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    hint = f'numbers lose digits on the way: write it as text, "{value}"' if is_number else None
    return InvalidOption(f"{name}: expected {expected}, not {printable(truncate(repr(value), _SHOWN))}", hint=hint)


def _unknown_argument(
    tool: ToolDefinition, name: str, allowed: Mapping[str, CommandParameter], server: ServerOptions
) -> InvalidOption:
    if name in server.values and name in tool.parameters():
        return InvalidOption(f"{name}: the command line of this server sets it", hint="leave it out")
    closest = did_you_mean(closest_names(name, allowed))
    known = f"arguments: {', '.join(allowed)}" if allowed else f"{tool.name} takes none"
    return InvalidOption(f'{tool.name} has no argument "{printable(truncate(name, _SHOWN))}"', hint=closest or known)
