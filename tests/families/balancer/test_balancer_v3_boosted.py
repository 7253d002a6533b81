"""Boosted pools of Balancer V3 against recorded swaps of the real contracts, and malformed state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidPoolState, SwapReverts
from swapcli.core.model.pool import PoolIdentity
from swapcli.core.model.units import WAD
from swapcli.families.balancer.balancer_v3_boosted import BalancerV3Boosted
from swapcli.testing.pool_laws import check_state_round_trip, swap_there_and_back
from swapcli.testing.strategies import ADDRESS, TOKENS, parts
from tests.families.balancer.balancer_v3_steps import (
    assert_equal_to_recorded,
    recorded_identity,
    replay_pools,
    vault_state,
)
from tests.families.random_pools import balancer_v3_boosted_pools
from tests.families.recorded import read_vectors

SHARES = tuple(f"0x{'5a' * 19}{k:02x}" for k in range(8))
directions = st.sampled_from([(0, 1), (1, 0)])


def build_boosted(identity: PoolIdentity, state: dict[str, object], recorded: Mapping[str, Any]) -> BalancerV3Boosted:
    wrapped = recorded["wrapped"]
    tokens = [SHARES[k] if is_wrapped else identity.tokens[k] for k, is_wrapped in enumerate(wrapped)]
    prices = [price if is_wrapped else None for price, is_wrapped in zip(recorded["share_price"], wrapped, strict=True)]
    state |= {"amp": recorded["amp"], "limits_imbalance": True, "pool_tokens": tokens, "share_prices": prices}
    return BalancerV3Boosted.from_state(identity, state)


def test_every_recorded_swap_is_equal_to_the_unit() -> None:
    replayed = list(replay_pools("balancer_v3_stable_boosted", build_boosted))
    assert len(replayed) == 572
    for each in replayed:
        assert_equal_to_recorded(each)


@given(balancer_v3_boosted_pools(), directions, parts)
def test_there_and_back_never_pays(pool: BalancerV3Boosted, direction: tuple[int, int], part: float) -> None:
    token_in, token_out = (pool.tokens[k] for k in direction)
    amount_in = max(1, int(pool.reserves[direction[0]] * part))
    assert swap_there_and_back(pool, token_in, token_out, amount_in) <= amount_in


@given(balancer_v3_boosted_pools())
def test_state_survives_a_round_trip(pool: BalancerV3Boosted) -> None:
    check_state_round_trip(pool)


def test_less_than_the_vault_converts_reverts() -> None:
    recorded = read_vectors("balancer_v3_stable_boosted")["pools"][0]
    latest = recorded | recorded["state"]
    pool = build_boosted(recorded_identity(recorded), vault_state(latest), latest)
    token_in, token_out = pool.tokens
    assert pool.swap(token_in, token_out, 10**6)[0] > 0
    with pytest.raises(SwapReverts, match="does not convert amounts as small"):
        pool.swap(token_in, token_out, 9_999)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"share_prices": [["1", "1"]]}, "share_prices"),
        ({"share_prices": [["0", "1"], ["1", "1"]]}, "share_prices[0][0]"),
        ({"share_prices": [None, ["1", "1"]]}, "share_prices[0]"),
        ({"pool_tokens": ["0x12", SHARES[1]]}, "pool_tokens[0]"),
        ({"pool_tokens": [SHARES[0], SHARES[0]]}, "tokens"),
        ({"pool_decimals": [19, 18]}, "decimals"),
        ({"amp": "0"}, "amp"),
    ],
)
def test_contradictory_state_is_refused(change: dict[str, object], field: str) -> None:
    identity = PoolIdentity(ADDRESS, "test", TOKENS[:2], (18, 18), 0)
    state: dict[str, object] = {"reserves": [str(WAD)] * 2, "rates": [str(WAD)] * 2, "amp": "100000"}
    state |= {"pool_tokens": list(SHARES[:2]), "share_prices": [["1", "1"]] * 2}
    BalancerV3Boosted.from_state(identity, state)
    with pytest.raises(InvalidPoolState) as refused:
        BalancerV3Boosted.from_state(identity, state | change)
    assert refused.value.field == field
