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
        # A route shows the highest of all measures, a depth the same one for all amounts.
        assert round(point["priceImpact"], 4) <= route["priceImpact"]
        sold_usd = int(point["inputAmount"]) / 10**18 * route["inputToken"]["price"]
        bought_usd = int(point["outputAmount"]) / 10**6 * route["outputToken"]["price"]
        assert point["priceImpact"] == pytest.approx(100 - 100 * bought_usd / sold_usd, abs=0.01)
    assert len({point["impactBasis"] for point in depth["points"]}) == 1
    for level in depth["levels"]:
        assert level["within"]["priceImpact"] <= level["impactPercent"] < level["beyond"]["priceImpact"]


def test_csv_has_the_points_of_the_json() -> None:
    rows = list(csv.DictReader(StringIO(run_swapcli("depth", *PAIR, *LADDER, "--format=csv").stdout)))
    points = run_swapcli("depth", *PAIR, *LADDER, "--json").json["points"]
    assert [row["outputAmount"] for row in rows] == [point["outputAmount"] for point in points]
    assert {(row["network"], row["outputTokenDecimals"]) for row in rows} == {("base", "6")}


def test_bars_grow_with_the_price_impact_also_in_ascii() -> None:
    shown = run_swapcli("depth", *PAIR, *LADDER, "--format=table", encoding="ascii").stdout
    bars = [line.count("#") for line in shown.splitlines()[-3:]]
    assert bars == sorted(bars)
    assert bars[0] < bars[1] < bars[2]
    assert "#" not in run_swapcli("depth", *PAIR, *LADDER, "--format=plain", encoding="ascii").stdout


def test_the_chart_is_xml_with_the_levels_in_words(tmp_path: Path) -> None:
    file = tmp_path / "depth.svg"
    assert run_swapcli("depth", *PAIR, *LADDER, "-o", str(file)).exit_code == 0
    drawn = file.read_text()
    root = ElementTree.fromstring(drawn)
    assert root.get("width") == "720"
    description = root.findtext("{http://www.w3.org/2000/svg}desc") or ""
    assert all(f"{level}% at " in description for level in ("0.1", "0.5", "1", "5"))
    assert run_swapcli("depth", *PAIR, *LADDER, "--format", "svg").stdout == drawn
    texts = root.findall(".//{http://www.w3.org/2000/svg}text")
    assert all(0 <= float(text.get("x", "-1")) <= 720 for text in texts)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("base", "ETH"), "TOKEN_IN and TOKEN_OUT are required, as in swapcli depth base ETH USDC"),
        ((*PAIR, "--amounts", ","), "--amounts needs at least one amount"),
        ((*PAIR, "--amounts", "1,50%"), "--amounts: 50% is a share of a balance, not an amount"),
        ((*PAIR, "--amounts", "x"), '"x" is not an amount'),
        ((*PAIR, "--format", "mermaid"), '--format: no format "mermaid" here'),
    ],
)
def test_bad_input_is_one_sentence(words: tuple[str, ...], message: str) -> None:
    ran = run_swapcli("depth", *words)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.splitlines()[0].startswith(f"error: {message}")
