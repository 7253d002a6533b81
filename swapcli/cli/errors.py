"""Error messages on stderr: a sentence with a hint for people, one JSON object for programs."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import typer

from swapcli.cli import exit_codes
from swapcli.cli.output import print_to_stderr
from swapcli.errors import SwapcliError

_NEGATIVE_NUMBER = re.compile(r"-[.0-9]").match


@dataclass(frozen=True, slots=True)
class ErrorReport:
    """An error as it is shown to the user."""

    code: str
    message: str
    exit_code: int
    hint: str | None = None
    details: Mapping[str, object] = field(default_factory=dict)


def report_of(error: BaseException, *, debug: bool = False) -> ErrorReport:
    """Return the report of any error; `debug` adds the traceback of an internal error."""
    if isinstance(error, SwapcliError):
        return ErrorReport(error.code, error.message, exit_codes.status_of(error), error.hint, error.details)
    if isinstance(error, typer.TyperException):
        return _usage_report(error)
    if isinstance(error, KeyboardInterrupt):
        return ErrorReport("INTERRUPTED", "interrupted", exit_codes.INTERRUPTED)
    if isinstance(error, OSError):
        return ErrorReport("IO_ERROR", f"cannot read or write: {error.strerror or error}", exit_codes.INTERNAL)
    return _internal_report(error, debug)


def print_error(report: ErrorReport, *, as_json: bool) -> int:
    """Write a report to stderr and return its exit status."""
    print_to_stderr(_as_json(report) if as_json else _as_text(report))
    return report.exit_code


def is_json_requested(arguments: Sequence[str]) -> bool:
    """Return whether an option or the settings ask for JSON. Needs no parsed arguments: parsing may have failed."""
    options = arguments[: list(arguments).index("--")] if "--" in arguments else arguments
    if "--json" in options or "--plain" in options or "--table" in options:
        return "--json" in options
    from swapcli.cli.session import home
    from swapcli.config import peek

    config_files = [value for option, value in pairwise(options) if option == "--config"]
    config_files += [option.removeprefix("--config=") for option in options if option.startswith("--config=")]
    return peek("output", os.environ, Path(config_files[-1]) if config_files else None, home()) == "json"


def _usage_report(error: typer.TyperException) -> ErrorReport:
    if _NEGATIVE_NUMBER(getattr(error, "option_name", "")):
        return ErrorReport("USAGE", "amounts are written without a sign", exit_codes.USAGE, hint='for example "1.5"')
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "swapcli"
    return ErrorReport("USAGE", error.format_message(), exit_codes.USAGE, hint=f"see {command} --help")


def _internal_report(error: BaseException, debug: bool) -> ErrorReport:
    text = " ".join(str(error).split())
    message = f"internal error: {type(error).__name__}{': ' if text else ''}{text}"
    if not debug:
        hint = "this is a bug in swapcli; swapcli --debug prints a traceback"
        return ErrorReport("INTERNAL", message, exit_codes.INTERNAL, hint)
    import traceback

    details = {"traceback": traceback.format_exception(error)}
    return ErrorReport("INTERNAL", message, exit_codes.INTERNAL, details=details)


def _as_json(report: ErrorReport) -> str:
    document = {
        "code": report.code,
        "message": report.message,
        "details": dict(report.details),
        "hint": report.hint,
        "exit_code": report.exit_code,
    }
    return json.dumps(document, default=str)


def _as_text(report: ErrorReport) -> str:
    lines = [f"error: {report.message}"]
    if report.hint:
        lines.append(f"hint:  {report.hint}")
    trace = report.details.get("traceback")
    return "".join(map(str, trace)) + "\n".join(lines) if isinstance(trace, list) else "\n".join(lines)
