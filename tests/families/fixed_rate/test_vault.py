"""A vault of ERC-4626 is used once in a route."""

from __future__ import annotations

import pytest

from swapcli.core.errors import InsufficientLiquidity
from swapcli.families.fixed_rate.vault import ShareVault
from swapcli.testing.strategies import ADDRESS, TOKENS

UNLIMITED = 2**256 - 1


def test_a_vault_is_used_once_in_a_route() -> None:
    pool = ShareVault(ADDRESS, "test", (TOKENS[0], ADDRESS), (18, 18), 0, 11 * 10**18, 10 * 10**18, UNLIMITED, 10**18)
    assert pool.is_single_use
    assert pool.swap(TOKENS[0], ADDRESS, 11 * 10**18)[0] == 10 * 10**18
    with pytest.raises(InsufficientLiquidity):
        pool.swap(ADDRESS, TOKENS[0], 10**18)
