"""`swapcli route --view`, `--svg` and `--mermaid`: other shapes of the same route."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.support.command import CommandResult

Route = Callable[..., CommandResult]


@pytest.mark.parametrize("shape", ["table", "tree", "line"])
@pytest.mark.parametrize("form", ["--plain", "--table"])
def test_every_view_has_the_same_pools(route: Route, shape: str, form: str) -> None:
    shown = route("ETH", "USDC", "1.5", "--view", shape, form, env={"COLUMNS": "400"}).stdout
    hops = route("ETH", "USDC", "1.5", "--json").json["route"]
    names = {swap["poolName"] for segment in hops for hop in segment["swaps"] for swap in hop}
    assert all(name in shown for name in names)
    assert (len(shown.splitlines()) == 1) == (shape == "line")
    assert ("You receive" in shown) == (shape != "line")


def test_the_table_is_the_default_view(route: Route) -> None:
    assert route("ETH", "USDC", "1.5").stdout == route("ETH", "USDC", "1.5", "--view", "table").stdout


@pytest.mark.parametrize("width", ["20", "50", "80"])
def test_a_tree_tells_every_amount_at_any_width(route: Route, width: str) -> None:
    wide = route("ETH", "USDC", "1.5", "--view", "tree", "--table", env={"COLUMNS": "400"}).stdout
    narrow = route("ETH", "USDC", "1.5", "--view", "tree", "--table", env={"COLUMNS": width}).stdout
    amounts = [line.split("  ")[-1] for line in wide.split("\n\n")[0].splitlines() if line.endswith("USDC")]
    assert amounts
    words = narrow.split()
    assert all(word in words for amount in amounts for word in amount.split())


def test_a_picture_goes_to_a_file_beside_the_answer(route: Route, tmp_path: Path) -> None:
    file = tmp_path / "route.svg"
    plain = route("ETH", "USDC", "1.5")
    ran = route("ETH", "USDC", "1.5", "--svg", str(file), "--svg-width", "390")
    assert (ran.exit_code, ran.stdout) == (0, plain.stdout)
    assert ElementTree.parse(file).getroot().attrib["width"] == "390"
    assert route("ETH", "USDC", "1.5", "--svg", "-", "--svg-width", "390").stdout == file.read_text(encoding="utf-8")
    assert route("ETH", "USDC", "1.5", "--svg", str(file), "--json").json["success"] is True


def test_a_reverse_order_has_a_picture_and_a_flowchart(route: Route) -> None:
    drawn = route("ETH", "USDC", "1000", "--reverse", "--svg", "-")
    assert "1,000" in "".join(ElementTree.fromstring(drawn.stdout).itertext())
    assert route("ETH", "USDC", "1000", "--reverse", "--mermaid").stdout.startswith("flowchart LR\n")


@pytest.mark.parametrize(
    "options",
    [
        "--json --view tree", "--json --mermaid", "--json --svg -", "--mermaid --view line", "--mermaid --svg -",
        "--svg-width 400", "--view circle", "--svg x.svg --svg-width 12",
    ],
)  # fmt: skip
def test_options_that_do_not_go_together_are_usage_errors(route: Route, options: str) -> None:
    ran = route("ETH", "USDC", "1.5", *options.split())
    assert (ran.exit_code, ran.stdout) == (2, "")


def test_a_batch_has_no_pictures(route: Route) -> None:
    assert "excludes views and pictures" in route("--batch", "-", "--view", "tree").stderr
