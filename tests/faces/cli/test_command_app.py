"""A plain command line means the same with Typer and without."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer import TyperException
from typer.main import get_command

from swapcli.core.errors import InvalidInput
from swapcli.faces.cli.command_app import CommandApp, OptionText, RegisteredCommand, UsageError, load_app, parse_plain
from swapcli.faces.cli.lazy_group import build_typer
from swapcli.faces.cli.overview import command_module, command_names
from tests.support.command import run_swapcli

COMMANDS = [command for name in command_names() for command in load_app(command_module(name)).commands]
WORDS = [
    "base",
    "ETH",
    "1.5",
    "never",
    "5",
    "50%",
    "",
    "-",
    "--",
    "-1",
    "-h",
    "--help",
    "--nonsense",
    "=",
    "--json=1",
    "ü",
]


class Called(Exception):
    """Raised in place of a command, with the values of its parameters."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values


def parse_with_typer(command: RegisteredCommand, words: Sequence[str]) -> dict[str, Any] | None:
    """Return the values that Typer gives to a command; None if it refuses the command line or prints its help."""

    def call(_: RegisteredCommand, values: dict[str, Any]) -> Any:
        raise Called(values)

    app = CommandApp()
    app.commands.append(command)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RegisteredCommand, "call", call)
        patch.setattr(sys, "stdout", None)
        try:
            get_command(build_typer(app))(list(words), standalone_mode=False)
        except Called as called:
            return called.values
        except TyperException:
            return None
    return None


@st.composite
def command_lines(draw: st.DrawFn) -> tuple[RegisteredCommand, list[str]]:
    command = draw(st.sampled_from(COMMANDS))
    notes = [parameter.annotation.__metadata__[0] for parameter in command.parameters()]
    names = [note.name for note in notes if isinstance(note, OptionText)]
    named = st.sampled_from([*names, *(f"{name}=value" for name in names)]) if names else st.nothing()
    return command, draw(st.lists(st.sampled_from(WORDS[:5]) | named | st.sampled_from(WORDS), max_size=8))


@given(command_lines())
def test_a_plain_command_line_is_as_typer_parses_it(line: tuple[RegisteredCommand, list[str]]) -> None:
    values = parse_plain(*line)
    if values is not None:
        assert parse_with_typer(*line) == values


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.function.__name__)
def test_every_option_is_plain(command: RegisteredCommand) -> None:
    words: list[str] = []
    for parameter in command.parameters():
        note = parameter.annotation.__metadata__[0]
        if isinstance(note, OptionText):
            words += (
                [note.name] if note.metavar is None else [f"{note.name}=5"] if note.optional_value else [note.name, "5"]
            )
        elif parameter.default is ...:
            words.append("base")
    values = parse_plain(command, words)
    assert values is not None
    assert values == parse_with_typer(command, words)


@pytest.mark.parametrize("words", [("route", "base"), ("quote", "base", "ETH")])
def test_a_command_is_named_where_words_do_not_fit(words: tuple[str, ...]) -> None:
    ran = run_swapcli(*words, "--json")
    assert (ran.exit_code, ran.error["hint"]) == (2, f"see swapcli {words[0]} --help")


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (["--live", "base", "ETH"], ("require", None, "base", "ETH")),
        (["--live", "auto", "base"], ("auto", None, "base", None)),
        (["--live=auto", "base", "--watch", "5"], ("auto", "5", "base", None)),
        (["base", "--watch", "ETH", "--live"], ("require", "", "base", "ETH")),
        (["base", "--live", "--watch"], ("require", "", "base", None)),
    ],
)
def test_an_optional_value_is_the_next_word_if_it_fits(words: list[str], values: tuple[str | None]) -> None:
    command = next(each for each in COMMANDS if each.function.__name__ == "route")
    for parse in (parse_plain, parse_with_typer):
        parsed = parse(command, words)
        assert parsed is not None
        assert tuple(parsed[name] for name in ("live", "watch", "network", "token_in")) == values


def test_behind_two_dashes_an_option_is_an_argument() -> None:
    command = next(each for each in COMMANDS if each.function.__name__ == "route")
    assert command.join_optional_values(["--live", "--", "--live", "never"]) == [
        "--live=require",
        "--",
        "--live",
        "never",
    ]


@pytest.mark.parametrize("error", [KeyError("0xabc"), RecursionError()])
def test_a_command_may_handle_a_defect(error: Exception) -> None:
    def broken() -> None:
        raise error

    assert RegisteredCommand("broken", broken, on_defect=lambda raised: raised).call({}) is error
    with pytest.raises(type(error)):
        RegisteredCommand("broken", broken).call({})


@pytest.mark.parametrize("error", [InvalidInput("not whole"), UsageError("no calldata"), BrokenPipeError()])
def test_expected_errors_are_not_defects(error: Exception) -> None:
    def refused() -> None:
        raise error

    with pytest.raises(type(error)):
        RegisteredCommand("refused", refused, on_defect=lambda _: 7).call({})
