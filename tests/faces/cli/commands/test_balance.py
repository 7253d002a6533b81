"""`swapcli balance` against a node."""

from __future__ import annotations

from pathlib import Path

import pytest

from swapcli.families.reading.call_encoding import encode_call
from tests.chain.test_checks_commands import POOR, Client
from tests.chain.trader import USER, Trader
from tests.support.command import CommandResult, run_swapcli


@pytest.fixture
def client(trader: Trader, tmp_path: Path) -> Client:
    return Client(trader, tmp_path)


def run(client: Client, *words: str) -> CommandResult:
    return run_swapcli(*words, env={"SWAPCLI_CONFIG": str(client.settings)})


def call(client: Client, token: str, signature: str, *arguments: str) -> int:
    data = "0x" + encode_call(signature, *arguments).hex()
    return int(client.trader.chain.node.ask("eth_call", {"to": token, "data": data}, "latest"), 16)


def test_balances_are_those_of_the_chain(client: Client) -> None:
    ran = run(client, "balance", client.name, USER, "ETH", "WETH", "USDC", "--json")
    document = ran.json
    node = client.trader.chain.node
    assert ran.exit_code == 0
    assert document["block"] == int(node.ask("eth_blockNumber"), 16)
    native, *tokens = document["balances"]
    assert int(native["amount"]) == int(node.ask("eth_getBalance", USER, "latest"), 16)
    for each in tokens:
        assert int(each["amount"]) == call(client, each["address"], "balanceOf(address)", USER)
    people = run(client, "balance", client.name, USER).stdout
    assert USER.lower() in people.lower()
    assert "WETH" in people
    assert "State  block " in people


def test_an_account_without_tokens_says_so(client: Client) -> None:
    assert " holds none of the known tokens on " in run(client, "balance", client.name, POOR).stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [(("balance",), "no account given"), (("allowance", USER), "OWNER and TOKEN are required")],
)
def test_what_is_missing_is_said(client: Client, words: tuple[str, ...], sentence: str) -> None:
    ran = run(client, words[0], client.name, *words[1:])
    assert (ran.exit_code, sentence in ran.stderr) == (2, True)
