"""Refill and volatility of real pools, measured on the events of a node and on the blocks of a store."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from math import inf
from pathlib import Path
from random import Random
from typing import Any

import pytest

from swapcli import Market
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.network import Deployment
from swapcli.core.model.order import Order
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.families.reading.pool_readers import load_pools, ref_of_pool
from swapcli.quoting.planning.measured_market import MeasuredMarket, measure_market
from swapcli.quoting.planning.measured_refill import MeasuredRefill
from swapcli.quoting.planning.price_path import MeasureOrigin, Unmeasured
from swapcli.quoting.planning.route_price import log_mid_price, route_legs
from swapcli.quoting.quote_results import LocalQuote
from swapcli.state.rpc.multicall import MulticallReader
from swapcli.state.rpc.rpc_node import RpcNode
from tests.chain.contract_fixture import CENTS, DECIMALS
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.node.server import SECRET, RpcAnswer, RpcRequest, refusal
from tests.chain.proxy import Proxy, open_proxy, rewrites
from tests.chain.settings import url_of, write_settings
from tests.chain.small_chain import SmallTestChain
from tests.chain.sync.expected_state import followed, store_at, synced
from tests.chain.test_checks_commands import Client
from tests.chain.trader import Trader
from tests.support.chain import connected, restored

BLOCK_S = 12
HALF_LIFE_BLOCKS = 2
SWAP_DOLLARS = 40_000
_LOGS = "eth_getLogs"


def measure(market: Market, sold: str, bought: str, whole: int, **options: Any) -> tuple[MeasuredMarket, LocalQuote]:
    token_in, token_out = market.token(sold), market.token(bought)
    order = Order(token_in, token_out, whole * 10**token_in.decimals)
    answer = market.source.quote(QuoteRequest(order, ApiVersion.V2))
    assert isinstance(answer, LocalQuote)
    return measure_market(market.source, market._nodes, answer, **options), answer


class Scene:
    """A chain whose blocks come every 12 seconds, and a user with a store of it and its node."""

    def __init__(self, small_chain: SmallTestChain, folder: Path) -> None:
        self.small, self.name = small_chain, small_chain.network.name
        self.small.chain.node.ask("anvil_setBlockTimestampInterval", BLOCK_S)
        write_settings(folder, small_chain.network, url_of(small_chain.chain))
        self.store = folder / "stores" / f"{self.name}.sqlite"
        self.store.parent.mkdir()
        with store_at(self.store, small_chain.network) as store, connected(small_chain.chain) as node:
            synced(store, node)

    def swap(self, sold: str, amount: int) -> int:
        """Sell base units of TKN or USDC in the pool of Uniswap V3, and return the output."""
        down = sold == self.small.world._sorted("TKN", "USDC")[0]
        return abs(int(self.small.trader.send("swap", self.small.pools[0].address, False, down, amount)[1]))

    def trade(self, swaps: int, half_life_blocks: int | None) -> None:
        """Have large swaps mined, and for each a swap back after a random time with this half-life."""
        rng = Random("arbitrage")
        for _ in range(swaps):
            sold, bought = rng.sample(("TKN", "USDC"), 2)
            received = self.swap(sold, SWAP_DOLLARS * 100 * 10 ** DECIMALS[sold] // CENTS[sold])
            waited = 0
            if half_life_blocks is not None:
                while rng.random() < 0.5 ** (1 / half_life_blocks):
                    waited += 1
                self.mine(waited)
                self.swap(bought, received)
                self.mine(8)
            self.mine(1 + rng.randrange(4))

    def mine(self, blocks: int) -> None:
        if blocks:
            self.small.chain.node.ask("anvil_mine", hex(blocks))

    def live(self, url: str = "") -> Market:
        return Market.live(self.name, rpc_url=url or url_of(self.small.chain))


@pytest.fixture
def scene(small_chain: SmallTestChain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    monkeypatch.setenv("SWAPCLI_CONFIG", str(tmp_path / "config.yaml"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return Scene(small_chain, tmp_path)


def test_the_refill_of_a_real_pool_is_measured(scene: Scene) -> None:
    scene.trade(30, HALF_LIFE_BLOCKS)
    lines = list[str]()
    with scene.live() as market:
        found, _ = measure(market, "TKN", "USDC", 1_000, hours=100, on_progress=lines.append)
    assert isinstance(found.refill, MeasuredRefill), found.refill
    estimate = found.refill.estimate
    assert estimate.half_life_low_s <= HALF_LIFE_BLOCKS * BLOCK_S <= estimate.half_life_high_s
    assert estimate.residual_share < 0.2
    assert found.prices
    assert (found.prices.origin, found.prices.measured_share) == (MeasureOrigin.NODE_EVENTS, 1.0)
    assert found.prices.requests < 20
    assert len(lines) == 1
    document = json.loads(json.dumps(found.document(), allow_nan=False))
    assert document["refill"]["swaps"] == estimate.swaps


@pytest.mark.slow
def test_without_swaps_back_no_refill_is_claimed(scene: Scene) -> None:
    """One path cannot tell pools that nobody refills from a price that moved elsewhere too: unknown is right, too."""
    scene.trade(80, None)
    with scene.live() as market:
        found, _ = measure(market, "TKN", "USDC", 2_000_000, hours=100)
    refill = found.document()["refill"]
    if isinstance(found.refill, MeasuredRefill):
        assert (found.refill.estimate.half_life_s, found.refill.estimate.residual_share) == (inf, 1.0)
        assert refill
        assert refill["halfLifeS"] is None
    else:
        assert "the price moved too much" in found.refill.reason
        assert refill is None


def unusable(answer: RpcAnswer, data: str) -> RpcAnswer:
    """Return an answer whose events have this data instead of their own."""
    return answer | {"result": [each | {"data": data} for each in answer["result"]]}


@pytest.mark.parametrize(
    ("change", "share", "reason"),
    [
        pytest.param(lambda answer: refusal(answer, -32000, "no events"), None, "no events", id="no events"),
        pytest.param(lambda answer: unusable(answer, "0x"), 1.0, "0 large swaps", id="events without data"),
        pytest.param(lambda answer: unusable(answer, "0x" + "ff" * 160), 1.0, "0 large swaps", id="no such price"),
        pytest.param(
            lambda answer: unusable(answer, "0x" + f"{1 << 96:064x}" * 5), 0.0, "only 0%", id="prices of another pool"
        ),
    ],
)
def test_a_broken_node_gives_no_measure(
    scene: Scene, change: Callable[[RpcAnswer], RpcAnswer], share: float | None, reason: str
) -> None:
    scene.trade(3, 1)

    def lie(requests: list[RpcRequest], proxy: Proxy) -> list[RpcAnswer]:
        answers = zip(requests, proxy.answer(requests), strict=True)
        return [change(answer) if request["method"] == _LOGS else answer for request, answer in answers]

    with open_proxy(scene.small.chain.node.port) as proxy:
        proxy.always = rewrites(lie)
        with scene.live(proxy.url) as market:
            found, _ = measure(market, "TKN", "USDC", 2_000_000, hours=100)
    assert isinstance(found.refill, Unmeasured)
    assert isinstance(found.volatility, Unmeasured)
    said = found.refill.reason + (found.prices.problem if found.prices else "")
    assert reason in said
    assert SECRET not in json.dumps(found.document(), allow_nan=False)
    if share is not None:
        assert found.prices
        assert found.prices.measured_share == share


@pytest.mark.slow
def test_a_store_has_the_same_prices_as_the_events(scene: Scene) -> None:
    rng = Random("stored")
    with store_at(scene.store, scene.small.network) as store, connected(scene.small.chain) as node:
        for _ in range(15):
            scene.small.run_random_activity(rng)
            scene.swap("USDC", rng.randint(10**9, 10**11))
            followed(store, node)
    with Market.open(scene.name, offline=True) as market:
        stored, _ = measure(market, "TKN", "USDC", 100_000)
    with scene.live() as market:
        events, _ = measure(market, "TKN", "USDC", 100_000, hours=100)
    assert stored.prices
    assert events.prices
    assert (stored.prices.origin, events.prices.origin) == (MeasureOrigin.STORED_BLOCKS, MeasureOrigin.NODE_EVENTS)
    assert isinstance(stored.refill, Unmeasured), "64 blocks are too few"
    path = stored.prices.path
    # Events do not say the price before the first of them.
    differences = [path.at(time_s) - events.prices.path.at(time_s) for time_s in path.times_s[3:]]
    assert len(differences) > 10
    assert max(differences) - min(differences) < 1e-9


@pytest.fixture(scope="module")
def client(shared_trader: Trader, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with restored(shared_trader) as trader:
        weighted = next(place for place in trader.world.places if place.protocol == "balancerV2Weighted")
        vault = Deployment((weighted.protocol,), "Balancer", {"vault": weighted.contract.call("getVault")[0]})
        trader.world.network = trader.world.network._replace(
            multicall=deploy_multicall(trader.chain), deployments=(*trader.world.network.deployments, vault)
        )
        trader.market = trader.market._replace(network=trader.world.network)
        for pool in tuple(trader.market.pools.values()):  # events do not say the price before the first of them
            trader.execute(trader.trade_in_pool(pool, pool.tokens[0], pool.tokens[1], 10_000))
        yield Client(trader, tmp_path_factory.mktemp("measured"))


def read_at(node: RpcNode, client: Client, pools: Mapping[str, Pool], block: int) -> dict[str, Pool]:
    refs = [ref_of_pool(pool, client.trader.world.network) for pool in pools.values()]
    bare = [ref._replace(last_read=None) for ref in refs if ref]
    return {pool.key: pool for pool in load_pools(MulticallReader(node, block, None), bare) if isinstance(pool, Pool)}


@pytest.mark.parametrize(
    ("sold", "bought", "whole"),
    [
        pytest.param("ETH", "USDC", 900, id="pairs, V3 and V4"),
        pytest.param("WBTC", "DAI", 200, id="over other tokens", marks=pytest.mark.slow),
    ],
)
def test_prices_from_events_are_those_of_the_states(
    client: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, sold: str, bought: str, whole: int
) -> None:
    monkeypatch.setenv("SWAPCLI_CONFIG", str(client.settings))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    trader, url = client.trader, url_of(client.trader.chain)
    first = client.block()
    for trade in trader.trades(Random("states"), 8):
        trader.execute(trade)
    with Market.live(client.name, rpc_url=url) as market:
        found, answer = measure(market, sold, bought, whole, hours=100)
    assert found.prices
    legs = route_legs(answer.quote.steps, answer.pools, answer.quote.amount_in)
    # The stable pool of Curve is a model of the tests, which emits no events.
    legs = [leg for leg in legs if answer.pools[leg.pool].protocol != "curveFi"]
    assert {answer.pools[leg.pool].family for leg in legs} >= {"constant_product", "concentrated", "weighted"}
    assert found.prices.measured_share == 1.0
    path = found.prices.path
    with connected(client.trader.chain) as node:
        head = client.block()
        blocks = range(first, head + 1, 3)
        pools = {leg.pool: answer.pools[leg.pool] for leg in legs}
        expected = [expected_price(legs, read_at(node, client, pools, block)) for block in blocks]
        times_s = [node.read_block(block).timestamp for block in blocks]  # type: ignore[union-attr]
    differences = [price - path.at(time_s) for price, time_s in zip(expected, times_s, strict=True)]
    assert len(path.times_s) > 5
    assert max(differences) - min(differences) < 1e-9


def expected_price(legs: Any, pools: Mapping[str, Pool]) -> float:
    return float(sum(leg.weight * (log_mid_price(pools[leg.pool], leg) or 0.0) for leg in legs))
