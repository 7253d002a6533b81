"""The shapes in which a route is shown as text."""

from __future__ import annotations

from enum import StrEnum


class RouteShape(StrEnum):
    """The shape of a route."""

    TABLE = "table"
    """One row for each pool, with its address, and the facts."""
    TREE = "tree"
    """Paths, their hops and the pools of each, and the facts."""
    LINE = "line"
    """One line without facts."""
