"""Weighted pools of Balancer V3 against recorded swaps of the real contracts, and malformed state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from swapcli.core.model.pool import PoolIdentity
from swapcli.families.balancer.balancer_v3_weighted import BalancerV3Weighted
from swapcli.families.reserves import to_18_decimals
from tests.families.balancer.balancer_v3_steps import assert_equal_to_recorded, replay_pools


def build(identity: PoolIdentity, state: dict[str, object], recorded: Mapping[str, Any]) -> BalancerV3Weighted:
    state["weights"] = recorded["weights_1e18"]
    if recorded["version"] == "WeightedPool v2":
        state["floors"] = [max(10**6, to_18_decimals(places)) for places in identity.decimals]
    return BalancerV3Weighted.from_state(identity, state)


def test_every_recorded_swap_is_equal_to_the_unit() -> None:
    replayed = list(replay_pools("balancer_v3_weighted", build))
    assert len(replayed) == 768
    for each in replayed:
        assert_equal_to_recorded(each)
