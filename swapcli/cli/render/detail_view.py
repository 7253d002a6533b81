"""The view of one thing in detail: facts, then lists. Tables and plain text show the same view."""

from __future__ import annotations

from swapcli.cli.render.list_view import ListView
from swapcli.cli.render.quote_facts import Fact
from swapcli.records import dataclass


@dataclass(frozen=True, slots=True)
class DetailView:
    """A title, facts, named values that never wrap because users copy them, and lists."""

    title: str
    facts: tuple[Fact, ...]
    copyable: tuple[tuple[str, str], ...] = ()
    lists: tuple[ListView, ...] = ()
