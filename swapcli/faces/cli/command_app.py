"""Commands as records. Plain command lines run without Typer, whose import takes a fifth of the time of a quote.

A plain command line has no mistakes, help or groups, so it is parsed here. It consists of a command's name, known
options with their values, and words for its arguments. Everything else (help, mistakes, groups of commands, `--`) goes
to Typer, whose commands `swapcli.faces.cli.lazy_group` builds from the same records.
`tests/faces/cli/test_command_app.py` compares both.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from swapcli.core.records import NamedTuple

_F = TypeVar("_F", bound="Callable[..., object]")

_REPEATED = frozenset({list[str], list[str] | None})
_SINGLE = frozenset({str, str | None})


class OptionalValue(NamedTuple):
    """The meaning of an option given without a value, and the rule for whether the next word is its value or an
    argument.

    `if_absent` is the value to use without a value. `fits` decides by the word alone. `is_named` also gets all words of
    the command line, because it looks up names in the settings.
    """

    if_absent: str
    fits: Callable[[str], bool]
    is_named: Callable[[str, Sequence[str]], bool] | None = None

    def takes(self, word: str, words: Sequence[str]) -> bool:
        """Return whether `word`, which follows the option in a command line of `words`, is its value."""
        return self.fits(word) or (self.is_named is not None and self.is_named(word, words))


class OptionText(NamedTuple):
    """An option's name, help text, help page panel, and metavar; a flag has no metavar. `short` is a one-letter name,
    such as -o."""

    name: str
    text: str
    panel: str
    metavar: str | None = None
    optional_value: OptionalValue | None = None
    short: str | None = None


class ArgumentText(NamedTuple):
    """An argument's metavar and its help text."""

    metavar: str
    text: str


_NEGATIVE_NUMBER = re.compile(r"-[.0-9]").match


