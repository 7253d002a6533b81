"""A Typer group that imports a command only when it is called, and help pages with options in panels.

Typer has neither lazy groups nor panels in plain text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from swapcli.startup import load_app

if TYPE_CHECKING:
    from typer._click import Command, Context, HelpFormatter, Parameter

CONTEXT_SETTINGS = {"help_option_names": ["-h", "--help"]}


class CommandEntry(NamedTuple):
    """A command of the overview: the module with its `app`, its panel, and one line of help."""

    module: str
    panel: str
    summary: str


class PanelCommand(TyperCommand):
    """A command whose help page shows its options in panels."""

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
    """Arguments that do not go together. Unlike its base it shows the message alone, without an option's name."""

    def format_message(self) -> str:
        return self.message


class LazyGroup(TyperGroup):
    """A group whose commands are imported when they are called. Subclasses define `entries`."""

    entries: dict[str, CommandEntry]

    def __init__(self, **attributes: object) -> None:
        super().__init__(**attributes)  # type: ignore[arg-type]
        # Empty commands, so that "did you mean" knows the names.
        self.commands.update(dict.fromkeys(self.entries, cast("Command", TyperCommand(None))))

    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:
        del ctx
        entry = self.entries.get(cmd_name)
        return load_command(cmd_name, entry) if entry else None

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        del ctx
        for panel in dict.fromkeys(entry.panel for entry in self.entries.values()):
            with formatter.section(panel):
                formatter.write_dl([(n, e.summary) for n, e in self.entries.items() if e.panel == panel])


def load_command(name: str, entry: CommandEntry) -> Command:
    """Import a command and return it."""
    command = get_command(load_app(entry.module))
    command.name = name
    return command


def new_app(summary: str | None = None, cls: type[TyperGroup] | None = None) -> typer.Typer:
    """Return a Typer application with the settings that all commands share."""
    return typer.Typer(
        cls=cls,
        help=summary,
        context_settings=CONTEXT_SETTINGS,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
