"""The gas price of a past block: its base fee and the priority fees of its time, whatever the node's price is now."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from swapcli import Market
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.settings import url_of
from tests.chain.test_checks_commands import BOB, Client
from tests.chain.test_past_blocks import without_times
from tests.chain.trader import USER, Trader
from tests.support.chain import restored
from tests.support.command import run_swapcli
from tests.support.mcp_client import document, mcp_client

GWEI = 10**9
ORDER = ("ETH", "USDC", "3")
WINDOW = 20
"""The blocks whose priority fees count."""


@pytest.fixture(scope="module")
def client(shared_trader: Trader, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with restored(shared_trader) as trader:
        trader.world.network = trader.world.network._replace(multicall=deploy_multicall(trader.chain))
        trader.market = trader.market._replace(network=trader.world.network)
        yield Client(trader, tmp_path_factory.mktemp("gas"))


@pytest.fixture(autouse=True)
def environment(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWAPCLI_CONFIG", str(client.settings))


def mine_block(client: Client, base_fee_wei: int, tip_wei: int) -> int:
    """Mine a block with this base fee, in which one transaction pays this tip; return its number."""
    node = client.trader.chain.node
    node.ask("anvil_setNextBlockBaseFeePerGas", hex(base_fee_wei))
    fees = {"maxFeePerGas": hex(base_fee_wei + tip_wei), "maxPriorityFeePerGas": hex(tip_wei)}
    sent = node.ask("eth_sendTransaction", {"from": USER, "to": BOB, "value": "0x1", "gas": hex(21_000)} | fees)
    assert client.trader.chain.receipt(sent).succeeded
    return int(node.ask("eth_getTransactionReceipt", sent)["blockNumber"], 16)


def base_fee_of(client: Client, block: int) -> int:
    return int(client.trader.chain.node.ask("eth_getBlockByNumber", hex(block), False)["baseFeePerGas"], 16)


def command(client: Client, *words: str) -> Any:
    ran = run_swapcli(*words, "--json", env={"SWAPCLI_CONFIG": str(client.settings)})
    assert ran.exit_code == 0, ran.stderr
    return ran.json


def from_tool(client: Client, block: int) -> Any:
    async def run() -> dict[str, Any]:
        async with mcp_client(env={"SWAPCLI_CONFIG": str(client.settings)}) as opened:
            sold, bought, amount = ORDER
            order = {"network": client.name, "token_in": sold, "token_out": bought, "amount": amount}
            return document(await opened.call_tool("quote", order | {"block": str(block), "detail": "full"}))

    return asyncio.run(run())


def from_library(client: Client, block: int) -> Any:
    settings = {"store_dir": str(client.folder / "stores")}
    with Market.live(client.name, rpc_url=url_of(client.trader.chain), settings=settings, block=block) as past:
        return past.quote(*ORDER).to_dict()


def replies(client: Client, block: int, orders: Path) -> dict[str, Any]:
    """Return what each face replies at a block."""
    at = ("--block", str(block))
    backtest = ("backtest", client.name, str(orders), "--blocks", f"{block}..{block}", "--no-cache")
    found = {
        "route": command(client, "route", client.name, *ORDER, *at),
        "compare": command(client, "compare", client.name, *ORDER, *at),
        "library": from_library(client, block),
        "tool": from_tool(client, block),
        "backtest": command(client, *backtest),
    }
    return {face: without_times(reply) for face, reply in found.items()}


@pytest.mark.slow
def test_every_face_quotes_a_past_block_at_its_own_gas_price(client: Client, tmp_path: Path) -> None:
    orders = tmp_path / "orders.csv"
    orders.write_text("tokenIn,tokenOut,amount\nETH,USDC,3\nUSDC,ETH,2000\n")
    client.trader.chain.node.ask("anvil_mine", hex(WINDOW))
    blocks = {mine_block(client, base * GWEI, tip * GWEI): tip * GWEI for base, tip in ((40, 3), (900, 3))}
    before = {block: replies(client, block, orders) for block in blocks}
    for block, tip_wei in blocks.items():
        expected_wei = base_fee_of(client, block) + tip_wei
        for face in ("route", "library", "tool"):
            assert before[block][face]["gasPriceWei"] == str(expected_wei)
    cheap, dear = before.values()
    for face, reply in cheap.items():
        assert reply != dear[face], face

    for _ in range(5):
        mine_block(client, 7 * GWEI, 50 * GWEI)
    client.trader.chain.node.ask("anvil_mine", hex(2 * WINDOW))
    after = {block: replies(client, block, orders) for block in blocks}
    assert after == before


def test_a_block_without_transactions_has_the_tips_of_the_blocks_before_it(client: Client) -> None:
    client.trader.chain.node.ask("anvil_mine", hex(WINDOW))
    paid = [mine_block(client, 5 * GWEI, tip * GWEI) for tip in (1, 4, 9)]
    client.trader.chain.node.ask("anvil_mine", "0x1")
    empty = paid[-1] + 1
    document = command(client, "route", client.name, *ORDER, "--block", str(empty))
    assert document["gasPriceWei"] == str(base_fee_of(client, empty) + 4 * GWEI)
    client.trader.chain.node.ask("anvil_mine", hex(WINDOW))
    later = empty + WINDOW
    document = command(client, "route", client.name, *ORDER, "--block", str(later))
    assert document["gasPriceWei"] == str(base_fee_of(client, later))


def test_a_quote_at_a_tag_has_the_current_gas_price(client: Client) -> None:
    """Its transaction would be sent now, unlike that of a past block."""
    old_fee, new_fee, tip = 1 * GWEI, 300 * GWEI, GWEI // 10
    mine_block(client, old_fee, tip)
    for _ in range(64):  # the finalized block of anvil is 64 behind
        client.trader.chain.node.ask("evm_mine")
    mine_block(client, new_fee, tip)
    latest, safe, finalized = (
        command(client, "route", client.name, *ORDER, "--block", tag) for tag in ("latest", "safe", "finalized")
    )
    past = command(client, "route", client.name, *ORDER, "--block", str(finalized["state"]["block"]))
    assert base_fee_of(client, finalized["state"]["block"]) < new_fee // 10
    assert latest["gasPriceWei"] == safe["gasPriceWei"] == finalized["gasPriceWei"]
    assert int(past["gasPriceWei"]) < int(latest["gasPriceWei"]) // 2
