"""Stable and StableSurge pools of Balancer V3 against recorded swaps of the real contracts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from swapcli.core.model.pool import PoolIdentity
from swapcli.families.balancer.balancer_v3_stable import BalancerV3Stable
from swapcli.families.balancer.balancer_v3_stable_surge import BalancerV3StableSurge
from tests.families.balancer.balancer_v3_steps import assert_equal_to_recorded, replay_pools


def build_stable(identity: PoolIdentity, state: dict[str, object], recorded: Mapping[str, Any]) -> BalancerV3Stable:
    version = recorded["version"] == "StablePool v3"
    return BalancerV3Stable.from_state(identity, state | {"amp": recorded["amp"], "limits_imbalance": version})


def build_surge(identity: PoolIdentity, state: dict[str, object], recorded: Mapping[str, Any]) -> BalancerV3StableSurge:
    state |= {
        "amp": recorded["amp"],
        "limits_imbalance": "pool v3" in recorded["version"],
        "max_surge_fee": recorded["max_surge_fee_1e18"],
        "surge_threshold": recorded["surge_threshold_1e18"],
    }
    return BalancerV3StableSurge.from_state(identity, state)


def test_every_recorded_swap_of_stable_pools_is_equal() -> None:
    replayed = list(replay_pools("balancer_v3_stable", build_stable))
    assert len(replayed) == 792
    for each in replayed:
        assert_equal_to_recorded(each)


def test_every_recorded_swap_of_surge_pools_is_equal() -> None:
    replayed = list(replay_pools("balancer_v3_stable_surge", build_surge))
    assert len(replayed) == 768
    for each in replayed:
        assert_equal_to_recorded(each)
    static = {each.step["swap_fee_percentage_1e18"] for each in replayed if each.amount_out}
    assert len(static) > 100, "the surge fee acts"
