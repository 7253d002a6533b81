"""How an error is told: to people in one sentence with a hint, to programs as one JSON object. Always on stderr."""

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

_NUMBER = re.compile(r"-[.0-9]").match


@dataclass(frozen=True, slots=True)
class ErrorReport:
    """What is told about an error, whoever raised it."""

    code: str
    message: str
    exit_code: int
    hint: str | None = None
    details: Mapping[str, object] = field(default_factory=dict)


def report_of(error: BaseException, *, debug: bool = False) -> ErrorReport:
    """The fault of an error: what it says of itself if it was raised on purpose, else a defect in one sentence.

    `debug` adds to a defect where it arose.
    """
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
    """Writes `fault` to stderr and returns its exit status."""
    print_to_stderr(_as_json(report) if as_json else _as_text(report))
    return report.exit_code


def is_json_requested(arguments: Sequence[str]) -> bool:
    """Is JSON asked for, by an option or the settings? Known before anything is parsed: parsing may be what fails."""
    options = arguments[: list(arguments).index("--")] if "--" in arguments else arguments
    if "--json" in options or "--plain" in options or "--table" in options:
        return "--json" in options
    from swapcli.cli.session import home
    from swapcli.config import peek

    named = [value for option, value in pairwise(options) if option == "--config"]
    named += [option.removeprefix("--config=") for option in options if option.startswith("--config=")]
    return peek("output", os.environ, Path(named[-1]) if named else None, home()) == "json"


def _usage_report(error: typer.TyperException) -> ErrorReport:
    if _NUMBER(getattr(error, "option_name", "")):
        return ErrorReport("USAGE", "an amount has no sign", exit_codes.USAGE, hint='write it as in "1.5"')
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "swapcli"
    return ErrorReport("USAGE", error.format_message(), exit_codes.USAGE, hint=f"{command} --help explains the usage")


def _internal_report(error: BaseException, debug: bool) -> ErrorReport:
    said = " ".join(str(error).split())
    message = f"internal error: {type(error).__name__}{': ' if said else ''}{said}"
    if not debug:
        return ErrorReport("INTERNAL", message, exit_codes.INTERNAL, "this is a defect; swapcli --debug shows where")
    import traceback

    return ErrorReport(
        "INTERNAL", message, exit_codes.INTERNAL, details={"traceback": traceback.format_exception(error)}
    )


def _as_json(fault: ErrorReport) -> str:
    document = {
        "code": fault.code,
        "message": fault.message,
        "details": dict(fault.details),
        "hint": fault.hint,
        "exit_code": fault.exit_code,
    }
    return json.dumps(document, default=str)


def _as_text(fault: ErrorReport) -> str:
    lines = [f"error: {fault.message}"]
    if fault.hint:
        lines.append(f"hint:  {fault.hint}")
    trace = fault.details.get("traceback")
    return "".join(map(str, trace)) + "\n".join(lines) if isinstance(trace, list) else "\n".join(lines)
