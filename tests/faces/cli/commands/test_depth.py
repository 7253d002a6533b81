"""`swapcli depth`: its documents, its bars and its chart."""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.support.command import run_swapcli

PAIR = ("base", "DAI", "USDC")
LADDER = ("--amounts", "1000,400000,6000000")


def test_a_point_is_what_route_quotes() -> None:
    depth = run_swapcli("depth", *PAIR, *LADDER, "--json").json
    assert [point["inputAmount"] for point in depth["points"]] == [
        f"{n}{'0' * 18}" for n in (1_000, 400_000, 6_000_000)
    ]
    for point in depth["points"]:
        route = run_swapcli("route", *PAIR, point["inputAmount"], "--raw", "--json").json
        assert point["outputAmount"] == route["outputAmount"]
        assert round(point["priceImpact"], 4) == route["priceImpact"]
    for level in depth["levels"]:
        assert level["within"]["priceImpact"] <= level["level"] < level["beyond"]["priceImpact"]


def test_csv_has_the_points_of_the_json() -> None:
    rows = list(csv.DictReader(StringIO(run_swapcli("depth", *PAIR, *LADDER, "--csv").stdout)))
    points = run_swapcli("depth", *PAIR, *LADDER, "--json").json["points"]
    assert [row["outputAmount"] for row in rows] == [point["outputAmount"] for point in points]


def test_bars_grow_with_the_price_impact_also_in_ascii() -> None:
    shown = run_swapcli("depth", *PAIR, *LADDER, "--table", encoding="ascii").stdout
    bars = [line.count("#") for line in shown.splitlines()[-3:]]
    assert bars == sorted(bars)
    assert bars[0] < bars[1] < bars[2]
    assert "#" not in run_swapcli("depth", *PAIR, *LADDER, "--plain", encoding="ascii").stdout


def test_the_chart_is_xml_with_the_levels_in_words(tmp_path: Path) -> None:
    file = tmp_path / "depth.svg"
    ran = run_swapcli("depth", *PAIR, *LADDER, "--svg", str(file), "--svg-width", "390")
    drawn = file.read_text()
    root = ElementTree.fromstring(drawn)
    assert root.get("width") == "390"
    assert "DAI" in ran.stdout
    description = root.findtext("{http://www.w3.org/2000/svg}desc") or ""
    assert all(f"{level}% at " in description for level in ("0.1", "0.5", "1", "5"))
    assert run_swapcli("depth", *PAIR, *LADDER, "--svg", "-", "--svg-width", "390").stdout == drawn
    texts = root.findall(".//{http://www.w3.org/2000/svg}text")
    assert all(0 <= float(text.get("x", "-1")) <= 390 for text in texts)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("base", "ETH"), "TOKEN_IN and TOKEN_OUT are required, as in swapcli depth base ETH USDC"),
        ((*PAIR, "--amounts", ","), "--amounts needs at least one amount"),
        ((*PAIR, "--amounts", "1,50%"), "--amounts: 50% is a part of a balance"),
        ((*PAIR, "--amounts", "x"), '"x" is not an amount'),
        ((*PAIR, "--svg-width", "390"), "--svg-width needs --svg"),
        ((*PAIR, "--svg", "-", "--csv"), "--svg - cannot be combined with --csv"),
        ((*PAIR, "--csv", "--format", "csv"), "--csv cannot be combined with --format"),
    ],
)
def test_bad_input_is_one_sentence(words: tuple[str, ...], message: str) -> None:
    ran = run_swapcli("depth", *words)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.splitlines()[0].startswith(f"error: {message}")
