"""A model of Ekubo's core contract on Starknet, written for tests from the contract's rules, not from swapcli.

It keeps bitmaps of 251 bits, liquidity deltas and prices of pools as the contract does, and swaps exact inputs and
outputs. Ratios have 128 fractional bits; an amount above zero is paid to the pool.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal, localcontext
from functools import cache
from typing import NamedTuple

Q = 1 << 128
MAX_TICK = 88_722_883
MIN_RATIO = 18446748437148339061
MAX_RATIO = 6277100250585753475930931601400621808602321654880405518632
BITS = 251


class Reverted(Exception):
    """The contract reverts with this short string."""


class PoolKey(NamedTuple):
    token0: int
    token1: int
    fee: int
    tick_spacing: int
    extension: int = 0


class StepResult(NamedTuple):
    consumed: int
    calculated: int
    ratio: int
    fee: int


@cache
def _factor(bit: int) -> int:
    with localcontext() as context:
        context.prec = 120
        exact = Decimal(Q) / Decimal("1.000001") ** (Decimal(2) ** bit / 2)
        return int(exact.to_integral_value(ROUND_HALF_UP))


@cache
def ratio_of(tick: int) -> int:
    """Return the square-root ratio of a tick."""
    ratio = Q
    for bit in range(27):
        if abs(tick) & (1 << bit):
            ratio = ratio * _factor(bit) // Q
    return (2**256 - 1) // ratio if tick > 0 else ratio


def tick_of(ratio: int) -> int:
    """Return the greatest tick whose ratio is at most this one, by bisection."""
    low, high = -MAX_TICK, MAX_TICK
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if ratio_of(middle) <= ratio else (low, middle - 1)
    return low


def _up(a: int, b: int) -> int:
    return (a + b - 1) // b


def _delta(ratio: int, other: int, liquidity: int, token1: bool, round_up: bool) -> int:
    low, high = sorted((ratio, other))
    divide = _up if round_up else (lambda a, b: a // b)
    spread = liquidity * (high - low)
    amount = divide(spread, Q) if token1 else divide(divide(spread * Q, high), low)
    if amount >= Q:
        raise Reverted("OVERFLOW_AMOUNT_DELTA")
    return amount


def _next_ratio(ratio: int, liquidity: int, amount: int, token1: bool, version: int) -> int | None:
    """Return the ratio after `amount`; None if no ratio gives that much."""
    if amount == 0:
        return ratio
    if token1:
        moved = ratio + amount * Q // liquidity  # floors an output's quotient away from the ratio
        return moved if moved > 0 else None
    product = abs(amount) * ratio
    if amount > 0 and version == 4:
        return _up(liquidity * Q, liquidity * Q // ratio + amount)
    if amount > 0:
        return _up(liquidity * Q * ratio, liquidity * Q + product)
    if product >= 2**256 or product >= liquidity * Q:
        return None
    return _up(liquidity * Q * ratio, liquidity * Q - product)


def step(ratio: int, liquidity: int, limit: int, amount: int, token1: bool, fee: int, version: int = 5) -> StepResult:
    """Return one step of a swap of `amount` towards `limit`."""
    if amount == 0 or ratio == limit:
        return StepResult(0, 0, ratio, 0)
    increasing = token1 == (amount > 0)
    assert (limit > ratio) == increasing
    if liquidity == 0:
        return StepResult(0, 0, limit, 0)
    exact_input = amount > 0
    fee_of_all = _up(amount * fee, Q) if exact_input else 0
    moved = _next_ratio(ratio, liquidity, amount - fee_of_all, token1, version)
    if moved is None or (moved > limit if increasing else moved <= limit):
        specified = _delta(ratio, limit, liquidity, token1, exact_input)
        other = _delta(ratio, limit, liquidity, not token1, not exact_input)
        before = _up((specified if exact_input else other) * Q, Q - fee)
        if exact_input:
            return StepResult(before, other, limit, before - specified)
        return StepResult(-specified, before, limit, before - other)
    if moved == ratio:
        return StepResult(amount, 0, ratio, amount)
    other = _delta(ratio, moved, liquidity, not token1, not exact_input)
    if exact_input:
        return StepResult(amount, other, moved, fee_of_all)
    before = _up(other * Q, Q - fee)
    return StepResult(amount, before, moved, before - other)


class Swapped(NamedTuple):
    """What a swap moved, token0 and token1, and the state after it."""

    amount0: int
    amount1: int
    ratio: int
    tick: int
    liquidity: int


class PoolState:
    """One pool of the core."""

    def __init__(self, spacing: int, tick: int, ratio: int | None = None, version: int = 5) -> None:
        self.spacing, self.tick, self.ratio = spacing, tick, ratio_of(tick) if ratio is None else ratio
        self.liquidity, self.version = 0, version
        self.words: dict[int, int] = {}
        self.deltas: dict[int, int] = {}
        self.positions_at: dict[int, int] = {}

    def place(self, tick: int) -> tuple[int, int]:
        """Return the word and the bit of a tick, as the contract numbers them."""
        w = self.spacing
        if tick >= 0:
            return tick // (BITS * w), 250 - tick // w % BITS
        return (-tick - 1) // (BITS * w) + 2**32, (-tick - 1) // w % BITS

    def tick_at(self, word: int, bit: int) -> int:
        """Return the tick of a word and a bit."""
        if word >= 2**32:
            return -((word - 2**32) * BITS + bit + 1) * self.spacing
        return (word * BITS + 250 - bit) * self.spacing

    def next_tick(self, start: int, skip_ahead: int) -> tuple[int, bool]:
        """Return the first initialised tick above `start`, or where the search ends."""
        while True:
            word, bit = self.place(start + self.spacing)
            here = self.words.get(word, 0) & ((2 << bit) - 1)
            if here:
                return self.tick_at(word, here.bit_length() - 1), True
            start = self.tick_at(word, 0)
            if start > MAX_TICK:
                return MAX_TICK, False
            if skip_ahead == 0:
                return start, False
            skip_ahead -= 1

    def previous_tick(self, start: int, skip_ahead: int) -> tuple[int, bool]:
        """Return the last initialised tick at or below `start`, or where the search ends."""
        while True:
            word, bit = self.place(start)
            here = self.words.get(word, 0) >> bit << bit
            if here:
                return self.tick_at(word, (here & -here).bit_length() - 1), True
            end = self.tick_at(word, 250)
            if end < -MAX_TICK:
                return -MAX_TICK, False
            if skip_ahead == 0:
                return end, False
            start = end - 1
            skip_ahead -= 1

    def update(self, lower: int, upper: int, delta: int) -> None:
        """Add liquidity to a range, or remove it."""
        assert lower % self.spacing == upper % self.spacing == 0
        for tick, change in ((lower, delta), (upper, -delta)):
            self.deltas[tick] = self.deltas.get(tick, 0) + change
            gross = self.positions_at.get(tick, 0) + delta
            if (gross == 0) != (self.positions_at.get(tick, 0) == 0):
                word, bit = self.place(tick)
                self.words[word] = self.words.get(word, 0) ^ (1 << bit)
            self.positions_at[tick] = gross
        if lower <= self.tick < upper:
            self.liquidity += delta

    def swap(self, amount: int, token1: bool, fee: int, skip_ahead: int = 0, limit: int | None = None) -> Swapped:
        """Swap `amount` of a token: an input above zero, an output below."""
        increasing = token1 == (amount > 0)
        limit = limit or (MAX_RATIO if increasing else MIN_RATIO)
        if (limit > self.ratio) != increasing:
            raise Reverted("LIMIT_DIRECTION")
        left, calculated = amount, 0
        while left and self.ratio != limit:
            search = self.next_tick if increasing else self.previous_tick
            tick, initialised = search(self.tick, skip_ahead)
            edge = ratio_of(tick)
            end = min(edge, limit) if increasing else max(edge, limit)
            result = step(self.ratio, self.liquidity, end, left, token1, fee, self.version)
            left -= result.consumed
            calculated += result.calculated
            if result.ratio == edge:
                self.ratio = edge
                self.tick = tick if increasing else tick - 1
                if initialised:
                    self.liquidity += self.deltas[tick] if increasing else -self.deltas[tick]
            elif result.ratio != self.ratio:
                self.ratio, self.tick = result.ratio, tick_of(result.ratio)
        moved, other = amount - left, -calculated if amount > 0 else calculated
        amounts = (other, moved) if token1 else (moved, other)
        return Swapped(*amounts, self.ratio, self.tick, self.liquidity)
