"""Transactions of the library that web3.py sends unchanged: the recipient gets the quoted amount, to the unit."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from web3 import HTTPProvider, Web3
from web3.middleware import SignAndSendRawMiddlewareBuilder
from web3.types import TxParams

from swapcli import AsyncMarket, Market, SwapQuote
from swapcli.core.errors import InsufficientBalance, PriceImpactTooHigh
from swapcli.core.model.market import Provenance
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.settings import url_of
from tests.chain.test_checks_commands import BOB, POOR, Client, address_of
from tests.chain.trader import KEY, USER, Trader
from tests.support.chain import restored
from tests.support.command import run_swapcli

ORDERS = [("ETH", "USDC", "1.5"), ("USDC", "ETH", "2000"), ("USDT", "WBTC", "60000"), ("ETH", "WETH", "1")]


@pytest.fixture(scope="module")
def client(shared_trader: Trader, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with restored(shared_trader) as trader:
        trader.world.network = trader.world.network._replace(multicall=deploy_multicall(trader.chain))
        trader.market = trader.market._replace(network=trader.world.network)
        yield Client(trader, tmp_path_factory.mktemp("library"))


@pytest.fixture
def url(client: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """The node of the chain, whose network the user's settings describe."""
    monkeypatch.setenv("SWAPCLI_CONFIG", str(client.settings))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return url_of(client.trader.chain)


@pytest.fixture
def market(client: Client, url: str) -> Iterator[Market]:
    with Market.live(client.name, rpc_url=url, settings={"store_dir": str(client.folder / "stores")}) as market:
        yield market


def send(client: Client, transactions: list[dict[str, Any]]) -> None:
    """Sign and send transactions with web3.py, as they are."""
    web3 = Web3(HTTPProvider(url_of(client.trader.chain)))
    web3.middleware_onion.inject(SignAndSendRawMiddlewareBuilder.build(KEY), layer=0)
    web3.eth.default_account = web3.to_checksum_address(USER)
    for each in transactions:
        receipt = web3.eth.wait_for_transaction_receipt(web3.eth.send_transaction(cast(TxParams, each)))
        assert receipt["status"] == 1


def check_paid(client: Client, quote: SwapQuote, bought: str, transactions: list[dict[str, Any]]) -> None:
    before = client.trader.world.balance(address_of(client, bought), BOB)
    send(client, transactions)
    assert client.trader.world.balance(address_of(client, bought), BOB) - before == quote.amount_out


@pytest.mark.parametrize(("sold", "bought", "amount"), ORDERS)
def test_web3_sends_transactions_that_pay_the_quote(
    client: Client, market: Market, sold: str, bought: str, amount: str
) -> None:
    with client.trader.chain.revert_after():
        market.refresh()
        quote = market.quote(sold, bought, amount)
        assert quote.state.provenance is Provenance.LIVE
        assert quote.state.block == client.block()
        prepared = quote.prepare(destination=BOB, sender=USER, simulate=True)
        # Some pools of the chain have hooks that are called after swaps; a route may use them.
        codes = [warning.code for warning in prepared.warnings if warning.code != "HOOK_MAY_TRADE"]
        assert codes == ["STATE_OLD"], "the chain's clock is years behind"
        assert prepared.simulation is not None
        assert prepared.simulation.received == prepared.quote.amount_out == quote.amount_out
        check_paid(client, quote, bought, prepared.transactions)


def test_transactions_without_sender_are_complete_for_web3(client: Client, market: Market) -> None:
    with client.trader.chain.revert_after():
        market.refresh()
        quote = market.quote("USDC", "ETH", amount_out="0.5")
        transactions = quote.transactions(destination=BOB)
        assert [sorted(each) for each in transactions] == [["chainId", "data", "to", "value"]] * 2
        assert quote.transaction(destination=BOB) == transactions[-1]
        check_paid(client, quote, "ETH", transactions)


