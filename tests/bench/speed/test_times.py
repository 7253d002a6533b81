"""Times of an order are medians over the rounds."""

from __future__ import annotations

from bench.speed.times import Times


def test_times_are_medians_without_the_first_pass() -> None:
    cold = [[90.0, 9.0, 8.0], [70.0, 7.0, 6.0], [80.0, 5.0, 7.0]]
    warm = [[1.0, 2.0, 3.0], [3.0, 2.0, 1.0], [2.0, 2.0, 2.0]]
    peer = [[5.0, 6.0, 7.0], [7.0, 6.0, 5.0], [1.0, 9.0, 6.0]]
    times = Times([list(passes) for passes in zip(cold, warm, strict=True)], peer)
    assert times.first == 80.0
    assert times.cold == [7.0, 7.0]
    assert times.warm == [2.0, 2.0, 2.0]
    assert times.theirs == [5.0, 6.0, 6.0]
