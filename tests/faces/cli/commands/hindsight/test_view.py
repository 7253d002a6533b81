"""The text and the picture of hindsight, and its mistakes."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from swapcli import Hindsight, HindsightSummary
from swapcli.core.model.distribution import distribution_of
from swapcli.core.networks.catalogue import find_network
from swapcli.faces.cli.commands.hindsight.view import build_hindsight_view
from swapcli.quoting.verification.hindsight import VenueHindsight
from tests.chain.trader import Trader
from tests.faces.cli.commands.hindsight.hindsight_command import NOTHING, HindsightCommand
from tests.quoting.verification.test_hindsight import trades


def test_text_and_picture_show_each_transaction(trader: Trader, command: HindsightCommand, tmp_path: Path) -> None:
    mined = [transaction for _, transaction in trades(trader, 2)]
    found = command.run(*mined, "--json").json
    shown = command.run(*mined, NOTHING)
    assert shown.exit_code == 0, shown.stderr
    assert "3 mined transactions" in shown.stdout
    assert "after gas" in shown.stdout
    assert "no mined transaction" in shown.stdout
    assert all(transaction in shown.stdout for transaction in mined)
    assert all(venue["protocol"] in shown.stdout for venue in found["protocols"])
    picture = tmp_path / "hindsight.svg"
    assert command.run(*mined, "-o", str(picture)).exit_code == 0
    dots = ET.fromstring(picture.read_text()).findall(".//{http://www.w3.org/2000/svg}circle")
    assert len(dots) == sum(len(swap["protocols"]) for swap in found["swaps"])
    assert command.run(*mined, "--format", "svg").stdout == picture.read_text()


def test_a_picture_of_nothing_is_still_one(command: HindsightCommand) -> None:
    assert "There are no values." in command.run(NOTHING, "--format", "svg").stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "no transaction given"),
        (("nowhere.txt",), "nowhere.txt"),
        (("0x" + "12" * 31,), "this has 62 digits"),
        ((NOTHING, "--format", "svg", "--json"), "cannot be combined"),
    ],
)
def test_mistakes_are_said_before_a_node_is_asked(command: HindsightCommand, words: tuple[str, ...], said: str) -> None:
    ran = command.run(*words)
    assert ran.exit_code == 2, ran.stderr
    assert said in ran.stderr
    assert command.proxy.methods == []


def test_a_line_that_is_no_hash_is_named(command: HindsightCommand) -> None:
    ran = command.run("-", stdin=f"{NOTHING}\nnonsense\n".encode())
    assert ran.exit_code == 2
    assert "line 2 of stdin" in ran.stderr


@pytest.mark.parametrize(
    ("values", "note"),
    [
        ([0.11], ""),
        ([0.11, 3.0], "median"),
        ([float(each) for each in range(19)], "median"),
        ([float(each) for each in range(21)], "median; p5 to p95: +1.00 to +19.00"),
    ],
)
def test_few_values_have_no_quantiles(values: list[float], note: str) -> None:
    spread = distribution_of(values)
    assert spread
    venue = VenueHindsight("Uniswap V2", len(values), 0, spread)
    summary = HindsightSummary(len(values), 0, len(values), 0, 0, spread, (venue,))
    view = build_hindsight_view(Hindsight(find_network("base"), (), summary))
    assert [fact.note for fact in view.facts if fact.name == "Difference"] == [note]
