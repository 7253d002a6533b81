"""The arguments of a tool: checked, and written as the words of its command."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Final

from swapcli import InvalidAmount, InvalidOption, ModelledState
from swapcli.core.encoding.closest import closest_names, did_you_mean
from swapcli.core.encoding.json_text import to_json
from swapcli.core.encoding.text import printable, truncate
from swapcli.core.records import NamedTuple
from swapcli.faces.cli.command_app import CommandParameter, OptionText
from swapcli.faces.cli.json_field import WHOLE
from swapcli.faces.cli.quote_context import with_amount_last
from swapcli.faces.cli.tools.tool_table import (
    BRIEF,
    DETAIL,
    DETAILS,
    LIMIT,
    MAX_ORDERS,
    OFFSET,
    ORDER_FIELDS,
    ORDERS,
    PAYLOAD,
    PROOF,
    ToolDefinition,
)
from swapcli.quoting.order_keys import AMOUNT, TOKEN_IN, TOKEN_OUT, with_current_keys

MAX_TEXT = 10_000
"""Maximum characters of an argument. The system limits each word of a command line to 128 KiB."""
MAX_STDIN_TEXT = 1_000_000
"""Maximum characters of an argument on stdin, whose length the command limits further."""
MAX_SHORT_TEXT = 200
"""Maximum characters of a field of an order."""
MAX_DIGITS = 6
"""Maximum digits of an offset or a limit."""
MAX_EXACT, EXACT_DIGITS = 2**53, 15
"""The largest integer, and the number of digits of a decimal, that stay exact as JSON numbers."""
_SHOWN = 60
_WHOLE_DOCUMENT = ("--json", f"--get={WHOLE}")
"""Options that let the command treat an agent's tool as a program: with --get, prices that are not real are an error
unless the user requested them."""
_BOOLEANS = {"true": True, "false": False}
OFFLINE: Final = "offline"
_ORDER_EXAMPLE = 'as in [{"tokenIn": "ETH", "tokenOut": "USDC", "amount": "1.5"}]'
_NUMBERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "N": ("integer",),
        "SECONDS": ("number",),
        "PERCENT": ("number", "string"),
        "PRICE": ("integer", "string"),
    }
)
"""The JSON types of numeric arguments, by the metavars of their options."""


_ORDER_WORDS: Final = ("token_in", "token_out", "amount")


class CommandLine(NamedTuple):
    """The words of a command, without the program's name, and its stdin."""

    words: tuple[str, ...]
    stdin: str = ""


class ServerOptions(NamedTuple):
    """The options set on the server's own command line, by parameter. They apply to every tool that has them, and
    agents cannot change them. If `tools` is not empty, the server has only the tools with these names.

    If the server `uses_no_node`, a transaction still needs the argument `offline`, which only the user may request: the
    person who starts the server does not see what an agent builds.
    """

    values: Mapping[str, object] = MappingProxyType({})
    tools: tuple[str, ...] = ()
    uses_no_node: bool = False

    def offers(self, tool: ToolDefinition) -> bool:
        """Return whether the server has a tool."""
        return (not self.tools or tool.name in self.tools) and not (tool.needs_node and OFFLINE in self.values)


NO_SERVER_OPTIONS = ServerOptions()


def json_types(parameter: CommandParameter) -> tuple[str, ...]:
    """Return the JSON types of an argument. Every number may also be text, and a number with a unit must be."""
    note, kind = parameter.annotation.__metadata__[0], parameter.annotation.__origin__
    if kind is bool:
        return ("boolean",)
    if kind in (list[str], list[str] | None):
        return ("array",)
    metavar = note.metavar if isinstance(note, OptionText) else None
    return _NUMBERS.get(metavar or "", ("string",))


def choices(parameter: CommandParameter) -> tuple[str, ...]:
    """Return the values that an option accepts if its metavar lists them, as in v1|v2. Words in capitals, as in N|HASH,
    are placeholders."""
    note = parameter.annotation.__metadata__[0]
    metavar = (note.metavar or "") if isinstance(note, OptionText) else ""
    return tuple(metavar.strip("[]").split("|")) if "|" in metavar and metavar.islower() else ()


def build_command_line(tool: ToolDefinition, arguments: Mapping[str, Any], server: ServerOptions) -> CommandLine:
    """Return the command line of a call. No other function writes one.

    `arguments` are the command's arguments, checked by `split_arguments`. The tool's `stdin` is already text.
    """
    values = dict(tool.defaults) | dict(arguments)
    stdin = str(values.pop(tool.stdin, "")) if tool.stdin else ""
    options: list[str] = []
    words: list[str] = []
    for parameter in tool.registered().parameters():
        value = server.values.get(parameter.name) or values.get(parameter.name)
        note = parameter.annotation.__metadata__[0]
        if isinstance(note, OptionText):
            options.extend(_option_words(note, value))
        elif parameter.name == tool.stdin:
            words.append("-")
        elif value is not None:
            words.extend(value if isinstance(value, list) else [str(value)])
    # Behind -- no word is an option. Only Typer knows it, and its import takes long, so it is added only if needed.
    guard = ["--"] if any(word.startswith("-") and word != "-" for word in words) else []
    return CommandLine((tool.command, *options, *_WHOLE_DOCUMENT, *guard, *words), stdin)


