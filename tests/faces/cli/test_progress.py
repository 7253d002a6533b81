"""The progress line: how much is done, how fast, and how long the rest takes."""

from __future__ import annotations

from io import StringIO

import pytest

from swapcli.faces.cli.progress import ProgressLine
from swapcli.state.clock import Clock


@pytest.mark.parametrize(
    ("total", "done", "line"),
    [
        (None, 0, "30 orders, 3 per second"),
        (90, 0, "30 of 90 orders, 3 per second, 20 s left"),
        (90, 10, "40 of 90 orders, 3 per second, 17 s left"),
        (5_000, 0, "30 of 5,000 orders, 3 per second, 28 min left"),
    ],
)
def test_a_line_has_the_rate_of_this_run_and_the_time_left(total: int | None, done: int, line: str) -> None:
    progress = ProgressLine(fixed_clock([0.0]), None, "orders", total, done)
    for _ in range(30):
        progress.add()
    assert progress.describe(10.0) == line


def test_each_line_covers_the_one_before_and_the_end_removes_it() -> None:
    stream, time = StringIO(), [0.0]
    progress = ProgressLine(fixed_clock(time), stream, "orders", 5_000)
    for time[0] in (0.1, 0.5, 0.6, 1.0):
        progress.add()
    progress.close()
    progress.close()
    shown = stream.getvalue().split("\r")
    assert [line.strip() for line in shown] == [
        "", "2 of 5,000 orders, 4 per second, 21 min left", "4 of 5,000 orders, 4 per second, 21 min left", "", "",
    ]  # fmt: skip
    assert len(shown[3]) == len(shown[2])


def fixed_clock(time: list[float]) -> Clock:
    return Clock(now_s=lambda: time[0], monotonic_s=lambda: time[0])


def test_what_takes_seconds_has_its_rate_by_the_minute() -> None:
    progress = ProgressLine(fixed_clock([0.0]), None, "blocks", 100)
    progress.add()
    assert progress.describe(4.0) == "1 of 100 blocks, 15 per minute, 7 min left"
