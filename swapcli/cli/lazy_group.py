"""The tree of commands, each loaded when it is called: Typer has no lazy groups of its own.

Help is plain text with the options in groups; usage errors stay exceptions, so that `app.run` decides how to tell them.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, cast

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

if TYPE_CHECKING:
    from typer._click import Command, Context, HelpFormatter, Parameter

CONTEXT_SETTINGS = {"help_option_names": ["-h", "--help"]}


class CommandEntry(NamedTuple):
    """A command by name: the module whose `app` it is, its place in the overview, and one line of help."""

    module: str
    panel: str
    summary: str


class PanelCommand(TyperCommand):
    """A command whose help groups its options by their panel."""

    def format_options(self, ctx: Context, formatter: HelpFormatter) -> None:
        panels: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                panels.setdefault(_panel(parameter), []).append(record)
        for title, records in panels.items():
            with formatter.section(title):
                formatter.write_dl(records)

    def collect_usage_pieces(self, ctx: Context) -> list[str]:
        arguments = [p.make_metavar(ctx) for p in self.get_params(ctx) if p.param_type_name == "argument"]
        return [*arguments, "[OPTIONS]"]


def _panel(parameter: Parameter) -> str:
    default = "Arguments" if parameter.param_type_name == "argument" else "Options"
    return getattr(parameter, "rich_help_panel", None) or default


class UsageError(typer.BadParameter):
    """Arguments that do not go together, said in one sentence."""

    def format_message(self) -> str:
        return self.message


class LazyGroup(TyperGroup):
    """A group whose commands are imported when they are called; subclasses give the table."""

    entries: dict[str, CommandEntry]

    def __init__(self, **attributes: object) -> None:
        super().__init__(**attributes)  # type: ignore[arg-type]
        # Bare names, so that "did you mean" knows them.
        self.commands.update(dict.fromkeys(self.entries, cast("Command", TyperCommand(None))))

    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:
        del ctx
        entry = self.entries.get(cmd_name)
        return load_command(cmd_name, entry) if entry else None

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        del ctx
        for section in _in_order(entry.panel for entry in self.entries.values()):
            with formatter.section(section):
                formatter.write_dl([(n, e.summary) for n, e in self.entries.items() if e.panel == section])


def _in_order(names: Iterable[str]) -> Iterable[str]:
    return dict.fromkeys(names)


def load_command(name: str, entry: CommandEntry) -> Command:
    """The command of an entry, imported now."""
    command = get_command(import_module(entry.module).app)
    command.name = name
    return command


def new_app(summary: str | None = None) -> typer.Typer:
    """A Typer application with the settings that all commands share."""
    return typer.Typer(
        help=summary,
        context_settings=CONTEXT_SETTINGS,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