class CallArguments(NamedTuple):
    """The checked arguments of a call: those for the command, and those that the server handles."""

    command: dict[str, Any]
    detail: str = BRIEF
    offset: int = 0
    limit: int | None = None
    payload: str | None = None
    proof: bool = False


def split_arguments(tool: ToolDefinition, arguments: Mapping[str, Any], server: ServerOptions) -> CallArguments:
    """Check the arguments of a call, and return them. Raises `InvalidOption` for arguments that the tool does not
    accept, and `InvalidAmount`."""
    allowed = allowed_parameters(tool, server)
    given = {name: value for name, value in arguments.items() if value is not None}
    for name in given:
        if name not in allowed and name not in tool.own_arguments():
            raise _unknown_argument(tool, name, [*allowed, *tool.own_arguments()], server)
    is_live = given.get("live") is not None and OFFLINE not in server.values  # which overrides the setting
    if server.uses_no_node and tool.builds and not is_live and not _is_true(given.get(OFFLINE)):
        raise ModelledState("this server uses no node, so a transaction may be built on modelled prices")
    alternative = PAYLOAD if PAYLOAD in given else None
    for name in () if alternative else tool.required:
        if name not in given:
            needed = ", ".join(tool.required) + (f", or {PAYLOAD}" if tool.takes_payload else "")
            raise InvalidOption(f"the argument {name} is missing", hint=f"{tool.name} needs {needed}")
    own = {name: _check_own(name, given.pop(name)) for name in tool.own_arguments() if name in given}
    command = {name: _check(allowed[name], value, tool) for name, value in given.items()}
    _check_places(command)
    if ORDERS in own:
        command[ORDERS] = own.pop(ORDERS)
    return CallArguments(command, **own)


def _check_places(command: Mapping[str, Any]) -> None:
    """Check that the command will use an order's arguments as they are named.

    It moves a misplaced amount, because the words of a command line have no names. Raises `InvalidAmount`.
    """
    if any(name not in command for name in _ORDER_WORDS):
        return
    words = [command[name] for name in _ORDER_WORDS]
    if with_amount_last(words) != words:
        wrong = next(name for name, word in zip(_ORDER_WORDS, words, strict=True) if with_amount_last(words)[2] == word)
        raise InvalidAmount(
            f'amount: "{printable(truncate(words[2], _SHOWN))}" is not an amount',
            hint=f"{wrong} is {printable(truncate(command[wrong], _SHOWN))}, which looks like the amount",
        )


def allowed_parameters(tool: ToolDefinition, server: ServerOptions) -> dict[str, CommandParameter]:
    """Return the parameters that an agent may set on this server, by name."""
    return {
        name: each
        for name, each in tool.parameters().items()
        if name not in server.values or (tool.builds and name == OFFLINE)
    }


def _option_words(option: OptionText, value: object) -> Iterator[str]:
    """Yield the words of an option with its value: one word each, so that no value is taken for an option."""
    if value is True:
        yield option.name
    elif value is not None and value is not False:
        for each in value if isinstance(value, list) else [value]:
            yield f"{option.name}={each}"


