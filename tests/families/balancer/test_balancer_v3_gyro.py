"""E-CLPs, 2-CLPs and ReClAMMs of Balancer V3 against recorded swaps of the real contracts, and malformed state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, PoolError
from swapcli.core.model.pool import PoolIdentity
from swapcli.core.model.units import WAD
from swapcli.families.balancer.balancer_v3 import BalancerV3
from swapcli.families.balancer.balancer_v3_2clp import BalancerV3TwoClp
from swapcli.families.balancer.balancer_v3_eclp import BalancerV3Eclp
from swapcli.families.balancer.balancer_v3_reclamm import BalancerV3Reclamm
from swapcli.testing.pool_laws import check_state_round_trip, swap_there_and_back
from swapcli.testing.strategies import ADDRESS, TOKENS, parts
from tests.families.balancer.balancer_v3_steps import assert_equal_to_recorded, replay_pools
from tests.families.balancer.reclamm_time import virtual_balances_at
from tests.families.random_pools import eclp_pools, reclamm_pools, two_clp_pools
from tests.families.recorded import read_vectors


def build_eclp(identity: PoolIdentity, state: dict[str, object], recorded: Mapping[str, Any]) -> BalancerV3Eclp:
    return BalancerV3Eclp.from_state(identity, state | recorded["params_1e18"] | recorded["derived_1e38"])


def build_2clp(identity: PoolIdentity, state: dict[str, object], recorded: Mapping[str, Any]) -> BalancerV3TwoClp:
    roots = {"sqrt_alpha": recorded["sqrt_alpha_1e18"], "sqrt_beta": recorded["sqrt_beta_1e18"]}
    return BalancerV3TwoClp.from_state(identity, state | roots)


def test_every_recorded_swap_of_eclps_is_equal_to_the_unit() -> None:
    replayed = list(replay_pools("balancer_v3_gyro_eclp", build_eclp))
    assert len(replayed) == 720
    for each in replayed:
        assert_equal_to_recorded(each)


def test_every_recorded_swap_of_2clps_is_equal_to_the_unit() -> None:
    replayed = list(replay_pools("balancer_v3_gyro_2clp", build_2clp))
    assert len(replayed) == 480
    for each in replayed:
        assert_equal_to_recorded(each)


def build_reclamm(identity: PoolIdentity, state: dict[str, object], recorded: Mapping[str, Any]) -> BalancerV3Reclamm:
    pool = BalancerV3Reclamm.from_state(identity, state | {"virtual_balances": [1, 1]})
    return replace(pool, virtual_balances=tuple(virtual_balances_at(recorded, pool.scaled_balances())))


def test_every_recorded_swap_of_reclamms_is_equal_to_the_unit() -> None:
    replayed = list(replay_pools("balancer_v3_reclamm", build_reclamm))
    assert len(replayed) == 572
    for each in replayed:
        assert_equal_to_recorded(each)
        if each.amount_out:
            assert isinstance(each.pool_after, BalancerV3Reclamm)
            assert list(map(str, each.pool_after.virtual_balances)) == each.step["virtual_balances_after"]


pools = st.one_of(eclp_pools(), two_clp_pools(), reclamm_pools())

directions = st.sampled_from([(0, 1), (1, 0)])


@given(pools, directions, parts, parts)
def test_splitting_a_swap_never_brings_more(
    pool: BalancerV3, direction: tuple[int, int], first: float, second: float
) -> None:
    token_in, token_out = (pool.tokens[k] for k in direction)
    amounts = [max(1, int(pool.reserves[direction[0]] * part)) for part in (first, second)]
    try:
        whole, _ = pool.swap(token_in, token_out, sum(amounts))
        out_1, between = pool.swap(token_in, token_out, amounts[0])
        out_2, _ = between.swap(token_in, token_out, amounts[1])
    except PoolError:
        assume(False)
    # The contract's own rounding: its numbers have 18 decimals.
    assert out_1 + out_2 <= whole + 2 + whole // 10**18


@given(pools, directions, parts)
def test_there_and_back_never_pays(pool: BalancerV3, direction: tuple[int, int], part: float) -> None:
    token_in, token_out = (pool.tokens[k] for k in direction)
    amount_in = max(1, int(pool.reserves[direction[0]] * part))
    assert swap_there_and_back(pool, token_in, token_out, amount_in) <= amount_in


@given(pools, directions)
def test_a_pool_without_one_token_still_buys_it(pool: BalancerV3, direction: tuple[int, int]) -> None:
    i, j = direction
    empty = replace(pool, reserves=(0, pool.reserves[1]) if i == 0 else (pool.reserves[0], 0))
    capacity = empty.curve(pool.tokens[i], pool.tokens[j]).capacity
    assert 0 < empty.swap(pool.tokens[i], pool.tokens[j], int(capacity / 2))[0] <= pool.reserves[j]
    assert empty.curve(pool.tokens[j], pool.tokens[i]).start_rate == 0.0
    with pytest.raises(InsufficientLiquidity):
        empty.swap(pool.tokens[j], pool.tokens[i], 10**18)


@given(pools, directions)
def test_the_curve_ends_where_the_contract_reverts(pool: BalancerV3, direction: tuple[int, int]) -> None:
    token_in, token_out = (pool.tokens[k] for k in direction)
    capacity = pool.curve(token_in, token_out).capacity
    assert pool.swap(token_in, token_out, int(capacity * (1 - 1e-9)))[0] <= pool.reserves[direction[1]]
    with pytest.raises(PoolError):
        pool.swap(token_in, token_out, int(capacity * (1 + 1e-9)) + 1)


@given(pools)
def test_state_survives_a_round_trip(pool: BalancerV3) -> None:
    check_state_round_trip(pool)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"c": "0"}, "s"),
        ({"lambda": str(WAD - 1)}, "lambda"),
        ({"alpha": str(2 * WAD)}, "tau_alpha"),
        ({"beta": "1"}, "alpha"),
        ({"tau_beta": ["0", "0"]}, "tau_beta"),
        ({"tau_alpha": ["0", str(10**38)]}, "tau_alpha"),
        ({"u": "0"}, "u"),
        ({"w": str(10**37)}, "w"),
        ({"z": str(3 * 10**38)}, "z"),
        ({"d_sq": "1"}, "d_sq"),
        ({"v": "x"}, "v"),
        ({"rates": ["0", "1"]}, "rates"),
    ],
)
def test_contradictory_parameters_are_refused(change: dict[str, object], field: str) -> None:
    recorded = read_vectors("balancer_v3_gyro_eclp")["pools"][0]
    identity = PoolIdentity(ADDRESS, "test", TOKENS[:2], (18, 18), 0)
    state = {"reserves": ["1", "1"], "rates": [str(WAD)] * 2, **recorded["params_1e18"], **recorded["derived_1e38"]}
    BalancerV3Eclp.from_state(identity, state)
    with pytest.raises(InvalidPoolState) as refused:
        BalancerV3Eclp.from_state(identity, state | change)
    assert refused.value.field == field
