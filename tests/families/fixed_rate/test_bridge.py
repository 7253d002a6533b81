"""A closed bridge only burns."""

from __future__ import annotations

import pytest

from swapcli.core.errors import InsufficientLiquidity
from swapcli.families.fixed_rate.bridge import StablecoinBridge
from swapcli.testing.strategies import ADDRESS, TOKENS


def test_a_closed_bridge_only_burns() -> None:
    pool = StablecoinBridge(ADDRESS, "test", TOKENS[:2], (18, 6), 0, 5 * 10**6, 5 * 10**18, 0)
    coin, deposited = pool.tokens
    amount_out, after = pool.swap(coin, deposited, 2 * 10**18 + 999)
    assert (amount_out, after.reserve, after.minted) == (2 * 10**6, 3 * 10**6, 3 * 10**18 - 999)
    with pytest.raises(InsufficientLiquidity):
        after.swap(deposited, coin, 10**6)
    assert after.curve(deposited, coin).capacity == 0.0
