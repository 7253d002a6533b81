"""The picture in a real Chromium: texts as the browser measures them do not overlap, at every width."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from itertools import combinations
from pathlib import Path

import pytest

from swapcli import Market

CHROMIUM = shutil.which("chromium")
ORDERS = (
    ("base", "ETH", "USDC", "5000"), ("base", "AERO", "cbBTC", "10000"), ("hyperevm", "HYPE", "USDC", "1000"),
    ("monad", "MON", "USDC", "100000"), ("starknet", "ETH", "USDC", "50"), ("base", "ETH", "WETH", "1"),
)  # fmt: skip
WIDTHS = ("320", "390", "768", "1280")
GLYPH_SPACE_PX = 1.5
"""How far the line boxes of two texts may overlap: less than the space around the glyphs in them."""

MEASURE = """
document.body.dataset.found = JSON.stringify([...document.querySelectorAll("svg")].map(svg => {
  const frame = svg.getBoundingClientRect();
  return [...svg.querySelectorAll("text")].map(text => {
    const box = text.getBoundingClientRect();
    return [text.textContent, box.left - frame.left, box.top - frame.top, box.right - frame.left,
            box.bottom - frame.top, frame.width, frame.height];
  });
}));
"""


@pytest.mark.slow
def test_measured_texts_do_not_overlap_and_are_inside(tmp_path: Path) -> None:
    assert CHROMIUM is not None, "install chromium"
    names = [(*order, width) for order in ORDERS for width in WIDTHS]
    drawn = []
    for network, token_in, token_out, amount, width in names:
        with Market.embedded(network) as market:
            drawn.append(market.quote(token_in, token_out, amount).svg(int(width)))
    page = tmp_path / "page.html"
    page.write_text(f"<!doctype html><body>{''.join(drawn)}<script>{MEASURE}</script>", encoding="utf-8")
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
    size = ("--window-size=1400,900", f"--user-data-dir={tmp_path / 'profile'}")
    ran = subprocess.run(
        [CHROMIUM, *options, *size, "--dump-dom", page.as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    found = re.search(r'data-found="([^"]*)"', ran.stdout)
    assert found
    pictures = json.loads(unescape(found[1]))
    assert len(pictures) == len(names)
    for name, texts in zip(names, pictures, strict=True):
        assert texts
        for text, left, top, right, bottom, width, height in texts:
            assert left >= 0 <= top, (name, text)
            assert right <= width, (name, text)
            assert bottom <= height, (name, text)
        for one, other in combinations(texts, 2):
            across = min(one[3], other[3]) - max(one[1], other[1])
            down = min(one[4], other[4]) - max(one[2], other[2])
            assert across <= GLYPH_SPACE_PX or down <= GLYPH_SPACE_PX, (name, one[0], other[0])
