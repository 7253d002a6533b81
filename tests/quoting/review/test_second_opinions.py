"""No single public node decides the checks before a signature, neither that a swap fails nor that it is fine."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from swapcli import Market
from swapcli.core.errors import SwapcliError
from tests.chain.lying_public_nodes import (
    Overrides,
    Rewrite,
    behaving,
    in_results,
    in_simulations,
    public_nodes,
    storage_after,
)
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.node.server import RpcAnswer, RpcRequest, refusal
from tests.chain.odd_tokens import add_token, open_pair
from tests.chain.proxy import Proxy
from tests.chain.test_live_by_default import User
from tests.chain.trader import USER, Trader
from tests.support.chain import restored

TO = ("--destination", USER)
HONEST = ("WETH", "USDC", "1.5")
TRAP = ("DAI", "TRAP", "100")
FACES = ("--check", "--simulate", "library")


class Bench(NamedTuple):
    """A user, and public nodes of a chain with a token that can be bought and not be sold.

    `failing` is a state on which the honest swap reverts, and `harmless` one on which the token can be sold.
    """

    user: User
    nodes: list[Proxy]
    failing: Overrides
    harmless: Overrides
    monkeypatch: pytest.MonkeyPatch

    def build(self, order: tuple[str, ...], face: str, count: int, folder: Path) -> str:
        """Build a payload on the first `count` public nodes; return the code of the error, empty without one."""
        public = [f"http://127.0.0.1:{each.server_port}" for each in self.nodes[:count]]
        if face != "library":
            ran = self.user.run("calldata", *order, *TO, face, "--json", public=public, XDG_DATA_HOME=str(folder))
            assert ran.exit_code in (0, 7), ran.stderr
            return str(ran.error["code"]) if ran.exit_code else ""
        environment = self.user.environment(public, {"check": "always"}) | {"XDG_DATA_HOME": str(folder)}
        for name, value in environment.items():
            self.monkeypatch.setenv(name, value)
        with Market.open(self.user.name) as market:
            try:
                market.quote(*order).prepare(destination=USER, sender=USER, simulate=True)
            except SwapcliError as error:
                return error.code
        return ""

    def lie(self, liars: dict[int, Rewrite]) -> None:
        for index, node in enumerate(self.nodes):
            node.failures, node.always = [], behaving(liars.get(index))


@pytest.fixture(scope="module")
def bench(shared_trader: Trader, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with restored(shared_trader) as trader, public_nodes(trader.chain.node.port, 3) as nodes:
        trader.world.network = trader.world.network._replace(multicall=deploy_multicall(trader.chain))
        trap = add_token(trader.world, "TrapCoin", symbol="TRAP")
        pair = open_pair(trader.world, "TRAP").contract.address
        closed = storage_after(trader, lambda: trap.send("setPool", pair))
        slots = [slot for account in closed.values() for slot in account["stateDiff"]]
        harmless: Overrides = {trap.address: {"stateDiff": dict.fromkeys(slots, f"0x{0:064x}")}}
        trap.send("setPool", pair)
        trader.chain.node.ask("evm_setNextBlockTimestamp", hex(int(time.time())))
        trader.chain.node.ask("evm_mine")
        assert trader.world.network.router is not None
        failing: Overrides = {trader.world.network.router: {"code": "0x5f5ffd"}}
        with pytest.MonkeyPatch.context() as monkeypatch:
            monkeypatch.delenv("SWAPCLI_LIVE", raising=False)
            yield Bench(User(trader, tmp_path_factory.mktemp("opinions")), nodes, failing, harmless, monkeypatch)


@pytest.mark.parametrize("face", FACES)
def test_one_node_cannot_block_a_swap_if_there_are_three(bench: Bench, tmp_path: Path, face: str) -> None:
    for liar in range(3):
        bench.lie({liar: in_simulations(bench.failing)})
        assert bench.build(HONEST, face, 3, tmp_path / str(liar)) == ""


@pytest.mark.parametrize("face", FACES)
def test_two_nodes_that_differ_decide_nothing(bench: Bench, tmp_path: Path, face: str) -> None:
    for liar in range(2):
        bench.lie({liar: in_simulations(bench.failing)})
        assert bench.build(HONEST, face, 2, tmp_path / str(liar)) == "NODES_DISAGREE"


@pytest.mark.parametrize("face", ["--check", "library"])
@pytest.mark.parametrize("count", [2, 3])
def test_one_node_cannot_hide_that_a_token_cannot_be_sold(bench: Bench, tmp_path: Path, face: str, count: int) -> None:
    for liar in range(count):
        bench.lie({liar: in_simulations(bench.harmless)})
        expected = "VERDICT_BLOCKS" if count == 3 else "NODES_DISAGREE"
        assert bench.build(TRAP, face, count, tmp_path / str(liar)) == expected


def test_without_an_honest_node_a_trap_is_built(bench: Bench, tmp_path: Path) -> None:
    """The lie of the tests above is one that works."""
    lie = in_simulations(bench.harmless)
    bench.lie({0: lie, 1: lie})
    assert bench.build(TRAP, "--check", 2, tmp_path) == ""


@pytest.mark.parametrize("liar", range(2))
def test_the_fees_of_one_node_are_not_signed(bench: Bench, tmp_path: Path, liar: int) -> None:
    fees = []
    for lies in (False, True):
        bench.lie({liar: in_results("eth_feeHistory", with_high_fees)} if lies else {})
        public = [f"http://127.0.0.1:{each.server_port}" for each in bench.nodes[:2]]
        words = ("calldata", *HONEST, *TO, "--from", USER, "--json")
        ran = bench.user.run(*words, public=public, XDG_DATA_HOME=str(tmp_path / str(lies)))
        assert ran.exit_code == 0, ran.stderr
        fees.append([each["maxFeePerGas"] for each in ran.json["transactions"]])
    assert fees[0] == fees[1]


def with_high_fees(history: Any) -> Any:
    return history | {"baseFeePerGas": [hex(int(each, 16) + 10**15) for each in history["baseFeePerGas"]]}


@pytest.mark.parametrize("face", FACES)
def test_a_swap_that_fails_on_all_nodes_is_not_built(bench: Bench, tmp_path: Path, face: str) -> None:
    lie = in_simulations(bench.failing)
    bench.lie({0: lie, 1: lie, 2: lie})
    assert bench.build(HONEST, face, 3, tmp_path) in ("VERDICT_BLOCKS", "SIMULATION_FAILED")


def without_blocks(requests: list[RpcRequest], proxy: Proxy) -> list[RpcAnswer]:
    """Answer as a node that simulates no blocks."""
    return [
        refusal(each, -32_601, "the method eth_simulateV1 does not exist/is not available")
        if each["method"] == "eth_simulateV1"
        else proxy.answer([each])[0]
        for each in requests
    ]


def test_a_node_that_simulates_no_blocks_agrees(bench: Bench, tmp_path: Path) -> None:
    for older in range(2):
        bench.lie({older: without_blocks})
        assert bench.build(HONEST, "--check", 2, tmp_path / f"honest {older}") == ""
        assert bench.build(TRAP, "--check", 2, tmp_path / f"trap {older}") == "VERDICT_BLOCKS"


def without_simulations(requests: list[RpcRequest], proxy: Proxy) -> list[RpcAnswer]:
    """Answer as a node that simulates nothing."""
    return [
        refusal(each, -32_601, "the method is not available")
        if each["method"] == "eth_simulateV1" or len(each["params"]) > 2
        else proxy.answer([each])[0]
        for each in requests
    ]


@pytest.mark.parametrize("face", FACES)
def test_a_node_that_cannot_simulate_has_no_opinion(bench: Bench, tmp_path: Path, face: str) -> None:
    bench.lie({1: without_simulations})
    assert bench.build(HONEST, face, 2, tmp_path) == ""
    bench.lie({0: without_simulations, 1: in_simulations(bench.failing)})
    assert bench.build(HONEST, face, 2, tmp_path) in ("VERDICT_BLOCKS", "SIMULATION_FAILED")
