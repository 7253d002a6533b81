"""The progress of a batch: on a terminal that does not get the results, and nowhere else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest

from swapcli.faces.cli.commands.route.batch_progress import BatchProgress
from swapcli.state.clock import Clock
from tests.support.command import clean_environment

ORDER = {"token_in": "ETH", "token_out": "USDC", "amount_decimal": "1.5"}


@pytest.mark.parametrize(
    ("total", "done", "line"),
    [
        (None, 0, "30 orders, 3 a second"),
        (90, 0, "30 of 90 orders, 3 a second, 20 s left"),
        (90, 10, "40 of 90 orders, 3 a second, 17 s left"),
        (5_000, 0, "30 of 5,000 orders, 3 a second, 28 min left"),
    ],
)
def test_a_line_has_the_rate_of_this_run_and_the_time_left(total: int | None, done: int, line: str) -> None:
    progress = BatchProgress(fixed_clock([0.0]), None, total, done)
    for _ in range(30):
        progress.add()
    assert progress.describe(10.0) == line


def test_each_line_covers_the_one_before_and_the_end_removes_it() -> None:
    stream, time = StringIO(), [0.0]
    progress = BatchProgress(fixed_clock(time), stream, 5_000)
    for time[0] in (0.1, 0.5, 0.6, 1.0):
        progress.add()
    progress.close()
    progress.close()
    shown = stream.getvalue().split("\r")
    assert [line.strip() for line in shown] == [
        "", "2 of 5,000 orders, 4 a second, 21 min left", "4 of 5,000 orders, 4 a second, 21 min left", "", "",
    ]  # fmt: skip
    assert len(shown[3]) == len(shown[2])


def fixed_clock(time: list[float]) -> Clock:
    return Clock(now_s=lambda: time[0], monotonic_s=lambda: time[0])


@pytest.mark.parametrize(("is_terminal", "options"), [(True, ()), (True, ("--quiet",)), (False, ())])
def test_people_see_it_and_files_do_not(tmp_path: Path, is_terminal: bool, options: tuple[str, ...]) -> None:
    orders, results = tmp_path / "orders", tmp_path / "results"
    orders.write_text("".join(f"{json.dumps(ORDER)}\n" for _ in range(400)))
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "swapcli", "route", "base", "--offline", "--batch", str(orders)]
    with subprocess.Popen(
        [*command, "--results", str(results), *options],
        env=clean_environment(),
        stderr=theirs if is_terminal else subprocess.PIPE,
    ) as process:
        os.close(theirs)
        shown = b""
        if is_terminal:
            while part := read_or_end(ours):
                shown += part
        else:
            assert process.stderr
            shown = process.stderr.read()
    os.close(ours)
    assert process.wait() == 0
    assert len(results.read_text().splitlines()) == 400
    assert (b" of 400 orders, " in shown) == (is_terminal and not options)


def read_or_end(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # the other end is closed
        return b""
