"""`swapcli help`: the manual, one topic a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from swapcli.cli.exit_codes import MEANING
from swapcli.cli.lazy_group import PanelCommand, new_app
from swapcli.cli.options import argument

TOPICS = Path(__file__).parents[1] / "topics"
ORDER = ("live", "transactions", "routers", "warnings", "service", "state", "settings", "routing", "exit-codes")
"""The topics as the list shows them; each is a text file in `cli/topics`, whose first line is its title."""

app = new_app()


@app.command(cls=PanelCommand)
def help_(
    topic: Annotated[str | None, argument("[TOPIC]", "Topic to read; all are listed without it.")] = None,
) -> None:
    """Explain a topic, such as live prices or exit codes.

    \b
    Examples:
      swapcli help
      swapcli help exit-codes
    """
    if topic is None:
        print("Topics (swapcli help TOPIC; each command also has --help):\n")
        for name in ORDER:
            print(f"  {name:<14}{topic_text(name).splitlines()[0]}")
    elif topic in ORDER:
        print(topic_text(topic), end="")
    else:
        raise typer.BadParameter(f"{topic!r} is not one of {', '.join(ORDER)}", param_hint="TOPIC")


def topic_text(name: str) -> str:
    """Return the page on a topic of `ORDER`."""
    text = (TOPICS / f"{name}.txt").read_text(encoding="utf-8")
    if name == "exit-codes":
        text += "".join(f"  {status:<5}{meaning}\n" for status, meaning in MEANING.items())
    return text
