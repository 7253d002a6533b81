"""A node that lies about fees, gas and nonces before a signature: nothing of it is signed unseen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest

from swapcli import Market
from swapcli.core.errors import SimulationError, UnusualFees
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.node.server import RpcAnswer, RpcRequest
from tests.chain.proxy import Proxy, open_proxy, rewrites
from tests.chain.settings import url_of, write_settings
from tests.chain.test_checks_commands import BOB, Client
from tests.chain.trader import USER, Trader
from tests.support.chain import restored

GWEI = 10**9
LIES = 100
Lie = Callable[[RpcRequest, Any], object]
"""Returns what the node answers instead of a result."""


@pytest.fixture(scope="module")
def client(shared_trader: Trader, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with restored(shared_trader) as trader:
        trader.world.network = trader.world.network._replace(multicall=deploy_multicall(trader.chain))
        trader.market = trader.market._replace(network=trader.world.network)
        for _ in range(25):
            trader.chain.node.ask("anvil_setNextBlockBaseFeePerGas", hex(GWEI // 100))
            trader.chain.node.ask("anvil_mine", "0x1")
        yield Client(trader, tmp_path_factory.mktemp("lies"))


@pytest.fixture(scope="module")
def proxy(client: Client) -> Iterator[Proxy]:
    with open_proxy(client.trader.chain.node.port) as proxy:
        yield proxy


def lies(method: str, lie: Lie, *parameters: object) -> Callable[[list[RpcRequest], Proxy], list[RpcAnswer]]:
    """Change the results of requests of a method with these last parameters."""

    def change(requests: list[RpcRequest], proxy: Proxy) -> list[RpcAnswer]:
        answers = proxy.answer(requests)
        for request, answer in zip(requests, answers, strict=True):
            is_meant = request["method"] == method and tuple(request["params"][-len(parameters) :]) == parameters
            if "result" in answer and (is_meant or (request["method"] == method and not parameters)):
                answer["result"] = lie(request, answer["result"])
        return answers

    return change


def of_history(field: str, which: slice, factor: int) -> Lie:
    """Multiply base fees or priority fees of some of the blocks; a fee of 0 becomes the factor in mwei."""

    def times(value: Any) -> Any:
        return [times(each) for each in value] if isinstance(value, list) else hex(max(int(value, 16), 10**6) * factor)

    def lie(_: RpcRequest, history: Any) -> object:
        values = list(history[field])
        values[which] = [times(each) for each in values[which]]
        ratios = [0.5] * len(history["gasUsedRatio"])
        return history | {field: values, "gasUsedRatio": ratios}

    return lie


def of_gas(factor: float) -> Lie:
    return lambda _, gas: hex(int(int(gas, 16) * factor))


def of_nonce(added: int) -> Lie:
    return lambda _, nonce: hex(int(nonce, 16) + added)


def random_lie(rng: Random) -> tuple[Callable[[list[RpcRequest], Proxy], list[RpcAnswer]], bool]:
    """Return a lie that alone is worth a refusal, and whether only a second node can know."""
    magnitude = 10 ** rng.randint(2, 9) * rng.randint(2, 9)
    kind = rng.randrange(9)
    if kind == 0:
        return lies("eth_feeHistory", of_history("reward", slice(None), 10_000 * magnitude)), False
    if kind == 1:
        return lies("eth_feeHistory", of_history("reward", slice(0, rng.randint(11, 20)), 10_000 * magnitude)), False
    if kind == 2:
        return lies("eth_feeHistory", of_history("baseFeePerGas", slice(-1, None), magnitude)), False
    if kind == 3:
        return lies("eth_feeHistory", of_history("baseFeePerGas", slice(None), 1_000 * magnitude)), False
    if kind == 4:
        return lies("eth_estimateGas", of_gas(rng.uniform(3.0, 100.0))), False
    if kind == 5:
        return lies("eth_estimateGas", of_gas(rng.uniform(0.01, 0.2))), False
    if kind == 6:
        return lies("eth_getTransactionCount", of_nonce(rng.randint(17, 10**6)), "pending"), False
    if kind == 7:
        return lies("eth_getTransactionCount", of_nonce(rng.choice([1, 2, 5, 16]))), True
    return lies("eth_feeHistory", of_history("baseFeePerGas", slice(None), rng.randint(11, 1_000))), True


@contextmanager
def lying(proxy: Proxy, change: Callable[[list[RpcRequest], Proxy], list[RpcAnswer]]) -> Iterator[None]:
    proxy.always = rewrites(change)
    try:
        yield
    finally:
        proxy.always = None


def test_no_lie_of_a_node_is_signed_unseen(
    client: Client, proxy: Proxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = Random("lying fees")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    named, alone = tmp_path / "two", tmp_path / "one"
    refused = 0

    def open_market(folder: Path, second_url: str | None) -> Market:
        folder.mkdir()
        settings = write_settings(folder, client.trader.world.network, second_url)
        monkeypatch.setenv("SWAPCLI_CONFIG", str(settings))
        stores = {"store_dir": str(client.folder / "stores")}
        return Market.live(client.name, rpc_url=proxy.url, settings=stores)

    with (
        open_market(named, url_of(client.trader.chain)) as two_nodes,
        open_market(alone, None) as one_node,
    ):
        quotes = [
            (m, m.quote(*order))
            for m in (two_nodes, one_node)
            for order in (("ETH", "USDC", "1"), ("USDT", "ETH", "900"))
        ]
        for market, quote in quotes:
            assert market.transactions(quote, destination=BOB, sender=USER)[-1]["gas"] > 0
        for _ in range(LIES):
            change, needs_second = random_lie(rng)
            market, quote = rng.choice(quotes[:2] if needs_second else quotes)
            with lying(proxy, change), pytest.raises(UnusualFees):
                market.transactions(quote, destination=BOB, sender=USER)
            refused += 1
    assert refused == LIES


def test_a_router_without_code_is_graver_than_fees(
    client: Client, proxy: Proxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call of nobody uses far less gas than a swap, which alone is a reason not to sign."""
    network = client.trader.world.network._replace(router="0x" + "77" * 20)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("SWAPCLI_CONFIG", str(write_settings(tmp_path, network, None)))
    stores = {"store_dir": str(client.folder / "stores")}
    with Market.live(client.name, rpc_url=proxy.url, settings=stores) as market:
        quote = market.quote("ETH", "USDC", "1")
        with pytest.raises(SimulationError, match="there is no contract at the router's address 0x7777"):
            market.transactions(quote, destination=BOB, sender=USER)


@pytest.mark.parametrize("command", ["calldata", "execute"])
def test_commands_refuse_the_fees_of_a_lying_node(client: Client, proxy: Proxy, command: str) -> None:
    change = lies("eth_feeHistory", of_history("reward", slice(None), 10**9))
    options = ("--from", USER, "--rpc-url", proxy.url, "--json")
    route = client.route("ETH", "USDC", "1")

    def run(*more: str) -> Any:
        if command == "calldata":
            return client.calldata("ETH", "USDC", "1", *options, *more)
        return client.execute(route, *options, *more)

    with lying(proxy, change):
        ran = run()
        assert (ran.exit_code, ran.stdout, ran.error["code"]) == (7, "", "FEES_UNUSUAL"), ran.stderr
        assert any("(setting max_fee_usd)" in each for each in ran.error["details"]["reasons"])
        assert "--allow-fees" in ran.error["hint"]
        allowed = run("--allow-fees")
        assert allowed.exit_code == 0, allowed.stderr
        assert "FEES_UNUSUAL" in [each["code"] for each in allowed.json["warnings"]]
        assert allowed.json["transactions"][-1]["maxFeePerGas"] is not None
    assert run().exit_code == 0
