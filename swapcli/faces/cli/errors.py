"""Error messages on stderr: a sentence with a hint for people, or one JSON object for programs."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, TypeGuard

from swapcli import Interrupted, SwapcliError
from swapcli.core.encoding.closest import closest_names, did_you_mean
from swapcli.core.encoding.disk_errors import is_disk_full
from swapcli.core.encoding.text import printable, truncate
from swapcli.faces.cli import exit_codes
from swapcli.faces.cli.color import ALWAYS, NEVER
from swapcli.faces.cli.command_app import UnknownCommand, UsageError
from swapcli.faces.cli.output import print_to_stderr
from swapcli.interface.own_document import own_document

if TYPE_CHECKING:
    from typer import TyperException
    from typer._click import Context
    from typer._click.exceptions import NoSuchOption

    from swapcli.interface.document_types import ErrorJson

_TYPER_WORDS = ("Invalid value", "Missing ", "Option ", "No such ")
_EXTRA_ARGUMENTS = re.compile(r"Got unexpected extra argument\S* \((.*)\)", re.DOTALL).fullmatch
_NEGATIVE_NUMBER = re.compile(r"-[.0-9]").match


@dataclass(frozen=True, slots=True)
class ErrorReport:
    """An error in the form shown to the user."""

    code: str
    message: str
    exit_code: int
    hint: str | None = None
    details: Mapping[str, object] = field(default_factory=dict)
    is_retryable: bool = False


def report_of(error: BaseException, *, debug: bool = False) -> ErrorReport:
    """Return the report for any error; `debug` adds the traceback of an internal error."""
    if isinstance(error, SwapcliError):
        status = exit_codes.status_of(error)
        return ErrorReport(error.code, error.message, status, error.hint, error.details, error.is_retryable)
    if isinstance(error, UsageError):
        return _usage_report(error)
    if _is_of_typer(error):
        return _typer_report(error)
    if isinstance(error, KeyboardInterrupt):
        return ErrorReport(Interrupted.code, "interrupted", exit_codes.INTERRUPTED, is_retryable=True)
    if isinstance(error, OSError):
        return _io_report(error)
    return _internal_report(error, debug)


def print_error(report: ErrorReport, *, as_json: bool, color: str = "auto") -> int:
    """Write a report to stderr and return its exit status."""
    if as_json:
        print_to_stderr(_as_json(report), NEVER, is_wrapped=False)
    else:
        print_to_stderr(_as_text(report), color)
    return report.exit_code


def is_json_requested(arguments: Sequence[str]) -> bool:
    """Return whether an option or the settings request JSON. Works on unparsed arguments, because parsing may have
    failed."""
    options = arguments[: list(arguments).index("--")] if "--" in arguments else arguments
    if "--json" in options:
        return True
    if formats := _values("--format", options):
        return formats[-1] == "json"
    return peek_setting("output", options) == "json"


def requested_color(arguments: Sequence[str]) -> str:
    """Return "always" or "never" if an option or the settings request it, otherwise "auto". Works on unparsed
    arguments."""
    requested = _values("--color", arguments)
    color = requested[-1] if requested else peek_setting("color", arguments)
    return str(color) if color in (ALWAYS, NEVER) else "auto"


def peek_setting(key: str, arguments: Sequence[str]) -> object:
    """Return the raw value of a setting for an unparsed command line, or None if it is not set or cannot be read."""
    from swapcli.quoting.config import peek_user_setting

    config_files = _values("--config", arguments)
    return peek_user_setting(key, config_files[-1] if config_files else None)


def _values(option: str, arguments: Sequence[str]) -> list[str]:
    """Return the values of an option in an unparsed command line."""
    values = [value for name, value in pairwise(arguments) if name == option]
    return values + [each.removeprefix(f"{option}=") for each in arguments if each.startswith(f"{option}=")]


def _io_report(error: OSError) -> ErrorReport:
    """Return the report for a failed stream, most often stdout on a full disk."""
    file = f" {error.filename}" if isinstance(error.filename, str) else ""
    hint = "free some space, or write elsewhere" if is_disk_full(error) else None
    return ErrorReport("IO_ERROR", f"cannot read or write{file}: {error.strerror or error}", exit_codes.IO_ERROR, hint)


def _is_of_typer(error: BaseException) -> TypeGuard[TyperException]:
    """Return whether Typer rejected a command line. If Typer is not loaded, it did not, and it is not loaded to find
    out."""
    if "typer" not in sys.modules:
        return False
    from typer import TyperException

    return isinstance(error, TyperException)


def _usage_report(error: UsageError) -> ErrorReport:
    closest = closest_names(error.name, error.known) if isinstance(error, UnknownCommand) else []
    return _report_with_closest(error.message, closest, error.command_path)


def _report_with_closest(message: str, closest: list[str], command_path: str | None) -> ErrorReport:
    hint = did_you_mean(closest) or f"see {command_path or 'swapcli'} --help"
    return ErrorReport("USAGE", message, exit_codes.USAGE, hint, {"closest": closest} if closest else {})


def _typer_report(error: TyperException) -> ErrorReport:
    from typer._click.exceptions import NoSuchOption

    if _NEGATIVE_NUMBER(getattr(error, "option_name", "")):
        return ErrorReport("USAGE", "write amounts without a sign", exit_codes.USAGE, hint='for example "1.5"')
    context = getattr(error, "ctx", None)
    if (option := getattr(error, "option_name", "")) and "requires an argument" in error.format_message():
        return ErrorReport("USAGE", f"{option} needs a value", exit_codes.USAGE, _value_hint(option, context))
    message, closest = _typer_message(error), []
    if isinstance(error, NoSuchOption):
        message, closest = f'no option "{printable(error.option_name)}"', _closest_options(error)
    if context and not closest and (way_out := _way_out(error, context)):
        return ErrorReport("USAGE", message, exit_codes.USAGE, f"{way_out}; see {context.command_path} --help")
    return _report_with_closest(message, closest, context.command_path if context else None)


def _value_hint(option: str, context: Context | None) -> str:
    """Return how an option with its value is written."""
    if context is None:
        return f"write {option} VALUE"
    metavars = (each.metavar for each in context.command.get_params(context) if option in each.opts)
    return f"write {option} {next(metavars, None) or 'VALUE'}; see {context.command_path} --help"


def _way_out(error: TyperException, context: Context) -> str:
    """Return how a command line could be completed: with its commands, or with words added to the user's own."""
    if error.format_message().startswith("Missing command"):
        commands: Sequence[str] = getattr(context.command, "commands", ())
        return f"use one of its commands: {', '.join(commands)}"
    arguments = [each for each in context.command.get_params(context) if each.param_type_name == "argument"]
    metavars = [str(each.metavar) for each in arguments]
    if error.format_message().startswith("Missing argument"):
        given = [str(context.params.get(each.name or "") or each.metavar) for each in arguments]
        return printable(truncate(" ".join([context.command_path, *given]), 160))
    if _EXTRA_ARGUMENTS(error.format_message()):
        return f"its arguments are {' '.join(metavars)}" if metavars else "it takes only options"
    return ""


