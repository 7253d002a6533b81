"""The SVG of a route: well-formed for any names, complete, and legible in both modes."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given

from swapcli import Market
from swapcli.quoting.pictures import svg, svg_elements
from swapcli.quoting.pictures.route_flow import RouteFlow
from swapcli.quoting.pictures.sankey_layout import lay_out
from tests.quoting.pictures.strategies import FEWER_EXAMPLES, route_flows
from tests.snapshot import matches_snapshot
from tests.support.command import run_swapcli

README_PICTURE = Path(__file__).parents[3] / "docs" / "route.svg"
NAMESPACE = "{http://www.w3.org/2000/svg}"
AA_TEXT, AA_GRAPHICS = 4.5, 3.0
"""The contrasts that WCAG 2.2 requires at level AA of text and of graphics."""
LIGHT, DARK = 0, 1


def parse(document: str) -> ElementTree.Element:
    return ElementTree.fromstring(document)


@FEWER_EXAMPLES
@given(route_flows())
def test_any_names_give_well_formed_xml_without_script(flow: RouteFlow) -> None:
    document = svg.render_svg(flow, 390)
    root = parse(document)
    assert document.isascii()
    tags = {element.tag.removeprefix(NAMESPACE) for element in root.iter()}
    assert tags <= {"svg", "title", "desc", "style", "rect", "text", "g", "path"}
    attributes = {name for element in root.iter() for name in element.attrib}
    assert not {name for name in attributes if name.startswith("on") or name in ("id", "href", "style")}
    assert all(character.isprintable() or character == "\n" for text in root.itertext() for character in text)


@FEWER_EXAMPLES
@given(route_flows())
def test_every_band_has_a_ribbon_a_share_and_a_tooltip(flow: RouteFlow) -> None:
    rows = lay_out(flow, 720).rows
    root = parse(svg.render_svg(flow, 720))
    shares = [text.text for text in root.findall(f"{NAMESPACE}text[@class='share']")]
    assert shares == [row.share for row in rows]
    ribbons = root.findall(f"{NAMESPACE}g/{NAMESPACE}path")
    assert len(ribbons) == len(rows)
    assert len(root.findall(f"{NAMESPACE}g/{NAMESPACE}title")) == len(rows) + len(lay_out(flow, 720).tokens)


def test_the_text_below_a_narrow_picture_is_whole() -> None:
    with Market.embedded("base") as market:
        root = parse(market.quote("ETH", "USDC", "1").svg(320))
    notes = root.findall(f"{NAMESPACE}text[@class='note']")
    lines = [str(text.text) for text in sorted(notes, key=lambda text: float(text.attrib["y"]))]
    assert re.fullmatch(
        r"\d+ pools on base, modelled prices\. Widths and bold figures: share of the order\.", " ".join(lines)
    )
    assert len(lines) > 1
    assert float(notes[0].attrib["y"]) < float(root.attrib["height"])


def test_a_picture_has_the_requested_width_and_a_description() -> None:
    root = parse(README_PICTURE.read_text(encoding="utf-8"))
    assert root.attrib["width"] == "720"
    assert root.attrib["viewBox"] == f"0 0 720 {root.attrib['height']}"
    assert root.attrib["role"] == "img"
    assert re.fullmatch(r"Route of 50 ETH to [0-9,.]+ USDC on base, modelled prices", root.attrib["aria-label"])
    assert root.attrib["aria-label"] == root[0].text
    assert [child.tag.removeprefix(NAMESPACE) for child in root[:2]] == ["title", "desc"]


def _luminance(color: tuple[float, ...]) -> float:
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in color]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _parts(color: str) -> tuple[float, ...]:
    return tuple(int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))


def contrast(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    """Return the contrast of two colors as WCAG defines it."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("mode", [LIGHT, DARK])
def test_colors_have_the_contrast_of_level_aa(mode: int) -> None:
    surface, opacity = _parts(svg_elements.SURFACE[mode]), svg.RIBBON_OPACITY[mode]
    for text in (svg_elements.TEXT, svg_elements.MUTED):
        assert contrast(_parts(text[mode]), surface) >= AA_TEXT
    for hue in (*svg_elements.HUES, svg.GROUP_HUE):
        color = _parts(hue[mode])
        assert contrast(color, surface) >= AA_GRAPHICS
        ribbon = tuple(opacity * above + (1 - opacity) * below for above, below in zip(color, surface, strict=True))
        assert contrast(_parts(svg_elements.TEXT[mode]), ribbon) >= AA_TEXT


def test_no_text_is_smaller_than_eleven_pixels() -> None:
    sizes = [float(size) for size in re.findall(r"font(?:-size)?:(\d+)px", README_PICTURE.read_text(encoding="utf-8"))]
    assert min(sizes) == svg_elements.NOTE_SIZE == 11


def test_the_picture_of_the_readme_is_what_the_command_draws() -> None:
    drawn = run_swapcli("route", "base", "ETH", "USDC", "50", "--format", "svg")
    assert matches_snapshot(drawn.stdout, README_PICTURE)
