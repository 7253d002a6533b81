"""`swapcli route --view`, `--format svg` and `--format mermaid`: other shapes of the same route."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.support.command import CommandResult

Route = Callable[..., CommandResult]


@pytest.mark.parametrize("shape", ["table", "tree", "line"])
@pytest.mark.parametrize("form", ["--format=plain", "--format=table"])
def test_every_view_has_the_same_pools(route: Route, shape: str, form: str) -> None:
    shown = route("ETH", "USDC", "1.5", "--view", shape, form, env={"COLUMNS": "400"}).stdout
    hops = route("ETH", "USDC", "1.5", "--json").json["route"]
    names = {swap["poolName"] for segment in hops for hop in segment["swaps"] for swap in hop}
    assert all(name in shown for name in names)
    assert (len(shown.splitlines()) == 1) == (shape == "line")
    assert ("at least" in shown) == (shape != "line")


def test_the_line_has_the_result_before_the_path(route: Route) -> None:
    title = route("ETH", "USDC", "1.5").stdout.partition("  ")[0]
    assert f"{title}: " in route("ETH", "USDC", "1.5", "--view", "line").stdout


def test_the_table_is_the_default_view(route: Route) -> None:
    assert route("ETH", "USDC", "1.5").stdout == route("ETH", "USDC", "1.5", "--view", "table").stdout


@pytest.mark.parametrize("width", ["20", "50", "80"])
def test_a_tree_tells_every_amount_at_any_width(route: Route, width: str) -> None:
    wide = route("ETH", "USDC", "1.5", "--view", "tree", "--format=table", env={"COLUMNS": "400"}).stdout
    narrow = route("ETH", "USDC", "1.5", "--view", "tree", "--format=table", env={"COLUMNS": width}).stdout
    amounts = [line.split("  ")[-1] for line in wide.split("\n\n")[0].splitlines() if line.endswith("USDC")]
    assert amounts
    words = narrow.split()
    assert all(word in words for amount in amounts for word in amount.split())


def test_a_picture_goes_to_a_file(route: Route, tmp_path: Path) -> None:
    file = tmp_path / "route.svg"
    ran = route("ETH", "USDC", "1.5", "-o", str(file))
    assert (ran.exit_code, ran.stdout) == (0, "")
    assert ElementTree.parse(file).getroot().attrib["width"] == "720"
    assert route("ETH", "USDC", "1.5", "--format", "svg").stdout == file.read_text(encoding="utf-8")


def test_a_reverse_order_has_a_picture_and_a_flowchart(route: Route) -> None:
    drawn = route("ETH", "USDC", "1000", "--reverse", "--format", "svg")
    assert "1,000" in "".join(ElementTree.fromstring(drawn.stdout).itertext())
    assert route("ETH", "USDC", "1000", "--reverse", "--format=mermaid").stdout.startswith("flowchart LR\n")


@pytest.mark.parametrize(
    "options",
    [
        "--json --view tree", "--json --format mermaid", "--json --format svg", "--format mermaid --view line",
        "--get route --format svg", "--view circle", "-o x.svg --view tree",
    ],
)  # fmt: skip
def test_options_that_do_not_go_together_are_usage_errors(route: Route, options: str) -> None:
    ran = route("ETH", "USDC", "1.5", *options.split())
    assert (ran.exit_code, ran.stdout) == (2, "")


def test_a_batch_has_no_pictures(route: Route) -> None:
    assert "cannot be combined with --view or -v" in route("--batch", "-", "--view", "tree").stderr
