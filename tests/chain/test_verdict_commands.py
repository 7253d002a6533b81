"""The verdict of `calldata` and `execute` with a node of the settings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from swapcli import Market
from swapcli.core.errors import VerdictBlocks
from swapcli.core.model.finding import Level
from tests.chain.market_reader import read_market
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.odd_tokens import add_token, open_pair
from tests.chain.settings import url_of
from tests.chain.test_checks_commands import Client
from tests.chain.trader import USER, Trader
from tests.support.chain import restored

BOB = "0x" + "b0" * 20


@pytest.fixture(scope="module")
def client(shared_trader: Trader, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A user of a market with a token that can be bought and not be sold."""
    with restored(shared_trader) as trader:
        trader.world.network = trader.world.network._replace(multicall=deploy_multicall(trader.chain))
        trap = add_token(trader.world, "TrapCoin", symbol="TRAP")
        trap.send("setPool", open_pair(trader.world, "TRAP").contract.address)
        trader.market = read_market(trader.world)
        yield Client(trader, tmp_path_factory.mktemp("verdicts"))


def test_a_plain_swap_is_ok_with_the_facts_in_every_format(client: Client) -> None:
    ran = client.calldata("ETH", "USDC", "1.5", "--json")
    assert ran.exit_code == 0, ran.stderr
    verdict = ran.json["verdict"]
    assert (verdict["status"], verdict["reasons"]) == ("ok", [])
    assert ran.json["advisedSlippage"]["slippagePercent"] >= 0.1
    facts = verdict["facts"]
    assert (facts["block"], facts["sender"].lower()) == (client.block(), BOB)
    assert facts["received"] == ran.json["route"]["outputAmount"]
    assert [sale["received"] for sale in facts["sales"]] == [sale["expected"] for sale in facts["sales"]]
    assert client.calldata("ETH", "USDC", "1.5", "--get", "verdict.status").stdout == "ok\n"
    table = client.calldata("ETH", "USDC", "1.5", "--from", USER, "--format=plain").stdout
    assert "Verdict" in table
    assert "a sale of half of the bought tokens" in " ".join(table.split())
    executed = client.execute(client.route("USDT", "ETH", "3000"), "--json")
    assert executed.json["verdict"]["status"] == "ok"


@pytest.mark.parametrize("options", [(), ("--json",), ("--get", "calldata"), ("--format", "cast")])
def test_what_cannot_be_sold_again_is_not_built(client: Client, options: tuple[str, ...]) -> None:
    ran = client.calldata("DAI", "TRAP", "100", *options)
    assert (ran.exit_code, ran.stdout) == (7, "")
    assert "TRAP cannot be sold again" in ran.stderr
    assert "--check to never" in ran.stderr


def test_a_block_is_an_error_with_the_record(client: Client) -> None:
    ran = client.calldata("DAI", "TRAP", "100", "--json")
    error = ran.error
    assert error["code"] == "VERDICT_BLOCKS"
    verdict = error["details"]["verdict"]
    assert verdict["status"] == "block"
    assert [reason["code"] for reason in verdict["reasons"]] == ["CANNOT_BE_SOLD"]
    assert verdict["facts"]["sales"][0].get("received") is None


def test_nothing_is_rehearsed_where_the_user_says_so(client: Client) -> None:
    for options in (("--check", "never"), ("--offline",)):
        ran = client.calldata("DAI", "TRAP", "100", "--json", *options)
        assert ran.exit_code == 0, ran.stderr
        assert "verdict" not in ran.json


def test_a_check_without_any_node_is_refused(client: Client) -> None:
    ran = client.calldata("DAI", "TRAP", "100", "--check", "--offline")
    assert ran.exit_code == 2
    assert "--check needs a node of an EVM network, but --offline is set" in ran.stderr


def test_programs_get_the_verdict_and_no_blocked_transaction(
    client: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SWAPCLI_CONFIG", str(client.settings))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with Market.live(client.name, rpc_url=url_of(client.trader.chain)) as market:
        verdict = market.quote("ETH", "USDC", "1.5").prepare(destination=BOB).verdict
        assert verdict is not None
        assert (verdict.level, verdict.facts.sender) == (Level.INFO, BOB)
        with pytest.raises(VerdictBlocks, match="TRAP cannot be sold again"):
            market.quote("DAI", "TRAP", "100").transactions(destination=BOB)
    unchecked = {"check": "never"}
    with Market.live(client.name, rpc_url=url_of(client.trader.chain), settings=unchecked) as market:
        assert market.quote("DAI", "TRAP", "100").prepare(destination=BOB).verdict is None
