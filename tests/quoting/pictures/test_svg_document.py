"""The frame of pictures: well-formed, described, and colored in light and dark mode."""

from __future__ import annotations

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.encoding.text import printable
from swapcli.quoting.pictures.svg_document import Rules, paint, style_sheet, svg_document

texts = st.text(st.characters(codec="utf-8"), max_size=40)


def colors(mode: int) -> Rules:
    return paint({".dot": ("#fff", "#000")}, {".line,.mark": ("#eee", "#111")}, mode)


STYLE = style_sheet("dots", [("text", "stroke:none")], colors)


@given(texts, texts)
def test_a_picture_names_and_describes_itself(title: str, description: str) -> None:
    document = svg_document("dots", title, description, STYLE, 640, 99.5, ["<g/>", "", '<path d="M0 0"/>'])
    assert document.isascii()
    assert document.endswith("</svg>\n")
    assert "\n\n" not in document
    root = ElementTree.fromstring(document)
    shown = "\n".join(map(printable, title.split("\n")))
    assert root.get("class") == "swapcli-dots"
    assert (root.get("width"), root.get("height"), root.get("viewBox")) == ("640", "99.5", "0 0 640 99.5")
    assert [each.tag.rpartition("}")[2] for each in root] == ["title", "desc", "style", "rect", "g", "path"]
    assert (root[0].text or "") == shown
    assert (root[1].text or "") == "\n".join(map(printable, description.split("\n")))


def test_every_selector_belongs_to_the_picture_alone() -> None:
    light = ".swapcli-dots .dot{fill:#fff}.swapcli-dots .line,.swapcli-dots .mark{stroke:#eee}"
    dark = ".swapcli-dots .dot{fill:#000}.swapcli-dots .line,.swapcli-dots .mark{stroke:#111}"
    assert STYLE.startswith(".swapcli-dots{color-scheme:light dark;")
    assert STYLE.endswith(f".swapcli-dots text{{stroke:none}}{light}@media (prefers-color-scheme:dark){{{dark}}}")
