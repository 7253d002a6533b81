"""The geometry of a route's picture: widths are flows, texts do not overlap, everything is inside."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.quoting.pictures.flow_graph import SINK, SOURCE
from swapcli.quoting.pictures.picture_width import MAX_WIDTH, MIN_WIDTH
from swapcli.quoting.pictures.route_flow import RouteFlow
from swapcli.quoting.pictures.sankey_layout import LABEL_SIZE, Box, RouteLayout, lay_out
from swapcli.quoting.pictures.text_width import fit_text, text_width, wrap_text
from tests.quoting.pictures.strategies import FEWER_EXAMPLES, NAMES, route_flows

WIDTHS = st.sampled_from([MIN_WIDTH, 390, 720, 1280, MAX_WIDTH]) | st.integers(MIN_WIDTH, MAX_WIDTH)
ROUNDING_PX = 1e-6


def overlap(one: Box, other: Box) -> bool:
    return (
        one.x + one.width > other.x + ROUNDING_PX
        and other.x + other.width > one.x + ROUNDING_PX
        and one.y + one.height > other.y + ROUNDING_PX
        and other.y + other.height > one.y + ROUNDING_PX
    )


def text_boxes(layout: RouteLayout) -> list[Box]:
    inner = [token.label for token in layout.tokens if token.node.key not in (SOURCE, SINK)]
    return [*inner, *(box for row in layout.rows for box in row.text_boxes)]


@FEWER_EXAMPLES
@given(route_flows(), WIDTHS)
def test_no_two_texts_overlap(flow: RouteFlow, width: int) -> None:
    assert not [pair for pair in combinations(text_boxes(lay_out(flow, width)), 2) if overlap(*pair)]


@FEWER_EXAMPLES
@given(route_flows(), WIDTHS)
def test_every_text_is_inside_the_picture_and_fits_its_box(flow: RouteFlow, width: int) -> None:
    layout = lay_out(flow, width)
    for box in text_boxes(layout):
        assert min(box.x, box.y) >= 0
        assert box.x + box.width <= layout.width
        assert box.y + box.height <= layout.height
    for row in layout.rows:
        last = text_width(row.lines[-1], LABEL_SIZE) + text_width(row.share, LABEL_SIZE, is_bold=True)
        assert max(last, *(text_width(line, LABEL_SIZE) for line in row.lines)) <= row.label.width
    assert all(text_width(token.symbol, LABEL_SIZE, is_bold=True) <= token.label.width for token in layout.tokens)


@FEWER_EXAMPLES
@given(route_flows(), WIDTHS)
def test_ribbons_are_as_wide_as_their_flow_and_fill_their_bars(flow: RouteFlow, width: int) -> None:
    layout = lay_out(flow, width)
    scale = layout.tokens[0].bar.height / layout.tokens[0].node.flow
    assert all(row.thickness == pytest.approx(scale * row.band.flow) for row in layout.rows)
    for token in layout.tokens:
        for side in ("source", "target"):
            ends = [row for row in layout.rows if getattr(row.band, side) == token.node.key]
            edges = sorted(
                (getattr(row, f"y_{side}") - row.thickness / 2, getattr(row, f"y_{side}") + row.thickness / 2)
                for row in ends
            )
            y = token.bar.y
            for upper, lower in edges:
                assert upper == pytest.approx(y)
                y = lower
            assert not ends or y == pytest.approx(token.bar.y + token.bar.height)


@FEWER_EXAMPLES
@given(route_flows(), WIDTHS)
def test_ribbons_stay_in_their_rows_and_rows_do_not_overlap(flow: RouteFlow, width: int) -> None:
    layout = lay_out(flow, width)
    for row in layout.rows:
        assert row.row.y - ROUNDING_PX <= row.y - row.thickness / 2
        assert row.y + row.thickness / 2 <= row.row.y + row.row.height + ROUNDING_PX
        assert row.x_source < row.x_start < row.x_end < row.x_target
    assert not [pair for pair in combinations([row.row for row in layout.rows], 2) if overlap(*pair)]


@given(NAMES, st.floats(0, 300), st.integers(1, 4))
def test_wrapped_text_fits_and_keeps_its_words(text: str, width: float, max_lines: int) -> None:
    lines = wrap_text(text, width, LABEL_SIZE, max_lines)
    assert len(lines) <= max_lines
    ellipsis_px = text_width("…", LABEL_SIZE)
    assert all(text_width(line, LABEL_SIZE) <= max(width, ellipsis_px) for line in lines)
    assert any("…" in line for line in lines) or " ".join(lines) == " ".join(text.split())
    assert fit_text(text, 10_000, LABEL_SIZE) == text
