"""Replays swaps that Balancer V3's Vault executed, recorded in `vectors`.

The recorded balances include yield fees that the next swap takes out; `getPoolData` returns them without. So each step
first takes the fees that are due.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from swapcli.core.errors import PoolError
from swapcli.core.model.pool import PoolIdentity
from swapcli.core.model.units import WAD
from swapcli.families.balancer.balancer_v3 import BalancerV3
from swapcli.families.balancer.balancer_v3_boosted import BalancerV3Boosted
from swapcli.families.reserves import to_18_decimals
from swapcli.families.rounding import mul_div_up
from swapcli.testing.strategies import ADDRESS
from tests.families.recorded import read_vectors

Step = Mapping[str, Any]
VaultPool = BalancerV3 | BalancerV3Boosted
Build = Callable[[PoolIdentity, dict[str, object], Mapping[str, Any]], VaultPool]
"""Builds a pool from its identity, the state of the Vault, and the recorded pool with the newest values of a step."""

_CHANGED_BEFORE_A_STEP = ("share_price", "price_ratio_state", "last_virtual_balances", "last_timestamp")
"""Values that something other than the swap changed, so that they stay where the swap reverted or was undone."""


class Replayed(NamedTuple):
    """A step: `amount_out` is None where the pool refused the swap; then `pool_after` is the pool before."""

    step: Step
    amount_out: int | None
    pool_after: VaultPool


def replay_pools(name: str, build: Build) -> Iterator[Replayed]:
    """Yield every step of every pool of `vectors/NAME.json.xz`."""
    for recorded in read_vectors(name)["pools"]:
        yield from replay_steps(recorded, build)


def replay_steps(recorded: Mapping[str, Any], build: Build) -> Iterator[Replayed]:
    """Yield the steps of one pool; each starts from the recorded state."""
    latest: dict[str, Any] = {**recorded, **recorded["state"]}
    for step in recorded["steps"]:
        now = {**latest, **{key: step[key] for key in step if key in latest}}
        pool = build(recorded_identity(recorded), vault_state(now), now)
        yield Replayed(step, *_swap(pool, step))
        if "revert" not in step and not step.get("probe"):
            latest = now | {
                "balances": step["balances_after"],
                "last_live_balances": step["last_live_balances_after"],
            }
            if "virtual_balances_after" in step:
                latest |= {"last_virtual_balances": step["virtual_balances_after"], "last_timestamp": step["timestamp"]}
        else:
            latest |= {key: step[key] for key in _CHANGED_BEFORE_A_STEP if key in step}


def assert_equal_to_recorded(replayed: Replayed) -> None:
    """Check the output and the balances after it. A swap that pays nothing counts as refused."""
    step, amount_out, after = replayed
    if "revert" in step or step["amount_out"] == "0":
        assert amount_out is None, step
        return
    assert amount_out == int(step["amount_out"]), step
    after = after.share_pool if isinstance(after, BalancerV3Boosted) else after
    assert after.reserves == _integers(step["balances_after"]), step
    assert after.scaled_balances() == list(_integers(step["last_live_balances_after"])), step


def _swap(pool: VaultPool, step: Step) -> tuple[int | None, VaultPool]:
    try:
        return pool.swap(pool.tokens[step["i"]], pool.tokens[step["j"]], int(step["amount_in"]))
    except PoolError:
        return None, pool


def recorded_identity(recorded: Mapping[str, Any]) -> PoolIdentity:
    """Return the identity of a recorded pool; its tokens are numbered."""
    decimals = tuple(recorded["decimals"])
    tokens = tuple(f"0x{k:040x}" for k in range(1, len(decimals) + 1))
    return PoolIdentity(ADDRESS, "test", tokens, decimals, int(recorded["swap_fee_1e18"]) // 10**12)


def vault_state(now: Mapping[str, Any]) -> dict[str, object]:
    """Return the fields of the vault as a node would return them."""
    return {
        "reserves": _balances_after_yield_fees(now),
        "rates": now["rates"],
        "swap_fee": now["swap_fee_1e18"],
        "aggregate_swap_fee": now["aggregate_swap_fee_1e18"],
    }


def _balances_after_yield_fees(now: Mapping[str, Any]) -> list[int]:
    """Return the balances that `getPoolData` would: less the yield fee on what live balances have grown since."""
    balances, fee = list(_integers(now["balances"])), int(now["aggregate_yield_fee_1e18"])
    grown = zip(now["decimals"], now["with_rate"], now["pays_yield_fees"], strict=True)
    for k, (places, has_rate, pays) in enumerate(grown):
        factor = to_18_decimals(places) * int(now["rates"][k])
        growth = balances[k] * factor // WAD - int(now["last_live_balances"][k])
        if fee and has_rate and pays and growth > 0:
            balances[k] -= mul_div_up(growth, fee, WAD) * WAD // factor
    return balances


def _integers(values: list[str]) -> tuple[int, ...]:
    return tuple(int(value) for value in values)
