"""The errors that programs using `swapcli` can catch; `SwapcliError` is the root of the tree."""

from __future__ import annotations

from swapcli.core.errors import *  # noqa: F403
