"""Swaps of a pool that was read through a node equal those of its contract, to the unit.

The contracts are published bytecode in an in-process EVM; seeds are fixed.
"""

from __future__ import annotations

from random import Random

import pytest

from swapcli.core.errors import InsufficientLiquidity, PoolError
from swapcli.core.model.contract_kind import ContractKind
from swapcli.core.model.pool import Pool
from swapcli.core.networks.catalogue import find_network
from swapcli.families.reading.lockstep_reads import SkippedItem
from swapcli.families.reading.pool_readers import load_pools, ref_of_pool
from swapcli.families.reading.pool_ref import LastTicks, PoolRef
from swapcli.families.reading.tick_bitmap import REACH, all_words, words_around
from swapcli.families.row import PoolConstants, TickConstants
from swapcli.families.tick_math import MAX_TICK, sqrt_ratio_at_tick
from swapcli.families.uniswap.concentrated import Concentrated
from swapcli.families.uniswap.rows import AlgebraConstants, V4Constants
from swapcli.testing.evm import BaseChain
from tests.chain.node.evm_node import EvmNode, packed_reader, view_of
from tests.contracts.evm import load_artifact
from tests.examples import seeds
from tests.families.real_pools import (
    AlgebraIntegral,
    ContractFixture,
    PancakeV3,
    RealConcentrated,
    Slipstream,
    UniswapV3,
    UniswapV4,
    add_random_positions,
    random_sqrt_price,
)

BASE = find_network("base")
"""Its protocols have other names than those of the tests, so that the state of a pool shows its kind."""

SWAPS = 12

TIERS = ((100, 1), (500, 10), (3_000, 60), (10_000, 200))

CONCENTRATED = (UniswapV3, PancakeV3, Slipstream, AlgebraIntegral, UniswapV4)


def read(chain: BaseChain, *places: PoolRef) -> list[Pool]:
    found = list(load_pools(view_of(chain), places))
    assert [each for each in found if isinstance(each, SkippedItem)] == []
    return [each for each in found if not isinstance(each, SkippedItem)]


def why_skipped(chain: BaseChain, place: PoolRef) -> str:
    (found,) = load_pools(view_of(chain), [place])
    assert isinstance(found, SkippedItem)
    assert found.key == place.key
    return found.reason


def place_of_real(real: RealConcentrated) -> PoolRef:
    """Return the reference that discovery would find."""
    identity = real.identity()
    kinds = {AlgebraIntegral: ContractKind.ALGEBRA, UniswapV4: ContractKind.UNISWAP_V4}
    constants: PoolConstants = TickConstants(real.tick_spacing)
    if isinstance(real, AlgebraIntegral):
        constants = AlgebraConstants()
    if isinstance(real, UniswapV4):
        constants = V4Constants(real.pool_id, real.tick_spacing)
    return PoolRef(
        identity.address,
        identity.protocol,
        "concentrated",
        kinds.get(type(real), ContractKind.UNISWAP_V3),
        identity.tokens,
        identity.decimals,
        real.fee_ppm,
        constants,
    )


def chain_of(real: RealConcentrated) -> BaseChain:
    assert isinstance(real, UniswapV3 | UniswapV4)
    return real.world.chain


def swap(pool: Pool, down: bool, amount_in: int) -> tuple[int, Pool]:
    """Swap as `Pool.swap` does; `down` sells the first token."""
    first, second = pool.tokens
    return pool.swap(first, second, amount_in) if down else pool.swap(second, first, amount_in)


def compare_one_swap(rng: Random, real: RealConcentrated, pool: Pool) -> bool:
    """Return whether the pool executed the swap; if so, it equals that of the contract."""
    down = rng.random() < 0.5
    amount_in = max(1, int(2 ** rng.uniform(10, 100)))
    try:
        amount_out, after = swap(pool, down, amount_in)
    except PoolError:
        return False
    outcome = real.swap(down, amount_in)
    assert (outcome.paid, outcome.got) == (amount_in, amount_out)
    assert isinstance(after, Concentrated)
    assert (outcome.sqrt_price_x96, outcome.tick, outcome.liquidity) == (
        after.sqrt_price_x96,
        after.tick,
        after.liquidity,
    )
    return True


