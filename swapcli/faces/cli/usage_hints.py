"""Mistakes that only the whole command line reveals: a misspelled optional value, a word between two tokens."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from swapcli import UnknownNetwork, UnknownToken
from swapcli.core.encoding.closest import closest_names, did_you_mean
from swapcli.core.encoding.text import printable, truncate
from swapcli.core.networks.definition_files import packaged_networks
from swapcli.faces.cli import exit_codes
from swapcli.faces.cli.command_app import OptionText, load_app, parse_plain
from swapcli.faces.cli.files import STDIN
from swapcli.faces.cli.overview import ALIASES, PROGRAM, ROUTE_COMMAND, ROUTE_TO_EXECUTE, command_module, command_names

if TYPE_CHECKING:
    from swapcli.faces.cli.errors import ErrorReport

_CONNECTING_WORDS = frozenset({"to", "for", "into", "in", "from", "->", "=>", "→"})
NEVER = "never"
_ON, _OFF = ("always", "on", "yes", "true"), ("off", "false")
_TOKEN_COMMANDS = frozenset({"route", "calldata", "compare", "depth", "plan", "price", "pools", "tokens"})
"""The commands whose words are a network followed by tokens."""
_TIME = re.compile(r"\d+(\.\d+)?(ms|s|sec|seconds|m|min)", re.IGNORECASE)
_UNKNOWN = ('no option "', 'no command "', "unexpected argument")
"""The beginnings of errors that a synonym may have caused."""
MAX_SHOWN = 160
"""Maximum characters of a command line in a hint."""


def explain_usage(report: ErrorReport, arguments: Sequence[str]) -> ErrorReport:
    """Return the error report with the mistake's cause, if the command line reveals it. Otherwise return it unchanged.

    For example, a misspelled optional value is read as an argument, so the original error is about another word, or the
    number of words.
    """
    if report.exit_code != exit_codes.USAGE:
        return report
    if report.code == "USAGE" and report.message.startswith(_UNKNOWN):
        from swapcli.faces.cli.synonyms import explain_synonym

        if explained := explain_synonym(arguments):
            return replace(report, message=explained.message, hint=explained.hint)
    if report.code == UnknownNetwork.code:
        from swapcli.faces.cli.synonyms import replace_synonyms

        if len(shorter := replace_synonyms(arguments)) < len(arguments):
            return replace(report, hint=f"write {printable(truncate(f'{PROGRAM} {shlex.join(shorter)}', MAX_SHOWN))}")
    for line in _with_network_first(report, arguments):
        shown = printable(truncate(f"{PROGRAM} {shlex.join(line)}", MAX_SHOWN))
        return replace(report, hint=f"NETWORK comes first: {shown}")
    for option, value, hint in _misspelled_values(arguments):
        return replace(report, message=f'{option}: no value "{printable(truncate(value, 40))}"', hint=hint)
    for note, value in _unexpected_values(report, arguments):
        shown = printable(truncate(value, 40))
        return replace(report, message=f'{note.name}: no value "{shown}"', hint=_hint_of_values(note, value))
    if report.hint == ROUTE_TO_EXECUTE:
        return replace(report, hint=_complete_execute(arguments))
    for word, others in _without_connecting_word(arguments):
        command = printable(truncate(f"{PROGRAM} {shlex.join(others)}", MAX_SHOWN))
        shown = f"write {command}" if "--in" in others else f'leave out "{word}": {command}'
        return replace(report, hint=shown)
    return report


def _with_network_first(report: ErrorReport, arguments: Sequence[str]) -> Iterator[list[str]]:
    """Yield the command line with the network as its first word, if the first word is something else.

    The network may be a later word. If there is none, and the first word is a token, it is the default network.
    """
    if report.code not in (UnknownNetwork.code, UnknownToken.code):
        return
    command, *words = arguments or [""]
    if ALIASES.get(command, command) not in _TOKEN_COMMANDS or not words or words[0].startswith("-"):
        return
    named = report.details.get("networks")
    known = {*packaged_networks(), *(named if isinstance(named, list) else ())}
    if words[0].lower() in known:
        return
    for index, word in enumerate(words[1:], start=1):
        if word.lower() in known and not words[index - 1].startswith("-"):
            yield [command, word, *words[:index], *words[index + 1 :]]
            return
    if report.code != UnknownNetwork.code or report.details.get("network") != words[0]:
        return
    network = _default_network(arguments)
    if words[0].lower() in _symbols_on(network) and not (command == "tokens" and report.details.get("closest")):
        yield [command, network, *words]


def _default_network(arguments: Sequence[str]) -> str:
    """Return the network in the settings, otherwise an example."""
    from swapcli.faces.cli.errors import peek_setting

    return str(peek_setting("network", arguments) or "base")


def _symbols_on(name: str) -> set[str]:
    """Return the symbols on a network that comes with the program, in lower case."""
    from swapcli.core.networks.catalogue import find_network

    try:
        network = find_network(name)
    except UnknownNetwork:
        return set()
    return {each.symbol.lower() for each in (network.native, *network.tokens)}


def _misspelled_values(arguments: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield options with optional values and the words after them that look like such values, and a hint."""
    for note in _optional_values(arguments):
        metavar = (note.metavar or "").strip("[]")
        assert note.optional_value is not None
        for option, word in pairwise(arguments):
            if option != note.name or note.optional_value.takes(word, arguments) or word.lower() in packaged_networks():
                continue
            if "|" not in metavar:
                if _TIME.fullmatch(word):
                    yield option, word, f"write a number of {metavar.lower()}, such as {option} 5"
            elif meant := _meant_value(word, metavar.split("|"), note.optional_value.if_absent):
                is_named = meant == NEVER and meant not in metavar
                yield option, word, "--offline uses no node" if is_named else did_you_mean([f"{option} {meant}"])


