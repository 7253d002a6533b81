"""Pools of many tokens, read through a node, swap as their contracts do."""

from __future__ import annotations

from random import Random

import pytest

from swapcli.core.errors import PoolError
from swapcli.core.model.contract_kind import ContractKind
from swapcli.core.model.pool import Pool
from swapcli.core.networks.catalogue import find_network, network_names
from swapcli.families import FAMILIES
from swapcli.families.balancer.rows import BalancerV2Constants
from swapcli.families.balancer.weighted import Weighted
from swapcli.families.reading.contract_kinds import KINDS, contract_kinds
from swapcli.families.reading.lockstep_reads import SkippedItem
from swapcli.families.reading.pool_readers import load_pools
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.testing.evm import BaseChain, Chain
from tests.chain.contract_fixture import ContractFixture
from tests.chain.node.evm_node import EvmNode, packed_reader, view_of
from tests.families.balancer.test_weighted_differential import FACTORIES, Balancer, RealWeighted, random_pool


def read(chain: BaseChain, place: PoolRef) -> Pool:
    (pool,) = load_pools(view_of(chain), [place])
    assert not isinstance(pool, SkippedItem), pool
    return pool


@pytest.mark.parametrize("factory", FACTORIES)
def test_weighted_pools_of_every_factory_are_read_as_they_are(factory: str) -> None:
    rng = Random(f"reading {factory}")
    balancer = Balancer()
    for _ in range(6):
        known = random_pool(rng, balancer, factory)
        real = RealWeighted(balancer, factory, known)
        address = f"0x{real.pool_id.hex()[:40]}"
        place = PoolRef(address, "test", "weighted", "balancer_v2", known.tokens, known.decimals)
        pool = read(balancer.chain, place)
        assert isinstance(pool, Weighted)
        assert pool == Weighted(
            address,
            "test",
            known.tokens,
            known.decimals,
            known.fee_ppm,
            known.reserves,
            known.weights,
            1 if factory.startswith("v1") else 4,
            f"0x{real.pool_id.hex()}",
            known.fee_remainder_wad,
        )
        at_home = place._replace(constants=BalancerV2Constants(real.vault.address, f"0x{real.pool_id.hex()}"))
        node = EvmNode(balancer.chain)
        assert list(load_pools(packed_reader(node), [at_home])) == [pool]
        assert len(node.batch_sizes) == 1
        swap_and_compare(rng, real, pool)


def swap_and_compare(rng: Random, real: RealWeighted, pool: Pool) -> None:
    done = 0
    for _ in range(200):
        token_in, token_out = rng.sample(pool.tokens, 2)
        reserve = real.reserves()[pool.tokens.index(token_in)]
        amount_in = max(1, int(reserve * rng.uniform(0, 0.25)))
        try:
            amount_out, pool = pool.swap(token_in, token_out, amount_in)
        except PoolError:
            continue
        assert real.swap(token_in, token_out, amount_in) == amount_out
        done += 1
        if done == 5:
            break


@pytest.mark.parametrize("symbols", [("USDC", "DAI"), ("USDC", "USDT", "DAI")])
def test_stableswap_pools_swap_as_their_contract(symbols: tuple[str, ...]) -> None:
    world = ContractFixture(Chain(), pools=False)
    real = world.open_stableswap(*symbols)
    decimals = tuple(world.tokens[symbol].decimals for symbol in symbols)
    place = PoolRef(real.contract.address, "curveFi", "stableswap", "stableswap", real.tokens, decimals)
    pool = read(world.chain, place)
    assert pool.fee_ppm == 400
    for amount in (10**7, 123_456_789, 10**11):
        world.give(symbols[0], world.provider.address, amount)
        amount_out, pool = pool.swap(real.tokens[0], real.tokens[1], amount)
        (got,) = exchanged(world, real.contract.address, symbols[0], amount)
        assert got == amount_out
        assert read(world.chain, place) == pool


def exchanged(world: ContractFixture, pool: str, symbol: str, amount: int) -> tuple[int]:
    world.give(symbol, "0x" + "d0" * 20, amount)
    world.contracts[symbol].send("approve", pool, amount)
    contract = world.chain.at(pool, world.sources["StableSwap"])
    (got,) = contract.send("exchange", 0, 1, amount, 0)
    return (int(got),)


def test_the_catalogue_uses_every_kind_of_contracts() -> None:
    networks = [find_network(name) for name in network_names()]
    used = {
        kind for network in networks for protocol in network.protocols for kind in contract_kinds(protocol, network)
    }
    unused = ", ".join(sorted(set(KINDS) - used))
    assert used == set(KINDS), f"TODO {unused}: a protocol with its contracts, in core/networks/definitions"


def test_every_family_but_the_wrapper_has_a_contract_kind() -> None:
    assert {family for kind in KINDS.values() for family in kind.families} == set(FAMILIES) - {"wrapper"}


def test_the_catalogue_tells_how_each_protocol_is_read() -> None:
    base = find_network("base")
    expected = {
        "uniswapV2": ContractKind.UNISWAP_V2,
        "aerodromeV2Classic": ContractKind.SOLIDLY,
        "aerodromeV2Stable": ContractKind.SOLIDLY,
        "uniswapV3": ContractKind.UNISWAP_V3,
        "aerodromeV3": ContractKind.UNISWAP_V3,
        "QuickswapAlgebra": ContractKind.ALGEBRA,
        "uniswapV4": ContractKind.UNISWAP_V4,
        "curveFiStableNG": "stableswap",
        "balancerV2Weighted": "balancer_v2",
        "wrapper": None,
        "FluidDex": "fluid_t1",
        "kipseli": None,
    }
    for name, kind in expected.items():
        protocol = base.protocol(name)
        assert protocol, name
        assert contract_kinds(protocol, base) == ((kind,) if kind else ()), name