@pytest.mark.parametrize("seed", seeds(1, full=4))
@pytest.mark.parametrize("contract", CONCENTRATED)
def test_concentrated_pools_swap_as_their_contract(contract: type[UniswapV3], seed: int) -> None:
    rng = Random(f"{contract.__name__} {seed}")
    done = 0
    for _ in range(12):
        fee_ppm, spacing = rng.choice(TIERS)
        real = contract(ContractFixture(), fee_ppm, spacing, random_sqrt_price(rng))
        add_random_positions(rng, real)
        (pool,) = read(chain_of(real), place_of_real(real))
        for _ in range(SWAPS):
            if compare_one_swap(rng, real, pool):
                (pool,) = read(chain_of(real), place_of_real(real))
                done += 1
    assert done >= 20


@pytest.mark.parametrize("contract", CONCENTRATED)
def test_a_pool_within_the_read_range_is_complete(contract: type[UniswapV3]) -> None:
    rng = Random(contract.__name__)
    for _ in range(5):
        real = contract(ContractFixture(), 3_000, 60, sqrt_ratio_at_tick(rng.randint(-9_000, 9_000)))
        ticks: set[int] = set()
        for _ in range(8):
            lower = rng.randint(-600, 550)
            real.mint(60 * lower, 60 * (lower + 40), rng.randint(10**12, 10**18))
            ticks |= {60 * lower, 60 * (lower + 40)}
        (pool,) = read(chain_of(real), place_of_real(real))
        assert isinstance(pool, Concentrated)
        known = real.read(ticks)
        assert pool.tick_list == known.tick_list
        assert (pool.sqrt_price_x96, pool.tick, pool.liquidity) == (known.sqrt_price_x96, known.tick, known.liquidity)


def test_a_swap_beyond_the_read_ticks_is_refused() -> None:
    real = UniswapV3(ContractFixture(), 100, 1, sqrt_ratio_at_tick(0))
    real.mint(-800_000, 800_000, 10**15)
    real.mint(-100, 100, 10**18)
    (pool,) = read(chain_of(real), place_of_real(real))
    assert isinstance(pool, Concentrated)
    window = words_around(0, 1, REACH)
    assert pool.tick_list.ticks == (256 * window.first, -100, 100, 256 * window.last + 255)
    fits, beyond = 503 * 10**13, 10**18
    assert real.swap(True, fits).got == swap(pool, True, fits)[0]
    with pytest.raises(InsufficientLiquidity):
        swap(pool, True, beyond)
    assert real.swap(True, beyond).paid == beyond


def test_positions_at_the_outermost_ticks_are_found() -> None:
    spacing = 200
    most = MAX_TICK // spacing * spacing
    real = UniswapV3(ContractFixture(), 10_000, spacing, sqrt_ratio_at_tick(most - 500))
    real.mint(-most, most, 10**20)
    (pool,) = read(chain_of(real), place_of_real(real))
    assert isinstance(pool, Concentrated)
    assert pool.tick_list.ticks[-1] == most
    assert all_words(spacing).last == most // spacing // 256


@pytest.mark.parametrize("contract", [UniswapV3, UniswapV4])
def test_a_known_tick_saves_a_round(contract: type[UniswapV3]) -> None:
    real = contract(ContractFixture(), 3_000, 60, sqrt_ratio_at_tick(1_000))
    real.mint(-60_000, 60_000, 10**20)
    place = place_of_real(real)
    found: dict[int | None, tuple[int, Pool | SkippedItem]] = {}
    for near in (None, 1_000, 16_000, -500_000):
        node = EvmNode(chain_of(real))
        (pool,) = load_pools(packed_reader(node), [place._replace(last_read=None if near is None else LastTicks(near))])
        found[near] = len(node.batch_sizes), pool
    assert [rounds for rounds, _ in found.values()] == [3, 2, 3, 3]
    assert len({repr(pool) for _, pool in found.values()}) == 1


