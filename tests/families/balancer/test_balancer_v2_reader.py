"""Stable pools of Balancer V2, found and read through a node, swap as their contracts do, also with expired rates."""

from __future__ import annotations

from random import Random

import pytest

from swapcli.core.errors import PoolError
from swapcli.core.model.network import ProtocolInfo
from swapcli.core.model.units import WAD
from swapcli.core.networks.catalogue import find_network
from swapcli.families.balancer.balancer_v2_composable import BalancerV2Composable
from swapcli.families.balancer.balancer_v2_stable import BalancerV2Stable
from swapcli.families.balancer.rows import BalancerV2Constants
from swapcli.families.reading.calls import MULTICALL3, Log
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import SkippedItem
from swapcli.families.reading.pool_readers import load_pools, ref_of_pool
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.state.discovery.pool_discovery import read_created_pools
from swapcli.testing.evm import Chain
from tests.chain.node.evm_node import BLOCK, EvmNode, packed_reader, sources
from tests.families.balancer.balancer_v2_chain import (
    CACHE_DURATION_S,
    FACTORIES,
    RealStable,
    StableChain,
    random_parameters,
)
from tests.families.balancer.test_balancer_v2_differential import traded_balance
from tests.support.outside_ids import topic_of

NOW = 1_700_000_000
PROTOCOLS = (
    ProtocolInfo(1, "stable", "Stable", "balancer_v2_stable"),
    ProtocolInfo(2, "composable", "Composable", "balancer_v2_composable"),
)


