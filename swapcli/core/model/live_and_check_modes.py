"""Which nodes quotes read, and which nodes check a swap before it is signed."""

from __future__ import annotations

from enum import StrEnum


class LiveMode(StrEnum):
    """Which nodes quotes may read.

    `auto` reads the nodes in the settings, otherwise the network's public nodes. If none responds, it falls back to
    stored or modelled state, with a warning; `require` fails instead. `never` reads no node.
    """

    AUTO = "auto"
    REQUIRE = "require"
    NEVER = "never"


LIVE_MODES = tuple(LiveMode)


class CheckMode(StrEnum):
    """Which nodes simulate a swap before signing: `auto` uses your own, `always` also public ones, `never` none."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


CHECK_MODES = tuple(CheckMode)
