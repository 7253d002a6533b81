"""The witness that the user names, besides a node of their own or public ones."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.chain.lying_public_nodes import behaving, moved_by, on_state, public_nodes
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.node.server import hangs_up
from tests.chain.proxy import Proxy
from tests.chain.test_live_by_default import NO_NODE, User
from tests.chain.trader import Trader
from tests.support.chain import restored
from tests.support.command import CommandResult

WORDS = ("WETH", "USDC", "5", "--destination", "0x" + "11" * 20, "--json")


class Bench(NamedTuple):
    user: User
    trader: Trader
    nodes: list[Proxy]

    def url(self, index: int) -> str:
        return f"http://127.0.0.1:{self.nodes[index].server_port}"

    def calldata(self, *options: str, folder: Path, public: list[str] | None = None) -> CommandResult:
        return self.user.run("calldata", *WORDS, *options, public=public or [NO_NODE], XDG_DATA_HOME=str(folder))


@pytest.fixture
def bench(shared_trader: Trader, tmp_path: Path) -> Iterator[Bench]:
    with restored(shared_trader) as trader, public_nodes(trader.chain.node.port, 3) as nodes:
        trader.world.network = trader.world.network._replace(multicall=deploy_multicall(trader.chain))
        trader.chain.node.ask("evm_setNextBlockTimestamp", hex(int(time.time())))
        trader.chain.node.ask("evm_mine")
        yield Bench(User(trader, tmp_path), trader, nodes)


def test_a_named_witness_must_agree(bench: Bench, tmp_path: Path) -> None:
    own, witness = ("--rpc-url", bench.url(0)), ("--witness", bench.url(1))
    alone = bench.calldata(*own, folder=tmp_path)
    confirmed = bench.calldata(*own, *witness, folder=tmp_path)
    assert (alone.exit_code, confirmed.exit_code) == (0, 0), confirmed.stderr
    assert (alone.json["witnesses"], confirmed.json["witnesses"]) == (1, 2)
    assert alone.json["calldata"] == confirmed.json["calldata"]
    for index in (0, 1):
        for node in bench.nodes:
            node.always = None
        bench.nodes[index].always = behaving(on_state(moved_by(bench.trader, "WETH", "USDC", 25)))
        ran = bench.calldata(*own, *witness, folder=tmp_path)
        assert (ran.exit_code, ran.error["code"]) == (7, "NODES_DISAGREE"), ran.stderr


def test_a_named_witness_that_does_not_answer_is_an_error(bench: Bench, tmp_path: Path) -> None:
    bench.nodes[1].always = hangs_up
    ran = bench.calldata("--rpc-url", bench.url(0), "--witness", bench.url(1), folder=tmp_path)
    assert ran.exit_code == 5, ran.stderr


def test_a_named_witness_is_asked_besides_two_public_nodes(bench: Bench, tmp_path: Path) -> None:
    public = [bench.url(0), bench.url(1)]
    ran = bench.calldata("--witness", bench.url(2), folder=tmp_path, public=public)
    assert (ran.exit_code, ran.json["witnesses"]) == (0, 3), ran.stderr
    bench.nodes[2].always = behaving(on_state(moved_by(bench.trader, "USDC", "WETH", 60_000)))
    ran = bench.calldata("--witness", bench.url(2), folder=tmp_path, public=public)
    assert (ran.exit_code, ran.error["code"]) == (7, "NODES_DISAGREE"), ran.stderr


def test_the_setting_names_it_too(bench: Bench, tmp_path: Path) -> None:
    settings: dict[str, object] = {"witness": bench.url(1)}
    ran = bench.user.run(
        "calldata", *WORDS, "--rpc-url", bench.url(0), public=[NO_NODE], settings=settings, XDG_DATA_HOME=str(tmp_path)
    )
    assert (ran.exit_code, ran.json["witnesses"]) == (0, 2), ran.stderr


def test_without_any_node_nothing_is_counted(bench: Bench, tmp_path: Path) -> None:
    ran = bench.calldata("--offline", folder=tmp_path)
    assert (ran.exit_code, ran.json["witnesses"]) == (0, None), ran.stderr