class UsageError(Exception):
    """Arguments that cannot be combined. `command_path` is the command that rejected them, as users type it."""

    def __init__(self, message: str, command_path: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.command_path = command_path


class UnknownCommand(UsageError):
    """An unknown command in a group. `known` are the group's commands."""

    def __init__(self, name: str, known: Iterable[str], group_path: str) -> None:
        from swapcli.core.encoding.text import printable, truncate

        super().__init__(f'no command "{printable(truncate(name, 40))}"', group_path)
        self.name, self.known = name, tuple(known)


class CommandParameter(NamedTuple):
    """A parameter of a command's function, or a field of one of its option groups."""

    name: str
    annotation: Any
    default: Any


class RegisteredCommand(NamedTuple):
    """A command: its name (by default the function's), its function, and the values that its `--format` accepts.

    After an unexpected error, `on_defect` is called with the error and the function's arguments. Without `on_defect`,
    the error is reported.
    """

    name: str | None
    function: Callable[..., Any]
    formats: Sequence[str] = ()
    on_defect: Callable[..., Any] | None = None

    @property
    def command_name(self) -> str:
        """The command's name on the command line."""
        return self.name or self.function.__name__

    def groups(self) -> dict[str, Any]:
        """Return the option groups among the parameters, as NamedTuple classes keyed by parameter name."""
        annotations = self.function.__annotations__
        return {name: each for name, each in annotations.items() if isinstance(each, type) and issubclass(each, tuple)}

    def parameters(self) -> Iterator[CommandParameter]:
        """Yield the parameters, with each group replaced by its fields. A required parameter has the default `...`."""
        function, groups = self.function, self.groups()
        code, defaults = function.__code__, function.__defaults__ or ()
        keyword_defaults = function.__kwdefaults__ or {}
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        positional_defaults = dict(
            zip(names[code.co_argcount - len(defaults) : code.co_argcount], defaults, strict=True)
        )
        known = keyword_defaults | positional_defaults
        for name in names:
            if name in groups:
                group = groups[name]
                for field, annotation in group.__annotations__.items():
                    yield CommandParameter(field, annotation, group._field_defaults[field])
            else:
                yield CommandParameter(name, function.__annotations__[name], known.get(name, ...))

    def normalize(self, words: Sequence[str]) -> list[str]:
        """Return the words as Typer reads them: with optional values joined, and with a negative number as VALUE
        instead of an option."""
        joined = self.join_optional_values(words)
        if "--" in joined or not any(each.name == "value" for each in self.parameters()):
            return joined
        negative = [word for word in joined if _NEGATIVE_NUMBER(word)]
        return [*(word for word in joined if word not in negative), "--", *negative] if negative else joined

    def join_optional_values(self, words: Sequence[str]) -> list[str]:
        """Return the words of a command line, with optional values joined to their options, as in --watch=5."""
        joined = list(words)
        for parameter in self.parameters():
            note = parameter.annotation.__metadata__[0]
            if isinstance(note, OptionText) and note.optional_value is not None and note.name in joined:
                joined = _join_values(joined, note.name, note.optional_value)
        return joined

    def call(self, values: dict[str, Any]) -> Any:
        """Call the function with `values`, which are keyed by the names in `parameters`."""
        filled = {name: group(*map(values.pop, group._fields)) for name, group in self.groups().items()}
        has_succeeded = False
        try:
            result = self._run(filled | values)
            has_succeeded = True
        finally:
            output_file = sys.modules.get("swapcli.faces.cli.output_file")  # imported only with --output
            if output_file:
                output_file.end_output_file(has_succeeded=has_succeeded)
        return result

    def _run(self, values: dict[str, Any]) -> Any:
        try:
            return self.function(**values)
        except Exception as error:
            from swapcli import SwapcliError

            if self.on_defect is None or isinstance(error, SwapcliError | UsageError | OSError):
                raise
            return self.on_defect(error, **values)


class CommandApp:
    """The commands in a module: a single command, or several in a group with a `summary`.

    If the group's name is not followed by one of its commands, the words go to its `default` command, if it has one.
    """

    def __init__(self, summary: str | None = None, *, default: str | None = None) -> None:
        self.summary = summary
        self.default = default
        self.commands: list[RegisteredCommand] = []

    def command(
        self, name: str | None = None, *, formats: Sequence[str] = (), on_defect: Callable[..., Any] | None = None
    ) -> Callable[[_F], _F]:
        """Return a decorator that registers a function as a command. The command can print `formats`, by default only
        the common ones.

        The function's parameters are annotated with types from `swapcli.faces.cli.options`. `on_defect` is the same as
        in `RegisteredCommand`.
        """

        def register(function: _F) -> _F:
            self.commands.append(RegisteredCommand(name, function, formats, on_defect))
            return function

        return register

    @property
    def only_command(self) -> RegisteredCommand | None:
        """The only command in a module without a group, or a group's default command."""
        name = self.default if self.summary is not None else self.commands[0].command_name
        return next((each for each in self.commands if each.command_name == name), None)

    def names_command(self, words: Sequence[str]) -> bool:
        """Return whether `words`, which follow a group's name, begin with one of the group's commands."""
        return self.summary is not None and bool({each.command_name for each in self.commands}.intersection(words[:1]))


def _join_values(words: Sequence[str], name: str, value: OptionalValue) -> list[str]:
    """Return the words with each value joined to the option called `name`; after -- there are no options."""
    joined: list[str] = []
    remaining = list(reversed(words))
    while remaining and remaining[-1] != "--":
        word = remaining.pop()
        if word == name:
            word += "=" + (remaining.pop() if remaining and value.takes(remaining[-1], words) else value.if_absent)
        joined.append(word)
    return [*joined, *reversed(remaining)]


def parse_plain(command: RegisteredCommand, words: Sequence[str]) -> dict[str, Any] | None:
    """Return the values of a plain command line by parameter, as Typer would, or None if Typer must parse it."""
    options: dict[str, CommandParameter] = {}
    arguments: list[CommandParameter] = []
    for parameter in command.parameters():
        note = parameter.annotation.__metadata__[0]
        if isinstance(note, OptionText):
            options[note.name] = parameter
            if note.short is not None:
                options[note.short] = parameter
        else:
            arguments.append(parameter)
    values: dict[str, Any] = {each.name: each.default for each in (*options.values(), *arguments)}
    remaining = command.join_optional_values(words)[::-1]
    positional: list[str] = []
    while remaining:
        word = remaining.pop()
        if word[:1] != "-" or word == "-":
            positional.append(word)
        elif not _take_option(values, options, word, remaining):
            return None
    return values if _fill_arguments(values, arguments, positional) else None


def _take_option(
    values: dict[str, Any], options: Mapping[str, CommandParameter], word: str, remaining: list[str]
) -> bool:
    """Set the value of an option, if necessary from the last of the remaining words; return False if it is not
    plain."""
    name, has_value, value = word.partition("=")
    if name not in options:
        return False
    option = options[name]
    kind = option.annotation.__origin__
    if kind is bool:
        values[option.name] = True
        return not has_value
    if not has_value:
        value = remaining.pop() if remaining else "--"
        if value[:1] == "-" and value != "-":
            return False
    if kind in _REPEATED:
        values[option.name] = [*(values[option.name] or ()), value]
    else:
        values[option.name] = value
    return kind in _SINGLE or kind in _REPEATED


def _fill_arguments(values: dict[str, Any], arguments: Sequence[CommandParameter], words: Sequence[str]) -> bool:
    """Set the values of the arguments; return False if words are missing, empty or superfluous."""
    left = list(words)
    for argument in arguments:
        kind = argument.annotation.__origin__
        if kind in _REPEATED:
            values[argument.name], left = left or argument.default, []
        elif left and kind in _SINGLE:
            values[argument.name] = left.pop(0)
    return all(words) and not left and ... not in values.values()


def load_app(module: str) -> CommandApp:
    """Import the module of a command or a group of commands, and return its records."""
    from importlib import import_module

    app: CommandApp = import_module(module).app
    return app
