"""The cyclic garbage collector, which `swapcli.startup` switches off: commands that run for long switch it on."""

from __future__ import annotations

import gc


def enable_garbage_collection() -> None:
    """Switch the collector on for a command that runs for long, without ever traversing what has been loaded so far.

    Quotes leave no cycles, but routers cache much: with Python's thresholds, full collections would take a tenth of the
    time, up to 0.2 s each over 10,000 pools. With these they are rare, and a worker takes 53 MB.
    """
    if not gc.isenabled():
        gc.freeze()
        gc.set_threshold(5_000, 10, 50)
        gc.enable()
