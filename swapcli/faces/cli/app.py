"""Run a command line, and turn errors into messages and exit statuses.

Results go to stdout, messages to stderr.
"""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from io import TextIOWrapper
from types import MappingProxyType
from typing import Any

from swapcli.faces.cli import exit_codes
from swapcli.faces.cli.command_app import UsageError, load_app, parse_plain
from swapcli.faces.cli.overview import ALIASES, PROGRAM, command_module, command_names
from swapcli.faces.cli.similar_characters import SIMILAR, replace_with_similar


def run(arguments: Sequence[str], context_settings: Mapping[str, Any] = MappingProxyType({})) -> int:
    """Run a command line, without the name of the program, and return its exit status.

    Raises nothing, and leaves no buffered output. `context_settings` are passed to Typer's context.
    """
    _prepare_streams()
    status = exit_codes.OK
    try:
        status = _invoke(arguments, context_settings)
        sys.stdout.flush()
        _print_waiting_lines()
        return status
    except BrokenPipeError:  # the reader has seen enough, as in `swapcli tokens base | head`
        _discard_stdout()
        _print_waiting_lines()
        return status
    except (OSError, KeyboardInterrupt) as error:
        _discard_stdout()
        return _report(error, arguments)


def _invoke(arguments: Sequence[str], context_settings: Mapping[str, Any]) -> int:
    try:
        status = _run_plain(arguments)
        if status is not None:
            return status
        from swapcli.faces.cli.synonyms import replace_synonyms

        replaced = replace_synonyms(arguments)
        status = _run_plain(replaced) if replaced != [*arguments] else None
        if status is not None:
            return status
        from swapcli.faces.cli.typer_root import invoke

        return invoke(replaced, context_settings)
    except OSError:
        raise
    except Exception as error:
        return _report(error, arguments)


def _run_plain(arguments: Sequence[str]) -> int | None:
    """Run a plain command line (`command_app`) and return its exit status; None if it is not plain."""
    name = arguments[0] if arguments else ""
    original = ALIASES.get(name, name)
    app = load_app(command_module(original)) if original in command_names() else None
    command = app.only_command if app and not app.names_command(arguments[1:]) else None
    values = command and parse_plain(command, arguments[1:])
    if not command or values is None:
        return None
    try:
        status = command.call(values)
    except UsageError as error:
        error.command_path = f"{PROGRAM} {name}"
        raise
    return status if isinstance(status, int) else exit_codes.OK


def _report(error: BaseException, arguments: Sequence[str]) -> int:
    # Imported here because a successful command does not need it.
    from swapcli.faces.cli.errors import is_json_requested, print_error, report_of, requested_color
    from swapcli.faces.cli.synonyms import replace_synonyms
    from swapcli.faces.cli.usage_hints import explain_usage

    _print_waiting_lines()
    report = explain_usage(report_of(error, debug="--debug" in arguments[:1]), arguments)
    words = replace_synonyms(arguments)
    return print_error(report, as_json=is_json_requested(words), color=requested_color(words))


def _print_waiting_lines() -> None:
    """Print the lines that wait for a result, if the command has printed any output."""
    if output := sys.modules.get("swapcli.faces.cli.output"):
        output.print_after_result()


def _prepare_streams() -> None:
    """Replace closed standard streams with /dev/null, and unencodable characters with similar ones.

    Tokens have names in any script, and a terminal may support ASCII only.
    """
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: SIM115 (lives as long as the process)
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (lives as long as the process)
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    codecs.register_error(SIMILAR, replace_with_similar)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=SIMILAR)


def _discard_stdout() -> None:
    """Drop buffered output that cannot be written: flushing it when the interpreter ends would fail again."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
