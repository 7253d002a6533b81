"""Swaps of constant-product and concentrated pools in contract integers, from the state in a market file.

Written from the contracts' documented arithmetic, without the program's own families, which `score` checks against
this.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from bench.optimum.tick_math import MAX_TICK, MIN_TICK, Q96, sqrt_price_at, tick_at

_MILLION = 10**6
_WORD = 256  # ticks in a word of the bitmap, in steps of the spacing


class PoolExhausted(Exception):
    """The pool has no liquidity left for an amount."""


class ExactPool(Protocol):
    """A pool that keeps its state between swaps."""

    def swap(self, token_in: str, amount_in: int) -> int:
        """Return the contract's output, and change the state. Raises `PoolExhausted`."""


class ConstantProduct:
    """A Uniswap V2 pool with any fee."""

    def __init__(self, pool: Mapping[str, Any]) -> None:
        self.tokens: list[str] = [token.lower() for token in pool["tokens"]]
        self.reserves = [int(each) for each in pool["reserves"]]
        self.kept_ppm = _MILLION - int(pool["fee_ppm"])

    def swap(self, token_in: str, amount_in: int) -> int:
        """Return the contract's output, and change the state."""
        sold = self.tokens.index(token_in)
        reserve_in, reserve_out = self.reserves[sold], self.reserves[1 - sold]
        kept = amount_in * self.kept_ppm
        amount_out = kept * reserve_out // (reserve_in * _MILLION + kept)
        self.reserves[sold] += amount_in
        self.reserves[1 - sold] -= amount_out
        return amount_out


class Concentrated:
    """A Uniswap V3 pool: steps from one initialized tick to the next, and stops at each word of the bitmap."""

    def __init__(self, pool: Mapping[str, Any]) -> None:
        self.tokens: list[str] = [token.lower() for token in pool["tokens"]]
        self.fee_ppm, self.spacing = int(pool["fee_ppm"]), int(pool["tick_spacing"])
        self.sqrt_price, self.tick = int(pool["sqrt_price_x96"]), int(pool["tick"])
        self.liquidity = int(pool["liquidity"])
        self.net = {int(tick): int(net) for tick, net in pool["ticks"]}
        self.ticks = sorted(self.net)

    def swap(self, token_in: str, amount_in: int) -> int:
        """Return the contract's output, and change the state. Raises `PoolExhausted`."""
        is_down = token_in == self.tokens[0]
        limit = sqrt_price_at(MIN_TICK) + 1 if is_down else sqrt_price_at(MAX_TICK) - 1
        left, amount_out = amount_in, 0
        while left > 0:
            if self.sqrt_price == limit:
                raise PoolExhausted("the price is at its limit")
            tick = self._next_tick(is_down)
            edge = sqrt_price_at(tick)
            target = max(edge, limit) if is_down else min(edge, limit)
            before = self.sqrt_price
            used, paid = (self._step_down if is_down else self._step_up)(target, left)
            left -= used
            amount_out += paid
            self._settle(tick, before, is_down)
        return amount_out

    def _next_tick(self, is_down: bool) -> int:
        """Return the next initialized tick in the bitmap word of the current price, otherwise the word's end."""
        place = self.tick // self.spacing + (0 if is_down else 1)
        first = place // _WORD * _WORD
        if is_down:
            end = first * self.spacing
            number = bisect_right(self.ticks, place * self.spacing) - 1
            found = self.ticks[number] if number >= 0 else end
            return max(found, end, MIN_TICK)
        end = (first + _WORD - 1) * self.spacing
        number = bisect_left(self.ticks, place * self.spacing)
        found = self.ticks[number] if number < len(self.ticks) else end
        return min(found, end, MAX_TICK)

    def _step_down(self, target: int, left: int) -> tuple[int, int]:
        """Sell token 0 until the price is at `target` or nothing is left; return the amounts taken and paid."""
        before = self.sqrt_price
        self.sqrt_price, used = self._reach(
            target, left, lambda price: _up(_up((self.liquidity << 96) * (before - price), before), price), self._lower
        )
        return used, self.liquidity * (before - self.sqrt_price) // Q96

    def _step_up(self, target: int, left: int) -> tuple[int, int]:
        """Sell token 1 until the price is at `target` or nothing is left; return the amounts taken and paid."""
        before = self.sqrt_price
        self.sqrt_price, used = self._reach(
            target, left, lambda price: _up(self.liquidity * (price - before), Q96), self._higher
        )
        return used, (self.liquidity << 96) * (self.sqrt_price - before) // self.sqrt_price // before

    def _reach(
        self, target: int, left: int, needed: Callable[[int], int], moved: Callable[[int], int]
    ) -> tuple[int, int]:
        """Return the price after a step and its input, including the fee: all that is left if the target is not
        reached."""
        kept = left * (_MILLION - self.fee_ppm) // _MILLION
        price = target if kept >= needed(target) else moved(kept)
        if price != target:
            return price, left
        need = needed(target)
        return price, need + _up(need * self.fee_ppm, _MILLION - self.fee_ppm)

    def _lower(self, kept: int) -> int:
        return _up((self.liquidity << 96) * self.sqrt_price, (self.liquidity << 96) + kept * self.sqrt_price)

    def _higher(self, kept: int) -> int:
        return self.sqrt_price + (kept << 96) // self.liquidity

    def _settle(self, tick: int, before: int, is_down: bool) -> None:
        """Cross the tick if the price is now at it; otherwise find the tick of a price that moved."""
        if self.sqrt_price == sqrt_price_at(tick):
            net = self.net.get(tick, 0)
            self.liquidity += -net if is_down else net
            self.tick = tick - 1 if is_down else tick
        elif self.sqrt_price != before:
            self.tick = tick_at(self.sqrt_price)


EXACT_FAMILIES: Mapping[str, Callable[[Mapping[str, Any]], ExactPool]] = {
    "constant_product": ConstantProduct,
    "concentrated": Concentrated,
}


def _up(numerator: int, denominator: int) -> int:
    return -(-numerator // denominator)
