"""One thing in figures, with lists below, for people: the table and the plain text both show exactly this."""

from __future__ import annotations

from dataclasses import dataclass

from swapcli.cli.render.facts import Fact
from swapcli.cli.render.list_view import ListView


@dataclass(frozen=True, slots=True)
class DetailView:
    """`whole` are values by name that are for copying and never break."""

    title: str
    facts: tuple[Fact, ...]
    copyable: tuple[tuple[str, str], ...] = ()
    lists: tuple[ListView, ...] = ()
