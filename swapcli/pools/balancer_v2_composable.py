"""Composable stable pools of Balancer V2: swaps between two of their tokens, other than the pool's own.

A composable pool registers its own token at the Vault too, and swaps with it are joins and exits. It plays no part in
the other swaps, which are those of a stable pool over the remaining tokens; so it is not among `tokens` here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from swapcli.pools.balancer_v2_stable import BalancerV2Stable


@dataclass(frozen=True, slots=True)
class BalancerV2Composable(BalancerV2Stable):
    """As `BalancerV2Stable`. Its rate caches, which each swap updates, make a swap dearer."""

    family: ClassVar[str] = "balancer_v2_composable"
    swap_gas: ClassVar[int] = 135_100
    further_token_gas: ClassVar[int] = 9_900
