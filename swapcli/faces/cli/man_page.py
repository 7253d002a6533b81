"""The manual page swapcli(1) in roff, generated from the commands, the help topics, the settings and the exit codes.

`swapcli help --man` prints it, and `python -m swapcli.faces.cli.man_page FILE` writes it for the wheel.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from swapcli import __version__
from swapcli.faces.cli.exit_codes import MEANING
from swapcli.faces.cli.help_topics import ORDER, topic_text
from swapcli.faces.cli.lazy_group import CONTEXT_SETTINGS
from swapcli.quoting.config import TABLE

if TYPE_CHECKING:
    from typer._click import Command, Context

_VERBATIM = "\b"
_INDENTED = "  "
_WIDE = 10_000  # columns: roff breaks the lines, not Typer
_ESCAPES = str.maketrans({"\\": "\\e", "-": "\\-", "`": "\\(ga", "'": "\\(aq", "~": "\\(ti", "^": "\\(ha"})


def man_page() -> str:
    """Return the manual page."""
    from typer.main import get_command

    from swapcli.faces.cli.overview import PROGRAM
    from swapcli.faces.cli.typer_root import Root, app

    root = get_command(app)
    context = _context(root, PROGRAM)
    lines = [
        f'.TH SWAPCLI 1 "" "swapcli {__version__}" "User Commands"',
        ".nh",
        ".ad l",
        ".SH NAME",
        f"{PROGRAM} \\- find the best way to swap one token for another",
        ".SH SYNOPSIS",
        f".B {PROGRAM}",
        "[OPTIONS] COMMAND [ARGUMENTS]",
        ".SH DESCRIPTION",
        *_paragraphs(inspect.getdoc(app.registered_callback and app.registered_callback.callback) or ""),
        *_options(root, context),
        ".SH COMMANDS",
    ]
    for name in Root.entries:
        command = root.get_command(context, name)  # type: ignore[attr-defined]
        aliases = [alias for alias, original in Root.aliases.items() if original == name]
        lines += _command(command, context, aliases)
        inner: dict[str, Command] = getattr(command, "commands", {})
        for leaf in inner.values():
            lines += _command(leaf, _context(command, name, context), [])
    for topic in ORDER:
        if topic != "exit-codes":
            lines += _topic(topic)
    lines += [".SH EXIT STATUS", *_rows((str(status), meaning) for status, meaning in MEANING.items())]
    lines += [".SH ENVIRONMENT", *_rows(_variables())]
    return "\n".join(lines) + "\n"


def _context(command: Command, name: str, parent: Context | None = None) -> Context:
    names = CONTEXT_SETTINGS["help_option_names"]
    return command.context_class(command, info_name=name, parent=parent, terminal_width=_WIDE, help_option_names=names)


def _command(command: Command, parent: Context, aliases: list[str]) -> Iterator[str]:
    context = _context(command, command.name or "", parent)
    yield f'.SS "{_escaped(" ".join([context.command_path, *command.collect_usage_pieces(context)]))}"'
    if aliases:
        yield _text(f"Also {', '.join(aliases)}.")
    yield from _paragraphs(command.help or "")
    yield from _options(command, context)


def _paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs of a help text; those after a backspace stay unchanged."""
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        if paragraph.startswith(_VERBATIM):
            yield from _example(paragraph.removeprefix(_VERBATIM).strip("\n").split("\n"))
        elif paragraph:
            yield from (".PP", _text(paragraph))


def _options(command: Command, context: Context) -> Iterator[str]:
    records = (parameter.get_help_record(context) for parameter in command.get_params(context))
    yield from _rows(record for record in records if record is not None)


def _topic(name: str) -> Iterator[str]:
    title, *paragraphs = topic_text(name).rstrip("\n").split("\n\n")
    yield f'.SH "{_escaped(title.upper())}"'
    for paragraph in paragraphs:
        lines = paragraph.split("\n")
        if lines[0].isupper():
            yield f'.SS "{_escaped(lines.pop(0).capitalize())}"'
        if any(line.startswith(_INDENTED) for line in lines):
            yield from _example(lines)
        elif lines:
            yield from (".PP", _text("\n".join(lines)))


def _variables() -> Iterator[tuple[str, str]]:
    yield "SWAPCLI_CONFIG", "Settings file to use."
    for setting in TABLE.values():
        yield setting.variable, setting.help


def _rows(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, text in rows:
        yield from (".TP", f".B {_escaped(name)}", _text(text))


def _example(lines: Iterable[str]) -> Iterator[str]:
    yield from (".PP", ".EX", *map(_line, lines), ".EE")


def _text(text: str) -> str:
    """Return a filled paragraph with one line per sentence, as roff expects."""
    joined = re.sub(r"\s+", " ", text.strip())
    return "\n".join(_line(sentence) for sentence in re.split(r"(?<=[.!?]) (?=[A-Z])", joined))


def _line(text: str) -> str:
    """Return a line of text that does not begin with a control character."""
    escaped = text.translate(_ESCAPES)
    return f"\\&{escaped}" if escaped.startswith((".", " ")) else escaped


def _escaped(text: str) -> str:
    """Return text for a macro argument."""
    return text.translate(_ESCAPES).replace('"', "\\(dq")


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.parent.mkdir(exist_ok=True)
    file.write_text(man_page(), encoding="utf-8")
