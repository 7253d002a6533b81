"""The migration of a bridged token to its native successor is read as a bridge that mints what is available."""

from __future__ import annotations

import pytest

from swapcli.core.errors import InsufficientLiquidity, SwapReverts
from swapcli.core.model.pool import Pool
from swapcli.core.validation.values import MAX_UINT256
from swapcli.families.fixed_rate.bridge import StablecoinBridge
from tests.families.ekubo.test_ekubo_reader import read_all
from tests.payload.starknet.fake_node import TokenMigration
from tests.payload.starknet.pools_on_chain import NATIVE_USDC, USDC, build_chain, role

PROTOCOL = "Circle"


def read_migration(available: int) -> Pool:
    """Return the pool of a chain whose migration can give this much of the new token."""
    chain = build_chain()
    chain.contracts[role(PROTOCOL, "bridge")] = TokenMigration(NATIVE_USDC, USDC, available)
    chain.mine()
    pools, skipped = read_all(chain)
    assert skipped == []
    return pools[PROTOCOL]


@pytest.mark.parametrize("available", [0, 1, 10**12, MAX_UINT256])
def test_what_is_available_is_sold_one_to_one(available: int) -> None:
    pool = read_migration(available)
    assert isinstance(pool, StablecoinBridge)
    new, legacy = pool.tokens
    assert (int(new, 16), int(legacy, 16)) == (NATIVE_USDC, USDC)
    if available:
        amount_out, after = pool.swap(legacy, new, available)
        assert amount_out == available
        with pytest.raises(InsufficientLiquidity):
            after.swap(legacy, new, 1)
    with pytest.raises(InsufficientLiquidity if available < MAX_UINT256 else SwapReverts):
        pool.swap(legacy, new, available + 1)


def test_the_way_back_is_not_used() -> None:
    pool = read_migration(10**12)
    new, legacy = pool.tokens
    with pytest.raises(InsufficientLiquidity):
        pool.swap(new, legacy, 1)
    assert pool.curve(new, legacy).capacity == 0
