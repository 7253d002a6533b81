"""Pairs of RingSwap: the laws of every pool, and the same random swaps in Uniswap V2's bytecode behind wrappers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState
from swapcli.core.model.pool import Pool
from swapcli.families import family
from swapcli.families.uniswap.constant_product import ConstantProduct
from swapcli.families.uniswap.ring_pair import RingPair
from swapcli.testing.contract_pool import ContractPool, compare_swaps, read_pool
from swapcli.testing.evm import DEPLOYER, Chain, Contract, RevertedError
from swapcli.testing.pool_laws import check_curve_follows, check_state_round_trip, check_swap_laws, swap_or_skip
from swapcli.testing.recorded_swaps import check_recorded_swaps
from swapcli.testing.strategies import ADDRESS, TOKENS, decimals, depths, parts
from tests.contracts.evm import compile_solidity, load_artifact
from tests.examples import fuzzed_seeds
from tests.families.recorded import vectors_file

SWAPS_PER_CONTRACT: Final = 40
WRAPPERS: Final = ("0x" + "e1" * 20, "0x" + "e2" * 20)
FEE_PPM: Final = 3_000
directions = st.sampled_from([(0, 1), (1, 0)])


def valid_pool() -> RingPair:
    """Return a liquid pair, from which the tests of all families make contradictory and extreme states."""
    return RingPair(ADDRESS, "test", TOKENS[:2], (18, 6), FEE_PPM, (10**24, 10**12), (10**23, 10**11), WRAPPERS)


@st.composite
def pools(draw: st.DrawFn) -> RingPair:
    places = draw(st.tuples(decimals, decimals))
    x, y = draw(depths(places, 2.0))
    held = [int(reserve * 10 ** draw(st.floats(-3.0, 1.0))) for reserve in (x, y)]
    return RingPair(ADDRESS, "test", TOKENS[:2], places, FEE_PPM, (x, y), (held[0], held[1]), WRAPPERS)


@given(pools(), directions, parts)
def test_swaps_keep_the_laws(pool: RingPair, direction: tuple[int, int], part: float) -> None:
    i, j = direction
    check_swap_laws(pool, (pool.tokens[i], pool.tokens[j]), max(2, int(pool.reserves[i] * part)))


@given(pools(), directions, parts)
def test_the_curve_follows_the_swaps(pool: RingPair, direction: tuple[int, int], part: float) -> None:
    i, j = direction
    check_curve_follows(pool, (pool.tokens[i], pool.tokens[j]), max(2, int(pool.reserves[i] * part)))


@given(pools(), directions, parts)
def test_it_swaps_as_a_pair_of_uniswap_v2(pool: RingPair, direction: tuple[int, int], part: float) -> None:
    tokens = pool.tokens[direction[0]], pool.tokens[direction[1]]
    amount = max(1, int(pool.reserves[direction[0]] * part))
    paid, after = swap_or_skip(pool, tokens, amount)
    pair = ConstantProduct(*pool.identity, pool.reserves)
    assert (paid, after.reserves) == (pair.swap(*tokens, amount)[0], pair.swap(*tokens, amount)[1].reserves)
    changes = [after.deposits[k] - pool.deposits[k] for k in (0, 1)]
    assert changes == [after.reserves[k] - pool.reserves[k] for k in (0, 1)]


@given(pools(), directions)
def test_the_capacity_is_what_the_wrapper_can_unwrap(pool: RingPair, direction: tuple[int, int]) -> None:
    i, j = direction
    tokens = pool.tokens[i], pool.tokens[j]
    curve = pool.curve(*tokens)
    capacity = curve.capacity
    if pool.deposits[j] < pool.reserves[j]:
        two_units = 2 / curve.rate(capacity * (1 - 1e-9))
        with pytest.raises(InsufficientLiquidity):
            pool.swap(*tokens, int(capacity * (1 + 1e-9) + two_units) + 2)
    assert swap_or_skip(pool, tokens, max(1, int(capacity * (1 - 1e-9))))[0] <= pool.deposits[j]


@given(pools())
def test_state_survives_a_round_trip(pool: RingPair) -> None:
    check_state_round_trip(pool)


def test_pairs_share_what_their_wrappers_hold() -> None:
    pool = valid_pool()
    _, after = pool.swap(pool.tokens[0], pool.tokens[1], 10**22)
    other = replace(pool, reserves=(10**25, 10**13))
    for shared in after.shared_states:
        other = other.with_shared_state(shared)
    assert (other.deposits, other.reserves) == (after.deposits, (10**25, 10**13))
    unrelated = replace(pool, wrappers=("0x" + "f1" * 20, "0x" + "f2" * 20))
    assert unrelated.with_shared_state(after.shared_states[0]) == unrelated


@pytest.mark.parametrize("wrappers", [[WRAPPERS[0]] * 2, [WRAPPERS[0]], ["0x12", WRAPPERS[1]], None])
def test_two_wrappers_are_needed(wrappers: object) -> None:
    pool = valid_pool()
    with pytest.raises(InvalidPoolState) as caught:
        family("ring_pair").from_state(pool.identity, {**pool.state(), "wrappers": wrappers})
    assert caught.value.field.startswith("wrappers")


def test_recorded_swaps_are_the_contracts() -> None:
    assert check_recorded_swaps(vectors_file("ring_pair")) >= 300


class WrappedPair(ContractPool):
    """A pair of Uniswap V2's bytecode between two wrapped tokens, some of which were minted without a deposit."""

    def __init__(self, rng: Random) -> None:
        self.chain = Chain()
        contracts = compile_solidity("ring.sol", root=Path(__file__).parent)
        token = compile_solidity("kit.sol")["Token"]
        tokens = [self.chain.deploy(token, 18) for _ in range(2)]
        wrapped = [self.chain.deploy(contracts["WrappedToken"], each.address) for each in tokens]
        both = sorted(zip(wrapped, tokens, strict=True), key=lambda each: each[0].address)
        self.wrapped, self.tokens = [each[0] for each in both], [each[1] for each in both]
        self.trader = self.chain.deploy(contracts["RingTrader"])
        self.pair = self._deploy_pair()
        for wrapper, coin in zip(self.wrapped, self.tokens, strict=True):
            reserve = int(10 ** rng.uniform(6, 27))
            coin.send("mint", self.trader.address, 10**40)
            coin.send("mint", wrapper.address, int(reserve * 10 ** rng.uniform(-3, 0.5)))
            wrapper.send("mint", self.pair.address, reserve)
        self.pair.send("mint", DEPLOYER)

    def _deploy_pair(self) -> Contract:
        factory = self.chain.deploy(load_artifact("@uniswap/v2-core/build/UniswapV2Factory.json"), DEPLOYER)
        first, second = (each.address for each in self.wrapped)
        factory.send("createPair", first, second)
        (address,) = factory.call("getPair", first, second)
        return self.chain.at(address, load_artifact("@uniswap/v2-core/build/UniswapV2Pair.json"))

    def read(self) -> Pool:
        pool = read_pool(self.chain, "ring_pair", self.pair.address, (18, 18))
        return family("ring_pair").from_state(pool.identity._replace(fee_ppm=FEE_PPM), pool.state())

    def sell(self, token_in: str, token_out: str, amount_in: int) -> int | None:
        del token_out
        forward = token_in == self.tokens[0].address
        wrapped = [each.address for each in self.wrapped]
        try:
            (paid,) = self.trader.send("sell", self.pair.address, wrapped, forward, amount_in)
        except RevertedError:
            return None
        return int(paid)


@pytest.mark.parametrize("seed", fuzzed_seeds(2, full=250))
def test_random_swaps_are_the_contracts(seed: int) -> None:
    rng = Random(seed)
    assert compare_swaps(WrappedPair(rng), rng, SWAPS_PER_CONTRACT, max_exponent=29.0) >= 2
