"""The command tree and the tokens as data for completion; `python -m tests.generate.command_tree` writes the files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from swapcli.core.model.block_tag import BLOCK_TAGS
from swapcli.core.model.network import AUTO, DIALECTS
from swapcli.core.model.swappable_tokens import swappable_in
from swapcli.core.records import NamedTuple
from swapcli.faces.cli.completion import candidates
from swapcli.faces.cli.completion.kinds import FILES, FOLDERS, KEYS, LIST_MARK, NETWORKS, PROTOCOLS, TOKENS
from swapcli.faces.cli.completion.packaged_tokens import PACKAGED_TOKENS_FILE
from swapcli.faces.cli.completion.shell_scripts import SHELLS
from swapcli.faces.cli.help_topics import ORDER
from swapcli.faces.cli.lazy_group import CONTEXT_SETTINGS, PanelCommand
from swapcli.faces.cli.output import COMMON_FORMATS
from swapcli.faces.cli.tools.schemas import printed_by
from swapcli.interface.document_types import DOCUMENTS
from swapcli.quoting.config import TABLE
from swapcli.quoting.document_schemas import NETWORK_FILE
from swapcli.state.markets.embedded import embedded_names
from tests.support.markets import embedded_market

if TYPE_CHECKING:
    from typer._click import Command, Parameter

    from swapcli.core.model.market import MarketState

FILE = Path(candidates.__file__).with_name("command_tree.json")

ARGUMENT_VALUES: Final[Mapping[str, str | tuple[str, ...]]] = MappingProxyType(
    {
        "NETWORK": NETWORKS,
        "TOKEN_IN": TOKENS,
        "TOKEN_OUT": TOKENS,
        "TOKEN": TOKENS,
        "PATTERN": TOKENS,
        "FILE": FILES,
        "ID|NAME": KEYS,
        "TOPIC": ORDER,
        "KEY": tuple(TABLE),
        "SHELL": SHELLS,
        "DOCUMENT": (*DOCUMENTS, NETWORK_FILE, *printed_by()),
    }
)
"""What completes an argument, by its metavar: the words themselves, or a kind of names."""
_OPTION_VALUES: Final[Mapping[str, str | tuple[str, ...]]] = MappingProxyType(
    {
        "--router-dialect": (AUTO, *DIALECTS),
        "--block": BLOCK_TAGS,
        "--network": NETWORKS,
        "--networks": NETWORKS + LIST_MARK,
        "--tokens": TOKENS + LIST_MARK,
        "--protocols": PROTOCOLS + LIST_MARK,
        "--only-protocols": PROTOCOLS + LIST_MARK,
        "--exclude-protocols": PROTOCOLS + LIST_MARK,
    }
)
"""What completes the value of an option, where its metavar does not say it."""
_MAX_FIELD_DEPTH = 2  # deeper fields are in lists, whose lengths no schema knows


class CompletedOption(NamedTuple):
    """An option: its names, its help line, its metavar (None for a flag), and what completes its value."""

    names: tuple[str, ...]
    help: str
    metavar: str | None
    values: str | tuple[str, ...]


class CompletedArgument(NamedTuple):
    """An argument: its metavar without brackets, what completes it, and whether it takes several words."""

    metavar: str
    values: str | tuple[str, ...]
    is_repeated: bool


class CommandNode(NamedTuple):
    """A command: its path in the tree, its other names, its options, and its arguments."""

    path: tuple[str, ...]
    summary: str
    options: tuple[CompletedOption, ...]
    arguments: tuple[CompletedArgument, ...] = ()
    aliases: tuple[str, ...] = ()


@cache
def command_nodes() -> tuple[CommandNode, ...]:
    """Return all commands, the root first, groups before their commands."""
    return tuple(_command_nodes())


def _command_nodes() -> Iterator[CommandNode]:
    from typer.main import get_command

    from swapcli.faces.cli.overview import PROGRAM
    from swapcli.faces.cli.typer_root import Root, app

    root = get_command(app)
    yield CommandNode((), PROGRAM, tuple(_options((), root)))
    for name, entry in Root.entries.items():
        command = root.get_command(None, name)  # type: ignore[attr-defined]
        others = tuple(alias for alias, original in Root.aliases.items() if original == name)
        inner: dict[str, Command] = getattr(command, "commands", {})
        default = inner.get(getattr(command, "default", None) or "", command)
        yield _command_node((name,), entry.summary, default, others)
        for inner_name, leaf in inner.items():
            yield _command_node((name, inner_name), leaf.get_short_help_str(200), leaf)


def command_document() -> str:
    """Return the command tree as JSON for `candidates`, one option a line."""
    nodes = {
        " ".join(node.path): {
            "summary": node.summary,
            "aliases": node.aliases,
            "arguments": [(argument.values, argument.is_repeated) for argument in node.arguments],
            "options": [(option.names, option.help, option.metavar, option.values) for option in node.options],
        }
        for node in command_nodes()
    }
    blocks = (f"{json.dumps(path)}: {_node_text(node)}" for path, node in nodes.items())
    return "{\n" + ",\n".join(blocks) + "\n}\n"


def _node_text(node: Mapping[str, object]) -> str:
    options = node["options"]
    assert isinstance(options, list)
    head = json.dumps({key: value for key, value in node.items() if key != "options"})
    return f'{head[:-1]}, "options": [\n' + ",\n".join(f"  {json.dumps(option)}" for option in options) + "]}"


def _command_node(path: tuple[str, ...], summary: str, command: Command, aliases: tuple[str, ...] = ()) -> CommandNode:
    return CommandNode(path, summary, tuple(_options(path, command)), tuple(_arguments(command)), aliases)


def _options(path: tuple[str, ...], command: Command) -> Iterator[CompletedOption]:
    for parameter in command.params:
        if parameter.param_type_name == "option":
            metavar = None if getattr(parameter, "is_flag", False) else parameter.metavar
            names = tuple(parameter.opts)
            is_format = "--format" in names
            values = _formats_of(command) if is_format else _values_of_option(path, names, metavar)
            yield CompletedOption(names, _one_line(parameter), metavar, values)
    yield CompletedOption(tuple(CONTEXT_SETTINGS["help_option_names"]), "Show this message and exit.", None, "")


def _formats_of(command: Command) -> tuple[str, ...]:
    assert isinstance(command, PanelCommand)
    registered = command.registered
    return tuple((registered.formats if registered else ()) or COMMON_FORMATS)


def _values_of_option(path: tuple[str, ...], names: tuple[str, ...], metavar: str | None) -> str | tuple[str, ...]:
    if "--get" in names:
        return _fields_of("-".join(path))
    known = next((_OPTION_VALUES[name] for name in names if name in _OPTION_VALUES), None)
    if known is not None or metavar is None:
        return known or ""
    return tuple(metavar.strip("[]").split("|")) if "|" in metavar else {"FILE": FILES, "DIR": FOLDERS}.get(metavar, "")


def _fields_of(document: str) -> tuple[str, ...]:
    """Return the dotted paths of the fields of a document; those of a list belong to its first entry."""
    if document not in DOCUMENTS:
        return ()
    from swapcli.interface.json_schemas import build_document_schema

    schema = build_document_schema(document)
    return tuple(dict.fromkeys(_field_paths(schema, schema.get("$defs", {}), "", _MAX_FIELD_DEPTH)))


def _field_paths(schema: Mapping[str, Any], known: Mapping[str, Any], prefix: str, depth: int) -> Iterator[str]:
    if "$ref" in schema:
        yield from _field_paths(known[schema["$ref"].rpartition("/")[2]], known, prefix, depth)
    for variant in schema.get("anyOf", ()):
        yield from _field_paths(variant, known, prefix, depth)
    if not prefix and isinstance(schema.get("items"), dict):
        yield from _field_paths(schema["items"], known, "0.", depth)
    for name, field in schema.get("properties", {}).items():
        yield prefix + name
        if depth > 1:
            yield from _field_paths(field, known, f"{prefix}{name}.", depth - 1)


def _one_line(parameter: Parameter) -> str:
    return str(getattr(parameter, "help", "") or "").partition("  [")[0]


def _arguments(command: Command) -> Iterator[CompletedArgument]:
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            metavar = (parameter.metavar or "").strip("[].")
            yield CompletedArgument(metavar, ARGUMENT_VALUES.get(metavar, ""), parameter.nargs == -1)


def packaged_tokens_document() -> str:
    """Return the tokens with pools of each embedded market as JSON for `packaged_tokens`, one token a line."""
    networks = {name: _swappable_names(embedded_market(name)) for name in embedded_names()}
    return json.dumps(networks, indent=0, ensure_ascii=False) + "\n"


def _swappable_names(market: MarketState) -> dict[str, str]:
    """Return the names of the tokens that orders can swap, by symbol, the native token first."""
    listed = [each.token for each in swappable_in(market)]
    listed.sort(key=lambda token: token.symbol != market.network.native.symbol)
    return {token.symbol: token.name for token in listed}


if __name__ == "__main__":
    FILE.write_text(command_document(), encoding="utf-8")
    Path(PACKAGED_TOKENS_FILE).write_text(packaged_tokens_document(), encoding="utf-8")
