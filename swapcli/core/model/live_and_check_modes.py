"""Which nodes quotes read, and which ones check a swap before it is signed."""

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


class CheckMode(StrEnum):
    """Which nodes rehearse a swap before it is signed: those of the settings, `always` else public ones, or `never`
    any."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


CHECK_MODES = tuple(CheckMode)
