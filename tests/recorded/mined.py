"""Swaps that were mined, from their events alone: the price before and the fee that they imply, and the pool's answer.

A Swap event of a concentrated pool has both amounts, and the square-root price P1 (Q64.96) and the liquidity L after
it. For a swap that crosses no tick, the output alone gives the price before, P0; P0, P1 and the input give the fee:

* token0 in: `P0 = P1 + out * Q96 / L`, input after the fee `(1/P1 - 1/P0) * L * Q96`;
* token1 in: `1/P0 = 1/P1 + out / (L * Q96)`, input after the fee `(P1 - P0) * L / Q96`.

That the fee is one of the deployment's, to a fraction of a ppm, is no circle: nothing in the formulas knows it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

from swapcli.core.model.pool import PoolIdentity
from swapcli.core.model.units import PPM
from swapcli.core.networks.catalogue import find_network_by_chain_id
from swapcli.families.tick_math import MAX_TICK, MIN_TICK, Q96, tick_at_sqrt_ratio
from swapcli.families.uniswap.concentrated import Concentrated
from tests.recorded.replay import ADDRESS, FOLDER

TOKENS = ("0x" + "0a" * 20, "0x" + "0b" * 20)
FEE_TOLERANCE_PPM = Fraction(3, 10)
"""By how much an implied fee may miss one of the catalogue: an output of 1e7 units is rounded by 0.1 ppm."""

Fields = Mapping[str, Any]


class MinedSwap(NamedTuple):
    """A swap of a concentrated pool in one step; `zero_for_one` sells token0."""

    pool: str
    zero_for_one: bool
    amount_in: int
    amount_out: int
    sqrt_price_after_x96: int
    liquidity: int

    def price_before(self) -> Fraction:
        """Return P0 from the output, as if this were not rounded down."""
        after, moved = Fraction(self.sqrt_price_after_x96), Fraction(self.amount_out)
        if self.zero_for_one:
            return after + moved * Q96 / self.liquidity
        return 1 / (1 / after + moved / (self.liquidity * Q96))

    def implied_fee_ppm(self) -> Fraction:
        """Return the share of the input that did not move the price, in ppm."""
        before, after = self.price_before(), Fraction(self.sqrt_price_after_x96)
        if self.zero_for_one:
            after_fee = (1 / after - 1 / before) * self.liquidity * Q96
        else:
            after_fee = (after - before) * self.liquidity / Q96
        return (1 - after_fee / self.amount_in) * PPM

    def pool_before(self, fee_ppm: int) -> Concentrated:
        """Return the pool at the nearest whole price before, with liquidity over all prices."""
        price = round(self.price_before())
        net = str(self.liquidity)
        identity = PoolIdentity(ADDRESS, "test", TOKENS, (18, 18), fee_ppm)
        state = {
            "variant": "algebra_integral",  # no edges of words, which only the widest swaps reach
            "sqrt_price_x96": str(price),
            "tick": tick_at_sqrt_ratio(price),
            "liquidity": net,
            "tick_spacing": 1,
            "ticks": [[MIN_TICK, net], [MAX_TICK, f"-{net}"]],
        }
        return Concentrated.from_state(identity, state)

    def swap_before(self, fee_ppm: int) -> tuple[int, Concentrated]:
        """Return what the pool before pays for the input, and the pool afterwards."""
        token_in, token_out = TOKENS if self.zero_for_one else TOKENS[::-1]
        return self.pool_before(fee_ppm).swap(token_in, token_out, self.amount_in)

    def rounding(self) -> tuple[Fraction, Fraction]:
        """Return by how much output and price after may miss the event's, because P0 is whole.

        A unit of the price is L/Q96 of the output for token0 in, else L*Q96/P0^2; the output's own rounding hides one
        unit of it. The price moves with P0, and by what one unit of the output hides.
        """
        before = self.price_before()
        per_price = Fraction(self.liquidity, Q96) if self.zero_for_one else self.liquidity * Q96 / before**2
        return per_price + 1, 2 + 1 / per_price


@cache
def recorded_events() -> list[dict[str, Any]]:
    """Return the events of `swap_events.json`."""
    events: list[dict[str, Any]] = json.loads((FOLDER / "swap_events.json").read_text())["events"]
    return events


def mined_swaps() -> Iterator[tuple[Fields, MinedSwap]]:
    """Yield the events of concentrated pools with the swaps that they announce."""
    for recorded in recorded_events():
        if recorded["kind"] != "v2":
            yield recorded, _read_swap(recorded)


def _read_swap(recorded: Fields) -> MinedSwap:
    amounts = recorded["event"][:2]
    if recorded["kind"] == "v4":  # signed from the swapper's view: what is paid is negative
        amounts = [-amount for amount in amounts]
    zero_for_one = amounts[0] > 0
    amount_in, amount_out = (amounts[0], -amounts[1]) if zero_for_one else (amounts[1], -amounts[0])
    return MinedSwap(recorded["pool"], zero_for_one, amount_in, amount_out, *recorded["event"][2:4])


def catalogue_fees(recorded: Fields) -> frozenset[int]:
    """Return the fees in ppm that the catalogue has for contracts of this kind on the network."""
    network = find_network_by_chain_id(recorded["chain_id"])
    return frozenset(
        fee_ppm
        for deployment in network.deployments
        for name in deployment.protocols
        if _kind_of_name(name) == recorded["kind"]
        for fee_ppm in deployment.fee_tiers
    )


def _kind_of_name(protocol: str) -> str:
    """Return the kind of event of a protocol, as `swap_events.json` has them; empty without one."""
    if protocol == "pancakeSwapV3":
        return "pcsv3"
    return next((kind for kind in ("v3", "v4") if kind in protocol.lower() or (kind, protocol) in _UNVERSIONED), "")


_UNVERSIONED = {("v3", "projectX")}