def _typer_message(error: TyperException) -> str:
    """Return Typer's message in the words of the other errors."""
    message = error.format_message()
    if extra := _EXTRA_ARGUMENTS(message):
        return f'unexpected argument "{printable(truncate(extra[1], 80))}"'
    return message[:1].lower() + message[1:].removesuffix(".") if message.startswith(_TYPER_WORDS) else message


def _closest_options(error: NoSuchOption) -> list[str]:
    """Return the command's options that are similar to the unknown one. Dashes do not count for similarity."""
    parameters = error.ctx.command.get_params(error.ctx) if error.ctx else []
    known = {name.lstrip("-"): name for parameter in parameters for name in parameter.opts if name.startswith("--")}
    return [known[name] for name in closest_names(error.option_name.lstrip("-"), known)]


def _internal_report(error: BaseException, debug: bool) -> ErrorReport:
    text = " ".join(str(error).split())
    message = f"internal error: {type(error).__name__}{': ' if text else ''}{text}"
    if not debug:
        hint = "this is a bug in swapcli; swapcli --debug prints a traceback"
        return ErrorReport("INTERNAL", message, exit_codes.INTERNAL, hint)
    import traceback

    details = {"traceback": traceback.format_exception(error)}
    return ErrorReport("INTERNAL", message, exit_codes.INTERNAL, details=details)


@own_document
def error_document(report: ErrorReport) -> ErrorJson:
    """Return a report as a JSON document."""
    return {
        "code": report.code,
        "message": report.message,
        "details": {_camel_case(name): value for name, value in report.details.items()},
        "hint": report.hint,
        "retryable": report.is_retryable,
        "exitCode": report.exit_code,
    }


def _camel_case(name: str) -> str:
    first, *more = name.split("_")
    return first + "".join(map(str.capitalize, more))


def _as_json(report: ErrorReport) -> str:
    return json.dumps(error_document(report), default=str)


def _as_text(report: ErrorReport) -> str:
    lines = [f"error: {report.message}"]
    if report.hint:
        lines.append(f"hint:  {report.hint}")
    trace = report.details.get("traceback")
    return "".join(map(str, trace)) + "\n".join(lines) if isinstance(trace, list) else "\n".join(lines)
