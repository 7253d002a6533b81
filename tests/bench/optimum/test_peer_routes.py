"""Legs of the peer become routes of our format with the same parts."""

from __future__ import annotations

from bench.optimum.simple_methods.peer_routes import convert
from swapcli.core.model.quote import HUNDREDTHS, Route, Segment, Swap


def test_legs_swap_parts_of_what_is_left_of_a_token() -> None:
    """A quarter goes directly, a third of the remaining three quarters over C, and the rest over D, or C after D."""
    legs = [
        ("direct", "A", "B", 0.25),
        ("ac", "A", "C", 1 / 3),
        ("ad", "A", "D", 1.0),
        ("dc", "D", "C", 0.5),
        ("db", "D", "B", 1.0),
        ("cb", "C", "B", 1.0),
    ]
    route = convert(legs, "A", "B", HUNDREDTHS)
    assert route == Route(
        (
            Segment(2_500, ((Swap("direct", "A", "B", 10_000),),)),
            Segment(2_500, ((Swap("ad", "A", "D", 10_000),), (Swap("db", "D", "B", 10_000),))),
            Segment(2_500, ((Swap("ac", "A", "C", 10_000),), (Swap("cb", "C", "B", 10_000),))),
            Segment(
                2_500,
                (
                    (Swap("ad", "A", "D", 10_000),),
                    (Swap("dc", "D", "C", 10_000),),
                    (Swap("cb", "C", "B", 10_000),),
                ),
            ),
        )
    )


def test_legs_that_reach_no_target_are_no_route() -> None:
    assert convert([("ac", "A", "C", 1.0)], "A", "B", HUNDREDTHS) is None
