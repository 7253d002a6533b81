#!/usr/bin/env python3
# fmt: off (one file of at most 500 lines, which a stranger can read from top to bottom)
"""Check a proof that `swapcli route --certify --proof FILE` wrote, without any code of swapcli.

    check_proof.py FILE [--json] [--swapcli]

It replays the route as the pools' contracts compute it, in integers, and shows in exact fractions that no other route
over the same pools pays more than the bound: by weak duality, with the theorem in docs/proof.md. `--swapcli` lets the
library recompute what is taken on faith. Status 0: accepted. 1: rejected, a sentence for each reason. 2: unreadable.
"""
from __future__ import annotations

import gzip
import json
import re
import sys
import zlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction as Real
from functools import lru_cache
from hashlib import sha256
from math import isqrt, log
from typing import Any, NamedTuple

MAX_BYTES = 64 << 20  # of the file, and of what it unpacks to
MAX_WORK = 100_000  # steps in search of a case that no leaf covers
WAD, PPM, Q96, ONE, ZERO = 10**18, 10**6, 1 << 96, 1 << 64, Real(0)
Direction = tuple[int, int, int]  # a pool, the token that is sold to it, the token that is bought: numbers in the lists
Record = dict[str, Any]


class Unreadable(Exception):
    """The file is not a proof of this version."""


class Reverts(Exception):
    """The contract refuses the swap."""


def real(value: object) -> Real:
    """Read a decimal text, which is exactly the number that it says; null is zero."""
    text = "0" if value is None else str(value)
    if len(text) > 100 or not re.fullmatch(r"[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?", text, re.ASCII):
        raise Unreadable(f"{text[:30]!r} is not a number of at least 0")
    return Real(text)

def uint(value: object) -> int:
    """Read an integer of at least 0."""
    if isinstance(value, (bool, float)) or not re.fullmatch(r"[0-9]{1,100}", str(value), re.ASCII):
        raise Unreadable(f"{str(value)[:30]!r} is not an integer of at least 0")
    return int(str(value))

def sint(value: object) -> int:
    """Read an integer."""
    return -uint(str(value)[1:]) if str(value).startswith("-") else uint(value)

