"""The figures of a soak: growth and lost descriptors are found."""

from __future__ import annotations

import pytest

from bench.scale.soak import Sample, Soaked, compare_quarters


def test_the_second_and_the_last_quarter_are_compared() -> None:
    samples = [Sample(float(at), (100 + at, 50)) for at in range(40)]
    assert compare_quarters(samples) == [(114.5, 134.5), (50, 50)]


@pytest.mark.parametrize(
    ("memory", "descriptors", "is_flat"),
    [((100, 105), (9, 9), True), ((100, 106), (9, 9), False), ((100, 90), (9, 8), True), ((100, 100), (9, 10), False)],
)
def test_growth_is_found(memory: tuple[float, float], descriptors: tuple[int, int], is_flat: bool) -> None:
    found = Soaked(60.0, 1, 1, 1, {"replica": memory}, {"replica": descriptors})
    assert found.is_flat is is_flat
    assert found.document()["is_flat"] is is_flat
