"""Options: how one is declared, and those that several commands share.

Values that are settings stay text here: the settings read them, so that a flag, a variable and a file mean the same.
"""

# Annotations are values here: they are what Typer reads.

from collections.abc import Callable
from functools import update_wrapper
from inspect import Parameter, signature
from typing import Annotated, Any, NamedTuple, TypeVar

import typer

T = TypeVar("T")

MARKET, OUTPUT, SETTINGS = "Market", "Output", "Settings"


def option(name: str, text: str, panel: str, metavar: str | None = None) -> Any:
    """An option with its help, in a group of the help page; `metavar` where it takes a value."""
    return typer.Option(name, help=text, rich_help_panel=panel, metavar=metavar, show_default=False)


def argument(metavar: str, text: str) -> Any:
    """A positional argument with its help."""
    return typer.Argument(metavar=metavar, help=text, show_default=False)


NetworkName = Annotated[str, argument("NETWORK", "Where to swap; see swapcli networks.")]
NetworkNameOrDefault = Annotated[str | None, argument("[NETWORK]", "See swapcli networks; or set one in the settings.")]

MarketFile = Annotated[
    str | None,
    option("--market", "Market file to quote on, - for stdin, instead of the embedded market.", MARKET, "FILE"),
]
SkipBadPools = Annotated[
    bool, option("--skip-bad-pools", "Report malformed pools of a market file and go on without them.", MARKET)
]

Json = Annotated[bool, option("--json", "One JSON document; errors are JSON too.", OUTPUT)]
Plain = Annotated[bool, option("--plain", "Plain text; the default in a pipe.", OUTPUT)]
Table = Annotated[bool, option("--table", "A table; the default on a terminal.", OUTPUT)]
ColorWhen = Annotated[
    str | None,
    option("--color", "When to colour; NO_COLOR is respected.  [default: auto]", OUTPUT, "auto|always|never"),
]
ConfigFile = Annotated[str | None, option("--config", "Settings file to use.", SETTINGS, "FILE")]


class FormOptions(NamedTuple):
    """The options of every command that answers: how the answer is written, and which settings hold."""

    json: Json = False
    plain: Plain = False
    table: Table = False
    color: ColorWhen = None
    config: ConfigFile = None


def with_form(command: Callable[..., T]) -> Callable[..., T]:
    """`command` with these options as its last ones; it gets them together, as its parameter `form`."""

    def parsed(**values: Any) -> T:
        return command(form=FormOptions(*map(values.pop, FormOptions._fields)), **values)

    written = signature(command, eval_str=True)
    own = [parameter for name, parameter in written.parameters.items() if name != "form"]
    defaults = FormOptions._field_defaults
    common = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=defaults[name], annotation=annotation)
        for name, annotation in FormOptions.__annotations__.items()
    ]
    seen_by_typer = written.replace(parameters=[*own, *common])
    update_wrapper(parsed, command).__signature__ = seen_by_typer  # type: ignore[attr-defined]
    return parsed