def ceil_div(a: int, b: int) -> int:
    return -(-a // b)

def rounded_up(value: Real, digits: int = 40) -> Real:
    """Return the number with fewer digits, and not less: sums of many fractions would grow without end."""
    context = Context(prec=digits, rounding=ROUND_CEILING)
    return Real(context.divide(Decimal(value.numerator), Decimal(value.denominator)))

def read(path: str) -> Record:
    """Read the document, of limited size also where it is compressed. Raises `Unreadable`."""
    def unique(pairs: list[tuple[str, object]]) -> Record:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a key occurs twice in one object")
        return dict(pairs)
    def refuse(text: str) -> None:
        raise ValueError(f"{text[:30]} is not a number that a proof can hold")
    try:
        with open(path, "rb") as file:
            is_packed = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            raw = (gzip.GzipFile(fileobj=file) if is_packed else file).read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            raise ValueError(f"it is larger than {MAX_BYTES >> 20} MB")
        found = json.loads(raw.decode(), parse_constant=refuse, parse_float=refuse, object_pairs_hook=unique)
    except (OSError, EOFError, ValueError, RecursionError, zlib.error) as error:
        raise Unreadable(str(error) or type(error).__name__) from None
    if not isinstance(found, dict) or found.get("format") != "swapcli-proof" or found.get("version") != 1:
        raise Unreadable("it is not a swapcli-proof of version 1")
    return found


# What contracts pay, in integers, with every rounding of theirs. Each function also moves the state of the pool. ------

def swap_fee(pool: Record) -> int:
    return uint(pool["swap_fee"]) if "swap_fee" in pool else uint(pool["fee_ppm"]) * 10**12

def swap_pair(pool: Record, i: int, j: int, amount: int) -> int:
    """Uniswap V2 and its forks; volatile Solidly pools cut the fee off first, rounded down, and pay it out."""
    variant, x, y = pool.get("variant", "uniswap_v2"), pool["reserves"][i], pool["reserves"][j]
    fee, unit = (uint(pool["fee_ppm"]), PPM) if variant == "uniswap_v2" else (swap_fee(pool), WAD)
    net = amount if variant == "uniswap_v2" else amount - amount * fee // WAD
    if not (x and y) or (variant == "uniswap_v2" and x + net >> 112):
        raise Reverts("the pair has no liquidity, or would have too much")
    scaled = amount * (unit - fee)
    paid: int = net * y // (x + net) if variant == "solidly" else scaled * y // (x * unit + scaled)
    pool["reserves"][i], pool["reserves"][j] = x + net, y - paid
    return paid

TICK_FACTORS = (
    0xFFFCB933BD6FAD37AA2D162D1A594001, 0xFFF97272373D413259A46990580E213A, 0xFFF2E50F5F656932EF12357CF3C7FDCC,
    0xFFE5CACA7E10E4E61C3624EAA0941CD0, 0xFFCB9843D60F6159C9DB58835C926644, 0xFF973B41FA98C081472E6896DFB254C0,
    0xFF2EA16466C96A3843EC78B326B52861, 0xFE5DEE046A99A2A811C461F1969C3053, 0xFCBE86C7900A88AEDCFFC83B479AA3A4,
    0xF987A7253AC413176F2B074CF7815E54, 0xF3392B0822B70005940C7A398E4B70F3, 0xE7159475A2C29B7443B29C7FA6E889D9,
    0xD097F3BDFD2022B8845AD8F792AA5825, 0xA9F746462D870FDF8A65DC1F90E061E5, 0x70D869A156D2A1B890BB3DF62BAF32F7,
    0x31BE135F97D08FD981231505542FCFA6, 0x09AA508B5B7A84E1C677DE54F3E99BC9, 0x005D6AF8DEDB81196699C329225EE604,
    0x00002216E584F5FA1EA926041BEDFE98, 0x00000000048A170391F7DC42444E8FA2)
"""1.0001^(-2^k / 2) with 128 fractional bits: the constants of Uniswap V3's `TickMath`."""

@lru_cache(maxsize=None)
def price_at(tick: int) -> int:
    """The square-root price at a tick, with 96 fractional bits, rounded as `getSqrtRatioAtTick` does."""
    if abs(tick) > 887272:
        raise Unreadable(f"the tick {tick} is outside the contracts' range")
    ratio = 1 << 128
    for k, factor in enumerate(TICK_FACTORS):
        if abs(tick) >> k & 1:
            ratio = ratio * factor >> 128
    return ceil_div(((1 << 256) - 1) // ratio if tick > 0 else ratio, 1 << 32)

def tick_at(price: int) -> int:
    tick = int(2 * (log(price) - log(Q96)) / log(1.0001))
    while price_at(tick) > price:
        tick -= 1
    while price_at(tick + 1) <= price:
        tick += 1
    return tick

def fee_of_side(pool: Record, down: bool) -> int:
    fee, protocol = uint(pool["fee_ppm"]), uint(pool.get("protocol_fees_ppm", (0, 0))[0 if down else 1])
    return protocol + fee - protocol * fee // PPM

def swap_ticks(pool: Record, i: int, j: int, amount: int) -> int:
    """Uniswap V3, V4 and their forks: `computeSwapStep` to each initialised tick, or to the edge of a bitmap's word."""
    down, left, paid, complement = i < j, amount, 0, PPM - fee_of_side(pool, i < j)
    price, tick, liquidity, spacing = (sint(pool[key]) for key in ("sqrt_price_x96", "tick", "liquidity", "tick_spacing"))
    ticks, in_words = [each[0] for each in pool["ticks"]], pool.get("variant", "uniswap_v3") == "uniswap_v3"
    if amount >> (127 if "pool_id" in pool else 255 if in_words else 128):
        raise Reverts("the contract cannot count so much")
    while left > 0:
        k = bisect_right(ticks, tick) - down
        if not 0 <= k < len(ticks):
            raise Reverts("the liquidity ends before the input is spent")
        end = ticks[k]
        if in_words and liquidity:  # each word of 256 spacings ends a step, and each step rounds
            word = (tick // spacing + (not down)) >> 8 << 8
            end = max(end, word * spacing) if down else min(end, (word + 255) * spacing)
        target = min(max(price_at(end), price_at(-887272) + 1), price_at(887272) - 1)
        net, start, shifted = left * complement // PPM, price, liquidity << 96
        cost = (ceil_div(ceil_div(shifted * (price - target), price), target) if down
                else ceil_div(liquidity * (target - price), Q96))
        reached = net >= cost
        if reached:
            price = target
        elif not down:
            price += (net << 96) // liquidity
        elif shifted + net * price < 1 << 256:
            price = ceil_div(shifted * price, shifted + net * price)
        else:
            price = ceil_div(shifted, shifted // price + net)
        paid += liquidity * (start - price) >> 96 if down else shifted * (price - start) // price // start
        left = left - cost - ceil_div(cost * (PPM - complement), complement) if reached else 0
        if reached and end == ticks[k]:
            liquidity += -sint(pool["ticks"][k][1]) if down else sint(pool["ticks"][k][1])
        if price != start or reached:
            tick = (end - 1 if down else end) if reached else tick_at(price)
    pool.update(sqrt_price_x96=price, tick=tick, liquidity=liquidity)
    return paid

def stable_terms(pool: Record) -> tuple[list[int], list[int], int, int]:
    """Of StableSwap: the rates, the balances with 18 decimals, 100 A n, and D by the contract's own iteration."""
    rates = [uint(rate) * 10 ** (18 - places) for rate, places in zip(pool["rates"], pool["decimals"], strict=True)]
    held = [reserve * rate // WAD for reserve, rate in zip(pool["reserves"], rates, strict=True)]
    n, d = len(held), sum(held)
    ann, is_old = (uint(pool["amp"]) * 100 + uint(pool.get("amp_hundredths", 0))) * n, pool.get("variant", "ng") != "ng"
    for _ in range(255 if all(held) else 0):
        product, before = d, d
        for each in held:  # older pools of three or more coins divide by n with each coin, the others at the end
            product = product * d // (each * n if is_old and n > 2 else each)
        product //= 1 if is_old and n > 2 else n**n
        d = (ann * sum(held) // 100 + product * n) * d // ((ann - 100) * d // 100 + (n + 1) * product)
        if abs(d - before) <= 1:
            return rates, held, ann, d
    raise Reverts("the pool has no liquidity, or no invariant")

def swap_stable(pool: Record, i: int, j: int, amount: int) -> int:
    """Curve's StableSwap: the fee comes off the output, and half of it leaves the pool."""
    rates, held, ann, d = stable_terms(pool)
    after = [each + amount * rates[i] // WAD if k == i else each for k, each in enumerate(held)]
    b, c, y = sum(after) - after[j] + d * 100 // ann, d, d
    for k, each in enumerate(after):
        c = c if k == j else c * d // (each * len(held))
    c = c * d * 100 // (ann * len(held))
    for _ in range(255):
        before, y = y, (y * y + c) // (2 * y + b - d)
        if abs(y - before) <= 1:
            break
    gross, fee, scale = held[j] - y - 1, swap_fee(pool) // 10**8, uint(pool.get("offpeg_fee_multiplier", 0))
    if gross < 0:
        raise Reverts("the output is less than the contract's rounding")
    if scale > 10**10:
        u, v = (held[i] + after[i]) // 2, (held[j] + y) // 2
        fee = scale * fee // ((scale - 10**10) * 4 * u * v // (u + v) ** 2 + 10**10)
    fee = gross * fee // 10**10
    paid = (gross - fee) * WAD // rates[j]
    pool["reserves"][i] += amount
    pool["reserves"][j] -= paid + fee // 2 * WAD // rates[j]
    return paid

def cubic(x: int, y: int) -> int:
    """x^3 y + x y^3 of numbers with 18 decimals, as Solidly's `_k` rounds it."""
    return (x * y // WAD) * (x * x // WAD + y * y // WAD) // WAD

def swap_cubic(pool: Record, i: int, j: int, amount: int) -> int:
    """Solidly's stable pools, second version: the contract's search for y, then its check of the invariant."""
    raw, units, net = pool["reserves"], [10**places for places in pool["decimals"]], amount - amount * swap_fee(pool) // WAD
    x, y = raw[i] * WAD // units[i] + net * WAD // units[i], raw[j] * WAD // units[j]
    k, start = cubic(raw[i] * WAD // units[i], y), y
    for _ in range(255):
        f, slope = cubic(x, y), 3 * x * (y * y // WAD) // WAD + (x * x // WAD) * x // WAD
        step = abs(k - f) * WAD // (slope or 1)
        if not step and (f == k or (f > k and cubic(x, y - 1) < k)):
            break
        y += max(step, 1) if f < k else -max(step, 1)
    paid = (start - y) * units[j] // WAD
    raw[i], raw[j] = raw[i] + net, raw[j] - paid
    if cubic(raw[i] * WAD // units[i], raw[j] * WAD // units[j]) < k:
        raise Reverts("the invariant would fall")
    return paid

E_POWERS = (38877084059945950922200000000000000000000000000000000000, 6235149080811616882910000000)
E_PARTS = (7896296018268069516100000000000000, 888611052050787263676000000, 298095798704172827474000,
           5459815003314423907810, 738905609893065022723, 271828182845904523536, 164872127070012814685,
           128402541668774148407, 113314845306682631683, 106449445891785942956)
"""e^128 and e^64; e^32, e^16 ... e^(1/16) with 20 decimals: the constants of Balancer's `LogExpMath`."""

def quotient(a: int, b: int) -> int:
    """Divide towards zero, as contracts do."""
    return a // b if a >= 0 else -(-a // b)

def artanh(x: int, one: int, terms: int) -> int:
    """2 artanh((x - 1) / (x + 1)) = ln x, by its series in fixed point."""
    z = term = total = quotient((x - one) * one, x + one)
    for n in range(3, terms + 1, 2):
        term = quotient(term * (z * z // one), one)
        total += quotient(term, n)
    return 2 * total

def power(base: int, exponent: int) -> int:
    """`LogExpMath.pow` for 0 < base <= 1."""
    if base > 9 * 10**17:
        fine = artanh(base * WAD, 10**36, 15)
        whole = quotient(fine, WAD)
        product = whole * exponent + quotient((fine - whole * WAD) * exponent, WAD)
    else:
        a, total = WAD * WAD // base, 0
        for k, e_k in enumerate(E_POWERS):
            a, total = (a // e_k, total + (128 >> k) * WAD) if a >= e_k * WAD else (a, total)
        a, total = a * 100, total * 100
        for k, e_k in enumerate(E_PARTS):
            a, total = (a * 10**20 // e_k, total + (3200 * WAD >> k)) if a >= e_k else (a, total)
        product = -((total + artanh(a, 10**20, 11)) // 100) * exponent
    x, value = -quotient(product, WAD) * 100, 10**20
    if x > 4100 * WAD:
        raise Reverts("the power leaves the contract's range")
    for k, e_k in enumerate(E_PARTS[:8]):
        x, value = (x - (3200 * WAD >> k), value * e_k // 10**20) if x >= 3200 * WAD >> k else (x, value)
    term = series = 10**20
    for n in range(1, 13):
        term = term * x // 10**20 // n
        series += term
    return WAD * WAD // (value * series // 10**20 // 100)

def swap_weighted(pool: Record, i: int, j: int, amount: int) -> int:
    """Balancer's weighted pools: V2, and V3, whose vault multiplies by rates and takes the fee of scaled amounts."""
    weights, is_v3, fee = pool["weights"], pool["family"] == "balancer_v3_weighted", swap_fee(pool)
    rates = [uint(rate) if is_v3 else WAD for rate in pool.get("rates", weights)]
    unit_in, unit_out = (rates[k] * 10 ** (18 - pool["decimals"][k]) for k in (i, j))
    floors, least = [uint(each) for each in pool.get("floors", ())], uint(pool.get("min_trade_amount", 10**6)) * is_v3
    x, y, sold = pool["reserves"][i] * unit_in // WAD, pool["reserves"][j] * unit_out // WAD, amount * unit_in // WAD
    taken = ceil_div(sold * fee, WAD) if is_v3 else ceil_div(amount * fee, WAD) * unit_in // WAD
    x, net, exponent = x + bool(floors), sold - taken, uint(weights[i]) * WAD // uint(weights[j])
    if not (x and y) or net > x * (3 * 10**17) // WAD or net < least or (not is_v3 and pool["reserves"][i] + amount >> 112):
        raise Reverts("the vault refuses an input of this size")
    left = ceil_div(x * WAD, x + net)
    if exponent in (WAD, 2 * WAD, 4 * WAD) and (is_v3 or uint(pool.get("version", 4)) > 1):
        for _ in range(exponent // WAD // 2):
            left = ceil_div(left * left, WAD)
    else:
        raw = power(left, exponent)
        left = raw + ceil_div(raw * 10_000, WAD) + 1
    bought = y * max(0, WAD - left) // WAD
    if bought < least or (floors and (x < floors[i] or y - bought < floors[j])):
        raise Reverts("the vault refuses an output of this size")
    paid = bought * WAD // (unit_out + (rates[j] % WAD > 0) * 10 ** (18 - pool["decimals"][j]))
    pool["reserves"][i] += amount - taken * WAD // unit_in * uint(pool.get("aggregate_swap_fee", 0)) // WAD
    pool["reserves"][j] -= paid
    return paid


# Curves: concave real functions of the input that no contract pays more than, but for whole units of rounding. --------

class Point(NamedTuple):
    """A point of a curve between bounds: its input and output, and its slope (output per input)."""
    least_in: Real
    most_in: Real
    most_out: Real
    least_slope: Real
    most_slope: Real

class Curve:
    """A direction. Rounding may pay `gift_out` more than the curve, and as if the input were larger by `gift_in`, for
    which a trade without the fee pays up to `gift_slope` a unit. Inputs above `capacity` revert."""
    capacity: Real | None = None
    gift_in = gift_out = gift_slope = ZERO

    def __init__(self, pool: Record, i: int, j: int) -> None:
        self.start = self.at(ZERO).most_slope

    def at(self, amount: Real) -> Point:
        return Point(amount, amount, ZERO, ZERO, ZERO)

    def least_bound(self, prices: tuple[Real, Real], enough: Real, first: Real, limit: Real | None) -> Real | None:
        """Return an upper bound of v_out * out - v_in * in over inputs up to `limit`, at most `enough` if there is one.

        A concave curve is nowhere above its tangents. The points of contact are ours: `first`, then ever closer ones.
        """
        v_in, v_out = prices
        ends = [each for each in (limit, self.capacity) if each is not None]
        if v_out * self.start <= v_in or (ends and min(ends) <= 0):
            return ZERO
        low, high, amount, best = ZERO, None, first or Real(1, 1 << 20), None
        for _ in range(250):
            amount = min([amount, *ends])
            point = self.at(amount)
            rise, fall = v_out * point.most_slope - v_in, v_in - v_out * point.least_slope
            if rise <= 0 or ends:
                beyond = max(fall * point.most_in, rise * (min(ends) - point.least_in) if ends else ZERO)
                bound = max(ZERO, v_out * point.most_out - v_in * point.least_in + beyond)
                best = bound if best is None else min(bound, best)
                if best <= enough or amount in ends and rise > 0:
                    break
            low, high = (amount, high) if rise > 0 else (low, amount)
            amount = low * 16 if high is None else Real(int((low + high) * ONE // 2), ONE)
        return best

    def paid(self, amount: Real) -> Real:
        """Return an upper bound of the output for any input up to `amount`."""
        amount = amount if self.capacity is None else min(amount, self.capacity)
        point = self.at(amount)
        return point.most_out + point.most_slope * max(ZERO, amount - point.least_in) if amount > 0 and self.start else ZERO

    def gift(self, v_in: Real, v_out: Real) -> Real:
        """Return the most that rounding adds to the surplus of one trade."""
        return v_out * self.gift_out + (v_in * self.gift_in if v_out * self.gift_slope > v_in else ZERO)

class PairCurve(Curve):
    """y g a / (x + g a) with g = 1 - fee. Solidly rounds the fee down: as if up to a unit more came in after it."""
    def __init__(self, pool: Record, i: int, j: int) -> None:
        variant, (self.x, self.y) = pool.get("variant", "uniswap_v2"), (pool["reserves"][i], pool["reserves"][j])
        self.gamma = 1 - (Real(uint(pool["fee_ppm"]), PPM) if variant == "uniswap_v2" else Real(swap_fee(pool), WAD))
        self.capacity = Real((1 << 112) - 1 - self.x) if variant == "uniswap_v2" else None
        if not (self.x and self.y):
            self.x, self.y = 1, 0
        if variant == "solidly":
            self.gift_in, self.gift_slope = 1 / self.gamma, Real(self.y, self.x)
        super().__init__(pool, i, j)

    def at(self, amount: Real) -> Point:
        x = self.x + self.gamma * amount
        slope = self.gamma * self.x * self.y / (x * x)
        return Point(amount, amount, self.y - self.y * self.x / x, slope, slope)

class TickCurve(Curve):
    """Liquidity L between prices p and q: L |1/p - 1/q| of one token against L |p - q| of the other.

    A point is a price with 128 fractional bits, from which both amounts follow exactly. Their sums over the ticks
    passed are integers with 64 fractional bits, rounded to the safe side."""
    def __init__(self, pool: Record, i: int, j: int) -> None:
        self.down, nets = i < j, [(sint(tick), sint(net)) for tick, net in pool["ticks"]]
        self.gamma = Real(PPM - fee_of_side(pool, self.down), PPM)
        k = bisect_right(nets, (sint(pool["tick"]), 1 << 200))
        self.rest = nets[:k] if self.down else nets[k:][::-1]  # the nearest is the last
        self.way = [(0, 0, 0, uint(pool["sqrt_price_x96"]) << 32, uint(pool["liquidity"]))]  # in, in, out, price, L
        super().__init__(pool, i, j)

    def move(self, entry: tuple[int, int, int, int, int], price: int) -> tuple[int, int, int]:
        """Return the least and the most input, and the most output, up to `price`."""
        least, most, out, start, liquidity = entry
        change = liquidity * abs(price - start)
        amounts = (change << 192) // (start * price), change >> 64
        return least + amounts[not self.down], most + amounts[not self.down] + 1, out + amounts[self.down] + 1

    def at(self, amount: Real) -> Point:
        net = int(amount * self.gamma * ONE)
        while self.rest and self.way[-1][0] <= net:
            tick, change = self.rest.pop()
            price = (min if self.down else max)(price_at(tick) << 32, self.way[-1][3])
            liquidity = self.way[-1][4] + (-change if self.down else change)
            self.way.append((*self.move(self.way[-1], price), price, max(0, liquidity)))
        entry = self.way[bisect_right(self.way, (net, net + len(self.way) + 1)) - 1]
        *_, start, liquidity = entry
        price = start
        if liquidity and net > entry[0]:
            left = net - entry[0]
            price = ((liquidity * start << 192) // ((liquidity << 192) + left * start) if self.down
                     else start + (left << 64) // liquidity)
        least, most, out = self.move(entry, price) if price != start else entry[:3]
        ratio = Real(price, 1 << 128)
        slope = self.gamma * (ratio * ratio if self.down else 1 / (ratio * ratio))
        is_over = net > 0 and not liquidity and not self.rest  # no more is paid, whatever comes in
        slope = ZERO if is_over else slope
        return Point(Real(least, ONE) / self.gamma, Real(most, ONE) / self.gamma, Real(out, ONE), slope, slope)

class StableCurve(Curve):
    """StableSwap's invariant at the D of the contract: y^2 + (b - D) y = c. The fee comes off the output."""
    def __init__(self, pool: Record, i: int, j: int) -> None:
        if uint(pool.get("offpeg_fee_multiplier", 0)) > 10**10:
            raise KeyError("a fee that depends on the trade")
        rates, held, ann, d = stable_terms(pool)
        self.x, self.y = held[i], held[j]
        self.b = Real(sum(held) - held[i] - held[j] - d) + Real(d * 100, ann)
        self.c = Real(d ** (len(held) + 1) * 100, len(held) ** len(held) * ann)
        for k, each in enumerate(held):
            self.c /= 1 if k in (i, j) else each
        self.unit_in, self.unit_out = Real(rates[i], WAD), (1 - Real(swap_fee(pool), WAD)) * Real(WAD, rates[j])
        self.gift_out = 10**6 * self.unit_out + max(ZERO, self.at(ZERO).most_out)
        super().__init__(pool, i, j)

    def at(self, amount: Real) -> Point:
        x = self.x + amount * self.unit_in
        b, c, unit = self.b + x, self.c / x, self.unit_in * self.unit_out
        square = b * b + 4 * c
        root = Real(isqrt((square.numerator << 128) // square.denominator), ONE)
        low, high = max(ZERO, (root - b) / 2), (root + Real(1, ONE) - b) / 2
        least, most = ((y * y + c * y / x) / (z * z + c) * unit for y, z in ((low, high), (high, low)))
        return Point(amount, amount, (self.y - low) * self.unit_out, least, most)

class CubicCurve(Curve):
    """x^3 y + x y^3 = k, with the k that the contract requires after a swap. The fee is rounded down, as in pairs."""
    def __init__(self, pool: Record, i: int, j: int) -> None:
        if uint(pool.get("version", 2)) != 2 or not all(pool["reserves"]):
            raise KeyError("another version")
        self.unit_in, self.unit_out = (Real(WAD, 10 ** pool["decimals"][each]) for each in (i, j))
        self.gamma = 1 - Real(swap_fee(pool), WAD)
        self.x, self.y = pool["reserves"][i] * self.unit_in, pool["reserves"][j] * self.unit_out
        self.k = cubic(int(self.x), int(self.y)) * WAD**3
        super().__init__(pool, i, j)
        self.gift_in, self.gift_slope = 1 / self.gamma, self.start / self.gamma
        self.gift_out = max(ZERO, self.at(ZERO).most_out)

    def at(self, amount: Real) -> Point:
        x = self.x + amount * self.gamma * self.unit_in
        a, b = x * x * ONE**2, self.k / x * ONE**3
        a_up, b_down, root = ceil_div(a.numerator, a.denominator), b.numerator // b.denominator, int(self.y * ONE) + ONE
        while (after := (2 * root**3 + b_down) // (3 * root * root + a_up)) < root:  # Newton's method, from above
            root = after
        low, high, unit = Real(root, ONE), Real(root + 2, ONE), self.gamma * self.unit_in / self.unit_out
        least, most = ((3 * x * x * y + y**3) / (x**3 + 3 * x * z * z) * unit for y, z in ((low, high), (high, low)))
        return Point(amount, amount, (self.y - low) / self.unit_out, least, most)

class WeightedCurve(Curve):
    """y (1 - (x / (x + g a))^w): logarithms are correctly rounded to 60 digits, and get a margin of 10^-50."""
    def __init__(self, pool: Record, i: int, j: int) -> None:
        rates = [Real(uint(rate), WAD) if "rates" in pool else Real(1) for rate in pool.get("rates", pool["reserves"])]
        step = [1 / rate / 10 ** (18 - n) if "rates" in pool else ZERO for rate, n in zip(rates, pool["decimals"], strict=True)]
        self.x, self.y = max(Real(1, WAD), pool["reserves"][i] - step[i]), Real(pool["reserves"][j])  # rounded down there
        self.weight, self.gamma = Real(uint(pool["weights"][i]), uint(pool["weights"][j])), 1 - Real(swap_fee(pool), WAD)
        self.capacity = (self.x + 2 * step[i]) * 3 / 10 / self.gamma + 1
        super().__init__(pool, i, j)

    def at(self, amount: Real) -> Point:
        context, base = Context(prec=60), self.x / (self.x + self.gamma * amount)
        ratio, weight = (context.divide(Decimal(each.numerator), Decimal(each.denominator)) for each in (base, self.weight))
        left, margin = Real(context.exp(context.multiply(weight, context.ln(ratio)))), Real(1, 10**50)
        slope = self.gamma * self.weight * self.y / self.x * base * left
        return Point(amount, amount, self.y * (1 - left * (1 - margin)), slope * (1 - margin), slope * (1 + margin))

FAMILIES: dict[str, tuple[Callable[[Record, int, int, int], int], type[Curve]]] = {
    "constant_product": (swap_pair, PairCurve), "concentrated": (swap_ticks, TickCurve),
    "stableswap": (swap_stable, StableCurve), "solidly_stable": (swap_cubic, CubicCurve),
    "weighted": (swap_weighted, WeightedCurve), "balancer_v3_weighted": (swap_weighted, WeightedCurve)}


class Checker:
    """A proof, the reasons against it, and what of it is taken on faith."""
    def __init__(self, document: Record, asks_library: bool = False) -> None:
        self.document, self.asks_library, self.reasons, self.proved = document, asks_library, [], []
        self.tokens, self.scope, order, route = (document[key] for key in ("tokens", "scope", "order", "route"))
        self.sold, self.bought, self.amount = order["tokenIn"], order["tokenOut"], uint(route["amountIn"])
        self.amount_out, self.max_hops = uint(route["amountOut"]), uint(self.scope["maxHops"])
        self.unit, self.gas = real(document["gas"]["unitValue"]), document["gas"]
        self.pools = [self.read_pool(pool) for pool in document["pools"]]
        self.directions = [(n, i, j) for n, pool in enumerate(self.pools) for i in pool["tokens"] for j in pool["tokens"] if i != j]
        self.curves: dict[Direction, Curve | None] = {}
        self.faith: dict[str, dict[str, tuple[int, Real]]] = {}
        self.checked_by_library = 0

    def read_pool(self, pool: Record) -> Record:
        decimals = [uint(self.tokens[token]["decimals"]) for token in pool["tokens"]]
        ticks = [(sint(tick), sint(net)) for tick, net in pool.get("ticks", ())] if pool["family"] == "concentrated" else ()
        reserves = [uint(each) for each in pool.get("reserves", ())] if pool["family"] in FAMILIES else ()
        return pool | {"decimals": decimals, "ticks": ticks, "reserves": reserves}

    def name(self, direction: Sequence[int]) -> str:
        n, i, j = direction
        pool = self.pools[n]
        return f"{self.tokens[i]['symbol']} to {self.tokens[j]['symbol']} in pool {n} ({pool['protocol']} {pool['address']})"

    def curve(self, direction: Direction) -> Curve | None:
        """Return the direction's curve; None of a family, or a variant, that this file does not know."""
        if direction not in self.curves:
            n, i, j = direction
            pool, curve = self.pools[n], None
            try:
                kind = FAMILIES[pool["family"]][1]
                curve = kind(pool, pool["tokens"].index(i), pool["tokens"].index(j))
            except KeyError:
                pass
            except Reverts:
                curve = Curve(pool, 0, 1)
            self.curves[direction] = curve
        return self.curves[direction]

    def library_pool(self, n: int) -> Any:
        from swapcli.core.model.pool import PoolIdentity
        from swapcli.families import family
        pool = self.pools[n]
        identity = PoolIdentity(pool["address"], pool["protocol"], tuple(self.tokens[each]["address"] for each in pool["tokens"]),
                                tuple(pool["decimals"]), pool["fee_ppm"])
        return family(pool["family"]).from_state(identity, self.document["pools"][n])

    def replay(self) -> None:
        """Execute the route's steps, and compare what they pay with what the document says."""
        held, states, order = {self.sold: self.amount}, {}, self.document["order"]
        for number, step in enumerate(self.document["route"]["steps"]):
            n, i, j, amount, said = (uint(step[key]) for key in ("pool", "tokenIn", "tokenOut", "amountIn", "amountOut"))
            pool = self.pools[n]
            if i not in pool["tokens"] or j not in pool["tokens"] or i == j:
                raise Unreadable(f"step {number} trades tokens that pool {n} does not hold")
            if held.get(i, 0) < amount or not amount:
                self.reasons.append(f"step {number} sells more than the steps before it have brought")
            held[i], held[j] = held.get(i, 0) - amount, held.get(j, 0) + said
            try:
                if pool["family"] in FAMILIES and self.curve((n, i, j)) is not None:
                    state = states.setdefault(n, pool | {"reserves": list(pool["reserves"])})
                    paid = FAMILIES[pool["family"]][0](state, pool["tokens"].index(i), pool["tokens"].index(j), amount)
                elif self.asks_library:
                    before = states.get(n) or self.library_pool(n)
                    paid, states[n] = before.swap(*(self.tokens[each]["address"] for each in (i, j)), amount)
                else:
                    self.trust("steps", pool["family"], ZERO)
                    continue
            except Reverts as error:
                self.reasons.append(f"step {number}, {self.name((n, i, j))}, fails: {error}")
                continue
            if paid != said:
                self.reasons.append(f"step {number}, {self.name((n, i, j))}, pays {paid} and not {said}")
        if held.get(self.bought, 0) != self.amount_out:
            self.reasons.append(f"the steps bring {held.get(self.bought, 0)} and not {self.amount_out}")
        amount = uint(order["amount"])
        if self.amount != amount if order["exact"] == "input" else self.amount_out < amount:
            self.reasons.append("the route's amount is not the order's")
        steps = {(step["pool"], step["tokenIn"], step["tokenOut"]) for step in self.document["route"]["steps"]}
        between = len({token for _, *pair in steps for token in pair}) - 2
        least = sum(uint(self.pools[n]["gas"]) for n, _, _ in steps) + uint(self.gas["base"]) + uint(self.gas["tokenBetween"]) * between
        if uint(self.document["route"]["gasUnits"]) < least:
            self.reasons.append("the route's gas is less than the least gas of its pools")
        near, far = {self.sold: 0}, {self.bought: 0}
        for _ in steps:
            for _, i, j in steps:
                near[j], far[i] = min(near.get(j, 99), near.get(i, 99) + 1), min(far.get(i, 99), far.get(j, 99) + 1)
        if any(near.get(i, 99) + 1 + far.get(j, 99) > self.max_hops for _, i, j in steps):
            self.reasons.append(f"the route has more than {self.max_hops} hops, which the bounds do not cover")

    def trust(self, kind: str, family: str, value: Real) -> None:
        count, total = self.faith.setdefault(kind, {}).get(family, (0, ZERO))
        self.faith[kind][family] = count + 1, total + value

    def show(self, kind: str, direction: Direction, prices: Sequence[Real], claim: Real, term: Any, limit: Real | None = None,
             extra: Real = ZERO) -> Real:
        """Show that no trade in a direction gains more than `claim`; return what rounding could add to it."""
        v_in, v_out = prices[direction[1]], prices[direction[2]]
        curve, first = self.curve(direction), Real(uint(term[3])) if term else ZERO
        slack = self.amount_out * Real(1, 10**15)
        if curve is not None:
            bound = curve.least_bound((v_in, v_out), claim + slack, first, limit)
            if bound is None or bound > claim + slack:
                gain = "without limit" if bound is None else f"up to {float(bound):.9g}"
                self.reasons.append(f"{kind}: {self.name(direction)} can gain {gain}, not at most {float(claim):.9g}")
                return ZERO
            more = max(ZERO, v_out * curve.at(limit).most_slope - v_in) * extra if limit is not None and extra and bound else ZERO
            return max(ZERO, bound - claim) + curve.gift(v_in, v_out) + more
        shown = v_out * uint(term[4]) - v_in * first if term else ZERO
        if self.asks_library:
            trade = self.library_pool(direction[0]).curve(*(self.tokens[each]["address"] for each in direction[1:]))
            amount, out, _ = trade.trade_to_marginal_rate(max(float(v_in / v_out), 1e-300)) if v_out else (0.0, 0.0, 0.0)
            if limit is not None and amount > limit:
                amount, out = float(limit), trade.amount_out(float(limit))
            shown, self.checked_by_library = max(shown, v_out * Real(out) - v_in * Real(amount) - slack * 1000), self.checked_by_library + 1
        else:
            self.trust(kind, self.pools[direction[0]]["family"], claim)
        if shown > claim:
            self.reasons.append(f"{kind}: {self.name(direction)} can gain {float(shown):.9g}, not at most {float(claim):.9g}")
        return ZERO

    def leaf_bound(self, kind: str, leaf: Record, usable: Sequence[Direction], limits: dict[int, tuple[Real, Real]] | None) -> Real:
        """Show every term of a leaf; return the sum of its bound by its own prices, with what rounding could add."""
        prices, terms = [real(price) for price in leaf["prices"]], {tuple(term[:3]): term for term in leaf["terms"]}
        used, unused = ({tuple(each) for each in leaf[key]} for key in ("used", "unused"))
        if len(prices) != len(self.tokens) or prices[self.bought] != 1 or len(terms) < len(leaf["terms"]):
            raise Unreadable(f"{kind}: a price is missing, that of the bought token is not 1, or a term occurs twice")
        unit = self.unit if limits is not None else ZERO
        total, sums, rounding = self.amount * prices[self.sold] - unit * uint(self.gas["base"]), {}, ZERO
        for direction in usable:
            if direction in unused:
                continue
            term, gas = terms.get(direction), unit * uint(self.pools[direction[0]]["gas"])
            if direction in used and term is None:
                raise Unreadable(f"{kind}: {self.name(direction)} must be used, but its term is missing")
            claim = real(term[6]) if term else gas
            rounding += self.show(kind, direction, prices, claim, term, *(limits[direction[1]] if limits else ()))
            value, is_used = sums.get(direction[1], (ZERO, False))
            value += claim - gas if direction in used else max(ZERO, claim - gas)
            sums[direction[1]] = value, is_used or direction in used
        for token, (value, is_used) in sums.items():
            value -= unit * uint(self.gas["tokenBetween"]) if token != self.sold else ZERO
            total += value if is_used else max(ZERO, value)
        if total > real(leaf["bound"]):
            self.reasons.append(f"{kind}: the terms of a leaf sum to {float(total):.15g}, above its bound {leaf['bound']}")
        return real(leaf["bound"]) + rounding

    def reach(self, start: dict[int, Real], rates: dict[tuple[int, int], Real]) -> dict[int, Real]:
        """Return the most of each token that some amounts can become on paths that leave a hop to the bought token."""
        best, front = dict(start), start
        for _ in range(self.max_hops - 1):
            better: dict[int, Real] = {}
            for (i, j), rate in rates.items():
                if i in front and j not in (self.sold, self.bought):
                    amount = rounded_up(front[i] * rate)
                    if amount > max(best.get(j, ZERO), better.get(j, ZERO)):
                        better[j] = amount
            best, front = best | better, better
        return best

    def token_limits(self, rows: Record, usable: Sequence[Direction]) -> dict[int, tuple[Real, Real]]:
        """Show the limit of each token, with what rounding could bring of it; a token without one cannot be reached."""
        spot = {tuple(row[:3]): real(row[3]) for row in rows["spotRates"]}
        rates: dict[tuple[int, int], Real] = {}
        gifts: dict[int, Real] = {}
        for n, i, j in usable:
            curve = self.curve((n, i, j))
            rate = curve.start if curve is not None else spot.get((n, i, j))
            if rate is None:
                raise Unreadable(f"netOfGas: the spot rate of {self.name((n, i, j))} is missing")
            rates[i, j] = max(rates.get((i, j), ZERO), rate)
            if curve is None:
                self.trust("spotRates", self.pools[n]["family"], ZERO)
            elif curve.start:
                gifts[i], gifts[j] = gifts.get(i, ZERO) + curve.gift_in, gifts.get(j, ZERO) + curve.gift_out
        products, extra = self.reach({self.sold: Real(self.amount)}, rates), dict.fromkeys(range(len(self.tokens)), ZERO)
        for token, gift in gifts.items():
            for reached, amount in self.reach({token: gift}, rates).items() if gift and token in products else ():
                extra[reached] += amount
        prices, terms = [real(price) for price in rows["prices"]], {tuple(term[:3]): term for term in rows["terms"]}
        worth, rounding = (self.amount * prices[self.sold] if prices else ZERO), ZERO
        for direction in usable if prices else ():
            term = terms.get(direction)
            worth += (claim := real(term[6]) if term else ZERO)
            rounding += self.show("limits", direction, prices, claim, term)
        said = {self.sold: Real(self.amount)}
        limits = dict(said)
        for token, amount, reason in rows["tokens"]:
            need, most = None, ZERO
            if reason == "path":
                need = products.get(token, ZERO)
                most = need + extra[token]
            elif reason == "value" and prices and prices[token]:
                need, most = worth / prices[token], (worth + rounding) / prices[token]
            elif reason == "pools":
                need = ZERO
                for direction in (each for each in usable if each[2] == token and each[1] in products):
                    curve = self.curve(direction)
                    if curve is None or direction[1] not in limits:
                        raise Unreadable(f"netOfGas: what {self.name(direction)} brings has no limit")
                    need += curve.paid(said[direction[1]])
                    most += curve.paid(limits[direction[1]]) + curve.gift_out + curve.gift_slope * curve.gift_in
            claim = real(amount)
            if need is None or need > claim * (1 + Real(1, 10**12)):
                self.reasons.append(f"netOfGas: the limit of {self.tokens[token]['symbol']} is not shown by its {reason}")
            said[token], limits[token] = min(said.get(token, claim), claim), min(limits.get(token, max(claim, most)), max(claim, most))
        for token in products:
            if token not in limits:
                self.reasons.append(f"netOfGas: {self.tokens[token]['symbol']} can be reached, but has no limit")
        return {token: (limit, limits[token] - limit) for token, limit in said.items()}

    def check_bound(self, bound: Record) -> None:
        kind, pays, usable, limits = bound["kind"], Real(self.amount_out), self.directions, None
        if kind == "acyclic":
            excluded = {tuple(each) for each in bound["excluded"]}
            usable = [each for each in usable if each not in excluded]
        elif kind == "netOfGas":
            dust = {tuple(each) for each in self.scope["dust"]}
            usable = [each for each in usable if each[2] != self.sold and each[1] != self.bought and each not in dust]
            limits = self.token_limits(bound["limits"], usable)
            usable = [each for each in usable if each[1] in limits]
            pays -= self.unit * uint(self.document["route"]["gasUnits"])
        elif kind != "output":
            raise Unreadable(f"the bound {str(kind)[:30]!r} is not one of this version")
        most = max(self.leaf_bound(kind, leaf, usable, limits) for leaf in bound["leaves"])
        cases = [tuple(frozenset(map(tuple, leaf[key])) for key in ("used", "unused")) for leaf in bound["leaves"]]
        if not covers(cases, [MAX_WORK]):
            self.reasons.append(f"{kind}: the leaves do not cover every case")
        claimed, gap = real(bound["bound"]), real(bound["gapBps"])
        if any(real(leaf["bound"]) > claimed for leaf in bound["leaves"]):
            self.reasons.append(f"{kind}: a leaf's bound is above {bound['bound']}")
        if claimed < pays:
            self.reasons.append(f"{kind}: the route pays more than the bound {bound['bound']}")
        if pays <= 0 or (claimed / pays - 1) * 10**4 > gap:
            self.reasons.append(f"{kind}: the gap to the bound is more than {bound['gapBps']} bps")
        self.proved.append((kind, max(most, claimed), claimed, gap, len(bound.get("excluded", ()))))

    def as_json(self) -> Record:
        bounds = [{"kind": kind, "bound": str(self.shown(most)), "claimed": str(float(claimed)), "gapBps": float(gap)} for kind, most, claimed, gap, _ in self.proved]
        return {"accepted": not self.reasons, "reason": next(iter(self.reasons), None), "reasons": self.reasons, "bounds": bounds,
                "onFaith": {kind: {family: [n, float(v)] for family, (n, v) in found.items()} for kind, found in self.faith.items()}}

    def shown(self, value):
        return float(value)

    def lines(self):
        return [json.dumps(self.as_json())]

    def run(self) -> None:
        pools = json.dumps(self.document["pools"], sort_keys=True, separators=(",", ":")).encode()
        if self.scope["pools"] != len(self.pools) or self.scope["stateHash"] != sha256(pools).hexdigest():
            self.reasons.append("the pools are not those of the scope: their number or the hash of their state differs")
        self.replay()
        for bound in self.document["bounds"]:
            self.check_bound(bound)
        if [each[0] for each in self.proved] not in (["output"], ["output", "acyclic"], ["output", "netOfGas"], ["output", "acyclic", "netOfGas"]):
            raise Unreadable("the bounds are not output, acyclic and netOfGas in this order")


def covers(cases: list[tuple[frozenset[Any], ...]], work: list[int]) -> bool:
    """Return whether any choice of used directions is within one of the cases (used, unused)."""
    work[0] -= 1
    if any(not used and not unused for used, unused in cases):
        return True
    if not cases or work[0] < 0:
        return False
    count = Counter(direction for case in cases for part in case for direction in part)
    first = {min(count, key=lambda each: (-count[each], each))}
    return (covers([(used - first, unused) for used, unused in cases if not first & unused], work)
            and covers([(used, unused - first) for used, unused in cases if not first & used], work))


def main(words: Sequence[str]) -> int:
    paths = [word for word in words if not word.startswith("--")]
    if len(paths) != 1 or not {"--json", "--swapcli"}.issuperset(set(words) - set(paths)):
        print((__doc__ or "").strip())
        return 2
    try:
        checker = Checker(read(paths[0]), "--swapcli" in words)
        checker.run()
    except Unreadable as error:
        checker, reasons, status = None, [str(error)], 2
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ZeroDivisionError, ArithmeticError, RecursionError) as error:
        checker, reasons, status = None, [f"a field is missing or wrong ({type(error).__name__}: {str(error)[:60]})"], 2
    else:
        reasons, status = checker.reasons, 1 if checker.reasons else 0
    if "--json" in words:
        print(json.dumps(checker.as_json() if checker else {"accepted": False, "reason": reasons[0], "reasons": reasons}))
    elif status:
        print("\n".join([f"{'Not readable' if status == 2 else 'Rejected'}: {each}." for each in reasons[:20]]))
    else:
        print("\n".join(checker.lines()))
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
