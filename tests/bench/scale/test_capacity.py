"""The table of the load that one process can carry: where its knee is."""

from __future__ import annotations

import pytest

from bench.scale.capacity import Capacity, Step, table

CALM, BUSY = Step(10.0, 20.0, 0.0), Step(40.0, 99.0, 0.009)
REJECTING, SLOW = Step(50.0, 60.0, 0.02), Step(50.0, 101.0, 0.0)


@pytest.mark.parametrize(
    ("steps", "knee"),
    [
        ((CALM, BUSY), BUSY),
        ((CALM, BUSY, REJECTING, CALM), BUSY),
        ((CALM, BUSY, SLOW, CALM), BUSY),
        ((REJECTING, CALM), None),
    ],
)
def test_the_knee_is_the_last_rate_before_times_or_rejections_rise(steps: tuple[Step, ...], knee: Step | None) -> None:
    found = Capacity(1_000, 2.5, 60.4, 62_000_000, steps)
    assert found.knee == knee
    rate, p99_ms = ("–", "–") if knee is None else ("40", "99")
    assert table([found]).splitlines()[2] == f"| 1,000 | 60 | {rate} | {p99_ms} | {steps[0].p99_ms:.0f} | 62 | 2.5 |"