def _check(parameter: CommandParameter, value: object, tool: ToolDefinition) -> str | bool | list[str]:
    """Return a value as the command takes it; models also write lists, booleans and numbers as JSON text.

    Raises `InvalidOption`.
    """
    name, types = parameter.name, json_types(parameter)
    if types == ("boolean",):
        return _read_boolean(name, value)
    if types == ("array",):
        value = _read_list(value)
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise _wrong_type(name, "an array of strings", value)
        return [_check_text(name, each, MAX_TEXT) for each in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = _exact_text(name, value)
    if name == tool.stdin and isinstance(value, dict | list):
        value = to_json(value)  # transactions come from wallets and nodes as objects
    if not isinstance(value, str):
        raise _wrong_type(name, "a string" if types == ("string",) else "a number", value)
    return _check_text(name, value, MAX_STDIN_TEXT if name == tool.stdin else MAX_TEXT)


def _is_true(value: object) -> bool:
    return value is True or (isinstance(value, str) and value.strip().lower() == "true")


def _read_boolean(name: str, value: object) -> bool:
    """Parse a boolean. Raises `InvalidOption`."""
    value = _BOOLEANS.get(value.strip().lower(), value) if isinstance(value, str) else value
    if not isinstance(value, bool):
        raise _wrong_type(name, "true or false", value)
    return value


def _exact_text(name: str, number: float) -> str:
    """Return a number as text. Raises `InvalidOption` for one that a client may have rounded."""
    if abs(number) > MAX_EXACT or len(Decimal(repr(number)).as_tuple().digits) > EXACT_DIGITS:
        raise InvalidOption(
            f"{name}: {_shown(number)} has more digits than a JSON number can hold", hint="write it as text"
        )
    text = format(Decimal(repr(number)), "f")
    return text.removesuffix(".0")


def _check_own(name: str, value: object) -> Any:
    """Return the value of an argument that the server handles. Raises `InvalidOption`."""
    if name == ORDERS:
        return _order_lines(value)
    if name == PROOF:
        return _read_boolean(name, value)
    if name in (LIMIT, OFFSET):
        return _count(name, value, 1 if name == LIMIT else 0)
    if not isinstance(value, str):
        raise _wrong_type(name, "a string", value)
    if name == DETAIL and value not in DETAILS:
        raise InvalidOption(f"detail: expected {' or '.join(DETAILS)}, not {_shown(value)}")
    return value


def _count(name: str, value: object, least: int) -> int:
    text = str(int(value)) if isinstance(value, float) and value == value // 1 else str(value)
    is_count = not isinstance(value, bool) and text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS
    if not is_count or int(text) < least:
        raise InvalidOption(f"{name}: expected a whole number of at least {least}, not {_shown(value)}")
    return int(text)


def _order_lines(value: object) -> str:
    """Return orders as a batch file. Raises `InvalidOption`."""
    orders = _read_list(value)
    if not isinstance(orders, list) or not 1 <= len(orders) <= MAX_ORDERS:
        raise InvalidOption(f"orders: expected an array of 1 to {MAX_ORDERS} orders", hint=_ORDER_EXAMPLE)
    if orders == [value]:
        raise InvalidOption(f"orders: expected an array of orders, not {_shown(value)}", hint=_ORDER_EXAMPLE)
    lines, names = [], set[str]()
    for number, written in enumerate(orders, start=1):
        order = with_current_keys(written) if isinstance(written, dict) else {}
        if set(order) - {"id"} != set(ORDER_FIELDS):
            raise InvalidOption(f"orders: order {number} does not have {', '.join(ORDER_FIELDS)}", hint=_ORDER_EXAMPLE)
        token_in, token_out, amount = (_order_text(f"orders: {each}", order[each]) for each in ORDER_FIELDS)
        name = _check_text("orders: id", str(order.get("id", number)), MAX_SHORT_TEXT)
        if name in names:
            raise InvalidOption(
                f"orders: order {number} repeats the id {_shown(name)}",
                hint="give each its own id, or none: the default is its number",
            )
        names.add(name)
        lines.append(to_json({"id": name, TOKEN_IN: token_in, TOKEN_OUT: token_out, AMOUNT: amount}))
    return "\n".join(lines) + "\n"


def _order_text(name: str, value: object) -> str:
    """Return a value of an order as text. Raises `InvalidOption` for a number that may have lost digits."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = _exact_text(name, value)
    return _check_text(name, str(value), MAX_SHORT_TEXT)


def _read_list(value: object) -> object:
    """Return a list from its JSON text or from a single string; other values as they are."""
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        with suppress(ValueError, RecursionError):
            return json.loads(value)
    return [value]


def _check_text(name: str, text: str, limit: int) -> str:
    """Return text that can be a word of a command line. Raises `InvalidOption`."""
    if len(text) > limit:
        raise InvalidOption(f"{name}: {len(text):,} characters are too many", hint=f"use at most {limit:,}")
    if any(character == "\0" or "\ud800" <= character <= "\udfff" for character in text):
        raise InvalidOption(f"{name}: has invalid characters", hint="remove NUL and lone surrogates")
    return text


def _wrong_type(name: str, expected: str, value: object) -> InvalidOption:
    return InvalidOption(f"{name}: expected {expected}, not {_shown(value)}")


def _shown(value: object) -> str:
    return printable(truncate(repr(value), _SHOWN))


_SYNONYMS: Final[Mapping[str, str]] = MappingProxyType(
    {**dict.fromkeys(("from", "from_address", "account", "owner"), "sender"), "recipient": "destination"}
)
"""Argument names of wallets and nodes, each with the name of the same argument here."""


def _unknown_argument(
    tool: ToolDefinition, name: str, allowed: Collection[str], server: ServerOptions
) -> InvalidOption:
    if name in server.values and name in tool.parameters():
        return InvalidOption(
            f"{name} is set on this server's command line and cannot be changed here", hint="remove it"
        )
    meant = _SYNONYMS.get(name.lower())
    names = [meant] if meant is not None and meant in allowed else closest_names(name, allowed)
    closest = did_you_mean(names)
    return InvalidOption(
        f'{tool.name} has no argument "{printable(truncate(name, _SHOWN))}"',
        hint=closest or f"arguments: {', '.join(allowed)}",
        details={"argument": name, "closest": names},
    )
