"""`swapcli allowance` against a node."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chain.test_checks_commands import Client
from tests.chain.trader import USER, Trader
from tests.faces.cli.commands.test_balance import call, run


@pytest.fixture
def client(trader: Trader, tmp_path: Path) -> Client:
    return Client(trader, tmp_path)


def test_an_allowance_is_that_of_the_chain(client: Client) -> None:
    ran = run(client, "allowance", client.name, USER, "USDC", "--json")
    document = ran.json
    owner, spender = document["address"], document["spender"]
    assert spender.lower() == client.trader.world.network.router
    found = call(client, document["token"]["address"], "allowance(address,address)", owner.lower(), spender.lower())
    assert int(document["allowance"]) == found
    assert "Spender" in run(client, "allowance", client.name, USER, "USDC").stdout


def test_the_native_token_needs_none(client: Client) -> None:
    ran = run(client, "allowance", client.name, USER, "ETH")
    assert (ran.exit_code, "needs no allowance" in ran.stderr) == (2, True)