def test_the_async_twin_builds_the_same_transactions(client: Client, market: Market, url: str) -> None:
    async def build() -> list[dict[str, Any]]:
        settings = {"store_dir": str(client.folder / "stores")}
        async with AsyncMarket.live(client.name, rpc_url=url, settings=settings) as twin:
            return await twin.transactions(await twin.quote("ETH", "USDC", "1.5"), destination=BOB, sender=USER)

    market.refresh()
    expected = market.quote("ETH", "USDC", "1.5").transactions(destination=BOB, sender=USER)
    assert asyncio.run(build()) == expected


def test_a_refresh_reads_the_newest_block_at_once(client: Client, market: Market) -> None:
    first = market.quote("ETH", "USDC", "1")
    client.trader.chain.node.ask("anvil_mine", "0x1")
    market.refresh()
    assert market.quote("ETH", "USDC", "1").state.block == (first.state.block or 0) + 1 == client.block()


def test_pinned_quotes_share_a_block_while_the_chain_goes_on(client: Client, market: Market) -> None:
    blocks = []
    with market.pinned():
        for _ in range(3):
            blocks.append(market.quote("ETH", "USDC", "1").state.block)
            client.trader.chain.node.ask("anvil_mine", "0x5", "0x3c")
            time.sleep(0.05)
    assert len(set(blocks)) == 1
    market.refresh()
    assert market.quote("ETH", "USDC", "1").state.block == client.block()


def test_a_sender_with_too_little_is_refused(market: Market) -> None:
    with pytest.raises(InsufficientBalance):
        market.quote("USDC", "ETH", "2000").transactions(destination=BOB, sender=POOR)


def test_a_high_price_impact_builds_no_transaction(market: Market) -> None:
    quote = market.quote("ETH", "USDC", "100")
    with pytest.raises(PriceImpactTooHigh):
        quote.transaction(destination=BOB, max_impact="0.0001")


def test_a_store_quotes_without_the_node_and_checks_with_it(
    client: Client, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    del url
    monkeypatch.setenv("SWAPCLI_LIVE", "auto")
    with Market.store(client.name, folder=client.folder / "stores") as market:
        quote = market.quote("ETH", "USDC", "1")
        assert quote.state.provenance is not Provenance.LIVE
        assert quote.transaction(destination=BOB, sender=USER)["nonce"] == 0


def test_pools_and_prices_follow_the_state_of_the_node(client: Client, url: str) -> None:
    options = ("--rpc-url", url, "--store", str(client.folder / "stores"), "--json")
    env = {"SWAPCLI_CONFIG": str(client.settings)}

    def read(*words: str) -> Any:
        ran = run_swapcli(*words, *options, env=env)
        assert ran.exit_code == 0, ran.stderr
        return ran.json

    pools, prices = (read(command, client.name, "ETH") for command in ("pools", "price"))
    assert (pools["state"]["kind"], prices["state"]["kind"]) == ("live", "live")
    assert pools["pools"]
    assert prices["prices"][0]["priceUsd"] > 0
    with Market.live(client.name, rpc_url=url, settings={"store_dir": str(client.folder / "stores")}) as market:
        quote = market.quote("ETH", "USDC", "3")
        send(client, quote.transactions(destination=BOB, sender=USER))
    later = read("price", client.name, "ETH")
    assert later["state"]["block"] > prices["state"]["block"]
    assert later["prices"][0]["priceUsd"] < prices["prices"][0]["priceUsd"]


def test_a_payload_on_the_state_of_a_node_has_no_warnings(client: Client, url: str) -> None:
    options = ("--rpc-url", url, "--store", str(client.folder / "stores"), "--json")
    env = {"SWAPCLI_CONFIG": str(client.settings)}
    for sold, bought, amount in ORDERS:
        built = run_swapcli("calldata", client.name, sold, bought, amount, "--destination", BOB, *options, env=env)
        assert built.exit_code == 0, built.stderr
        ran = run_swapcli("decode", "-", "--destination", BOB, *options, env=env, stdin=built.stdout.encode())
        assert (ran.exit_code, ran.json.get("warnings", [])) == (0, [])
        assert ran.json["order"]["minReceived"] == built.json["minReceived"]
