"""Chaos in every face, on a node: the code of one pool fails, the answer is right without it, and names it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from swapcli import Market
from swapcli.core.model.contract_kind import ContractKind
from swapcli.faces.cli.tools.answers import CommandOutput, read_answer
from swapcli.faces.cli.tools.arguments import NO_SERVER_OPTIONS, build_command_line, split_arguments
from swapcli.faces.cli.tools.tool_table import find_tool
from swapcli.families.uniswap.concentrated import Concentrated
from swapcli.quoting.followers.market_follower import FollowedStore, open_follower
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.sync import import_pools
from tests.chain.market_reader import read_market
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.settings import url_of
from tests.chain.sync.expected_state import store_at
from tests.chain.test_checks_commands import BOB, Client
from tests.chain.trader import Trader
from tests.state.store.build import only
from tests.support.chain import connected, restored
from tests.support.command import CommandResult, run_swapcli
from tests.support.faults import DEFECT, DefectError, break_method, break_reader
from tests.support.service import FakeClock, InProcessService

FAULTS = ("reader's call", "reader's first step", "reader after the first round", "curve", "swap")
READER_FAULTS = FAULTS[:3]
UNUSED = {("sync", "curve"), *((face, "swap") for face in ("sync", "price", "pools", "pools tool"))}
"""Faces that do not need what fails: there is nothing to skip."""


@dataclass
class World:
    """A user with a store and a node; `key` is the only Uniswap V4 pool between ETH and USDC, whose code fails."""

    client: Client
    key: str

    def run(self, *words: str) -> CommandResult:
        command, *arguments = words
        env = {"SWAPCLI_CONFIG": str(self.client.settings)}
        return run_swapcli(command, self.client.name, *arguments, env=env)

    def said(self, *words: str) -> str:
        """Return what a command that succeeds says in its JSON and beside it."""
        ran = self.run(*words, "--json")
        assert ran.exit_code == 0, ran.stderr
        assert ran.json
        return ran.stdout + ran.stderr

    def answered(self, tool_name: str, **arguments: object) -> str:
        """Return the answer of a tool, whose command runs in this process."""
        tool = find_tool(tool_name)
        assert tool is not None
        call = split_arguments(tool, {"network": self.client.name, **arguments}, NO_SERVER_OPTIONS)
        line = build_command_line(tool, call.command, NO_SERVER_OPTIONS)
        ran = run_swapcli(*line.words, env={"SWAPCLI_CONFIG": str(self.client.settings)})
        output = CommandOutput(ran.stdout, ran.stderr, ran.exit_code)
        answer = read_answer(tool, call, output, only(self.client.trader.world.network))
        assert ran.exit_code == 0
        return json.dumps(answer["warnings"])


@pytest.fixture(scope="module")
def world(shared_trader: Trader, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with restored(shared_trader) as trader:
        trader.world.network = trader.world.network._replace(multicall=deploy_multicall(trader.chain))
        trader.market = trader.market._replace(network=trader.world.network)
        client = Client(trader, tmp_path_factory.mktemp("faults"))
        tokens = {trader.world.address("WETH"), trader.world.address("USDC")}
        found = read_market(trader.world).pools.values()
        (pool,) = (each for each in found if each.protocol == "uniswapV4" and tokens == set(each.tokens))
        yield World(client, pool.key)


def synced(world: World) -> str:
    with TemporaryDirectory() as folder:
        return world.said("sync", "--store", f"{folder}/new.sqlite", "--protocols", "uniswapV4")


def quoted_by_library(world: World) -> str:
    with Market.live(world.client.name, rpc_url=url_of(world.client.trader.chain)) as market:
        quote = market.quote("ETH", "USDC", "1500")
        assert quote.amount_out
        return " ".join(each.message for each in quote.warnings)


def quoted_by_service(world: World) -> str:
    """Quote as a service does on the store that it follows. Headers have the codes of warnings only."""
    network, chain = world.client.trader.world.network, world.client.trader.chain
    with TemporaryDirectory() as folder, connected(chain) as node:
        path = Path(folder, "followed.sqlite")
        with store_at(path, network) as store:
            assert list(import_pools(store, node, read_market(world.client.trader.world)))
            skipped = [f"{entry.key}: {entry.reason}" for entry in store.inventory.all_skipped()]
        with open_follower(FollowedStore(network, only(network), path, node), SYSTEM_CLOCK, bool) as follower:
            source = follower.read()
            chain.node.ask("anvil_mine", "0x1")
            source = follower.advance() or source
    clock = FakeClock(source.market.timestamp or 0)
    service = InProcessService({network.name: lambda: source.market}, clock=clock)
    tokens = world.client.trader.world.tokens
    query = f"tokenInAddress={tokens['WETH'].address}&tokenOutAddress={tokens['USDC'].address}&amount={1500 * 10**18}"
    response = service.send("GET", f"/{network.name}/v2/route?{query}")
    assert response.status_code == 200, response.text
    assert (world.key in source.market.pools) == (not skipped)
    assert bool(skipped) != ("POOL_LEFT_OUT" in response.headers.get("x-swap-warnings", ""))
    return " ".join(skipped) or f"{world.key} {DEFECT}"


ORDER = ("ETH", "USDC", "1500")
FACES: Mapping[str, Callable[[World], str]] = {
    "sync": synced,
    "route": lambda world: world.said("route", *ORDER),
    "price": lambda world: world.said("price", "USDC", "WETH"),
    "pools": lambda world: world.said("pools", "WETH", "USDC"),
    "depth": lambda world: world.said("depth", "ETH", "USDC", "--amounts", "1500"),
    "calldata": lambda world: world.said("calldata", *ORDER, "--destination", BOB, "--max-impact", "99"),
    "library": quoted_by_library,
    "service": quoted_by_service,
    "quote tool": lambda world: world.answered("quote", token_in="ETH", token_out="USDC", amount="1500"),
    "pools tool": lambda world: world.answered("pools", token="ETH"),
}


def break_pool(world: World, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if fault in ("curve", "swap"):
        break_method(monkeypatch, Concentrated, world.key, fault, DefectError)
    else:
        break_reader(monkeypatch, ContractKind.UNISWAP_V4, world.key, fault.removeprefix("reader").strip("'s "))


CELLS = [(face, fault) for face in FACES for fault in FAULTS]
QUICK = {
    *(("route", fault) for fault in FAULTS),
    ("sync", FAULTS[0]), ("price", FAULTS[3]), ("pools", FAULTS[3]), ("depth", FAULTS[2]), ("calldata", FAULTS[4]),
    ("library", FAULTS[1]), ("service", FAULTS[1]), ("service", FAULTS[4]), ("quote tool", FAULTS[2]),
}  # fmt: skip


@pytest.mark.parametrize(
    ("face", "fault"), [pytest.param(*cell, marks=[] if cell in QUICK else [pytest.mark.slow]) for cell in CELLS]
)
def test_a_fault_of_one_pool_ends_nothing(
    world: World, face: str, fault: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SWAPCLI_CONFIG", str(world.client.settings))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    break_pool(world, fault, monkeypatch)
    said = FACES[face](world)
    is_named = DEFECT in said and world.key in said
    assert is_named == ((face, fault) not in UNUSED)
