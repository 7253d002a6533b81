"""Compute how much slippage an order needs, and how much is safe. The result is advice with reasons, and is never
applied automatically.

A sandwich attack sells before the order in one of its pools, and buys back after it. It can take no more than the
slippage allows, and pays the pool's fee twice plus the gas of two transactions. So below a certain slippage, no
sandwich attack on the route can be profitable. The limit is derived as follows. In each pool, trials with exact swaps
find the most that a sandwich gains per unit that the order loses. A sandwich of several pools at once gains at most the
largest of these factors times the order's loss, which is at most the slippage; so it cannot pay for its gas while
factor * slippage <= gas.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import ceil, floor, inf
from typing import Final

from swapcli.core.encoding.text import counted
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote import Step
from swapcli.core.model.router_execution import TRANSACTION_GAS
from swapcli.core.model.skipped_pool import pass_request_errors
from swapcli.core.model.swap_terms import DEFAULT_SLIPPAGE_PPM
from swapcli.core.model.units import PPM
from swapcli.core.records import NamedTuple
from swapcli.interface.slippage import V1_SLIPPAGE, V2_SLIPPAGE, format_percent

MIN_ADVISED_PPM: Final = V1_SLIPPAGE.min_ppm
"""The lowest slippage that every endpoint of the Fibrous API accepts."""
MAX_BOUND_PPM: Final = V2_SLIPPAGE.max_ppm
"""The highest slippage that can be requested."""

_GRAIN_PPM: Final = 100
"""Advice is rounded to hundredths of a percent."""
_TRANSACTIONS: Final = 2  # gas of a sandwich
_MOST_GAS_PPM: Final = 1e12
"""A million times the order: no sandwich takes that much, and the calculations below need a finite number."""
_FIRST_PART: Final = 4**8
"""The smallest sandwich to try, as a fraction of the order's sale in the pool."""
_GROWTH: Final = 4
_TRIALS: Final = 16
"""The largest sandwich sells 16,384 times as much. A sandwich gains less than the order sells in the pool, so with a
fee of 0.01% larger ones cannot pay their fees."""
_DEEPEST_LOSS: Final = 2
"""Larger sandwiches are not tried once the order loses more than half of its output in the pool: no valid slippage
allows more."""
_BETWEEN_TRIALS: Final = 15 / 16
"""Margin for what a sandwich between two trials may gain above both."""


class SandwichBound(NamedTuple):
    """The slippage below which no sandwich attack on a route is profitable.

    `limit_ppm` is that slippage, None if no attack is profitable at any valid slippage. `gas_ppm` is the gas cost of
    the attack's two transactions as a share of the order's value. It is None if unknown, and gas then counts as free.
    `gain_ppm` is the largest share of the order's loss that an attacker can gain; 0 if the pools' fees consume all of
    it.
    """

    limit_ppm: int | None
    gas_ppm: int | None
    gain_ppm: int


class Movement(NamedTuple):
    """The largest fall of a route's output within `window_s`, in ppm. It was found by comparing the outputs at `blocks`
    blocks, of which the first and the last are `history_s` apart."""

    fall_ppm: int
    window_s: int
    history_s: int
    blocks: int


class SlippageAdvice(NamedTuple):
    """The recommended slippage for an order in ppm, with reasons.

    `movement` is None if it is unknown.
    """

    slippage_ppm: int
    reasons: tuple[str, ...]
    movement: Movement | None
    sandwich: SandwichBound


