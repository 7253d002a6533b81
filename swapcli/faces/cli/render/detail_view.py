"""The view of one thing in detail: facts, then lists. Tables and plain text show the same view."""

from __future__ import annotations

from dataclasses import dataclass

from swapcli.faces.cli.render.list_view import ListView
from swapcli.faces.cli.render.quote_facts import Fact


@dataclass(frozen=True, slots=True)
class DetailView:
    """A title, facts, named values that never wrap because users copy them, lists, and lines below them.

    `label` is shown next to the title if prices are not real.
    """

    title: str
    facts: tuple[Fact, ...]
    copyable: tuple[tuple[str, str], ...] = ()
    lists: tuple[ListView, ...] = ()
    footer: str = ""
    label: str = ""
