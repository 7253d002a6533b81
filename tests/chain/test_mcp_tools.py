"""The tools of `swapcli mcp` on a node: verdicts, and no request that could sign or send."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client as McpClient

from swapcli.core.model.network import Deployment
from swapcli.faces.cli.tools.tool_table import TOOLS
from tests.chain.lying_public_nodes import behaving, moved_by, on_state, public_nodes
from tests.chain.market_reader import read_market
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.odd_tokens import add_token, forget_tokens, open_pair
from tests.chain.proxy import Proxy, open_proxy
from tests.chain.settings import describe_network, write_settings
from tests.chain.test_checks_commands import BOB, Client
from tests.chain.trader import USER, Trader
from tests.state.rpc.test_read_only import READING_METHODS
from tests.support.chain import restored
from tests.support.mcp_client import SharedClient, document, mcp_client, shared_client

SIGNING = re.compile(r"_send|sign|^personal_|^wallet_|^anvil_|^evm_|^debug_")
"""Methods of nodes that sign, send or change something."""


class Agent:
    """An agent whose tools have a store, and a node that records the method of each request."""

    def __init__(self, client: Client, proxy: Proxy, server: SharedClient) -> None:
        self.client, self.proxy, self.server = client, proxy, server

    def call(self, *calls: tuple[str, dict[str, Any]]) -> list[tuple[bool, dict[str, Any]]]:
        async def run(opened: McpClient) -> list[tuple[bool, dict[str, Any]]]:
            return [await _answer(opened, name, arguments) for name, arguments in calls]

        return self.server.use(run)

    def order(self, sold: str, bought: str, amount: str, **more: object) -> dict[str, Any]:
        return {"network": self.client.name, "token_in": sold, "token_out": bought, "amount": amount, **more}


async def _answer(opened: McpClient, name: str, arguments: dict[str, Any]) -> tuple[bool, dict[str, Any]]:
    result = await opened.call_tool(name, arguments)
    return result.is_error, document(result)


@pytest.fixture(scope="module")
def agent(shared_trader: Trader, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    with restored(shared_trader) as trader:
        trader.world.network = trader.world.network._replace(multicall=deploy_multicall(trader.chain))
        trap = add_token(trader.world, "TrapCoin", symbol="TRAP")
        trap.send("setPool", open_pair(trader.world, "TRAP").contract.address)
        trader.market = read_market(trader.world)
        client = Client(trader, tmp_path_factory.mktemp("agent"))
        with open_proxy(trader.chain.node.port) as proxy:
            settings = write_settings(client.folder, trader.world.network, proxy.url, timeout_s=10)
            with shared_client(env={"SWAPCLI_CONFIG": str(settings)}) as server:
                yield Agent(client, proxy, server)


def test_no_tool_sends_a_request_that_could_sign_or_send(agent: Agent) -> None:
    order = agent.order("ETH", "USDC", "1.5")
    paid = order | {"destination": BOB, "sender": USER}
    pair = {name: order[name] for name in ("network", "token_in", "token_out")}
    (_, built), *_ = agent.call(("build_transaction", paid | {"detail": "full"}))
    calls: dict[str, dict[str, Any]] = {
        "quote": order | {"certify": True, "reverse": True},
        "compare": order,
        "plan": order | {"over": "1h"},
        "depth": pair | {"amounts": ["1,10"]},
        "pools": {"network": order["network"], "token": "ETH"},
        "price": {"network": order["network"], "tokens": ["USDC", "WBTC"]},
        "build_transaction": paid | {"simulate": True},
        "decode": {"calldata": built["transactions"], "sender": USER, "destination": BOB},
        "quote_batch": {
            "network": order["network"],
            "orders": [{"tokenIn": "ETH", "tokenOut": "USDC", "amount": "1"}],
        },
        "find_pools": {"network": order["network"], "tokens": ["USDC"]},
        "balance": {"network": order["network"], "account": USER},
        "allowance": {"network": order["network"], "owner": USER, "token": "USDC"},
        "protocols": {"network": order["network"]},
        "check": paid,
        "health": {"networks": [order["network"]]},
        "networks": {},
        "tokens": {"network": order["network"]},
    }
    assert set(calls) == {each.name for each in TOOLS}
    agent.proxy.methods.clear()
    answers = agent.call(*calls.items())
    assert [(name, answer) for name, (is_error, answer) in zip(calls, answers, strict=True) if is_error] == []
    sent = set(agent.proxy.methods)
    assert {"eth_call", "eth_getTransactionCount", "eth_feeHistory"} <= sent, "the tools do read the node"
    assert [method for method in sent if SIGNING.search(method)] == []
    assert sent <= READING_METHODS


def test_a_payload_comes_with_its_verdict_before_it(agent: Agent) -> None:
    order = agent.order("ETH", "USDC", "1.5", destination=BOB, detail="full")
    ((is_error, answer),) = agent.call(("build_transaction", order))
    assert not is_error
    assert list(answer)[:5] == ["warnings", "payload", "verdict", "notes", "amounts"]
    assert answer["verdict"]["status"] == "ok"
    amounts = {each["field"]: each for each in answer["amounts"]}
    assert amounts["verdict.facts.received"]["baseUnits"] == answer["route"]["outputAmount"]
    assert (amounts["value"]["whole"], amounts["value"]["symbol"]) == ("1.5", "ETH")
    assert not [field for field in amounts if field.startswith("verdict.facts.sales") and field.endswith("inputAmount")]


def test_a_check_answers_with_the_verdict_and_no_payload(agent: Agent) -> None:
    paid = {"destination": BOB}
    (_, good), (is_error, bad) = agent.call(
        ("check", agent.order("ETH", "USDC", "1.5", **paid)), ("check", agent.order("DAI", "TRAP", "100", **paid))
    )
    assert (good["verdict"]["status"], is_error, bad["verdict"]["status"]) == ("ok", False, "block")
    assert good["outputAmount"].endswith(" USDC")
    assert "outputAmount" not in bad
    assert [each["code"] for each in bad["warnings"]] == ["CANNOT_BE_SOLD"]
    assert "0x" + "0" * 24 not in str(good), "no calldata"


def test_a_swap_that_is_blocked_is_not_built(agent: Agent) -> None:
    ((is_error, answer),) = agent.call(("build_transaction", agent.order("DAI", "TRAP", "100", destination=BOB)))
    assert is_error
    assert (answer["code"], answer["next"].get("tool")) == ("VERDICT_BLOCKS", None)
    assert answer["details"]["verdict"]["status"] == "block"


def test_a_simulation_that_differs_is_an_error(agent: Agent, tmp_path: Path) -> None:
    del tmp_path
    order = agent.order("ETH", "USDC", "1.5", destination=BOB, sender="0x" + "90" * 20)
    ((is_error, answer),) = agent.call(("build_transaction", order))
    assert is_error
    assert answer["code"] == "INSUFFICIENT_BALANCE"
    assert not answer["retryable"]


def test_a_payload_is_checked_by_its_uri(agent: Agent) -> None:
    ((_, built),) = agent.call(("build_transaction", agent.order("ETH", "USDC", "1.5", destination=BOB)))
    ((_, checked),) = agent.call(("check", {"payload": built["payload"]}))
    assert (checked["payload"], checked["verdict"]["status"], checked.get("dangers", [])) == (
        built["payload"],
        "ok",
        [],
    )
    assert checked["outputAmount"] == built["outputAmount"]


@pytest.mark.slow
def test_a_token_that_no_store_has_is_looked_up(agent: Agent, tmp_path: Path) -> None:
    """The error of a quote leads to find_pools, and the same quote then succeeds; the user's store stays as it was."""
    world = agent.client.trader.world
    token = add_token(world, "TrapCoin", symbol="NEW")
    (stablecoin,) = (each.symbol for each in world.network.tokens if each.address == world.network.stablecoins[0])
    open_pair(world, "NEW", stablecoin)
    forget_tokens(world, "NEW")
    factory = Deployment(("uniswapV2",), "Uniswap V2", {"factory": world.factory.address}, fee_tiers={3_000: 0})
    network = world.network._replace(deployments=(*world.network.deployments, factory))
    stores = agent.client.folder / "stores"
    settings = write_settings(tmp_path, network, agent.proxy.url, store_dir=str(stores))
    order = agent.order(token.address, stablecoin, "5")
    before = next(stores.glob("*.sqlite")).read_bytes()
    unknown = "0x" + "12" * 20

    async def run() -> list[dict[str, Any]]:
        async with mcp_client(env={"SWAPCLI_CONFIG": str(settings)}) as opened:
            _, failed = await _answer(opened, "quote", order)
            _, found = await _answer(opened, failed["next"]["tool"], failed["next"]["arguments"])
            _, quoted = await _answer(opened, "quote", order)
            _, missing = await _answer(opened, "find_pools", {"network": network.name, "tokens": [unknown]})
            return [failed, found, quoted, missing]

    failed, found, quoted, missing = asyncio.run(run())
    assert failed["code"] == "UNKNOWN_TOKEN"
    assert [each["symbol"] for each in found["found"]] == ["NEW"]
    assert (missing["code"], missing["next"]["tool"]) == ("UNKNOWN_TOKEN", "tokens")
    assert (quoted["inputAmount"], quoted["state"]["kind"]) == ("5 NEW", "live")
    assert next(stores.glob("*.sqlite")).read_bytes() == before


