"""The progress of a batch whose results do not go to the terminal."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

from swapcli.faces.cli.commands.route.batch_options import BatchOptions
from swapcli.faces.cli.csv_orders import has_titles
from swapcli.faces.cli.files import is_regular
from swapcli.faces.cli.progress import ProgressLine
from swapcli.state.clock import SYSTEM_CLOCK


def open_progress(options: BatchOptions, done: int, *, is_quiet: bool) -> ProgressLine:
    """Return the progress of a batch. It is shown on a terminal that does not receive the results themselves."""
    assert options.batch is not None
    is_shown = not is_quiet and sys.stderr.isatty() and (options.results is not None or not sys.stdout.isatty())
    if not is_shown:
        return ProgressLine(SYSTEM_CLOCK, None, "orders", None)
    return ProgressLine(SYSTEM_CLOCK, sys.stderr, "orders", count_orders(options.batch), done)


def count_orders(name: str) -> int | None:
    """Return the number of orders in a file; None for a pipe, whose end is unknown."""
    if not is_regular(name):
        return None
    with suppress(OSError), Path(name).open("rb") as file:
        lines = (line for line in file if line.strip())
        first = next(lines, None)
        is_order = first is not None and not has_titles(first.decode(errors="replace").strip())
        return int(is_order) + sum(1 for _ in lines)
    return None
