"""The nodes that quotes read, and the nodes that check a swap before it is signed."""

from __future__ import annotations

from enum import StrEnum


class LiveMode(StrEnum):
    """Which nodes quotes may read.

    `auto` reads those of the settings, otherwise a network's public nodes, and without an answer falls back to stored
    or modelled state, with a warning; `require` fails there; `never` reads none.
    """

    AUTO = "auto"
    REQUIRE = "require"
    NEVER = "never"


LIVE_MODES = tuple(LiveMode)


class CheckMode(StrEnum):
    """The nodes that simulate a swap before signing: `auto` uses your own, `always` also public ones, `never` none."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


CHECK_MODES = tuple(CheckMode)
