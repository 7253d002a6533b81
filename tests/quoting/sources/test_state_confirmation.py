"""No single public node decides what is signed: a second one must report the same state, to the unit."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import log
from pathlib import Path
from random import Random
from threading import Event, Thread
from typing import Any, NamedTuple

import pytest

from swapcli import Market
from swapcli.core.errors import SwapcliError
from swapcli.quoting.sources.live_search import TOLERANCE
from tests.chain.lying_public_nodes import (
    Overrides,
    Rewrite,
    ahead,
    behaving,
    in_results,
    moved_by,
    on_state,
    public_nodes,
    refuses_old_state,
    set_behaviours,
    with_time,
)
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.node.server import Failure, RpcAnswer, RpcRequest, hangs_up
from tests.chain.proxy import Proxy, late, stale
from tests.chain.test_live_by_default import User
from tests.chain.trader import Trader
from tests.contracts.evm import compile_solidity
from tests.examples import few
from tests.support.chain import restored
from tests.support.command import CommandResult, run_swapcli

RUNS = 200
TO = ("--destination", "0x" + "11" * 20)
PAIR = ("WETH", "USDC", "5")


class Built(NamedTuple):
    """A payload: its call, the nodes that agree and the block; or the code of the error instead."""

    failure: str
    call: tuple[object, ...] = ()
    witnesses: int | None = None
    block: int | None = None
    message: str = ""
    min_received: int = 0


class Bench(NamedTuple):
    """A user, and public nodes of a chain. `moved` are states after trades that nobody has made, `taxed` is a token."""

    user: User
    trader: Trader
    nodes: list[Proxy]
    truth: dict[str, Any]
    moved: list[Overrides]
    taxed: str
    monkeypatch: pytest.MonkeyPatch
    known: dict[tuple[object, ...], Built]

    def truth_of(self, order: tuple[str, ...], face: str) -> Built:
        """Return the payload on an honest node that the user has named."""
        if (order, face) not in self.known:
            self.known[order, face] = self._build(order, face, [self.user.url], self.user.folder / "truth", named=True)
        return self.known[order, face]

    def build(self, order: tuple[str, ...], face: str, count: int, folder: Path) -> Built:
        """Return the payload on the first `count` public nodes."""
        urls = [f"http://127.0.0.1:{each.server_port}" for each in self.nodes[:count]]
        return self._build(order, face, urls, folder)

    def _build(self, order: tuple[str, ...], face: str, urls: list[str], folder: Path, *, named: bool = False) -> Built:
        node = ("--rpc-url", self.user.url) if named else ()
        env: dict[str, Any] = {"XDG_DATA_HOME": str(folder)}
        if face == "library":
            return self._build_in_library(order, urls, folder, named=named)
        if face == "calldata":
            ran = self.user.run("calldata", *order, *TO, "--json", *node, public=urls, **env)
        else:
            route = self.user.run("route", *order, "--json", "--rpc-url", self.user.url, public=urls, **env)
            assert route.exit_code == 0, route.stderr
            environment = self.user.environment(urls) | env
            words = ("execute", "-", *TO, "--json", *node)
            ran = run_swapcli(*words, stdin=route.stdout.encode(), env=environment)
        if ran.exit_code:
            return Built(ran.error["code"], message=ran.error["message"])
        document = ran.json
        call = document["to"], document["calldata"], document["value"]
        least = int(document["route"]["min_received"])
        return Built("", call, document["witnesses"], document["state"]["block"], min_received=least)

    def _build_in_library(self, order: tuple[str, ...], urls: list[str], folder: Path, *, named: bool) -> Built:
        for name, value in (self.user.environment(urls) | {"XDG_DATA_HOME": str(folder)}).items():
            self.monkeypatch.setenv(name, value)
        opened = Market.live(self.user.name, rpc_url=self.user.url) if named else Market.open(self.user.name)
        with opened as market:
            try:
                quote = market.quote(*order)
                prepared = quote.prepare(destination=TO[1])
            except SwapcliError as error:
                return Built(error.code, message=error.message)
            sent = prepared.transactions[-1]
            call = sent["to"], sent["data"], sent["value"]
            least = prepared.payload.call.route.min_received
            return Built("", call, prepared.payload.witnesses, quote.state.block, min_received=least)

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
        moves = [("WETH", "USDC", 25), ("USDC", "WETH", 60_000), ("WBTC", "USDT", 1), ("USDT", "WETH", 30_000)]
        moved = [moved_by(trader, *move) for move in moves]
        taxed = trader.chain.deploy(compile_solidity("hostile.sol")["TaxedCoin"]).address
        with pytest.MonkeyPatch.context() as monkeypatch:
            monkeypatch.delenv("SWAPCLI_LIVE", raising=False)
            yield Bench(user, trader, nodes, truth, moved, taxed, monkeypatch, {})


def test_two_honest_nodes_confirm_a_payload(bench: Bench, tmp_path: Path) -> None:
    ran = bench.run("calldata", *PAIR, *TO, "--json", count=2, folder=tmp_path)
    assert ran.exit_code == 0, ran.stderr
    assert ran.json["witnesses"] == 2
    assert ran.json["calldata"] == bench.truth["calldata"]
    assert bench.truth["witnesses"] == 1


def test_a_node_of_ones_own_gets_no_further_request(bench: Bench, tmp_path: Path) -> None:
    """A payload takes one exchange more than its route, which tries the approval. No public node is read."""
    for node in bench.nodes:
        node.failures, node.always = [], None
    own, *public = bench.nodes
    words = (*PAIR, "--json", "--rpc-url", f"http://127.0.0.1:{own.server_port}")
    sent = []
    for command in (("route", *words), ("route", *words), ("calldata", *words, *TO, "--check", "never")):
        for node in bench.nodes:
            node.exchanges.clear()
        ran = bench.run(*command, count=3, folder=tmp_path)
        assert ran.exit_code == 0, ran.stderr
        sent.append(len(own.exchanges))
        assert [node.exchanges for node in public] == [[], []]
    assert sent[2] == sent[1] + 1


class Lie(NamedTuple):
    """A way to lie, made for a bench with random figures. Without pools that it hides, a route may be as good."""

    name: str
    build: Callable[[Bench, Random], Rewrite]
    may_change_route: bool = False


def pools_of(bench: Bench, *protocols: str) -> list[str]:
    return [each.contract.address for each in bench.trader.world.places if each.protocol in protocols]


def word_lie(bench: Bench, rng: Random, protocols: Sequence[str], slot: int, change: Callable[[int], int]) -> Rewrite:
    """Another word in a slot of one pool, or of all pools of some protocols."""
    pools = pools_of(bench, *protocols)
    chosen = pools if rng.random() < 0.5 else [rng.choice(pools)]
    ask = bench.trader.chain.node.ask
    words = {pool: int(ask("eth_getStorageAt", pool, hex(slot), "latest"), 16) for pool in chosen}
    return on_state({pool: {"stateDiff": {f"0x{slot:064x}": f"0x{change(word):064x}"}} for pool, word in words.items()})


def reserves_lie(bench: Bench, rng: Random) -> Rewrite:
    mask = (1 << 112) - 1
    first, second = (rng.choice([0.5, 0.9, 0.999, 1.001, 1.1, 2.0]) for _ in range(2))
    return word_lie(
        bench,
        rng,
        ["uniswapV2"],
        8,
        lambda word: (
            (word >> 224) << 224
            | int((word >> 112 & mask) * first) << 112
            | int((word & mask) * second if first == 1.0 or second != first else (word & mask) * 3)
        ),
    )


def price_lie(bench: Bench, rng: Random) -> Rewrite:
    factor = rng.choice([0.98, 0.9999, 1.0001, 1.02])
    mask = (1 << 160) - 1

    def change(word: int) -> int:
        tick = (word >> 160) & 0xFFFFFF
        moved = (tick + round(2 * log(factor) / log(1.0001))) & 0xFFFFFF
        return (word >> 184) << 184 | moved << 160 | int((word & mask) * factor)

    return word_lie(bench, rng, ["uniswapV3"], 0, change)


def liquidity_lie(bench: Bench, rng: Random) -> Rewrite:
    factor = rng.choice([0.0, 0.5, 2.0, 10.0])
    return word_lie(bench, rng, ["uniswapV3"], 4, lambda word: int(word * factor))


def trade_lie(bench: Bench, rng: Random) -> Rewrite:
    """The state after a trade of somebody, who has used pools of several families."""
    return on_state(rng.choice(bench.moved))


def hidden_lie(bench: Bench, rng: Random) -> Rewrite:
    """One pool, or most pools, are reported to have no code."""
    pools = [each.contract.address for each in bench.trader.world.places if each.protocol != "uniswapV4"]
    hidden = [rng.choice(pools)] if rng.random() < 0.5 else rng.sample(pools, len(pools) - 2)
    return on_state({pool: {"code": "0x"} for pool in hidden})


def transfer_lie(bench: Bench, rng: Random) -> Rewrite:
    """A token is reported to take a fee from each transfer."""
    taxed = bench.trader.chain.node.ask("eth_getCode", bench.taxed, "latest")
    return on_state({bench.trader.world.address(rng.choice(["USDC", "DAI", "WBTC"])): {"code": taxed}})


def gas_lie(bench: Bench, rng: Random) -> Rewrite:
    """So high a gas price that one pool pays more than several, net of gas."""
    del bench
    price = hex(rng.choice([1, 10**13, 10**14, 10**15, 10**16]))
    return in_results("eth_gasPrice", lambda _: price)


def router_lie(bench: Bench, rng: Random) -> Rewrite:
    """Nothing or something else is deployed at the router."""
    router = bench.trader.world.network.router
    assert router is not None
    code = rng.choice(["0x", "0x5f5ffd"])

    def rewrite(requests: list[RpcRequest], proxy: Proxy) -> list[RpcAnswer]:
        answers = on_state({router: {"code": code}})(requests, proxy)
        for request, answer in zip(requests, answers, strict=True):
            if request["method"] == "eth_getCode" and request["params"][0].lower() == router:
                answer["result"] = code
        return answers

    return rewrite


def decimals_lie(bench: Bench, rng: Random) -> Rewrite:
    """A token is reported to have other decimals: the code answers `decimals()`, and delegates all other calls."""
    token, elsewhere = bench.trader.world.address(rng.choice(["USDC", "DAI", "WBTC"])), "0x" + "de" * 20
    own_code = bench.trader.chain.node.ask("eth_getCode", token, "latest")
    if_decimals = "5f3560e01c63313ce56714603b57"
    delegate = f"365f5f375f5f365f73{elsewhere[2:]}5af43d5f5f3e6037573d5ffd5b3d5ff3"
    answer = f"5b60{rng.choice([0, 2, 7, 9, 77]):02x}5f5260205ff3"
    return on_state({token: {"code": f"0x{if_decimals}{delegate}{answer}"}, elsewhere: {"code": own_code}})


LIES = (
    Lie("trades that were not made", trade_lie),
    Lie("reserves", reserves_lie),
    Lie("price", price_lie),
    Lie("liquidity", liquidity_lie),
    Lie("hidden pools", hidden_lie, may_change_route=True),
    Lie("transfers", transfer_lie),
    Lie("gas price", gas_lie, may_change_route=True),
    Lie("router code", router_lie),
    Lie("decimals", decimals_lie),
    Lie("time", lambda _, rng: with_time(rng.choice([-60, -5, 5]))),
    Lie("a block that does not exist", lambda _, rng: ahead(rng.randint(1, 3))),
)
ORDERS = (
    ("WETH", "USDC", "5"),
    ("USDC", "WETH", "9000"),
    ("WBTC", "USDT", "0.7"),
    ("ETH", "DAI", "3"),
    ("TKN", "WETH", "50000"),
)


def check_lie(bench: Bench, lie: Lie, rng: Random, count: int, folder: Path) -> str:
    """Have one of several nodes lie: what is built anyway is what an honest node alone gives."""
    liar, order = rng.randrange(count), rng.choice(ORDERS)
    face = rng.choice(["calldata", "calldata", "execute", "library"])
    set_behaviours(bench.nodes, {liar: lie.build(bench, rng)}, rng)
    truth = bench.truth_of(order, face)
    built = bench.build(order, face, count, folder)
    case = f"{lie.name}, {face} of {order}, node {liar} of {count}"
    if not built.failure:
        # A pool that would add nothing may be missing.
        assert built.min_received >= truth.min_received * (1 - TOLERANCE), case
        assert lie.may_change_route or built.call == truth.call, case
        assert built.witnesses == 2, case
    else:
        # The quote of a program stays what it is; a command quotes again on another node.
        is_again = count > 2 and face != "library" and not lie.name.startswith("a block")
        assert not is_again or built.failure != "NODES_DISAGREE", built.message
    return built.failure


@pytest.mark.parametrize("lie", few(LIES, 5), ids=lambda lie: lie.name)
def test_one_lying_node_decides_nothing(bench: Bench, tmp_path: Path, lie: Lie) -> None:
    rng = Random(lie.name)
    for count in (2, 3):
        check_lie(bench, lie, rng, count, tmp_path / str(count))


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 3])
def test_no_payload_of_200_comes_from_one_lying_node(bench: Bench, tmp_path: Path, count: int) -> None:
    rng = Random(f"200 lies {count}")
    outcomes = [check_lie(bench, rng.choice(LIES), rng, count, tmp_path / str(n)) for n in range(RUNS // 2)]
    print(Counter(outcomes))
    assert len(outcomes) == RUNS // 2


def any_manner(rng: Random) -> Failure:
    """A way in which honest nodes differ."""
    return rng.choice(HONEST)()


HONEST: tuple[Callable[[], Failure], ...] = (
    lambda: behaving(None),
    lambda: late(0.05),
    lambda: late(0.3),
    lambda: hangs_up,
    lambda: stale(1),
    refuses_old_state,
)


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 3])
def test_no_honest_payload_of_200_is_refused(bench: Bench, tmp_path: Path, count: int) -> None:
    rng = Random(f"200 honest {count}")
    with mining(bench):
        witnesses = [check_honest(bench, rng, count, tmp_path / str(n)) for n in range(RUNS // 2)]
    print(Counter(witnesses))


@contextmanager
def mining(bench: Bench) -> Iterator[None]:
    """Blocks come every second, at the time of this machine's clock."""
    node, user, is_over = bench.trader.chain.node, bench.user, Event()
    usual_s, user.block_time_s = user.block_time_s, 1

    def mine() -> None:
        latest_s = int(node.ask("eth_getBlockByNumber", "latest", False)["timestamp"], 16)
        if (now_s := int(time.time())) > latest_s:
            node.ask("evm_setNextBlockTimestamp", hex(now_s))
            node.ask("evm_mine")

    def keep_mining() -> None:
        while not is_over.wait(1.0):
            mine()

    mine()
    miner = Thread(target=keep_mining, daemon=True)
    miner.start()
    try:
        yield
    finally:
        is_over.set()
        miner.join()
        user.block_time_s = usual_s


def check_honest(bench: Bench, rng: Random, count: int, folder: Path) -> int | None:
    """One of several nodes is slow, dead, a block behind, or limits its requests: there is a payload."""
    odd, order = rng.randrange(count), rng.choice(ORDERS)
    face = rng.choice(["calldata", "calldata", "execute", "library"])
    for index, node in enumerate(bench.nodes):
        node.always, node.max_requests = None, None
        if index == odd:
            node.always = any_manner(rng)
            node.max_requests = rng.choice([None, None, 1, 3])
    built = bench.build(order, face, count, folder)
    assert not built.failure, built.message
    assert built.witnesses in (1, 2), "no node was read"
    return built.witnesses


@pytest.mark.parametrize("seed", range(2))
def test_honest_nodes_that_differ_are_not_refused(bench: Bench, tmp_path: Path, seed: int) -> None:
    with mining(bench):
        check_honest(bench, Random(f"honest {seed}"), 2 + seed % 2, tmp_path)


def test_the_verdict_comes_from_another_node_too(bench: Bench, tmp_path: Path) -> None:
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
        assert slow in rehearsed, "the fast node was read for the quote"