@pytest.mark.parametrize("contract", CONCENTRATED)
def test_known_ticks_save_rounds_and_wrong_ones_do_no_harm(
    contract: type[UniswapV3],
) -> None:
    real = contract(ContractFixture(), 3_000, 60, sqrt_ratio_at_tick(1_000))
    real.mint(-60_000, 60_000, 10**20)
    real.mint(-600, 6_000, 10**20)
    (pool,) = read(chain_of(real), place_of_real(real))
    again = ref_of_pool(pool, BASE)
    assert again is not None
    last = again.last_ticks
    assert last
    assert last.initialized
    rounds = []
    for known in (last.initialized, last.initialized[1:], (*last.initialized, 7_200), (-887_220, 120)):
        node = EvmNode(chain_of(real))
        changed = again._replace(last_read=last._replace(initialized=known))
        assert list(load_pools(packed_reader(node), [changed])) == [pool]
        rounds.append(len(node.batch_sizes))
    assert rounds[0] == 1
    real.mint(120, 180, 10**20)
    (after,) = read(chain_of(real), place_of_real(real))
    assert read(chain_of(real), again) == [after] != [pool]


def test_an_empty_pool_is_read_as_empty() -> None:
    for contract in CONCENTRATED:
        real = contract(ContractFixture(), 3_000, 60, sqrt_ratio_at_tick(5))
        (pool,) = read(chain_of(real), place_of_real(real))
        assert isinstance(pool, Concentrated)
        assert (pool.liquidity, pool.tick_list.ticks) == (0, ())


def test_an_unknown_tick_spacing_is_read() -> None:
    real = UniswapV3(ContractFixture(), 500, 10, sqrt_ratio_at_tick(0))
    real.mint(-1_000, 1_000, 10**18)
    place = place_of_real(real)
    assert read(real.world.chain, place._replace(constants=None)) == read(real.world.chain, place)


def test_an_uninitialized_pool_is_skipped_with_a_reason() -> None:
    world = ContractFixture()
    real = UniswapV3(world, 500, 10, sqrt_ratio_at_tick(0))
    place = place_of_real(real)
    assert "sqrt_price_x96: 0 is outside" in why_skipped(
        world.chain, place._replace(address=deploy_uninitialized(world))
    )


def deploy_uninitialized(world: ContractFixture) -> str:
    """Deploy a pool without initializing it; return its address."""
    (address,) = world.host.send("deploy", load_artifact(UniswapV3.path).bytecode, *world.tokens, 500, 10)
    return str(address)


def test_a_read_pool_gives_its_own_reference() -> None:
    for contract in CONCENTRATED:
        real = contract(ContractFixture(), 3_000, 60, sqrt_ratio_at_tick(77))
        real.mint(-60_000, 60_000, 10**20)
        (pool,) = read(chain_of(real), place_of_real(real))
        assert isinstance(pool, Concentrated)
        again = ref_of_pool(pool, BASE)
        assert again is not None
        assert again == place_of_real(real)._replace(last_read=LastTicks(77, tuple(pool.tick_list.ticks)))
        assert read(chain_of(real), again) == [pool]


@pytest.mark.parametrize("protocol_fees_ppm", [(0, 0), (500, 0), (0, 1_000), (7, 999)])
def test_a_uniswap_v4_pool_has_its_hook_and_the_blocks_fees(protocol_fees_ppm: tuple[int, int]) -> None:
    hooks = "0x" + "12" * 18 + "1040"
    real = UniswapV4(ContractFixture(), 3_000, 60, sqrt_ratio_at_tick(0), hooks=hooks, has_dynamic_fee=True)
    real.mint(-6_000, 6_000, 10**18)
    real.set_protocol_fees(*protocol_fees_ppm)
    key = V4Constants(real.pool_id, 60, hooks, has_dynamic_fee=True)
    place = place_of_real(real)._replace(fee_ppm=0, constants=key)
    (before,) = read(real.world.chain, place)
    assert before == real.read({-6_000, 6_000})
    real.set_dynamic_fee(777)
    known = ref_of_pool(before, BASE)
    assert known == place._replace(last_read=LastTicks(0, (-6_000, 6_000)))
    (after,) = read(real.world.chain, known)
    assert (before.fee_ppm, after.fee_ppm) == (3_000, 777)
    assert after == real.read({-6_000, 6_000})
