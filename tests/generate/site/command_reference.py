"""The reference of the command line, made from what `--help` of each command is made from."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from textwrap import dedent
from typing import TYPE_CHECKING

from typer.main import get_command

from swapcli.faces.cli.overview import PROGRAM
from swapcli.faces.cli.typer_root import Root, app
from tests.generate.site.markdown import escape, table, with_references

if TYPE_CHECKING:
    from typer._click import Command, Context

_VERBATIM = "\b"
"""Begins a paragraph of a help text whose lines stay as they are."""


def commands_page() -> str:
    """Return the page: each command with its usage, its help, its arguments and options."""
    root = get_command(app)
    context = _context(root, PROGRAM)
    blocks = ["# Commands", "What `--help` of each command says. `swapcli help --man` prints it as a manual page."]
    for name in Root.entries:
        command = root.get_command(context, name)  # type: ignore[attr-defined]
        blocks += _command(command, context, "##")
        inner: dict[str, Command] = getattr(command, "commands", {})
        for leaf in inner.values():
            blocks += _command(leaf, _context(command, name, context), "###")
    return "\n\n".join(blocks) + "\n"


def _context(command: Command, name: str, parent: Context | None = None) -> Context:
    return command.context_class(command, info_name=name, parent=parent, terminal_width=1_000)


def _command(command: Command, parent: Context, heading: str) -> Iterator[str]:
    context = _context(command, command.name or "", parent)
    yield f"{heading} {context.command_path}"
    yield f"```text\n{' '.join([context.command_path, *command.collect_usage_pieces(context)])}\n```"
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        if paragraph.startswith(_VERBATIM):
            yield f"```text\n{dedent(paragraph.removeprefix(_VERBATIM)).strip(chr(10))}\n```"
        elif paragraph:
            yield with_references(escape(paragraph), "topics/")
    records = (parameter.get_help_record(context) for parameter in command.get_params(context))
    rows = [(f"`{names}`", escape(text)) for names, text in filter(None, records)]
    if rows:
        yield table(("argument or option", "meaning"), rows)
