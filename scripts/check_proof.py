#!/usr/bin/env python3
# fmt: off
"""Check a proof that `swapcli route --certify --proof FILE` wrote, without any code of swapcli.

    check_proof.py FILE [--json] [--swapcli]    exit status 0: accepted; 1: rejected, with its reasons; 2: unreadable
It replays the route in integers, as the contracts compute it, and verifies each bound in exact fractions, by the
theorem of docs/proof.md, which explains S, F, c and gifts. `--swapcli`: the library recomputes unknown terms, steps."""
import gzip
import json
import re
import sys
from bisect import bisect_right
from decimal import ROUND_CEILING, Context, Decimal, setcontext
from fractions import Fraction as Real
from functools import cache, cached_property
from hashlib import sha256
from heapq import heappop, heappush
from importlib import import_module
from itertools import permutations, product
from math import ceil, inf, isqrt, log, prod
from typing import Any

FORMAT, MAX_BYTES, MAX_CASES, MAX_PATHS = ("swapcli-proof", 2), 64 << 20, 100_000, 20_000  # the last two: of searches
WAD, PPM, Q96, ONE, ZERO, REFUSED = 10**18, 10**6, 1 << 96, 1 << 64, Real(0), -1  # REFUSED: the contract reverts
Record = dict[str, Any]
Direction = tuple[int, int, int]  # pool, token sold to it, token bought from it: indexes into the document's lists
setcontext(Context(prec=60))  # decimals round logarithms and powers correctly
def demand(holds: object, what: str) -> None:
    if not holds:
        raise ValueError(what)
def real(value: object) -> Real:  # the exact value; null is zero. NaN, signs and huge exponents are rejected
    text, pattern = "0" if value is None else str(value), r"(?=.{1,100}$)[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?"
    demand(re.fullmatch(pattern, text, re.ASCII), f"{text[:30]!r} is not a number of at least 0")
    return Real(text)
def uint(value: object) -> int:
    is_uint = type(value) in (int, str) and re.fullmatch("[0-9]{1,100}", str(value), re.ASCII)
    demand(is_uint, f"{str(value)[:30]!r} is not an integer of at least 0")
    return int(str(value))
def signed(value: object, read: Any = uint) -> Any:
    return -read(str(value)[1:]) if str(value).startswith("-") else read(value)
