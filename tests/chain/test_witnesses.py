"""No single public node decides what is signed: a second one must report the same state, to the unit."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from tests.chain.lying_public_nodes import Rewrite, behaving, moved_by, on_state, public_nodes, set_behaviours
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.node.server import RpcAnswer, RpcRequest
from tests.chain.proxy import Proxy
from tests.chain.test_live_by_default import User
from tests.chain.trader import Trader
from tests.support.chain import restored
from tests.support.command import CommandResult

TO = ("--destination", "0x" + "11" * 20)
PAIR = ("WETH", "USDC", "5")


class Bench(NamedTuple):
    user: User
    trader: Trader
    nodes: list[Proxy]
    truth: dict[str, Any]

    def run(self, *words: str, count: int, folder: Path, **more: Any) -> CommandResult:
        urls = [f"http://127.0.0.1:{each.server_port}" for each in self.nodes[:count]]
        return self.user.run(*words, public=urls, XDG_DATA_HOME=str(folder), **more)


@pytest.fixture(scope="module")
def bench(shared_trader: Trader, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with restored(shared_trader) as trader, public_nodes(trader.chain.node.port, 3) as nodes:
        trader.world.network = trader.world.network._replace(multicall=deploy_multicall(trader.chain))
        trader.chain.node.ask("evm_setNextBlockTimestamp", hex(int(time.time())))
        trader.chain.node.ask("evm_mine")
        user = User(trader, tmp_path_factory.mktemp("witnesses"))
        ran = user.run("calldata", *PAIR, *TO, "--json", "--rpc-url", user.url, public=[user.url])
        assert ran.exit_code == 0, ran.stderr
        truth = ran.json
        yield Bench(user, trader, nodes, truth)


def test_two_honest_nodes_confirm_a_payload(bench: Bench, tmp_path: Path) -> None:
    ran = bench.run("calldata", *PAIR, *TO, "--json", count=2, folder=tmp_path)
    assert ran.exit_code == 0, ran.stderr
    assert ran.json["witnesses"] == 2
    assert ran.json["calldata"] == bench.truth["calldata"]
    assert bench.truth["witnesses"] == 1


def hidden(pool: str) -> Rewrite:
    """A pool is reported to have no code."""
    return on_state({pool: {"code": "0x"}})


class Lie(NamedTuple):
    """A way to lie, made for a bench."""

    name: str
    build: Callable[[Bench], Rewrite]


def of_pool(bench: Bench, protocol: str, *symbols: str) -> str:
    tokens = {bench.trader.world.tokens[symbol].address for symbol in symbols}
    return next(
        each.contract.address
        for each in bench.trader.world.places
        if each.protocol == protocol and {*each.tokens} == tokens
    )


LIES = (
    Lie("the price is better", lambda bench: on_state(moved_by(bench.trader, "USDC", "WETH", 60_000))),
    Lie("the price is worse", lambda bench: on_state(moved_by(bench.trader, "WETH", "USDC", 20))),
    Lie("a deep pool is hidden", lambda bench: hidden(of_pool(bench, "uniswapV3", "WETH", "USDC"))),
)


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.name)
def test_one_lying_node_of_several_decides_nothing(bench: Bench, tmp_path: Path, lie: Lie, count: int) -> None:
    rewrite = lie.build(bench)
    rng = Random(f"{lie.name} {count}")
    for liar in range(count):
        set_behaviours(bench.nodes, {liar: rewrite}, rng)
        started = time.time()
        ran = bench.run("calldata", *PAIR, *TO, "--json", count=count, folder=tmp_path / str(liar))
        print(lie.name, count, liar, ran.exit_code, round(time.time() - started, 2), ran.stderr[:300])
        assert ran.exit_code in (0, 7), ran.stderr
        if ran.exit_code == 0:
            assert ran.json["calldata"] == bench.truth["calldata"]
            assert ran.json["witnesses"] == 2
        else:
            assert ran.error["code"] == "NODES_DISAGREE"
            assert count == 2


def test_the_verdict_comes_from_another_node_than_the_quote(bench: Bench, tmp_path: Path) -> None:
    rehearsed: list[int] = []

    def watch(index: int) -> Rewrite:
        def rewrite(requests: list[RpcRequest], proxy: Proxy) -> list[RpcAnswer]:
            if any(isinstance(each, dict) and each.get("from") == TO[1] for r in requests for each in r["params"]):
                rehearsed.append(index)
            return proxy.answer(requests)

        return rewrite

    for delay in ({0: 0.1}, {1: 0.1}):
        rehearsed.clear()
        for index, node in enumerate(bench.nodes):
            node.always = behaving(watch(index), delay.get(index, 0.0))
        ran = bench.run("calldata", *PAIR, *TO, "--check", "--json", count=2, folder=tmp_path / str(delay))
        assert ran.exit_code == 0, ran.stderr
        assert ran.json["verdict"]["status"] == "ok"
        assert ran.json["witnesses"] == 2
        slow = next(iter(delay))
        assert {*rehearsed} == {slow}, "the fast node was read for the quote"