def _unexpected_values(report: ErrorReport, arguments: Sequence[str]) -> Iterator[tuple[OptionText, str]]:
    """Yield the option before a word that was read as one argument too many, if that option may have a value."""
    for note in _optional_values(arguments):
        for option, word in pairwise(arguments):
            if option == note.name and report.message == f'unexpected argument "{printable(truncate(word, 80))}"':
                yield note, word


def _hint_of_values(note: OptionText, value: str) -> str:
    """Return the values that an option with an optional value takes."""
    metavar = (note.metavar or "").strip("[]")
    if metavar == "NAMES":
        from swapcli.quoting.openers.choose_aggregators import ALL, packaged_names

        names = [*packaged_names(), ALL]
        closest = closest_names(value, names)
        return did_you_mean([f"{note.name} {each}" for each in closest]) or f"use one of {', '.join(names)}"
    if "|" in metavar:
        return f"use one of {', '.join(metavar.split('|'))}"
    value_name, example = ("a port", 8001) if metavar == "PORT" else (f"a number of {metavar.lower()}", 5)
    return f"write {value_name}, such as {note.name} {example}"


def _meant_value(word: str, values: Sequence[str], if_absent: str) -> str | None:
    """Return the value that a word resembles or means: an option without a value is on."""
    others = {**dict.fromkeys(_ON, if_absent), **dict.fromkeys(_OFF, NEVER), NEVER: NEVER}
    meanings = {**others, **{value: value for value in values}}
    closest = closest_names(word, meanings, limit=1)
    return meanings[closest[0]] if closest else None


def _optional_values(arguments: Sequence[str]) -> Iterator[OptionText]:
    """Yield the command's options with optional values."""
    name = arguments[0] if arguments else ""
    original = ALIASES.get(name, name)
    command = load_app(command_module(original)).only_command if original in command_names() else None
    for parameter in command.parameters() if command else ():
        note = parameter.annotation.__metadata__[0]
        if isinstance(note, OptionText) and note.optional_value is not None:
            yield note


def _complete_execute(arguments: Sequence[str]) -> str:
    """Return the command line of execute with a route piped in, and with a recipient."""
    command = load_app(command_module("execute")).only_command
    values = parse_plain(command, arguments[1:]) if command else None
    file = values["file"] if values else STDIN
    # The command reads the pipe only without a file.
    shown = [STDIN if word == file else word for word in arguments]
    words = [] if "--destination" in arguments else ["--destination", "ADDRESS"]
    return printable(truncate(f"{ROUTE_COMMAND} | {PROGRAM} {shlex.join(shown)} {' '.join(words)}", 240).rstrip())


def _without_connecting_word(arguments: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield a word that people write between two tokens, and the command line without it; `price` has --in."""
    for index, word in enumerate(arguments[1:-1], start=1):
        if word.lower() in _CONNECTING_WORDS and not any(
            arguments[other].startswith("-") for other in (index - 1, index + 1)
        ):
            unit = ["--in"] if arguments[0] == "price" and word.lower() == "in" else []
            yield word, [*arguments[:index], *unit, *arguments[index + 1 :]]