def up(a: int, b: int) -> int:
    return -(-a // b)
def decimal(value: Real, context: Context | None = None) -> Decimal:
    return (context or Context(prec=60)).divide(Decimal(value.numerator), Decimal(value.denominator))
def once(rows: list[Any]) -> Record:
    if len(found := dict(rows)) < len(rows):
        raise ValueError(f"something is twice where each is once: {', '.join(map(str, found))[:80]}")
    return found
def read(source: Any) -> Record:  # of a path or an open file. The limit on its size also holds after decompression.
    with open(source, "rb") if isinstance(source, str) else source as file:
        raw = (gzip.GzipFile(fileobj=file) if file.peek(2)[:2] == b"\x1f\x8b" else file).read(MAX_BYTES + 1)
    demand(len(raw) <= MAX_BYTES, f"it is larger than {MAX_BYTES >> 20} MB")
    found: Record = json.loads(raw, parse_constant=real, parse_float=real, object_pairs_hook=once)
    is_plain = not re.search(rb"[^\s -~]|\\([bfnrt]|u00[01789]|u20[026])", raw)
    demand(is_plain and (found["format"], found["version"]) == FORMAT, "it is not swapcli-proof 2 in plain characters")
    return found
# Part 1: the output of a swap, in integers, rounded as the contract rounds. Each function also updates the pool. ------
def swap_fee(pool: Record) -> int:
    return uint(pool["swap_fee"]) if "swap_fee" in pool else uint(pool["fee_ppm"]) * 10**12
def swap_pair(pool: Record, i: int, j: int, amount: int) -> int:
    """Uniswap V2 and its forks. Volatile Solidly pools first deduct the fee, rounded down, and pay it out."""
    variant, x, y = pool.get("variant", "uniswap_v2"), pool["reserves"][i], pool["reserves"][j]
    net = amount if variant == "uniswap_v2" else amount - amount * swap_fee(pool) // WAD
    if not (x and y) or (variant == "uniswap_v2" and x + net >> 112):
        return REFUSED
    paid = net * y // (x + net) if variant == "solidly" else (k := amount * (WAD - swap_fee(pool))) * y // (x * WAD + k)
    pool["reserves"][i], pool["reserves"][j] = x + net, y - paid
    return paid
TICK_FACTORS = [round(Decimal("1.0001") ** (-Decimal(1 << k) / 2) * (1 << 128)) for k in range(20)]  # of `TickMath`
@cache
def price_at(tick: int) -> int:  # the square root, with 96 fractional bits, rounded as `getSqrtRatioAtTick` does
    demand(abs(tick) <= 887272, f"the tick {tick} is outside the contracts' range")
    ratio = 1 << 128
    for k, factor in enumerate(TICK_FACTORS):
        ratio = ratio * factor >> 128 if abs(tick) >> k & 1 else ratio
    return up(((1 << 256) - 1) // ratio if tick > 0 else ratio, 1 << 32)
def tick_at(price: int) -> int:
    guess = int(2 * (log(price) - log(Q96)) / log(1.0001))
    return max(tick for tick in range(max(guess - 2, -887272), min(guess + 3, 887273)) if price_at(tick) <= price)
def tick_fee(pool: Record, down: bool) -> int:
    fee, protocol = uint(pool["fee_ppm"]), uint(pool.get("protocol_fees_ppm", (0, 0))[0 if down else 1])
    return protocol + fee - protocol * fee // PPM
def swap_ticks(pool: Record, i: int, j: int, amount: int) -> int:
    """Uniswap V3, V4 and their forks: `computeSwapStep` to each initialised tick, or to the edge of a bitmap's word."""
    down, left, paid, kept = i < j, amount, 0, PPM - tick_fee(pool, i < j)
    price, tick, liquidity, spacing = (signed(pool[k]) for k in ("sqrt_price_x96", "tick", "liquidity", "tick_spacing"))
    ticks, in_words = [each[0] for each in pool["ticks"]], pool.get("variant", "uniswap_v3") == "uniswap_v3"
    while left > 0:
        k = bisect_right(ticks, tick) - down
        if not 0 <= k < len(ticks):
            return REFUSED
        end, start, shifted, net = ticks[k], price, liquidity << 96, left * kept // PPM
        if in_words and liquidity:  # the edge of a word of 256 spacings ends a step, and each step rounds
            word = (tick // spacing + (not down)) >> 8 << 8
            end = max(end, word * spacing) if down else min(end, (word + 255) * spacing)
        target = min(max(price_at(end), price_at(-887272) + 1), price_at(887272) - 1)
        cost = up(up(shifted * (price - target), price), target) if down else up(liquidity * (target - price), Q96)
        if net >= cost:
            price, left, tick = target, left - cost - up(cost * (PPM - kept), kept), end - 1 if down else end
        else:
            left, fits = 0, shifted + net * price < 1 << 256
            price = (price + (net << 96) // liquidity if not down else
                     up(shifted * price, shifted + net * price) if fits else up(shifted, shifted // price + net))
            tick = tick_at(price) if price != start else tick
        paid += liquidity * (start - price) >> 96 if down else shifted * (price - start) // price // start
        if net >= cost and end == ticks[k]:
            liquidity += -pool["ticks"][k][1] if down else pool["ticks"][k][1]
    pool.update(sqrt_price_x96=price, tick=tick, liquidity=liquidity)
    return paid
def stable_terms(pool: Record) -> tuple[list[int], list[int], int, int]:
    """StableSwap: return the rates, the balances in 18 decimals, 100 A n, and D by the contract's own iteration."""
    rates = [uint(rate) * 10 ** (18 - places) for rate, places in zip(pool["rates"], pool["decimals"], strict=True)]
    held = [reserve * rate // WAD for reserve, rate in zip(pool["reserves"], rates, strict=True)]
    n, d, is_old = len(held), sum(held), pool.get("variant", "ng") != "ng" and len(held) > 2
    ann = (uint(pool["amp"]) * 100 + uint(pool.get("amp_hundredths", 0))) * n
    for _ in range(255 if all(held) else 0):
        product, before = d, d
        for each in held:  # older pools of three or more coins divide by n with each coin, the others at the end
            product = product * d // (each * n if is_old else each)
        product //= 1 if is_old else n**n
        d = (ann * sum(held) // 100 + product * n) * d // ((ann - 100) * d // 100 + (n + 1) * product)
        if abs(d - before) <= 1:
            return rates, held, ann, d
    return rates, held, ann, 0
def swap_stable(pool: Record, i: int, j: int, amount: int) -> int:  # Curve: half of the fee, off the output, leaves
    rates, held, ann, d = stable_terms(pool)
    if not d:
        return REFUSED
    after = [each + amount * rates[i] // WAD if k == i else each for k, each in enumerate(held)]
    b, c, y = sum(after) - after[j] + d * 100 // ann, d, d
    for k, each in enumerate(after):
        c = c if k == j else c * d // (each * len(held))
    c, before = c * d * 100 // (ann * len(held)), -2
    while abs(y - before) > 1:
        before, y = y, (y * y + c) // (2 * y + b - d)
    gross, fee, scale = held[j] - y - 1, swap_fee(pool) // 10**8, uint(pool.get("offpeg_fee_multiplier", 0))
    if scale > 10**10:
        u, v = (held[i] + after[i]) // 2, (held[j] + y) // 2
        fee = scale * fee // ((scale - 10**10) * 4 * u * v // (u + v) ** 2 + 10**10)
    fee = gross * fee // 10**10
    paid = (gross - fee) * WAD // rates[j]
    pool["reserves"][i], pool["reserves"][j] = (
        pool["reserves"][i] + amount, pool["reserves"][j] - paid - fee // 2 * WAD // rates[j])
    return paid
POWERS_OF_E = [(12800 * WAD >> k, int(Context(prec=21).exp(Decimal(128) / (1 << k)).scaleb(20))) for k in range(12)]
def artanh(z: int, one: int, terms: int) -> int:  # 2 artanh(z) in fixed point, by its series
    term = total = z
    for n in range(3, terms + 1, 2):
        total += (term := term * (z * z // one) // one) // n
    return 2 * total
def power(base: int, exponent: int) -> int:
    """`LogExpMath.pow` with its e^128 ... e^(1/16), for 0 < base <= 1: -ln base = 2 artanh((1 - base) / (1 + base))."""
    if base > 9 * 10**17:
        log36 = artanh((10**36 - base * WAD) * 10**36 // (10**36 + base * WAD), 10**36, 15)
        x = (log36 // WAD * exponent + log36 % WAD * exponent // WAD) // WAD
    else:
        a, total = WAD * WAD // base * 100, 0
        for k, e_k in POWERS_OF_E:
            a, total = (a * 10**20 // e_k, total + k) if a >= e_k else (a, total)
        x = (total + artanh((a - 10**20) * 10**20 // (a + 10**20), 10**20, 11)) // 100 * exponent // WAD
    x, value, term, series = x * 100, 10**20, 10**20, 10**20
    for k, e_k in POWERS_OF_E[2:10]:
        x, value = (x - k, value * e_k // 10**20) if x >= k else (x, value)
    for n in range(1, 13):
        series += (term := term * x // 10**20 // n)
    return WAD * WAD // (value * series // 10**20 // 100)
def swap_weighted(pool: Record, i: int, j: int, amount: int) -> int:  # Balancer V2: fees, rounded up, leave the input
    raw, scale = pool["reserves"], [10 ** (18 - places) for places in pool["decimals"]]
    net, x, y = (amount - up(amount * swap_fee(pool), WAD)) * scale[i], raw[i] * scale[i], raw[j] * scale[j]
    if not (x and y) or net > x * (3 * 10**17) // WAD or raw[i] + amount >> 112:
        return REFUSED
    left, exponent = up(x * WAD, x + net), uint(pool["weights"][i]) * WAD // uint(pool["weights"][j])
    if exponent in (WAD, 2 * WAD, 4 * WAD) and uint(pool.get("version", 4)) > 1:
        for _ in range(exponent // WAD // 2):
            left = up(left * left, WAD)
    else:
        left = (raised := power(left, exponent)) + up(raised * 10_000, WAD) + 1  # `powUp`: the library's stated error
    paid = y * max(0, WAD - left) // WAD // scale[j]
    raw[i], raw[j] = raw[i] + amount, raw[j] - paid
    return paid
# Part 2: the curves F of docs/proof.md, concave and real: no contract pays more, except for its roundings (gifts). ----
class Curve:
    """The curve F of one direction, in base units. `at` returns an input, an output and a slope: the tangent near an
    amount, or a line above it. Inputs above `capacity` revert. Rounding pays up to F(x + `gift_in`) + `gift_out`."""
    capacity, gift_in, gift_out = Real(1 << 300), ZERO, ZERO
    start: Any = cached_property(lambda self: self.at(ZERO)[2])  # the rate of the first unit
    def gift(self, v_in: Real, v_out: Real, limit: Real | None) -> Real:
        """Return the most that gifts add to a term: given units save their price, or are sold at the last rate."""
        last = self.at(min(self.capacity, limit))[2] if self.gift_in and limit is not None else ZERO
        most = v_out * (self.start * max(1, self.gift_in) + self.gift_out)  # for the first whole unit
        return v_out * self.gift_out + self.gift_in * max(v_in, v_out * last) if most > v_in else ZERO
    def gain(self, v_in: Real, v_out: Real, enough: Real, first: Real, limit: Real | None) -> Real:
        """Return an upper bound on v_out * out - v_in * in for inputs up to `limit`. F is below all of its tangents, so
        the gain is below the point where a rising and a falling one meet. Stop at a bound of at most `enough`."""
        end, lines = self.capacity if limit is None else min(self.capacity, limit), {}
        if v_out * self.start <= v_in or end <= 0:
            return ZERO
        amount, tried, found = ZERO, None, v_out * self.start * end
        for _ in range(250):
            given, paid, slope = self.at(min(amount, end))
            lines[v_out * slope > v_in] = v_out * (paid - slope * given), v_out * slope - v_in
            (low, rise), (high, fall) = lines[True], lines.get(False, (ZERO, ZERO))
            meet = min(end, (high - low) / (rise - fall)) if False in lines else end
            found = min(found, low + rise * meet, high if False in lines else found)
            if found <= enough or amount == tried or (amount >= end and False not in lines):
                break
            tried, amount = amount, (Real(max(0, int(meet * ONE)) + 1, ONE) if False in lines
                                     else amount * 16 or first or (Real(1, ONE) if v_in else end))
        return max(ZERO, found)
class TickCurve(Curve):  # L |1/p - 1/q| of one token against L |p - q| of the other; inputs rounded down, outputs up
    def __init__(self, pool: Record, i: int, j: int) -> None:
        self.down, k = i < j, bisect_right(pool["ticks"], (signed(pool["tick"]), 1 << 200))
        self.gamma = Real(PPM - tick_fee(pool, self.down), PPM)
        self.rest = pool["ticks"][:k] if self.down else pool["ticks"][k:][::-1]  # the nearest is the last
        self.way = [(0, 0, uint(pool["sqrt_price_x96"]) << 32, uint(pool["liquidity"]))]  # in, out, price, L
    def move(self, entry: tuple[int, int, int, int], price: int) -> tuple[int, int]:
        given, paid, start, liquidity = entry
        amounts = ((change := liquidity * abs(price - start)) << 192) // (start * price), change >> 64
        return given + amounts[not self.down], paid + amounts[self.down] + 1
    def at(self, amount: Real) -> tuple[Real, Real, Real]:
        net = int(amount * self.gamma * ONE)
        while self.rest and self.way[-1][0] <= net:
            tick, change = self.rest.pop()
            price = (min if self.down else max)(price_at(tick) << 32, self.way[-1][2])
            liquidity = self.way[-1][3] + (-change if self.down else change)
            self.way.append((*self.move(self.way[-1], price), price, max(0, liquidity)))
        entry = self.way[bisect_right(self.way, (net, 1 << 500)) - 1]
        left, start, liquidity = net - entry[0], entry[2], entry[3]
        price = (start if not left or not liquidity else start + (left << 64) // liquidity if not self.down
                 else (liquidity * start << 192) // ((liquidity << 192) + left * start))
        given, paid = self.move(entry, price) if price != start else entry[:2]
        slope = self.gamma * (Real(price, 1 << 128) if self.down else Real(1 << 128, price)) ** 2
        slope = ZERO if net and not liquidity and not self.rest else slope  # the pool is empty: more input buys nothing
        return Real(given, ONE) / self.gamma, Real(paid, ONE), slope
class StableCurve(Curve):  # StableSwap at the D of the contract: y^2 + (b - D) y = c. The fee comes off the output
    def __init__(self, pool: Record, i: int, j: int) -> None:
        if uint(pool.get("offpeg_fee_multiplier", 0)) > 10**10:
            raise KeyError("a fee that depends on the trade")
        rates, held, ann, d = stable_terms(pool)
        n, self.x, self.y = len(held), *((held[i], held[j]) if d else (1, 0))
        self.b = Real(sum(held) - held[i] - held[j] - d) + Real(d * 100, ann)
        self.c = Real(d ** (n + 1) * 100 * self.x * self.y, n**n * ann * prod(held)) if d else Real(1)
        self.unit_in, self.unit_out = Real(rates[i], WAD), Real(WAD - swap_fee(pool), rates[j]) * bool(d)
        self.gift_out = min(self.y * self.unit_out, 10**6 * self.unit_out + max(ZERO, self.at(ZERO)[1]))
    def at(self, amount: Real) -> tuple[Real, Real, Real]:
        x = self.x + amount * self.unit_in
        b, c, unit = self.b + x, self.c / x, self.unit_in * self.unit_out
        root = Real(isqrt(int((b * b + 4 * c) * ONE**2)), ONE)
        low, high = max(ZERO, (root - b) / 2), (root + Real(1, ONE) - b) / 2  # y is between
        least, most = ((y * y + c * y / x) / (z * z + c) * unit for y, z in ((low, high), (high, low)))
        return amount, (self.y - low) * self.unit_out + (most - least) * amount, most
class ProductCurve(Curve):
    """y (1 - (x / (x + g a))^w) with g = 1 - fee; without weights, w = 1. Weighted pools take at most 3/10 of x after
    the fee, rounded up: hence the + 1. Solidly rounds the fee down, so up to one unit more counts after the fee."""
    def __init__(self, pool: Record, i: int, j: int) -> None:
        variant, self.gamma, self.weight = pool.get("variant", "uniswap_v2"), 1 - Real(swap_fee(pool), WAD), Real(1)
        self.x, self.y = (pool["reserves"][i], pool["reserves"][j]) if pool["reserves"][i] else (1, 0)
        self.capacity = Real((1 << 112) - 1 - self.x) if variant == "uniswap_v2" else self.capacity
        self.gift_in = 1 / self.gamma if variant == "solidly" and self.gamma < 1 else ZERO
        if pool["family"] == "weighted":
            self.weight = Real(*(uint(pool["weights"][k]) for k in (i, j)))
            self.capacity = Real(self.x * 3 // 10 + 1) / self.gamma
    def at(self, amount: Real) -> tuple[Real, Real, Real]:
        base, margin = self.x / (self.x + self.gamma * amount), Real(self.weight != 1, 10**50)
        left = Real((decimal(self.weight) * decimal(base).ln()).exp()) if margin else base
        slope = self.gamma * self.weight * self.y / self.x * base * left * (1 + margin)
        return amount, self.y * (1 - left * (1 - margin)) + 2 * margin * slope * amount, slope
FAMILIES: dict[str, tuple[Any, type[Curve]]] = {  # each family's swap in integers (part 1) and curve (part 2)
    "constant_product": (swap_pair, ProductCurve), "concentrated": (swap_ticks, TickCurve),
    "stableswap": (swap_stable, StableCurve), "weighted": (swap_weighted, ProductCurve)}
UP = Context(prec=20, rounding=ROUND_CEILING)  # of products of rates
def onward(ways: list[Any], shut: Any) -> Decimal:  # the best whose next token is not shut; or the second, or 0
    return next((most for most, token in ways if token not in shut), ways[-1][0] if len(ways) > 1 else Decimal(0))
class Paths:  # products of rates on paths to a token that pass no token twice, and none after one that it is `before`
    def __init__(self, rates: Record, target: int, before: Any, hops: int) -> None:
        self.target, self.before, self.hops, self.leaving = target, before, hops, {token: [] for token, _ in rates}
        for (i, j), rate in rates.items():
            self.leaving[i].append((j, decimal(rate, UP)))
        self.walks: list[Record] = [{target: [(Decimal(1), -1)]}]  # by hops: of each token, the two best walks that do
        for _ in range(hops):  # not go straight back, with their next tokens
            self.walks.append({
                i: sorted((UP.multiply(rate, onward(self.walks[-1].get(j, ()), (i,))), j) for j, rate in edges)[:-3:-1]
                for i, edges in self.leaving.items()} | self.walks[0])
    def best(self, *passed: int) -> Real:
        """Return the largest product of a path on from the last of the tokens passed, or more after long work."""
        left, shut = max(0, self.hops + 1 - len({*passed})), {*passed, *(i for i, j in self.before if j in passed)}
        most, work = onward(self.walks[left].get(passed[-1], ()), ()), MAX_PATHS
        front = [(-most, passed[-1], Decimal(1), left, shut), (Decimal(0), self.target, Decimal(0), 0, shut)]
        while front[0][1] != self.target and work:  # the best first
            (_, token, so_far, left, shut), work = heappop(front), work - 1
            for j, rate in self.leaving.get(token, ()) if left else ():
                then = UP.multiply(so_far, rate)
                most = UP.multiply(then, onward(self.walks[left - 1].get(j, ()), shut))
                if most and j not in shut:
                    heappush(front, (-most, j, then, left - 1, shut | {j, *(i for i, k in self.before if k == j)}))
        return Real(-front[0][0])
class Checker:  # read `run` first: it calls `replay`, and `check_bound` with `limits`, `leaf_bound` and `show` (a term)
    def __init__(self, document: Record, library: Any) -> None:
        self.document, self.library, self.reasons, self.proved, self.faith = document, library, [], [], {}
        self.tokens, self.scope, self.route, self.gas = (document[key] for key in ("tokens", "scope", "route", "gas"))
        self.amount, self.pays, self.gas_units = (uint(self.route[k]) for k in ("amountIn", "amountOut", "gasUnits"))
        self.sold, self.bought = (uint(document["order"][key]) for key in ("tokenIn", "tokenOut"))
        for rows in (self.tokens, document["pools"]):
            once([(re.sub("0x0*", "", (each.get("pool_id") or each["address"]).lower()), each) for each in rows])
        self.hops, self.unit = uint(self.scope["maxHops"]), real(self.gas["unitValue"])
        self.pools = [self.pool(each) for each in document["pools"]]
        self.directions = [(n, *pair) for n, pool in enumerate(self.pools) for pair in permutations(pool["tokens"], 2)]
    def pool(self, pool: Record) -> Record:
        known, tokens = pool if pool["family"] in FAMILIES else {}, [*once([(uint(k), k) for k in pool["tokens"]])]
        ticks = sorted(once([(signed(tick), signed(net)) for tick, net in known.get("ticks", ())]).items())
        return pool | {"tokens": tokens, "decimals": [uint(self.tokens[token]["decimals"]) for token in tokens],
                       "reserves": [uint(each) for each in known.get("reserves", ())], "ticks": ticks}
    def name(self, direction: Direction) -> str:
        (n, *pair), pool = direction, self.pools[direction[0]]
        return f"{' to '.join(self.tokens[k]['symbol'] for k in pair)}, pool {n} ({pool['protocol']} {pool['address']})"
    def require(self, holds: bool, reason: str) -> None:
        self.reasons += () if holds else (reason,)
    def trust(self, kind: str, n: int, value: Real) -> None:
        count, total = self.faith.get((kind, self.pools[n]["family"]), (0, ZERO))
        self.faith[kind, self.pools[n]["family"]] = count + 1, total + value
    @cache  # noqa: B019
    def curve(self, direction: Direction) -> Curve | None:  # None if this file does not know the family or variant
        pool = self.pools[direction[0]]
        try:
            return FAMILIES[pool["family"]][1](pool, *(pool["tokens"].index(token) for token in direction[1:]))
        except KeyError:
            return None
    def replay(self) -> None:  # Execute the route's steps, and compare their outputs with the document's.
        held, states, order, used = {self.sold: self.amount}, {}, self.document["order"], {}
        for number, step in enumerate(self.route["steps"]):
            n, i, j, amount, said = (uint(step[k]) for k in ("pool", "tokenIn", "tokenOut", "amountIn", "amountOut"))
            pool, name, paid = self.pools[n], f"step {number}, {self.name((n, i, j))},", said
            self.require(0 < amount <= held.get(i, 0) * (i != j), f"{name} sells more than the steps before it brought")
            held[i], held[j] = held.get(i, 0) - amount, held.get(j, 0) + said
            used[n, i, j] = uint(pool["gas"])
            if self.curve((n, i, j)) is not None:
                state = states.setdefault(n, pool | {"reserves": list(pool["reserves"])})
                paid = FAMILIES[pool["family"]][0](state, pool["tokens"].index(i), pool["tokens"].index(j), amount)
            elif self.library:
                paid, states[n] = self.library.swap(self.document, n, i, j, amount, states.get(n))
            else:
                self.trust("steps", n, Real(said if j == self.bought else 0))
            self.require(paid == said, f"{name} pays {'nothing' if paid == REFUSED else paid}, not {said}")
        amount, given, ahead, behind = uint(order["amount"]), held.get(self.bought), {self.sold: 0}, {self.bought: 0}
        fits = amount <= self.pays if order["exact"] == "output" else amount == self.amount
        self.require(fits and given == self.pays, f"the steps bring {given}, not what route and order say")
        gas = uint(self.gas["base"]) + uint(self.gas["tokenBetween"]) * (len(held) - 2) + sum(used.values())
        self.require(self.gas_units >= gas, "the route's gas is less than the least gas of its pools")
        for _, (_, i, j) in product(range(min(self.hops, len(held))), used):  # hops from the sold, to the bought token
            ahead[j] = min(ahead.get(j, inf), ahead.get(i, inf) + 1)
            behind[i] = min(behind.get(i, inf), behind.get(j, inf) + 1)
        self.longest = max((ahead.get(i, inf) + 1 + behind.get(j, inf) for _, i, j in used), default=0)
    def gain(self, kind: str, direction: Direction, v_i: Real, v_j: Real, term: Any, claim: Real, limit: Any) -> Real:
        """Return S, the largest gain in a direction including gifts, or any more that is at most `claim`."""
        if curve := self.curve(direction):
            gift, first = curve.gift(v_i, v_j, limit), Real(uint(term[3])) if term else ZERO
            return curve.gain(v_i, v_j, max(claim - gift, ZERO), first, limit) + gift
        if self.library:  # which computes in floats
            numbers = map(float, (v_i, v_j, "inf" if limit is None else limit))
            return Real(self.library.gain(self.document, direction, *numbers))
        self.trust(kind, direction[0], claim if term else ZERO)
        return v_j * uint(term[4]) - v_i * uint(term[3]) if term else ZERO  # of the trade that the term names
    def show(self, kind: str, direction: Direction, v_i: Real, v_j: Real, term: Any, claim: Real, limit: Any) -> None:
        gain = self.gain(kind, direction, v_i, v_j, term, claim, limit)
        self.require(gain <= claim, f"{kind}: {self.name(direction)} gains {float(gain):.9g}, above its term")
    def leaf_bound(self, kind: str, leaf: Record, usable: list[Direction], limits: Record | None) -> Real:
        """Return the bound of a leaf. Verify every term, and that their sum is at most the bound."""
        prices, terms = [*map(real, leaf["prices"])], once([(tuple(term[:3]), term) for term in leaf["terms"]])
        used, unused, before = ({(*map(uint, each),) for each in leaf[key]} for key in ("used", "unused", "before"))
        for k in {first for first, _ in before}:  # what follows: i before k before j
            before |= {(i, j) for i, m in before for n, j in before if k == m == n}
        usable = [each for each in usable if each not in unused and each[:0:-1] not in before]
        has_prices = len(prices) == len(self.tokens) and prices[self.bought] == 1 and not before
        demand(limits or has_prices, f"{kind}: a price is missing, the bought token's is not 1, or tokens are in order")
        unit, sums, price = (self.unit, {}, real(leaf["product"])) if limits else (ZERO, {}, prices[self.sold])
        listed = once([((uint(i), uint(j)), real(rate)) for i, j, rate in leaf["rates"]])
        rates = {each[1:]: listed.get(each[1:], self.rates[each[1:]]) for each in usable if limits}
        paths = Paths(rates, self.bought, before, min(self.hops, len(self.tokens)))
        self.require(paths.best(self.sold) <= price, f"{kind}: a path's product of rates is above {float(price)}")
        for direction in usable:
            (n, i, j), term = direction, terms.get(direction)
            gas = unit * uint(self.pools[n]["gas"])
            claim, most = real(term[6]) if term else gas, paths.best(self.sold, i, j) if limits else ZERO
            v_in, v_out = (rates[i, j] * most, most) if limits else (prices[i], prices[j])
            self.show(kind, direction, v_in, v_out, term, claim, limits and limits[i])
            sums[i] = sums.get(i, ZERO) + (claim - gas if direction in used else max(ZERO, claim - gas))
        total = self.amount * price - unit * uint(self.gas["base"])
        for token, value in sums.items():
            net = value - unit * uint(self.gas["tokenBetween"]) * (token != self.sold)
            total += net if token in {each[1] for each in used} else max(ZERO, net)
        bound = signed(leaf["bound"], real)
        self.require(total <= bound, f"{kind}: the terms of a leaf sum to {float(total):.15g}, not to {leaf['bound']}")
        return Real(bound)
    def reach(self, start: dict[int, Real]) -> dict[int, Real]:
        """Return the largest amount of each token that the best walk at spot rates makes, with a hop left."""
        backward = {(j, i): rate for (i, j), rate in self.rates.items()} | {(k, -2): start[k] for k in start}
        walks = Paths(backward, -2, (), min(self.hops, len(self.tokens))).walks[-1]
        return {token: Real(ways[0][0]) for token, ways in walks.items() if token >= 0 < ways[0][0]}
    def limits(self, rows: Record, usable: list[Direction]) -> dict[int, Real]:
        """Verify each token's limit c. Gifts in n tokens grow to at most n times the largest outcome of one token."""
        spot, prices = {tuple(row[:3]): row[3] for row in rows["spotRates"]}, [real(price) for price in rows["prices"]]
        terms, self.rates, gifts, worth = {tuple(term[:3]): term for term in rows["terms"]}, {}, {}, ZERO
        for direction in usable:
            pair, curve, term = direction[1:], self.curve(direction), terms.get(direction)
            self.rates[pair] = max(self.rates.get(pair, ZERO), rate := curve.start if curve else real(spot[direction]))
            if curve is None and self.library:
                self.require(self.library.start_rate(self.document, direction) <= float(rate), f"rate: {direction}")
            elif curve is None:
                self.trust("spot rates", direction[0], ZERO)
            if prices:
                worth += (claim := real(term[6]) if term else ZERO)
                self.show("limits", direction, prices[pair[0]], prices[pair[1]], term, claim, None)
        products, limits = self.reach({self.sold: Real(self.amount)}), {self.sold: Real(self.amount)}
        near = [each for each in usable if each[1] in products]
        for (_, i, j), curve in ((each, self.curve(each)) for each in near):
            for token, gift in ((i, curve.gift_in), (j, curve.gift_out)) if curve and curve.start else ():
                gifts |= {token: gifts.get(token, ZERO) + gift} if gift and token != self.bought else {}
        given = self.reach({token: gift * len(gifts) for token, gift in gifts.items()})
        for token, amount, reason in rows["tokens"]:
            claim, need = real(amount), products.get(token, ZERO) + given.get(token, ZERO)
            if reason == "value":
                need = (self.amount * prices[self.sold] + worth) / prices[token]
            elif reason == "pools":
                need = sum(self.gain("limits", d, ZERO, 1, None, ZERO, limits[d[1]]) for d in near if d[2] == token)
            self.require(token != self.sold and need <= claim, f"afterGas: limit of token {token} is not its {reason}")
            limits[token] = min(limits.get(token, claim), claim)
        self.require(not products.keys() - limits.keys() - {self.bought}, "afterGas: a token within reach has no limit")
        return limits
    def check_bound(self, bound: Record) -> None:
        kind, pays, limits = bound["kind"], Real(self.pays), None
        ends = [[*each] for each in self.directions if each[2] == self.sold or each[1] == self.bought]  # only of cycles
        left_out = {"output": [], "acyclic": ends, "afterGas": self.scope["dust"] + ends}[kind]
        usable = [each for each in self.directions if [*each] not in left_out]
        if kind == "afterGas":
            limits = self.limits(bound["limits"], usable)
            self.require(self.longest <= self.hops, f"afterGas: a swap of the route is on no path of {self.hops} hops")
            usable, pays = [each for each in usable if each[1] in limits], pays - self.unit * self.gas_units
        claimed, gap, leaves = real(bound["bound"]), real(bound["gapBps"]), bound["leaves"]
        cases = [[{*map(tuple, leaf[key])}.union(  # an order of two tokens is used or not, as if it were a direction
            (-1, *sorted(each)) for each in leaf["before"] if (each[0] < each[1]) == (key == "used"))
            for key in ("used", "unused")] for leaf in leaves]
        self.require(covers(cases, [MAX_CASES]), f"{kind}: the leaves do not cover every case")
        most = max(self.leaf_bound(kind, leaf, usable, limits) for leaf in leaves)
        self.require(claimed >= max(most, pays), f"{kind}: the bound is below that of a leaf, or what the route pays")
        self.require(pays > 0 and (claimed / pays - 1) * 10**4 <= gap, f"{kind}: the gap is above {bound['gapBps']}")
        self.proved.append((kind, claimed, gap, len(self.scope["dust"]) if limits else 0))
    def run(self) -> None:
        state = json.dumps(self.document["pools"], sort_keys=True, separators=(",", ":")).encode()
        self.require(self.scope["pools"] == len(self.pools) and self.scope["stateHash"] == sha256(state).hexdigest(),
                     "the pools are not those of the scope: their number or the hash of their state differs")
        self.replay()
        kinds = [bound["kind"] for bound in self.document["bounds"]]
        in_order = sorted({*kinds, "output"}, key=["output", "acyclic", "afterGas"].index)
        demand(kinds == in_order, "the bounds are not output, acyclic and afterGas, in this order and each once")
        for bound in self.document["bounds"]:
            self.check_bound(bound)
    def amount_of(self, token: int, value: Real) -> str:
        shown = decimal(value / 10 ** uint(self.tokens[token]["decimals"]), Context(12, ROUND_CEILING))
        return f"{shown:,f} {self.tokens[token]['symbol']}"
    def lines(self) -> list[str]:
        every, block = f"{{}} of {len(self.directions)} directions", self.document["state"]["block"] or "unknown"
        claims = {"output": "no routing that trades each direction of a pool at most once",
                  "acyclic": "none of these without cycles",
                  "afterGas": f"no route of at most {self.hops} hops without cycles, with {every} skipped, net of gas,"}
        bounds = [f"{claims[kind].format(out)} pays over {self.amount_of(self.bought, bound)} ({float(gap):.3g} bps)"
                  for kind, bound, gap, out in self.proved]
        faith = [f"{count} {kind} of {family} ({float(value / self.pays):.2g} of the output)"
                 for (kind, family), (count, value) in self.faith.items()]
        sold, bought = self.amount_of(self.sold, Real(self.amount)), self.amount_of(self.bought, Real(self.pays))
        return [f"Accepted: {sold} for {bought}, {self.document['network']}, block {block}.",
                f"Replayed: {len(self.route['steps'])} swaps, each as its pool's contract computes it.",
                f"Proved over these {len(self.pools)} pools: {'; '.join(bounds)}.",
                f"Taken on faith: {', '.join(faith) or 'nothing'}.",
                "Not checked: that the chain's pools are in this state and need this gas; pools that are not listed."]
def covers(cases: list[Any], work: list[int]) -> bool:  # whether each choice of directions meets a (used, unused)
    work[0] -= 1
    if not cases or work[0] < 0 or any(not used and not unused for used, unused in cases):
        return bool(cases) and work[0] >= 0
    first = {max(every := sorted(each for case in cases for part in case for each in part), key=every.count)}
    return (covers([(used - first, unused) for used, unused in cases if not first & unused], work)
            and covers([(used, unused - first) for used, unused in cases if not first & used], work))
def judge(files: list[Any], use_swapcli: bool) -> tuple[int, Record, list[str]]:  # the status, the JSON, the lines
    try:
        demand(len(files) == 1 and str(files[0])[0] != "-", "usage: check_proof.py FILE [--json] [--swapcli]")
        (checker := Checker(read(files[0]), use_swapcli and import_module("swapcli.quoting.proof_checker"))).run()
        status, reasons = int(bool(checker.reasons)), [f"Rejected: {each}." for each in checker.reasons]
        found: Record = {"bounds": [{"kind": kind, "bound": str(ceil(bound)), "gapBps": float(gap), "skipped": out}
                                    for kind, bound, gap, out in checker.proved],
                         "onFaith": [[*key, count, float(value)] for key, (count, value) in checker.faith.items()]}
    except Exception as error:  # whatever is wrong with the file, it proves nothing
        what = str(error) if isinstance(error, (ValueError, OSError, ImportError)) else f"a field is wrong: {error!r}"
        status, reasons, found = 2, [f"Not readable as a proof: {what[:200]}."], {"bounds": [], "onFaith": []}
    found |= {"accepted": not reasons, "reason": next(iter(reasons), None), "reasons": reasons}
    return status, found, reasons[:20] or checker.lines()
def main(words: list[str]) -> int:
    status, found, lines = judge([word for word in words if word not in ("--json", "--swapcli")], "--swapcli" in words)
    print(json.dumps(found) if "--json" in words else "\n".join(lines))
    return status
if __name__ == "__main__":
    sys.exit(print(__doc__) if {"-h", "--help"} & {*sys.argv} else main(sys.argv[1:]))
