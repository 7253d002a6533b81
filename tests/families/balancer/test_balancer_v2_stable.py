"""Stable pools of Balancer V2 against recorded swaps of the real contracts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from swapcli.core.errors import PoolError
from swapcli.core.model.pool import PoolIdentity
from swapcli.core.model.units import WAD
from swapcli.families.balancer.balancer_v2_composable import BalancerV2Composable
from swapcli.families.balancer.balancer_v2_stable import BalancerV2Stable
from swapcli.testing.strategies import ADDRESS
from tests.families.recorded import read_vectors


def recorded_steps(name: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield (what holds at the step, the step) for each step of a file; states follow one another."""
    for recorded in read_vectors(name)["pools"]:
        latest = {**recorded, **recorded["state"]}
        for step in recorded["steps"]:
            now = latest | {key: step[key] for key in ("amp", "scaling_factors", "rates") if key in step}
            yield now, step
            if "revert" not in step and not step.get("probe"):
                latest = now | {"balances": step["balances_after"]} | step.get("after", {})


def test_every_recorded_swap_is_equal_to_the_unit() -> None:
    count = 0
    for now, step in recorded_steps("balancer_v2_stable"):
        count += 1
        check_step(build(now), step)
    assert count == 747


def test_every_recorded_swap_of_composable_pools_is_equal() -> None:
    count = 0
    for now, step in recorded_steps("balancer_v2_composable"):
        own = now["bpt_index"]
        count += 1
        check_step(build_composable(now), step)
        if own not in (step["i"], step["j"]):
            check_step(build(without_pool_token(now, own), BalancerV2Composable), renumbered(step, own))
    assert count == 895


def without_pool_token(now: dict[str, Any], own: int) -> dict[str, Any]:
    lists = ("decimals", "balances", "scaling_factors")
    return now | {name: now[name][:own] + now[name][own + 1 :] for name in lists}


def renumbered(step: dict[str, Any], own: int) -> dict[str, Any]:
    """Return a step with the positions and the balances of the other tokens."""
    after = step.get("balances_after", ())
    positions = {name: step[name] - (step[name] > own) for name in ("i", "j")}
    return step | positions | {"balances_after": after[:own] + after[own + 1 :]}


def check_step(pool: BalancerV2Stable, step: Mapping[str, Any]) -> None:
    """Check the output and the balances after a swap. A swap that pays nothing counts as refused."""
    try:
        amount_out, after = pool.swap(pool.tokens[step["i"]], pool.tokens[step["j"]], int(step["amount_in"]))
    except PoolError:
        assert "revert" in step or step["amount_out"] == "0", step
    else:
        assert str(amount_out) == step.get("amount_out"), step
        assert [str(reserve) for reserve in after.reserves] == step["balances_after"], step
        if "after" in step and isinstance(after, BalancerV2Composable):
            assert as_recorded_after(after) == step["after"], step


def as_recorded_after(pool: BalancerV2Composable) -> dict[str, Any]:
    own = pool.pool_token
    assert own is not None
    return {
        "actual_supply": str(pool.join_or_exit(own).supply),
        "total_supply": str(own.total_supply),
        "last_join_exit_amp": str(own.last_amp),
        "last_post_join_exit_invariant": str(own.last_invariant),
        "old_rates": [str(rate) for rate in own.old_rates],
    }


def build_composable(now: Mapping[str, Any]) -> BalancerV2Composable:
    """Return a pool that trades its own token."""
    own, decimals = now["bpt_index"], tuple(now["decimals"])
    tokens = [f"0x{k:040x}" for k in range(1, len(decimals) + 1)]
    tokens[own] = ADDRESS
    identity = PoolIdentity(ADDRESS, "test", tuple(tokens), decimals, int(now["swap_fee_1e18"]) // 10**12)
    state = {
        "reserves": now["balances"],
        "rates": [*now["rates"][:own], WAD, *now["rates"][own:]],
        "amp": now["amp"],
        "swap_fee": now["swap_fee_1e18"],
        "version": int(now["version"][-1]),
        "total_supply": now["total_supply"],
        "last_amp": now["last_join_exit_amp"],
        "last_invariant": now["last_post_join_exit_invariant"],
        "old_rates": now["old_rates"],
        "protocol_swap_fee": now["protocol_swap_fee"],
        "protocol_yield_fee": now["protocol_yield_fee"],
        "yield_fee_exempt": [int(each) for each in now["yield_fee_exempt"]],
    }
    return BalancerV2Composable.from_state(identity, state)


def build(now: Mapping[str, Any], family: type[BalancerV2Stable] = BalancerV2Stable) -> BalancerV2Stable:
    decimals = tuple(now["decimals"])
    tokens = tuple(f"0x{k:040x}" for k in range(1, len(decimals) + 1))
    identity = PoolIdentity(ADDRESS, "test", tokens, decimals, int(now["swap_fee_1e18"]) // 10**12)
    scaling = zip(now["scaling_factors"], decimals, strict=True)
    state = {
        "reserves": now["balances"],
        "rates": [int(factor) // 10 ** (18 - places) for factor, places in scaling],
        "amp": now["amp"],
        "swap_fee": now["swap_fee_1e18"],
        "is_metastable": now["version"] == "MetaStablePool",
    }
    return family.from_state(identity, state)
