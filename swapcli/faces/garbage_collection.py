"""The cyclic garbage collector, which `swapcli.startup` disables and long-running commands enable."""

from __future__ import annotations

import gc


def enable_garbage_collection() -> None:
    """Enable the collector for a long-running command, and exclude everything loaded so far from collections.

    Quotes leave no cycles, but routers cache a lot: with Python's thresholds, full collections would take a tenth of
    the time, up to 0.2 s each with 10,000 pools. With the thresholds set here, full collections are rare, and a worker
    takes 53 MB.
    """
    if not gc.isenabled():
        gc.freeze()
        gc.set_threshold(5_000, 10, 50)
        gc.enable()
