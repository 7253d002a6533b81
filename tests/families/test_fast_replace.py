"""A fast copy of a pool equals that of `dataclasses.replace`."""

from __future__ import annotations

from dataclasses import replace

from swapcli.core.model.pool import PoolIdentity
from swapcli.families.fast_replace import fast_replace
from swapcli.families.uniswap.constant_product import ConstantProduct
from swapcli.testing.strategies import ADDRESS, TOKENS

IDENTITY = PoolIdentity(ADDRESS, "test", TOKENS[:2], (18, 18), 3_000)


def test_a_fast_copy_is_the_slow_one() -> None:
    pool = ConstantProduct.from_state(IDENTITY, {"reserves": [str(10**9), str(10**6)]})
    copied = fast_replace(ConstantProduct, "reserves")(pool, (7, 8))
    assert copied == replace(pool, reserves=(7, 8))
    assert pool == ConstantProduct.from_state(IDENTITY, {"reserves": [str(10**9), str(10**6)]})
