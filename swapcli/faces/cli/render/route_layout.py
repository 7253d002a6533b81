"""The shapes in which a route is shown as text."""

from __future__ import annotations

from enum import StrEnum


class RouteShape(StrEnum):
    """The shape of a route."""

    TABLE = "table"
    """One row for each pool, with its address, followed by the facts."""
    TREE = "tree"
    """A tree of paths, their hops and the pools of each hop, followed by the facts."""
    LINE = "line"
    """One line, without facts."""
