"""What a program names is asked as the command line asks: the same adapters, the same simulation, the same ranks."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from swapcli import AsyncMarket, InvalidAddress, InvalidOption, Market
from swapcli.core.model.order import UNOWNED_ADDRESS
from swapcli.quoting.aggregator_options import choose_aggregator_options
from swapcli.quoting.aggregators.adapter_definitions import adapter_names
from swapcli.quoting.alternatives import Alternative, AlternativeKind, Comparison
from swapcli.quoting.openers.choose_source import open_source_chooser
from swapcli.quoting.openers.program_setup import program_setup
from tests.support.command import run_swapcli
from tests.support.fake_aggregators import DEAD_URL, Character, FakeAggregators, fake_aggregators

ORDER = ("ETH", "USDC", "1.5")
SENDER = "0x" + "a1" * 20


@pytest.fixture(scope="module")
def running() -> Iterator[FakeAggregators]:
    with fake_aggregators({"good": Character("4677000000"), "dead": Character("1", is_dead=True)}) as aggregators:
        yield aggregators


@pytest.fixture
def fake(running: FakeAggregators, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeAggregators:
    """The settings file names them, for the library and for commands."""
    file = tmp_path / "config.yaml"
    file.write_text(json.dumps({"aggregators": running.settings()}))
    monkeypatch.setenv("SWAPCLI_CONFIG", str(file))
    running.server.exchanges.clear()
    return running


def offers(found: Comparison) -> dict[str, Alternative]:
    return {each.name: each for each in found.alternatives if each.kind is AlternativeKind.AGGREGATOR}


def test_the_library_asks_as_the_command_does(fake: FakeAggregators) -> None:
    with Market.embedded("base") as market:
        found = market.compare(*ORDER, aggregators=["good", "dead"], sender=SENDER)
    assert [f"from={SENDER}" in each.target.lower() for each in fake.server.exchanges] == [True]
    assert found.hosts == (fake.server.url.removeprefix("http://"), DEAD_URL.removeprefix("http://"))
    assert found.sender == SENDER
    words = ("compare", "base", *ORDER, f"--aggregators={fake.names}", "--from", SENDER, "--json")
    ran = run_swapcli(*words, env={"SWAPCLI_CONFIG": os.environ["SWAPCLI_CONFIG"]})
    assert ran.exit_code == 0, ran.stderr
    rows = ran.json["alternatives"]
    assert [(each.kind.value, each.shown_amounts[0]) for each in found.alternatives] == [
        (each["kind"], int(each["outputAmount"]) if "outputAmount" in each else None) for each in rows
    ]
    errors = {each["name"]: each["error"]["code"] for each in rows if each["kind"] == "aggregator" and "error" in each}
    assert errors == {name: each.error.code for name, each in offers(found).items() if each.error} != {}


@pytest.mark.usefixtures("fake")
def test_the_asyncio_twin_asks_them_too() -> None:
    async def compare() -> Comparison:
        async with AsyncMarket.embedded("base") as market:
            return await market.compare(*ORDER, aggregators="good")

    found = asyncio.run(compare())
    assert list(offers(found)) == ["Good"]
    assert found.sender == UNOWNED_ADDRESS


def test_all_leaves_out_who_cannot_be_asked() -> None:
    sources = open_source_chooser(program_setup({}))
    network = sources.networks.find("base")
    options = choose_aggregator_options(["all"], None, network, sources.nodes, sources.networks.routers)
    assert {*options.left_out, *(each.adapter.name for each in options.asked)} == set(adapter_names())
    assert len(options.hosts) == len(options.asked) > 0
    assert options.sender == UNOWNED_ADDRESS


@pytest.mark.parametrize(
    ("keywords", "error", "message"),
    [
        ({"aggregators": ["lify"]}, InvalidOption, 'no aggregator "lify"'),
        ({"aggregators": "0x"}, InvalidOption, "0x cannot be used: it needs an API key"),
        ({"aggregators": "lifi", "sender": "0x12"}, InvalidAddress, 'sender: "0x12" is not'),
        ({"sender": SENDER}, InvalidOption, "sender is used only for quotes from aggregators"),
    ],
)
def test_what_cannot_be_asked_is_an_error(keywords: dict[str, Any], error: type[Exception], message: str) -> None:
    with Market.embedded("base") as market, pytest.raises(error, match=message):
        market.compare(*ORDER, **keywords)


def test_an_offline_market_asks_nobody() -> None:
    with (
        Market.open("base", offline=True) as market,
        pytest.raises(InvalidOption, match="this market was opened offline"),
    ):
        market.compare(*ORDER, aggregators="all")
