"""The direction of a swap is that of its tokens in the pool; other tokens are refused."""

from __future__ import annotations

from itertools import product

import pytest

from swapcli.core.errors import PoolError
from swapcli.core.model.pool import PoolIdentity
from swapcli.families.token_positions import is_forward, token_indices
from swapcli.families.uniswap.constant_product import ConstantProduct
from swapcli.testing.strategies import ADDRESS, TOKENS

IDENTITY = PoolIdentity(ADDRESS, "test", TOKENS[:2], (18, 18), 3_000)

POOL = ConstantProduct.from_state(IDENTITY, {"reserves": [str(10**9), str(10**9)]})


def test_each_pair_of_tokens_has_a_direction_or_is_refused() -> None:
    forward = {TOKENS[:2]: True, TOKENS[1::-1]: False}
    for pair in product(TOKENS[:3], repeat=2):
        if pair in forward:
            assert is_forward(POOL, *pair) == forward[pair]
            assert token_indices(POOL, *pair) == ((0, 1) if forward[pair] else (1, 0))
        else:
            for position in (is_forward, token_indices):
                with pytest.raises(PoolError):
                    position(POOL, *pair)
