"""Forks whose fees and events differ from the contracts that they come from: followed, and quoted as the chain swaps.

Each step is one or two swaps of one pool; then swaps each way are compared with the contracts' at the followed block.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

from swapcli.core.model.contract_kind import ContractKind
from swapcli.core.model.market import MarketState, Provenance
from swapcli.core.model.network import Deployment, Network, ProtocolInfo
from swapcli.core.model.network import Kind as NetworkKind
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool
from swapcli.core.model.token import Token
from swapcli.families.reading.lockstep_reads import SkippedItem
from swapcli.families.reading.pool_readers import load_pools
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.tick_math import sqrt_ratio_at_tick
from swapcli.families.uniswap.concentrated import Concentrated
from swapcli.families.uniswap.rows import AlgebraConstants
from swapcli.quoting.followers.market_follower import FollowedStore, open_follower
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.rpc.multicall import MulticallReader
from swapcli.state.rpc.rpc_node import RpcNode
from swapcli.state.store import Store
from swapcli.state.sync import Advance, follow, import_pools
from swapcli.testing.evm import Contract
from tests.chain.anvil import CHAIN_ID, AnvilChain, running_anvil
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.node.factories import algebra
from tests.contracts.evm import compile_solidity, load_artifact
from tests.families.real_pools import slipstream_pool
from tests.state.store.build import create, only
from tests.support.chain import connected

UNIT = 10**18
PRICE = sqrt_ratio_at_tick(7)
ALGEBRA_1_2_1 = "algebra-integral-core-1.2.1/artifacts/contracts"
CALLED_BEFORE_SWAPS_WITH_DYNAMIC_FEE = 0x81
PROTOCOLS = (
    ProtocolInfo(1, "algebra", "Algebra", "concentrated"),
    ProtocolInfo(2, "slipstream", "Slipstream", "concentrated", ("tickSpacing",)),
    ProtocolInfo(3, "ramses", "Ramses", "concentrated", ("tickSpacing",), contracts=("ramses_v3",)),
    ProtocolInfo(4, "pairs", "Pairs", "constant_product"),
)
KINDS = {"algebra": ContractKind.ALGEBRA, "slipstream": ContractKind.UNISWAP_V3, "ramses": ContractKind.RAMSES_V3}
SPACING = 60


class Made(NamedTuple):
    """A pool on the chain; `name` says what is special about it."""

    name: str
    protocol: str
    contract: Contract


class ForkedChain:
    """A chain with a pool of each fork, all of the same two tokens but for the second of Algebra."""

    def __init__(self, chain: AnvilChain) -> None:
        self.chain = chain
        self.kit, self.forks = compile_solidity("kit.sol"), compile_solidity("forks.sol")
        self.trader = chain.deploy(self.kit["Trader"])
        self.coins = sorted((chain.deploy(self.kit["Token"], 18).address for _ in range(4)), key=lambda a: int(a, 16))
        self.factory = algebra(chain, ALGEBRA_1_2_1).home.address
        self.quoter = chain.deploy(self.forks["AlgebraQuoter"], self.factory)
        self.plugin = chain.deploy(self.forks["FeePlugin"])
        self.pools = [
            self._algebra("static", 0, 1),
            self._with_plugin(self._algebra("plugin", 0, 2)),
            self._slipstream(),
            self._ramses(),
        ]
        for each in self.pools:
            self.provide(each, -2_000, 2_000, 50 * UNIT)
            self.provide(each, -20, 30, 20 * UNIT)
        self.network = Network(
            name="forks",
            kind=NetworkKind.EVM,
            chain_id=CHAIN_ID,
            native=Token(ZERO_ADDRESS, "ETH", "Ether", 18),
            wrapped_native=None,
            tokens=(),
            protocols=PROTOCOLS,
            deployments=(
                Deployment(("algebra",), "Algebra", {"factory": self.factory, "quoter_v2": self.quoter.address}),
            ),
            multicall=deploy_multicall(chain),
            block_time_s=12.0,
        )

    def _algebra(self, name: str, first: int, second: int) -> Made:
        artifact = load_artifact(f"{ALGEBRA_1_2_1}/AlgebraFactory.sol/AlgebraFactory.json")
        factory = self.chain.at(self.factory, artifact)
        (address,) = factory.send("createPool", self.coins[first], self.coins[second], b"")
        pool = self.chain.at(address, load_artifact(f"{ALGEBRA_1_2_1}/AlgebraPool.sol/AlgebraPool.json"))
        pool.send("initialize", PRICE)
        return Made(name, "algebra", pool)

    def _with_plugin(self, made: Made) -> Made:
        made.contract.send("setPlugin", self.plugin.address)
        made.contract.send("setPluginConfig", CALLED_BEFORE_SWAPS_WITH_DYNAMIC_FEE)
        return made

    def _slipstream(self) -> Made:
        """Return a pool whose factory, the host, answers with the fee of our module."""
        host = self.chain.deploy(self.forks["MovingFeeHost"])
        pool = self.chain.deploy(slipstream_pool())
        pool.send("initialize", host.address, *self.coins[:2], SPACING, ZERO_ADDRESS, PRICE)
        pool.send("increaseObservationCardinalityNext", 200)
        return Made("moving fee", "slipstream", pool)

    def _ramses(self) -> Made:
        """Return a pool with `currentFee()` in front of the code of another."""
        code = self.chain.deploy(slipstream_pool())
        front = self.chain.deploy(self.forks["RamsesPool"], code.address)
        pool = self.chain.at(front.address, slipstream_pool())
        pool.send("initialize", front.address, *self.coins[:2], SPACING, ZERO_ADDRESS, PRICE)
        return Made("current fee", "ramses", pool)

    def refs(self) -> list[PoolRef]:
        return [
            PoolRef(
                each.contract.address,
                each.protocol,
                "concentrated",
                KINDS[each.protocol],
                (each.contract.call("token0")[0], each.contract.call("token1")[0]),
                (18, 18),
                constants=AlgebraConstants(self.quoter.address) if each.protocol == "algebra" else None,
            )
            for each in self.pools
        ]

    def provide(self, made: Made, lower: int, upper: int, amount: int) -> None:
        function = "mintAlgebra" if made.protocol == "algebra" else "mint"
        self.trader.send(function, made.contract.address, lower * SPACING, upper * SPACING, amount)

    def act(self, rng: Random) -> None:
        """Swap, provide, change a fee, or let time pass."""
        made = rng.choice(self.pools)
        action = rng.random()
        if action < 0.7:
            self.trader.send("swap", *self._swap_arguments(made, rng.random() < 0.5, random_amount(rng)))
        elif action < 0.8:
            lower = rng.randint(-40, 40)
            self.provide(made, lower, lower + rng.randint(1, 30), rng.randint(1, 10) * UNIT)
        elif action < 0.9:
            ramses = self.chain.at(self.pools[-1].contract.address, self.forks["RamsesPool"])
            ramses.send("setFee", rng.randint(50, 20_000))
        else:
            self.chain.node.ask("anvil_mine", hex(rng.randint(1, 20)))

    def swapped(self, made: Made, down: bool, amount_in: int) -> int:
        """Return the output of a swap at the latest block, which is not sent."""
        (paid, got, *_) = self.trader.call("swap", *self._swap_arguments(made, down, amount_in))
        assert paid == amount_in
        return int(got)

    def _swap_arguments(self, made: Made, down: bool, amount_in: int) -> tuple[str, bool, bool, int]:
        return made.contract.address, made.protocol == "algebra", down, amount_in


def random_amount(rng: Random) -> int:
    return int(10 ** rng.uniform(14, 18.5))


@pytest.fixture(scope="module")
def forked_chain() -> Iterator[ForkedChain]:
    with running_anvil() as chain:
        yield ForkedChain(chain)


@contextmanager
def imported_store(forked: ForkedChain, node: RpcNode, path: Path, pools: list[Pool]) -> Iterator[Store]:
    """Yield a store at `path` with these pools."""
    coins = {address: Token(address, f"T{k}", f"Token {k}", 18) for k, address in enumerate(forked.coins)}
    market = MarketState(
        network=forked.network,
        tokens=coins,
        pools={pool.key: pool for pool in pools},
        provenance=Provenance.SYNTHETIC,
        source="test",
        gas_price_wei=1,
        block=None,
        timestamp=None,
        placeholder_pools=frozenset(),
    )
    with create(path, forked.network) as store:
        assert [progress.done for progress in import_pools(store, node, market)][-1] == len(pools)
        yield store


def read(forked: ForkedChain, node: RpcNode, refs: list[PoolRef]) -> list[Pool | SkippedItem]:
    head = node.read_head().block
    return list(load_pools(MulticallReader(node, head, forked.network.multicall), refs))


def read_all(forked: ForkedChain, node: RpcNode, refs: list[PoolRef]) -> list[Pool]:
    pools = read(forked, node, refs)
    assert not [pool for pool in pools if isinstance(pool, SkippedItem)]
    return [pool for pool in pools if isinstance(pool, Pool)]


@pytest.mark.parametrize("blocks", [40, pytest.param(1_000, marks=pytest.mark.slow)])
def test_a_follower_quotes_forks_as_the_chain_swaps(forked_chain: ForkedChain, tmp_path: Path, blocks: int) -> None:
    rng, path = Random(f"forks {blocks}"), tmp_path / "store"
    with restored_chain(forked_chain), connected(forked_chain.chain) as node:
        pools = read_all(forked_chain, node, forked_chain.refs())
        assert [pool.changes_without_events for pool in pools] == [False, True, True, True]
        fees: dict[str, set[int]] = {pool.key: set() for pool in pools}
        with imported_store(forked_chain, node, path, pools) as store:
            followed = FollowedStore(forked_chain.network, only(forked_chain.network), path, None)
            with open_follower(followed, SYSTEM_CLOCK, lambda _: None) as follower:
                follower.read()
                for _ in range(blocks):
                    forked_chain.act(rng)
                    advance = follow(store, node)
                    assert advance
                    assert advance.changed_without_event == (), "events, or reading at every block, find all changes"
                    source = follower.advance()
                    assert source
                    assert source.market.block == node.read_head().block.number
                    for made in forked_chain.pools:
                        pool, down, amount = source.market.pools[made.contract.address], rng.random() < 0.5, 10**17
                        sold, bought = pool.tokens if down else pool.tokens[::-1]
                        assert pool.swap(sold, bought, amount)[0] == forked_chain.swapped(made, down, amount), made.name
                        fees[pool.key].add(pool.fee_ppm)
        static, plugin, moving, current = (len(fees[pool.key]) for pool in pools)
        assert static == 1
        assert min(plugin, moving, current) > 1, "the fees move"


@contextmanager
def restored_chain(forked: ForkedChain) -> Iterator[None]:
    mark = forked.chain.snapshot()
    yield
    forked.chain.revert(mark)


def test_a_plugin_that_takes_another_fee_is_left_out(forked_chain: ForkedChain) -> None:
    with restored_chain(forked_chain), connected(forked_chain.chain) as node:
        ref = forked_chain.refs()[1]
        (pool,) = read_all(forked_chain, node, [ref])
        assert isinstance(pool, Concentrated)
        forked_chain.plugin.send("setSurcharge", 15_000)
        (skipped,) = read(forked_chain, node, [ref])
        assert isinstance(skipped, SkippedItem)
        assert "plugin's fee differs from the pool's" in skipped.reason
        assert isinstance(read(forked_chain, node, [ref._replace(constants=AlgebraConstants())])[0], Pool), (
            "nothing contradicts the pool where the network names no quoter"
        )
        forked_chain.plugin.send("setSurcharge", 0)
        assert isinstance(read(forked_chain, node, [ref])[0], Pool)


PAIRS = 150
"""More than one query for events asks about."""


class UnknownPairs(NamedTuple):
    """Pairs of an unknown version, and a store with all of them."""

    contracts: list[Contract]
    store: Store
    node: RpcNode
    chain: AnvilChain

    def follow(self) -> Advance:
        advance = follow(self.store, self.node)
        assert advance
        return advance

    def reserves(self, contract: Contract) -> tuple[int, int]:
        pool = self.store.read_pools([contract.address]).pools[contract.address]
        reserves: tuple[int, int] = getattr(pool, "reserves")  # noqa: B009 - only pairs have them
        return reserves


@pytest.fixture
def unknown_pairs(forked_chain: ForkedChain, tmp_path: Path) -> Iterator[UnknownPairs]:
    with restored_chain(forked_chain), connected(forked_chain.chain) as node:
        tokens = tuple(forked_chain.coins[:2])
        made = [forked_chain.chain.deploy(forked_chain.forks["UnknownPair"], *tokens) for _ in range(PAIRS)]
        refs = [
            PoolRef(each.address, "pairs", "constant_product", ContractKind.UNISWAP_V2, tokens, (18, 18), 3_000)
            for each in made
        ]
        pools = read_all(forked_chain, node, refs)
        with imported_store(forked_chain, node, tmp_path / "pairs", pools) as store:
            yield UnknownPairs(made, store, node, forked_chain.chain)


def test_a_pair_with_unknown_events_is_found_within_a_round(
    unknown_pairs: UnknownPairs,
) -> None:
    rng = Random("unknown")
    for contract in rng.sample(unknown_pairs.contracts, 6):
        contract.send("trade", 10**20, True)
        advances = [unknown_pairs.follow()]
        while not advances[-1].unexplained:
            assert len(advances) <= -(-PAIRS // 100), "a step for each hundred pools"
            unknown_pairs.chain.node.ask("evm_mine")
            advances.append(unknown_pairs.follow())
        assert advances[-1].unexplained == (contract.address,)
        assert unknown_pairs.reserves(contract) == contract.call("getReserves")[:2]
        contract.send("trade", 10**19, rng.random() < 0.5)
        assert contract.address in unknown_pairs.follow().changed, "read at every block from then on"
        assert unknown_pairs.reserves(contract) == contract.call("getReserves")[:2]
    assert len(unknown_pairs.store.inventory.unexplained_pools()) == 6
    assert set(unknown_pairs.store.inventory.unexplained_pools().values()) == {"pairs"}