def test_one_lying_public_node_decides_nothing(agent: Agent, tmp_path: Path) -> None:
    trader, chain = agent.client.trader, agent.client.trader.chain
    chain.node.ask("evm_setNextBlockTimestamp", hex(int(time.time())))
    chain.node.ask("evm_mine")
    order = agent.order("WETH", "USDC", "1.5", destination=BOB)
    calls = [("build_transaction", order | {"detail": "full"}), ("check", order)]
    settings = tmp_path / "config.yaml"
    env = {"SWAPCLI_CONFIG": str(settings), "SWAPCLI_LIVE": "auto", "XDG_DATA_HOME": str(tmp_path)}
    with public_nodes(chain.node.port, 2) as nodes:
        network = describe_network(trader.world.network) | {
            "public_rpc_urls": [f"http://127.0.0.1:{each.server_port}" for each in nodes],
            "block_time_s": 600,
        }
        settings.write_text(
            json.dumps({"networks": {agent.client.name: network}, "store_dir": str(agent.client.folder / "stores")})
        )

        async def run() -> list[list[tuple[bool, dict[str, Any]]]]:
            async with mcp_client(env=env) as opened:
                honest = [await _answer(opened, name, arguments) for name, arguments in calls]
                nodes[1].always = behaving(on_state(moved_by(trader, "WETH", "USDC", 25)))
                return [honest, [await _answer(opened, name, arguments) for name, arguments in calls]]

        honest, lied = asyncio.run(run())
    assert [is_error for is_error, _ in honest] == [False, False], honest
    assert honest[0][1]["witnesses"] == 2
    assert [(is_error, answer.get("code")) for is_error, answer in lied] == [(True, "NODES_DISAGREE")] * 2


def test_a_past_block_is_not_live(agent: Agent) -> None:
    block = str(agent.client.block())
    now, past = agent.call(
        ("quote", agent.order("ETH", "USDC", "1")), ("quote", agent.order("ETH", "USDC", "1", block=block))
    )
    assert [each["state"]["kind"] for _, each in (now, past)] == ["live", "past"]


@pytest.mark.slow
def test_accounts_are_read(agent: Agent) -> None:
    account = {"network": agent.client.name}
    (_, held), (_, none), (_, allowed) = agent.call(
        ("balance", account | {"account": USER, "tokens": ["ETH", "USDC"]}),
        ("balance", account | {"account": "0x" + "90" * 20, "tokens": '["USDC"]'}),
        ("allowance", account | {"owner": USER, "token": "USDC"}),
    )
    assert [each["symbol"] for each in held["balances"]] == ["ETH", "USDC"]
    assert float(held["balances"][0]["balance"]) > 0
    assert none["balances"][0]["balance"] == "0"
    assert allowed["network"] == agent.client.name
