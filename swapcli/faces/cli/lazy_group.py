"""Typer groups and commands: imported when called, with panels on help pages and suggestions for typing mistakes.

`build_typer` makes a module's Typer application from its `CommandApp`.

Typer has neither lazy groups nor panels in plain text, and it cuts the summaries of commands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import update_wrapper
from inspect import Parameter as SignatureParameter
from inspect import Signature
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption
from typer.main import get_command

from swapcli.core.records import NamedTuple
from swapcli.faces.cli.command_app import (
    ArgumentText,
    CommandApp,
    CommandParameter,
    OptionText,
    RegisteredCommand,
    UnknownCommand,
    UsageError,
    load_app,
)
from swapcli.faces.cli.options import FORMAT, format_text
from swapcli.faces.cli.overview import ALIASES

if TYPE_CHECKING:
    from typer._click import Command, Context, HelpFormatter, Parameter

_SHORT, _LONG = "-h", "--help"
_HELP = (_SHORT, _LONG)
_IS_SHORT = "swapcli.is_short"
"""The key in a context's meta that tells whether -h requested the help."""
_OPTIONS = "Options"
CONTEXT_SETTINGS = {"help_option_names": list(_HELP)}
WHOLE_SUMMARY = 200  # characters: longer than any summary


class CommandEntry(NamedTuple):
    """A command in the overview: the module with its `app`, its panel, and one line of help."""

    module: str
    panel: str
    summary: str


class PanelCommand(TyperCommand):
    """A command whose help page shows its options in panels."""

    registered: RegisteredCommand | None = None

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        words = args[: args.index("--")] if "--" in args else args
        ctx.meta[_IS_SHORT] = _SHORT in words and _LONG not in words
        try:
            return super().parse_args(ctx, self.registered.normalize(args) if self.registered else args)
        except typer.TyperException as error:
            if getattr(error, "ctx", ctx) is None:
                error.ctx = ctx  # type: ignore[attr-defined]  # the parser does not know it
            raise

    def invoke(self, ctx: Context) -> Any:
        try:
            return super().invoke(ctx)
        except UsageError as error:
            error.command_path = ctx.command_path
            raise

    def format_help_text(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write the explanation. For -h, write only the summary and the examples."""
        whole = self.help
        if ctx.meta.get(_IS_SHORT) and whole is not None:
            summary, *others = whole.split("\n\n")
            self.help = "\n\n".join([summary, *(each for each in others if each.startswith("\b"))])
        super().format_help_text(ctx, formatter)
        self.help = whole

    def format_options(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write the arguments, and the options in their panels. For -h, write the common options in one panel."""
        is_short = ctx.meta.get(_IS_SHORT)
        shown = self._common_options(ctx) if is_short else None
        panels: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            is_argument = parameter.param_type_name == "argument"
            if record is None or (shown is not None and not is_argument and shown.isdisjoint(parameter.opts)):
                continue
            panels.setdefault(_panel(parameter) if is_argument or not is_short else _OPTIONS, []).append(record)
        for title, records in panels.items():
            with formatter.section(title):
                formatter.write_dl(records)
        if is_short:
            formatter.write_paragraph()
            formatter.write_text(f"All options, and more: {ctx.command_path} {_LONG}")

    def get_help_option(self, ctx: Context) -> TyperOption | None:
        """Return the help option, with swapcli's own text."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.help = "Show the common options; --help shows all."
        return option

    def _common_options(self, ctx: Context) -> frozenset[str]:
        """Return the options that -h shows, in all their spellings."""
        from swapcli.faces.cli.common_options import COMMON_OPTIONS

        words = ctx.command_path.split()[1:]
        name = ALIASES.get(words[0], words[0]) if words else ""
        every = frozenset(option for each in self.params for option in each.opts)
        return frozenset(COMMON_OPTIONS.get(name, every))

    def collect_usage_pieces(self, ctx: Context) -> list[str]:
        arguments = [p.make_metavar(ctx) for p in self.get_params(ctx) if p.param_type_name == "argument"]
        return [*arguments, "[OPTIONS]"]


def _panel(parameter: Parameter) -> str:
    default = "Arguments" if parameter.param_type_name == "argument" else _OPTIONS
    return getattr(parameter, "rich_help_panel", None) or default


class Group(TyperGroup):
    """A group that lists its commands with full summaries. Words that are not commands go to the `default` command."""

    default: str | None = None

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        words = args
        if self.default is not None and not (args and (args[0] in self.commands or args[0] in _HELP)):
            words = [self.default, *args]
        return super().parse_args(ctx, words)

    def resolve_command(self, ctx: Context, args: list[str]) -> tuple[str | None, Command | None, list[str]]:
        if args[0] not in self.commands and not args[0].startswith("-"):
            raise UnknownCommand(args[0], self.list_commands(ctx), ctx.command_path)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        commands = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        with formatter.section("Commands"):
            formatter.write_dl([(n, c.get_short_help_str(WHOLE_SUMMARY)) for n, c in commands.items() if c])


class LazyGroup(Group):
    """A group whose commands are imported when called. Subclasses define `entries`.

    `aliases` maps other names to commands.
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
    command = get_command(build_typer(load_app(entry.module)))
    command.name = name
    return command


def build_typer(app: CommandApp) -> typer.Typer:
    """Return the Typer application of a module with commands."""
    built = new_typer(app.summary, type(Group.__name__, (Group,), {"default": app.default}) if app.default else None)
    if app.summary is not None:
        built.callback()(lambda: None)  # with it, a group with one command stays a group
    for command in app.commands:
        cls = type(PanelCommand.__name__, (PanelCommand,), {"registered": command})
        built.command(command.name, cls=cls)(_function_for_typer(command))
    return built


def new_typer(summary: str | None = None, cls: type[TyperGroup] | None = None) -> typer.Typer:
    """Return a Typer application with the settings shared by all commands."""
    return typer.Typer(
        cls=cls or Group,
        help=summary,
        context_settings=CONTEXT_SETTINGS,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )


def _function_for_typer(command: RegisteredCommand) -> Callable[..., Any]:
    """Return a command's function with the signature that Typer reads."""

    def call(**values: Any) -> Any:
        return command.call(values)

    update_wrapper(call, command.function)
    parameters = [_parameter_for_typer(each, command.formats) for each in command.parameters()]
    call.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return call


def _parameter_for_typer(parameter: CommandParameter, formats: Sequence[str]) -> SignatureParameter:
    note = parameter.annotation.__metadata__[0]
    if isinstance(note, OptionText) and note.name == FORMAT and formats:
        note = note._replace(text=format_text(formats))
    described: Any
    if isinstance(note, OptionText):
        described = typer.Option(
            *filter(None, (note.short, note.name)),
            help=note.text,
            rich_help_panel=note.panel,
            metavar=note.metavar,
            show_default=False,
        )
    else:
        assert isinstance(note, ArgumentText)
        described = typer.Argument(metavar=note.metavar, help=note.text, show_default=False)
    return SignatureParameter(
        parameter.name,
        SignatureParameter.KEYWORD_ONLY,
        default=SignatureParameter.empty if parameter.default is ... else parameter.default,
        annotation=Annotated[parameter.annotation.__origin__, described],
    )
