"""Which nodes quotes read, and which nodes simulate a swap before signing."""

from __future__ import annotations

from enum import StrEnum


class LiveMode(StrEnum):
    """Which nodes quotes may read.

    `auto` reads the nodes in the settings or, if there are none, the network's public nodes. If none responds, it falls
    back to stored or modelled state, with a warning; `require` fails instead. `never` reads no node.
    """

    AUTO = "auto"
    REQUIRE = "require"
    NEVER = "never"


LIVE_MODES = tuple(LiveMode)


class CheckMode(StrEnum):
    """Which nodes simulate a swap before signing. `auto` uses only your own nodes, `always` also uses public nodes, and
    `never` uses none."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


CHECK_MODES = tuple(CheckMode)
