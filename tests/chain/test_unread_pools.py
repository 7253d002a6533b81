"""Quotes that end at a limit of reading say how much the unread pools might add.

The store has pools that do not exist on the chain, and look better than all others: more of them than a quote reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from swapcli import Market
from swapcli.core.errors import UnreadGainTooHigh
from swapcli.core.model.market import MarketState
from swapcli.families.uniswap.constant_product import ConstantProduct
from swapcli.state.store import create_store
from tests.chain.contract_fixture import WETH
from tests.chain.market_reader import read_market
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.settings import url_of, write_settings
from tests.chain.trader import Trader
from tests.state.store.build import only
from tests.support.chain import restored
from tests.support.command import CommandResult, run_swapcli

ORDER = (WETH, "USDC", "1.5")
RECIPIENT = "0x" + "b0" * 20
MISSING_POOLS = 100
GAIN = 1.005
DEPTH_WETH = 300


class User:
    """A user whose store has more good pools than a quote may read."""

    def __init__(self, trader: Trader, folder: Path) -> None:
        network = trader.world.network
        self.name = network.name
        file = folder / "stores" / f"{network.name}.sqlite"
        file.parent.mkdir()
        with create_store(str(file), network, only(network)) as store:
            store.write_market(with_missing_pools(read_market(trader.world)))
        settings = write_settings(folder, network, url_of(trader.chain))
        self.env = {"SWAPCLI_CONFIG": str(settings), "SWAPCLI_SOLVE_TIME_S": "0.001"}  # time for one read
        for trade in trader.trades(Random(3), 5):  # what has not moved is not expected to be better
            trader.execute(trade)

    def run(self, command: str, *words: str) -> CommandResult:
        return run_swapcli(command, self.name, *ORDER, *words, env=self.env)


def with_missing_pools(market: MarketState) -> MarketState:
    (weth, usdc) = (next(each.address for each in market.tokens.values() if each.symbol == name) for name in ORDER[:2])
    pools = [each for each in market.pools.values() if isinstance(each, ConstantProduct)]
    like = next(each for each in pools if {*each.tokens} == {weth, usdc})
    at = like.tokens.index(weth)
    price = like.reserves[1 - at] / like.reserves[at]
    sold, bought = DEPTH_WETH * 10**18, int(DEPTH_WETH * 10**18 * price * GAIN)
    reserves = (sold, bought) if at == 0 else (bought, sold)
    missing = [
        replace(like, address=f"0x{(0xFA4E << 144) + number:040x}", reserves=reserves)
        for number in range(MISSING_POOLS)
    ]
    return market._replace(pools={**market.pools, **{each.key: each for each in missing}})


@pytest.fixture(scope="module")
def user(shared_trader: Trader, tmp_path_factory: pytest.TempPathFactory) -> Iterator[User]:
    with restored(shared_trader) as trader:
        trader.world.network = trader.world.network._replace(multicall=deploy_multicall(trader.chain))
        yield User(trader, tmp_path_factory.mktemp("unread"))


def test_the_gain_is_a_figure_with_a_warning(user: User) -> None:
    ran = user.run("route", "--json")
    assert ran.exit_code == 0, ran.stderr
    assert 5.0 < ran.json["unreadGainBps"] < 10_000
    (message,) = [each["message"] for each in ran.json["warnings"] if each["code"] == "SEARCH_UNREAD"]
    assert f"{ran.json['unreadGainBps']:,.1f} bps" in message
    assert "bps" not in ran.json["state"]["source"]
    assert "warning: unread pools could add up to " in user.run("route", "--format=table").stderr
    assert user.run("compare", "--json").json["unreadGainBps"] == pytest.approx(ran.json["unreadGainBps"], rel=0.1)


def test_no_payload_is_built_above_the_highest_impact(user: User) -> None:
    words = ("calldata", "--destination", RECIPIENT, "--json")
    refused = user.run(*words, "--max-impact", "1")
    assert (refused.exit_code, refused.error["code"]) == (7, "UNREAD_GAIN_TOO_HIGH")
    assert "--max-impact" in refused.error["hint"]
    allowed = user.run(*words)
    assert allowed.exit_code == 0, allowed.stderr
    assert [each["code"] for each in allowed.json["warnings"]].count("SEARCH_UNREAD") == 1
    assert 100 < allowed.json["unreadGainBps"] < 1_500


def test_a_program_is_told_the_same(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (user.env | {"SWAPCLI_LIVE": "auto"}).items():
        monkeypatch.setenv(name, value)
    with Market.open(user.name) as market:
        quote = market.quote(*ORDER)
        with pytest.raises(UnreadGainTooHigh) as caught:
            quote.transaction(destination=RECIPIENT, max_impact=1)
        assert caught.value.details["unread_gain_bps"] == quote.figures.unread_gain_bps
        assert quote.transaction(destination=RECIPIENT)["data"].startswith("0x")
