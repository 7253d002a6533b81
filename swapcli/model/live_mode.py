"""Whether quotes read the present state of the pools from nodes."""

from __future__ import annotations

from enum import StrEnum


class LiveMode(StrEnum):
    """Which nodes quotes may read.

    `auto` reads those of the settings, else a network's public nodes, and without an answer falls back to stored or
    modelled state, with a warning; `require` fails there; `never` reads none.
    """

    AUTO = "auto"
    REQUIRE = "require"
    NEVER = "never"


LIVE_MODES = tuple(LiveMode)
