"""Typer groups and commands: commands imported when they are called, panels on help pages, suggestions for mistypings.

Typer has neither lazy groups nor panels in plain text, and it cuts the summaries of commands.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, cast

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from swapcli.startup import load_app

if TYPE_CHECKING:
    from typer._click import Command, Context, HelpFormatter, Parameter

CONTEXT_SETTINGS = {"help_option_names": ["-h", "--help"]}
WHOLE_SUMMARY = 200  # characters: more than any summary has


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


class UnknownCommand(UsageError):
    """A command that the group does not have; `known` are those that it has."""

    def __init__(self, name: str, known: Iterable[str], context: Context) -> None:
        from swapcli.encoding.text import printable, truncate

        super().__init__(f'no command "{printable(truncate(name, 40))}"', context)
        self.name, self.known = name, tuple(known)


class Group(TyperGroup):
    """A group that lists its commands with whole summaries."""

    def resolve_command(self, ctx: Context, args: list[str]) -> tuple[str | None, Command | None, list[str]]:
        if args[0] not in self.commands and not args[0].startswith("-"):
            raise UnknownCommand(args[0], self.list_commands(ctx), ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        commands = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        with formatter.section("Commands"):
            formatter.write_dl([(n, c.get_short_help_str(WHOLE_SUMMARY)) for n, c in commands.items() if c])


class LazyGroup(Group):
    """A group whose commands are imported when they are called. Subclasses define `entries`.

    `aliases` are other names of commands.
    """

    entries: dict[str, CommandEntry]
    aliases: Mapping[str, str] = MappingProxyType({})

    def __init__(self, **attributes: object) -> None:
        super().__init__(**attributes)  # type: ignore[arg-type]
        # Empty commands, so that `list_commands` knows the names.
        self.commands.update(dict.fromkeys([*self.entries, *self.aliases], cast("Command", TyperCommand(None))))

    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:
        del ctx
        entry = self.entries.get(self.aliases.get(cmd_name, cmd_name))
        return load_command(cmd_name, entry) if entry else None


def load_command(name: str, entry: CommandEntry) -> Command:
    """Import a command and return it."""
    command = get_command(load_app(entry.module))
    command.name = name
    return command


def new_app(summary: str | None = None, cls: type[TyperGroup] | None = None) -> typer.Typer:
    """Return a Typer application with the settings that all commands share."""
    return typer.Typer(
        cls=cls or Group,
        help=summary,
        context_settings=CONTEXT_SETTINGS,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
