"""Routes are judged by the tighter bound, and by the peer."""

from __future__ import annotations

from dataclasses import replace

from bench.optimum.judged import Judged
from bench.report.figures import gap_bps

JUDGED = Judged(order=1, size="small", out=9_999, peer_out=9_990.0, dual=10_000.0, own=10_001.0)


def test_the_tighter_bound_judges_both_routers() -> None:
    order = replace(JUDGED, dual=10_000.0, own=9_999.5)
    assert order.bound == 9_999.5
    assert order.gap_bps == gap_bps(9_999, 9_999.5)
    assert order.peer_gap_bps == gap_bps(9_990.0, 9_999.5)
    assert order.is_own_tighter
    assert not JUDGED.is_own_tighter


def test_an_order_without_a_route_is_behind_by_everything() -> None:
    order = replace(JUDGED, out=None)
    assert order.gap_bps == 1e4
    assert order.ahead_bps == -1e4
    assert replace(JUDGED, out=None, peer_out=None).ahead_bps is None


def test_a_certificate_below_a_known_route_is_detected() -> None:
    assert replace(JUDGED, own=9_980.0).is_bound_refuted
    assert replace(JUDGED, known_out=10_002.0).is_bound_refuted
    assert not replace(JUDGED, known_out=10_000.5).is_bound_refuted