def advise_slippage(movement: Movement | None, sandwich: SandwichBound) -> SlippageAdvice:
    """Return the advice for a route: a slippage that covers its movement. If the movement is unknown, return the
    slippage that is safe from sandwich attacks, but no more than the default."""
    limit_ppm = MAX_BOUND_PPM if sandwich.limit_ppm is None else sandwich.limit_ppm
    if movement is None:
        needed_ppm = min(limit_ppm, DEFAULT_SLIPPAGE_PPM) // _GRAIN_PPM * _GRAIN_PPM
    else:
        needed_ppm = -(-movement.fall_ppm // _GRAIN_PPM) * _GRAIN_PPM
    advised_ppm = min(max(MIN_ADVISED_PPM, needed_ppm), MAX_BOUND_PPM)
    reasons = [_describe_movement(movement), _describe_bound(sandwich)]
    if advised_ppm > limit_ppm > 0:
        reasons.append("the recommended slippage is higher: smaller orders are safer")
    return SlippageAdvice(advised_ppm, tuple(reasons), movement, sandwich)


def measure_movement(outputs: Sequence[tuple[int, int]], window_s: int) -> Movement | None:
    """Return the largest fall between two outputs of a route at most `window_s` apart; None if no two are that close in
    time.

    `outputs` are pairs of Unix times and outputs in base units (> 0), in any order.
    """
    ordered = sorted(outputs)
    falls = [
        (before - after) * PPM / before
        for position, (time_s, after) in enumerate(ordered)
        for earlier_s, before in ordered[:position]
        if time_s - earlier_s <= window_s
    ]
    if not falls:
        return None
    times_s = {time_s for time_s, _ in ordered}
    return Movement(max(0, ceil(max(falls))), window_s, max(times_s) - min(times_s), len(times_s))


def bound_sandwich(
    steps: Sequence[Step], pools: Mapping[str, Pool], amount_in: int, amount_out: int, gas_unit_ppm: float | None
) -> SandwichBound:
    """Return the bound on sandwich attacks for a route's steps, on the state of its `pools`, by key.

    `gas_unit_ppm` is the price of one unit of gas, in ppm of the order's value; None if it is unknown.
    """
    swaps = _merge(steps)
    flow = _trace_flow(steps, pools, amount_in)
    swap_gas = min(pools[swap.pool].swap_gas for swap in swaps)
    gas_units = _TRANSACTIONS * (TRANSACTION_GAS + swap_gas)
    gas_ppm = None if gas_unit_ppm is None else min(gas_unit_ppm * gas_units, _MOST_GAS_PPM)
    gain, limit_ppm = 0.0, float(MAX_BOUND_PPM)
    for swap in sorted(swaps, key=lambda swap: -flow.spent[swap.token_in] * swap.amount_in):
        gain = max(gain, _most_gain(pools[swap.pool], swap, flow) * amount_out)
        limit_ppm = (gas_ppm or 0.0) / gain * _BETWEEN_TRIALS if gain > 0 else MAX_BOUND_PPM
        if limit_ppm < 1:
            break
    return SandwichBound(
        None if limit_ppm >= MAX_BOUND_PPM else floor(limit_ppm),
        None if gas_ppm is None else floor(min(gas_ppm, PPM)),
        ceil(max(min(gain, 1.0), 0.0) * PPM),
    )


class _Swap(NamedTuple):
    """The total sale of a route in one direction of a pool."""

    pool: str
    token_in: str
    token_out: str
    amount_in: int


class _Flow(NamedTuple):
    """The value of a base unit of each token along a route: the part of the order's input `spent` on it, and the units
    of output `lost` with its last unit."""

    spent: Mapping[str, float]
    lost: Mapping[str, float]


def _merge(steps: Sequence[Step]) -> list[_Swap]:
    sold: dict[tuple[str, str, str], int] = defaultdict(int)
    for step in steps:
        sold[step.pool, step.token_in, step.token_out] += step.amount_in
    return [_Swap(*key, amount_in) for key, amount_in in sold.items()]


def _trace_flow(steps: Sequence[Step], pools: Mapping[str, Pool], amount_in: int) -> _Flow:
    """Follow the order's input forward and its output backward, in execution order."""
    spent, units = defaultdict[str, float](float), defaultdict[str, int](int)
    spent[steps[0].token_in], units[steps[0].token_in] = 1.0, amount_in
    for step in steps:
        spent[step.token_out] += spent[step.token_in] / units[step.token_in] * step.amount_in
        units[step.token_out] += step.amount_out
    lost, sold = defaultdict[str, float](float), defaultdict[str, int](int)
    lost[steps[-1].token_out], sold[steps[-1].token_out] = 1.0, 1
    for step in reversed(steps):
        after = lost[step.token_out] / (sold[step.token_out] or 1)
        lost[step.token_in] += step.amount_in * after * _last_rate(pools[step.pool], step)
        sold[step.token_in] += step.amount_in
    return _Flow(
        {token: part / units[token] for token, part in spent.items()},
        {token: part / (sold[token] or 1) for token, part in lost.items()},
    )


def _last_rate(pool: Pool, step: Step) -> float:
    """Return the rate of the last unit that a step sells, or its average rate if the curve does not know it."""
    average = step.amount_out / step.amount_in
    try:
        rate = pool.curve(step.token_in, step.token_out).rate(step.amount_in)
    except Exception as error:
        pass_request_errors(error)
        return average
    return rate if 0.0 < rate < average else average


def _most_gain(pool: Pool, swap: _Swap, flow: _Flow) -> float:
    """Return the most that a sandwich in a pool gains, as a share of the order's input, per unit of output that the
    order loses; not positive if it has no profit before gas."""
    if pool.is_wrapper:
        return 0.0
    spent, lost = flow.spent[swap.token_in], flow.lost[swap.token_out]
    if not lost:
        return inf
    if pool.is_single_use or pool.is_sampled:
        # The output after another swap is unknown: assume that a sandwich gains everything the order loses.
        return flow.spent[swap.token_out] / lost
    try:
        undisturbed, _ = pool.swap(swap.token_in, swap.token_out, swap.amount_in)
    except Exception as error:
        pass_request_errors(error)
        return inf
    tried: list[tuple[float, int]] = []
    for trial in range(_TRIALS):
        front = swap.amount_in * _GROWTH**trial // _FIRST_PART
        gain, is_deepest = _try_sandwich(pool, swap, undisturbed, front) if front else (-inf, False)
        tried.append((gain, front))
        # Nor can the fee on larger ones be paid from everything that the order sells.
        if is_deepest or 2 * front * pool.fee_ppm > swap.amount_in * PPM:
            break
    # The best sandwich is near the best trial, or where the pool becomes so shallow that trials end.
    for front in {max(tried)[1], tried[-1][1]}:
        tried += [(_try_sandwich(pool, swap, undisturbed, near)[0], near) for near in (front // 2, front * 2) if near]
    return max(tried)[0] * spent / lost


def _try_sandwich(pool: Pool, swap: _Swap, undisturbed: int, front: int) -> tuple[float, bool]:
    """Return the input units that a sandwich selling `front` gains per unit that the order loses, and whether no larger
    one needs to be tried. `undisturbed` is the order's output without the sandwich."""
    _, token_in, token_out, sold = swap
    try:
        bought, before = pool.swap(token_in, token_out, front)
        received, after = before.swap(token_in, token_out, sold)
        back, _ = after.swap(token_out, token_in, bought)
    except Exception as error:
        pass_request_errors(error)
        return -inf, False
    loss = undisturbed - received
    return (back - front) / loss if loss > 0 else -inf, _DEEPEST_LOSS * loss > undisturbed


def _describe_bound(bound: SandwichBound) -> str:
    if bound.limit_ppm is None:
        cost = "the gas for its two transactions" if bound.gain_ppm else "the pools' fees"
        return f"a sandwich attack on this route pays more for {cost} than it can gain"
    if not bound.limit_ppm:
        return "a sandwich attack on this route can profit at any slippage: smaller orders are safer"
    return (
        f"at {format_percent(bound.limit_ppm)}% or less, no sandwich attack on this route can profit after pool fees "
        "and the gas for its two transactions"
    )


def _describe_movement(movement: Movement | None) -> str:
    if movement is None:
        return "recent price moves are unknown: no store has these pools' history"
    seen = f"in {counted(movement.blocks, 'block')} over {movement.history_s} s"
    if not movement.fall_ppm:
        return f"the output of this route did not fall {seen}"
    fall = format_percent(movement.fall_ppm)
    return f"the output of this route fell by up to {fall}% within {movement.window_s} s, {seen}"
