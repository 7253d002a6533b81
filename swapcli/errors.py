"""The errors that programs can catch when they use `swapcli`. `SwapcliError` is the base of all of them."""

from __future__ import annotations

from swapcli.core.errors import *  # noqa: F403
