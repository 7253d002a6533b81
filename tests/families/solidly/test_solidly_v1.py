"""Pairs of Solidly's first version swap as recorded from the contract."""

from __future__ import annotations

from typing import Any

from swapcli.core.errors import PoolError
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.families.solidly.solidly_stable import FIRST_VERSION, SolidlyStable
from swapcli.families.uniswap.constant_product import SOLIDLY, ConstantProduct
from swapcli.testing.strategies import ADDRESS, TOKENS
from tests.families.recorded import read_vectors


def test_every_recorded_swap_is_repeated_to_the_unit() -> None:
    repeated = reverted = 0
    for recorded in read_vectors("solidly_v1")["pools"]:
        for reserves, sold, amount_in, amount_out in recorded["steps"]:
            pool = as_recorded(recorded, reserves)
            assert type(pool).from_state(pool.identity, pool.state()) == pool
            try:
                result = pool.swap(TOKENS[sold], TOKENS[1 - sold], int(amount_in))[0]
            except PoolError:
                assert amount_out is None
                reverted += 1
            else:
                assert str(result) == amount_out
                repeated += 1
    assert (repeated, reverted) == (714, 6)


def as_recorded(recorded: dict[str, Any], reserves: list[str]) -> Pool:
    identity = PoolIdentity(ADDRESS, "test", TOKENS[:2], tuple(recorded["decimals"]), recorded["fee_ppm"])
    if recorded["stable"]:
        return SolidlyStable.from_state(identity, {"reserves": reserves, "version": FIRST_VERSION})
    return ConstantProduct.from_state(identity, {"reserves": reserves, "variant": SOLIDLY})
