"""Pairs that were read through a node swap as their contract; an address without one is skipped."""

from __future__ import annotations

from random import Random

import pytest

from swapcli.core.errors import PoolError
from swapcli.core.model.contract_kind import ContractKind
from swapcli.core.model.pool import Pool
from swapcli.families.reading.lockstep_reads import SkippedItem
from swapcli.families.reading.pool_readers import load_pools
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.testing.evm import BaseChain, RevertedError
from tests.chain.node.evm_node import view_of
from tests.families.real_pools import (
    ContractFixture,
    RealPair,
)


def read(chain: BaseChain, *places: PoolRef) -> list[Pool]:
    found = list(load_pools(view_of(chain), places))
    assert [each for each in found if isinstance(each, SkippedItem)] == []
    return [each for each in found if not isinstance(each, SkippedItem)]


def swap(pool: Pool, down: bool, amount_in: int) -> tuple[int, Pool]:
    """Swap as `Pool.swap` does; `down` sells the first token."""
    first, second = pool.tokens
    return pool.swap(first, second, amount_in) if down else pool.swap(second, first, amount_in)


@pytest.mark.parametrize("solidly", [False, True])
def test_pairs_swap_as_their_contract(solidly: bool) -> None:
    rng = Random(f"pairs {solidly}")
    done = 0
    for _ in range(25):
        real = RealPair(ContractFixture(), solidly=solidly)
        real.fill(rng.randint(10**6, 2**100), rng.randint(10**6, 2**100))
        kind = ContractKind.SOLIDLY if solidly else ContractKind.UNISWAP_V2
        identity = real.world.identity(real.contract.address, 3_000)
        place = PoolRef(identity.address, "test", "constant_product", kind, identity.tokens, identity.decimals, 3_000)
        (pool,) = read(real.world.chain, place)
        assert pool.fee_ppm == 3_000
        for _ in range(6):
            down, amount_in = rng.random() < 0.5, int(2 ** rng.uniform(8, 90))
            try:
                amount_out, after = swap(pool, down, amount_in)
            except PoolError:
                continue
            with pytest.raises(RevertedError), real.world.chain.revert_after():
                real.swap(down, amount_in, amount_out + 1)
            real.swap(down, amount_in, amount_out)
            (pool,) = read(real.world.chain, place)
            assert pool == after
            done += 1
    assert done >= 60


def test_an_address_without_a_contract_skips_only_its_pool() -> None:
    real = RealPair(ContractFixture())
    real.fill(10**20, 10**20)
    identity = real.world.identity(real.contract.address, 3_000)
    place = PoolRef(
        identity.address, "test", "constant_product", ContractKind.UNISWAP_V2, identity.tokens, identity.decimals, 3_000
    )
    missing = place._replace(address="0x" + "ee" * 20)
    token = place._replace(address=identity.tokens[0])
    chain = real.world.chain
    found = list(load_pools(view_of(chain), [missing, place, token]))
    assert [isinstance(each, SkippedItem) for each in found] == [True, False, True]
    assert found[0] == SkippedItem(missing.key, "getReserves(): returned 0 bytes, expected at least 64")
    assert found[2] == SkippedItem(token.key, "getReserves(): the contract reverts")
