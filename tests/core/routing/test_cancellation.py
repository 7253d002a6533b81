"""What stops work early: a check without a time limit still stops cancelled work."""

from __future__ import annotations

import pytest

from swapcli.core.errors import Cancelled
from swapcli.core.routing.cancellation import SearchTimeUp, without_time_limit


def test_a_check_without_time_limit_only_stops_cancelled_work() -> None:
    reasons: list[Exception] = [SearchTimeUp(), Cancelled("the quote was cancelled")]

    def check() -> None:
        if reasons:
            raise reasons.pop(0)

    untimed = without_time_limit(check)
    untimed()
    with pytest.raises(Cancelled):
        untimed()
    untimed()
