"""Charts of how values spread."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from swapcli.quoting.pictures.spread_chart import Spread, SpreadChart, SpreadValue, render_spread_chart

_SVG = "{http://www.w3.org/2000/svg}"
_VALUES = st.lists(st.builds(SpreadValue, st.floats(-1e7, 1e7), st.text(max_size=20)), min_size=1, max_size=20)
_SPREADS = st.lists(st.builds(Spread, st.text(max_size=40), _VALUES.map(tuple)), max_size=6)


def dots(text: str, width: float) -> list[list[float]]:
    """Return where the dots of each line are, from left to right, after checking that they are inside."""
    rows: dict[str, list[float]] = {}
    for each in ET.fromstring(text).findall(f".//{_SVG}circle"):
        x = float(each.attrib["cx"])
        assert 0 <= x <= width
        rows.setdefault(each.attrib["cy"], []).append(x)
    return list(rows.values())


@given(_SPREADS, st.integers(320, 1_600))
def test_each_value_is_a_dot_in_the_order_of_the_values(spreads: list[Spread], width: int) -> None:
    text = render_spread_chart(SpreadChart("A <title> & more", "bps", tuple(spreads), "note"), width)
    assert text.isascii()
    found = dots(text, width)
    assert [len(row) for row in found] == [len(spread.values) for spread in spreads]
    for row, spread in zip(found, spreads, strict=True):
        placed = sorted(zip((each.value for each in spread.values), row, strict=True))
        assert [x for _, x in placed] == sorted(row)


def test_medians_are_said_in_words_too() -> None:
    values = tuple(SpreadValue(float(each), f"swap {each}") for each in (1, 2, 40))
    drawn = ET.fromstring(render_spread_chart(SpreadChart("T", "bps", (Spread("Uniswap V3", values),))))
    (description,) = drawn.findall(f"{_SVG}desc")
    assert description.text == "Uniswap V3: median +2.00 of 3"
    titles = [each.text for each in drawn.findall(f".//{_SVG}title")]
    assert {"swap 1", "swap 40", "Uniswap V3: median +2.00"} <= set(titles)


def test_a_chart_without_values_says_so() -> None:
    assert "There are no values." in render_spread_chart(SpreadChart("T", "bps", ()))
