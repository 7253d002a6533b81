"""The chart of cost and risk: valid XML in its width, with the plans in words."""

from __future__ import annotations

from itertools import pairwise
from xml.etree import ElementTree

import pytest

from swapcli import Market
from swapcli.quoting.pictures.frontier_chart import FrontierChart, FrontierDot, render_frontier_chart

UNIT = 10**6
SVG = "{http://www.w3.org/2000/svg}"


def chart(dots: tuple[FrontierDot, ...]) -> FrontierChart:
    market = Market.embedded("base")
    return FrontierChart(market.network, market.token("ETH"), market.token("USDC"), 2_000 * 10**18, dots, dots[1])


@pytest.mark.parametrize("width", [320, 720, 1_600])
def test_more_risk_is_further_right_and_costs_less(width: int) -> None:
    dots = tuple(
        FrontierDot(parts, duration_s, cost * UNIT, deviation * UNIT)
        for parts, duration_s, cost, deviation in (
            (20, 14_400, 30_000, 52_000), (8, 5_000, 36_000, 25_000), (1, 0, 66_000, 0)
        )
    )  # fmt: skip
    root = ElementTree.fromstring(render_frontier_chart(chart(dots), width))
    assert root.get("width") == str(width)
    circles = root.findall(f".//{SVG}circle")
    places = [(float(each.get("cx", "")), float(each.get("cy", ""))) for each in circles]
    assert all(x > next_x and y > next_y for (x, y), (next_x, next_y) in pairwise(places[:3]))
    assert places[3] == places[1]
    assert all(0 <= x <= width for x, _ in places)
    words = root.findtext(f"{SVG}desc") or ""
    assert words.startswith("This plan: 8 parts in 83 min: cost 36,000, deviation 25,000 USDC.")
    assert "1 part in 0 min: cost 66,000, deviation 0 USDC" in words


def test_plans_without_cost_or_risk_are_drawn() -> None:
    dots = (FrontierDot(1, 0.0, 0.0, 0.0), FrontierDot(1, 0.0, 0.0, 0.0))
    ElementTree.fromstring(render_frontier_chart(chart(dots)))
