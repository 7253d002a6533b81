"""`swapcli help`: the manual, one topic per page."""

# No `from __future__ import annotations`: see `swapcli.startup`.

import sys
from types import MappingProxyType
from typing import Annotated

from swapcli import InvalidOption
from swapcli.core.encoding.closest import closest_names, did_you_mean
from swapcli.core.encoding.text import printable, truncate
from swapcli.faces.cli.command_app import CommandApp
from swapcli.faces.cli.help_topics import GROUPS, ORDER, topic_text
from swapcli.faces.cli.options import OUTPUT, argument, option
from swapcli.faces.cli.terminal import reflow, terminal_width

ALIASES = MappingProxyType(
    {
        "config": "settings",
        **dict.fromkeys(("environment", "variables", "yaml"), "settings"),
        **dict.fromkeys(("safe", "multisig", "wallet", "permit", "permit2", "gas", "nonce"), "signing"),
        **dict.fromkeys(("json", "csv", "pipe", "scripts"), "scripting"),
        **dict.fromkeys(("errors", "error", "status"), "exit-codes"),
        **dict.fromkeys(("api", "http", "openapi"), "service"),
        **dict.fromkeys(("rpc", "node"), "nodes"),
        **dict.fromkeys(("agent", "ai"), "agents"),
        **dict.fromkeys(("python", "sdk"), "library"),
        **dict.fromkeys(("payload", "approval"), "transactions"),
        **dict.fromkeys(("store", "sources"), "state"),
        **dict.fromkeys(("docker", "kubernetes", "nginx"), "deploy"),
    }
)
"""Aliases of topics. Commands have their own pages."""

app = CommandApp()


@app.command()
def help_(
    topic: Annotated[str | None, argument("[TOPIC]", "Topic to read.  [default: list all]")] = None,
    man: Annotated[bool, option("--man", "Print the manual page; pipe it to man -l -.", OUTPUT)] = False,
) -> None:
    """Explain a topic, such as amounts or exit codes.

    \b
    Examples:
      swapcli help
      swapcli help exit-codes
      swapcli help --man | man -l -
    """
    if man:
        if topic is not None:
            raise InvalidOption(
                "--man prints all topics, so it cannot be combined with TOPIC", hint="remove one of them"
            )
        from swapcli.faces.cli.man_page import man_page

        print(man_page(), end="")
        return
    found = None if topic is None else _topic_name(topic.lower())
    if topic is None:
        width = terminal_width(sys.stdout)
        print(reflow("Topics (swapcli help TOPIC; each command also has --help):\n", width), end="")
        for group, names in GROUPS.items():
            print(f"\n{group}:")
            for name in names:
                print(reflow(f"  {name:<14}{_title(name)}\n", width), end="")
        print(reflow("\nGuides, one task each: docs/how-to in the checkout.\n", width), end="")
    elif found in ORDER:
        print(reflow(topic_text(found), terminal_width(sys.stdout)), end="")
    elif (page := _command_page(topic.lower())) is not None:
        print(page)
    else:
        from swapcli.faces.cli.typer_root import Root

        closest = did_you_mean(closest_names(topic, [*ORDER, *ALIASES, *Root.entries]))
        hint = closest or f"topics: {', '.join(ORDER)}"
        raise InvalidOption(f'no topic "{printable(truncate(topic, 40))}"', hint=hint)


def _title(topic: str) -> str:
    """Return a topic's title without its name: `Scale: one feed` becomes `one feed`."""
    title = topic_text(topic).partition("\n")[0]
    return title.partition(": ")[2] or title


def _topic_name(word: str) -> str:
    """Return the topic for a word: an alias, or the topic of which it is the first word (exit: exit-codes)."""
    begun = [name for name in ORDER if name.startswith(f"{word}-")]
    return begun[0] if word not in ORDER and len(begun) == 1 else ALIASES.get(word, word)


def _command_page(name: str) -> str | None:
    """Return a command's help, as its --help prints it; None for an unknown command."""
    from typer.main import get_command

    from swapcli.faces.cli.overview import PROGRAM
    from swapcli.faces.cli.typer_root import Root, app

    if name not in Root.entries:
        return None
    root = get_command(app)
    context = root.make_context(PROGRAM, [], resilient_parsing=True)
    command = root.get_command(context, name)  # type: ignore[attr-defined]
    with command.make_context(name, [], parent=context, resilient_parsing=True) as inner:
        return str(command.get_help(inner))