class Scene:
    """One pool of a factory on a chain with a Multicall3 at its usual address."""

    def __init__(self, factory: str, seed: int = 0) -> None:
        self.rng = Random(f"{factory} {seed}")
        self.chain = StableChain()
        assert isinstance(self.chain.chain, Chain)
        self.chain.chain.place(MULTICALL3, sources()["Multicall"])
        self.chain.set_protocol_fees(WAD // 2, WAD // 10)
        while True:
            parameters, self.rates, balances = random_parameters(self.rng, self.chain, factory)
            if factory == "stable" or any(int(provider, 16) for provider in parameters.providers):
                break
        self.real = RealStable(self.chain, factory, parameters, balances)
        self.node = EvmNode(self.chain.chain)

    def ref(self) -> PoolRef:
        """Return the pool's reference, as its registration at the vault gives it."""
        topics = (topic_of("PoolRegistered(bytes32,address,uint8)"), f"0x{self.real.pool_id.hex()}")
        log = Log(self.real.vault.address, (*topics, f"0x{self.real.address[2:]:0>64}"), bytes(32), BLOCK, 0)
        vault = Factory(self.real.vault.address, "balancer_v2", PROTOCOLS)
        (found,) = read_created_pools(packed_reader(self.node), {vault.address: vault}, [log], None)
        assert isinstance(found, PoolRef), found
        decimals = dict(zip(self.real.given.tokens, self.real.given.decimals, strict=True)) | {self.real.address: 18}
        return found._replace(decimals=tuple(decimals[token] for token in found.tokens))

    def read(self, ref: PoolRef | None = None) -> BalancerV2Stable | SkippedItem:
        (found,) = load_pools(packed_reader(self.node), [ref or self.ref()])
        assert isinstance(found, BalancerV2Stable | SkippedItem)
        return found

    def set_rate(self, k: int, rate: int) -> None:
        self.chain.chain.at(self.real.given.providers[k], self.chain.rate_provider).send("setRate", rate)

    def check_a_swap(self) -> None:
        """Check that the pool that is read pays what the contract pays."""
        pool = self.read()
        assert isinstance(pool, BalancerV2Stable), pool
        for _ in range(50):
            token_in, token_out = self.rng.sample(pool.tokens, 2)
            amount_in = max(1, traded_balance(pool, token_in) // self.rng.randint(3, 3000))
            try:
                amount_out, after = pool.swap(token_in, token_out, amount_in)
            except PoolError:
                continue
            assert self.real.swap(token_in, token_out, amount_in) == amount_out
            assert self.read() == after
            return
        pytest.fail("no swap is possible")


@pytest.mark.parametrize("factory", FACTORIES)
def test_a_pool_is_found_and_read_as_it_is(factory: str) -> None:
    scene = Scene(factory)
    ref = scene.ref()
    assert (ref.protocol, ref.family) == (
        ("composable", "balancer_v2_composable") if "composable" in factory else ("stable", "balancer_v2_stable")
    )
    assert ref.tokens == scene.real.tokens
    pool = scene.read(ref)
    assert isinstance(pool, BalancerV2Stable)
    known = scene.real.model(scene.rates)
    assert pool.state() == known.state() | ({} if factory == "stable" else {"changes_without_events": True})
    scene.check_a_swap()


@pytest.mark.parametrize("factory", [factory for factory in FACTORIES if factory != "stable"])
@pytest.mark.parametrize("seed", range(3))
def test_an_expired_rate_is_read_from_its_provider(factory: str, seed: int) -> None:
    scene = Scene(factory, seed)
    k = next(k for k, provider in enumerate(scene.real.given.providers) if int(provider, 16))
    new_rate = scene.rates[k] * 11 // 10
    scene.set_rate(k, new_rate)
    at = scene.real.tokens.index(scene.real.given.tokens[k])
    pool = scene.read()
    assert isinstance(pool, BalancerV2Stable)
    assert pool.rates[at] == scene.rates[k], "the cached rate still holds"
    scene.chain.set_time(NOW + CACHE_DURATION_S)
    pool = scene.read()
    assert isinstance(pool, BalancerV2Stable)
    assert pool.rates[at] == scene.rates[k], "in its last second too"
    scene.chain.set_time(NOW + CACHE_DURATION_S + 1)
    pool = scene.read()
    assert isinstance(pool, BalancerV2Stable)
    assert pool.rates[at] == new_rate
    scene.check_a_swap()


@pytest.mark.parametrize("factory", ["metastable", "composable v3"])
def test_a_rate_provider_that_reverts_leaves_the_pool_out(factory: str) -> None:
    scene = Scene(factory)
    k = next(k for k, provider in enumerate(scene.real.given.providers) if int(provider, 16))
    scene.set_rate(k, 0)
    assert isinstance(scene.read(), BalancerV2Stable), "its last rate has not expired"
    scene.chain.set_time(NOW + CACHE_DURATION_S + 1)
    assert scene.read() == SkippedItem(scene.real.address, "getRate(): the contract reverts")


@pytest.mark.parametrize("factory", [factory for factory in FACTORIES if factory.startswith("composable")])
def test_a_pool_is_also_read_without_its_own_token(factory: str) -> None:
    scene = Scene(factory)
    ref = scene.ref()
    own = ref.tokens.index(ref.address)
    tokens, decimals = ((*each[:own], *each[own + 1 :]) for each in (ref.tokens, ref.decimals))
    pool = scene.read(ref._replace(tokens=tokens, decimals=decimals))
    assert isinstance(pool, BalancerV2Composable)
    assert (pool.tokens, pool.pool_token) == (tokens, None)
    whole = scene.read(ref)
    assert isinstance(whole, BalancerV2Composable)
    amount_in = pool.reserves[0] // 100
    amount_out, after = pool.swap(tokens[0], tokens[1], amount_in)
    same, whole_after = whole.swap(tokens[0], tokens[1], amount_in)
    assert amount_out == same
    assert pool.gas_units(after) == whole.gas_units(whole_after)


def test_the_own_token_of_an_unknown_version_is_left_out() -> None:
    scene = Scene("composable v7")
    assert scene.ref().tokens == tuple(scene.real.given.tokens)


def test_a_known_pool_is_read_from_the_vault_that_it_names() -> None:
    scene = Scene("stable")
    pool = scene.read()
    assert isinstance(pool, BalancerV2Stable)
    ref = ref_of_pool(pool, find_network("base"))
    assert ref is not None
    assert (ref.kind, ref.constants) == ("balancer_v2", BalancerV2Constants("", pool.pool_id))
    assert scene.read(ref) == pool


def test_a_pool_of_other_tokens_is_skipped() -> None:
    scene = Scene("composable v3")
    ref = scene.ref()
    found = scene.read(ref._replace(tokens=ref.tokens[::-1]))
    assert found == SkippedItem(ref.address, "getPoolTokens(bytes32): the pool has different tokens")
