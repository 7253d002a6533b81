"""Find what can follow the words of a command line. This runs at every press of TAB, so it imports neither Typer nor
`typing`.

`swapcli _complete WORD...` receives the words before the cursor, the last of them only up to the cursor, and prints
UTF-8 lines. The first is `words`, `list` (words that a comma may follow), `files` or `folders`; the words follow, each
with a tab and an explanation if it has one.
"""

from __future__ import annotations

import json
import os

from swapcli.faces.cli.completion.facts import read_facts
from swapcli.faces.cli.completion.kinds import FILES, FOLDERS, LIST, LIST_MARK, NETWORKS, TOKENS, WORDS
from swapcli.faces.cli.completion.names import find_names, find_network_name, plugin_networks

TYPE_CHECKING = False  # importing it from `typing` would take milliseconds
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from swapcli.faces.cli.completion.setting_facts import SettingFacts

    Node = Mapping[str, Any]

_TREE = os.path.join(os.path.dirname(__file__), "command_tree.json")


def completion_text(words: Sequence[str], environ: Mapping[str, str]) -> str:
    """Return the completion lines for the last of `words`, which are the words after the program's name."""
    with open(_TREE, encoding="utf-8") as file:
        tree = json.load(file)
    line = _Line(tree, words[:-1])
    return "\n".join(line.answer(words[-1] if words else "", environ))


class _Line:
    """The words before the one to complete: the command, its arguments, its options, and an option that lacks its
    value."""

    def __init__(self, tree: Mapping[str, Node], words: Sequence[str]) -> None:
        self._tree = tree
        self._path = ""
        self._arguments: list[str] = []
        self._options: dict[str, str] = {}
        self._open_option = ""
        self._has_equals = False
        self._has_only_arguments = False
        for word in words:
            self._add(word)

    @property
    def _node(self) -> Node:
        return self._tree[self._path]

    def _add(self, word: str) -> None:
        # bash splits --option=value into three words.
        if self._open_option and word == "=":
            self._has_equals = True
            return
        option, self._open_option = (self._open_option if self._can_be_value(word) else ""), ""
        if option:
            self._options[option] = word
        elif word == "--":
            self._has_only_arguments = True
        elif word.startswith("-") and not self._has_only_arguments:
            name, has_value, value = word.partition("=")
            if has_value:
                self._options[name] = value
            elif self._takes_value(name):
                self._open_option, self._has_equals = name, False
        elif (child := self._children().get(word)) is not None:
            self._path = child
        elif word != "=":
            self._arguments.append(word)

    def _takes_value(self, name: str) -> bool:
        return self._metavar(name) is not None

    def _metavar(self, name: str) -> str | None:
        return next((metavar for names, _, metavar, _ in self._node["options"] if name in names), None)

    def _can_be_value(self, word: str) -> bool:
        """Return whether a word can be the value of the open option, or the beginning of it.

        A value in brackets is optional: the word is then an argument unless it is a number or one of the choices.
        """
        metavar = self._metavar(self._open_option) or ""
        if self._has_equals or metavar[:1] != "[":
            return True
        return word[:1].isdecimal() or bool(word and f"|{word}" in metavar.replace("[", "|"))

    def _children(self) -> dict[str, str]:
        """Return the paths of the command's subcommands, by name and alias."""
        paths = [path for path in self._tree if path and path.rpartition(" ")[0] == self._path]
        return {name: path for path in paths for name in (path.rpartition(" ")[2], *self._tree[path]["aliases"])}

    def answer(self, current: str, environ: Mapping[str, str]) -> Iterator[str]:
        """Yield the kind of the completion, then its lines."""
        option, has_value, value = current.partition("=")
        if self._open_option and (current == "=" or self._can_be_value(current)):
            yield from self._values(self._open_option, "" if current == "=" else current, "", environ)
        elif current.startswith("-") and has_value and not self._has_only_arguments:
            yield from self._values(option, value, f"{option}=", environ)
        elif current.startswith("-") and not self._has_only_arguments:
            options = [(name, text) for names, text, _, _ in self._node["options"] for name in names]
            yield from _lines(WORDS, current, options)
        elif (children := self._children()) and not self._arguments:
            names = [(name, self._tree[path]["summary"]) for name, path in children.items()]
            if self._node["arguments"]:  # for the group's default command, which takes a network name
                names += find_names(NETWORKS, current, read_facts(environ, self._options), None)
            yield from _lines(WORDS, current, names)
        else:
            yield from self._argument(current, environ)

    def _values(self, option: str, current: str, prefix: str, environ: Mapping[str, str]) -> Iterator[str]:
        """Yield the values of an option; `prefix` begins each word that the shell compares with the typed word."""
        kinds = (values for names, _, _, values in self._node["options"] if option in names)
        values = next(kinds, "")
        if isinstance(values, list):
            yield from _lines(WORDS, current, [(value, "") for value in values], prefix)
        elif values in (FILES, FOLDERS):
            yield values
        elif values:
            kind, comma, _ = values.partition(LIST_MARK)
            before, last_comma, last = current.rpartition(LIST_MARK) if comma else ("", "", current)
            facts = read_facts(environ, self._options)
            found = find_names(kind, last, facts, self._network(facts))
            unused = [(name, text) for name, text in found if name not in before.split(LIST_MARK)]
            yield from _lines(LIST if comma else WORDS, last, unused, prefix + before + last_comma)

    def _argument(self, current: str, environ: Mapping[str, str]) -> Iterator[str]:
        """Yield what completes the next argument."""
        arguments = self._node["arguments"]
        if not arguments:
            return
        if arguments[0][0] != NETWORKS:
            yield from self._names(arguments, len(self._arguments), current, environ, None)
            return
        facts = read_facts(environ, self._options)
        is_led_by_network = not self._arguments or find_network_name(self._arguments[0], facts)
        skipped = 0 if is_led_by_network or facts.network is None else 1
        yield from self._names(arguments, len(self._arguments) + skipped, current, environ, facts)

    def _names(
        self,
        arguments: Sequence[tuple[Any, bool]],
        index: int,
        current: str,
        environ: Mapping[str, str],
        facts: SettingFacts | None,
    ) -> Iterator[str]:
        last = arguments[-1]
        values, is_repeated = arguments[index] if index < len(arguments) else last
        if not (index < len(arguments) or is_repeated):
            return
        if isinstance(values, list):
            yield from _lines(WORDS, current, [(value, "") for value in values])
        elif values in (FILES, FOLDERS):
            yield values
        elif values:
            facts = facts or read_facts(environ, self._options)
            found = find_names(values, current, facts, self._network(facts))
            if index == 0 and values == NETWORKS and facts.network and len(arguments) > 1 and arguments[1][0] == TOKENS:
                found = [*found, *find_names(TOKENS, current, facts, facts.network)]
            if values == NETWORKS and not any(name.lower().startswith(current.lower()) for name, _ in found):
                found = plugin_networks()
            yield from _lines(WORDS, current, [each for each in found if each[0] not in self._arguments])

    def _network(self, facts: SettingFacts) -> str | None:
        """Return the network on the command line, otherwise the one in the settings."""
        named = find_network_name(self._arguments[0], facts) if self._arguments else None
        return named or facts.network


def _lines(kind: str, current: str, words: Iterable[tuple[str, str]], prefix: str = "") -> Iterator[str]:
    """Yield the kind, then the words that begin with `current`, in upper or lower case."""
    yield kind
    begin = current.lower()
    for word, text in dict(words).items():
        if word.lower().startswith(begin):
            yield f"{prefix}{word}\t{text}" if text else f"{prefix}{word}"
