"""Concentrated liquidity of Ekubo on Starknet: one core contract holds all pools, each named by its PoolKey.

The maths follows the core's `swap` and its libraries `swap`, `sqrt_ratio`, `delta`, `fee` and `ticks` (commit a5b2c7fc
of EkuboProtocol/starknet-contracts). A step ends at the next initialised tick, or where the core stops searching for
one: words of its bitmap hold 251 ticks of the spacing, and the call's `skip_ahead` is the number of further words that
it searches. Each step rounds on its own, so these edges count.

Version 4 of the core rounds the ratio after an input of token0 on the way to whole units of token0, which can change
the last digits where a unit of token0 is worth many of token1; version 5, of July 2026, does not.

Pools without an extension are exact, and so are those whose extension leaves amounts unchanged: the oracle (it records
the tick before a swap) and limit orders, which withdraw filled orders after a swap. So in a pool of limit orders `swap`
returns the state before that withdrawal, which is enough for further swaps in the same direction.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import expm1, log, log1p
from typing import ClassVar, Final, Self

from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, SwapReverts
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.core.model.units import PPM
from swapcli.core.records import NamedTuple
from swapcli.core.validation.values import MAX_FELT
from swapcli.families.ekubo.ekubo_tick_math import (
    MAX_SQRT_RATIO,
    MAX_TICK,
    MIN_SQRT_RATIO,
    MIN_TICK,
    Q128,
    sqrt_ratio_at_tick,
    tick_at_sqrt_ratio,
)
from swapcli.families.fast_replace import fast_replace
from swapcli.families.identity_checks import check_pair
from swapcli.families.rounding import div_up, mul_div_up
from swapcli.families.state_fields import StateFields
from swapcli.families.token_positions import is_forward
from swapcli.families.uniswap.concentrated_curve import ConcentratedCurve, TickScale
from swapcli.families.uniswap.concentrated_state import read_liquidity, read_ticks

MAX_TICK_SPACING: Final = 354_892
WORD_BITS: Final = 251
"""Bits of a word of the core's bitmap, which fit a felt."""
_VERSIONS: Final = (4, 5)
LATEST_VERSION: Final = _VERSIONS[-1]
_CROSSING_GAS: Final = 37_400
_LOG_TICK: Final = log1p(1e-6)
_AMOUNT_BITS: Final = 128


class EkuboKey(NamedTuple):
    """The members of a PoolKey that the tokens do not say, and the initialised ticks with their net liquidity.

    `fee_x128` is a fraction of the input with 128 fractional bits. `extension` is the address of the extension
    contract, "0x0" for none. `skip_ahead` is what the router gives the core with each swap. `version` is the core's.
    """

    pool_id: str
    fee_x128: int
    tick_spacing: int
    extension: str
    skip_ahead: int
    version: int
    ticks: tuple[int, ...]
    liquidity_nets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Ekubo(Pool):
    """`address` is the core. `sqrt_ratio` is the square root of token1 per token0 with 128 fractional bits.

    `tick` is the contract's: one below the price's own after a downward swap stopped on a boundary. No swap changes
    `pool_key`.
    """

    sqrt_ratio: int
    tick: int
    liquidity: int
    pool_key: EkuboKey

    family: ClassVar[str] = "ekubo"
    # No figure of Starknet's resource bounds is known; these are Uniswap V3's, which has the same steps.
    swap_gas: ClassVar[int] = 68_800
    requires_exact_payment: ClassVar[bool] = True
    holds_reserves_in_vault: ClassVar[bool] = True

    @property
    def key(self) -> str:
        """The pool id: the Keccak-256 hash of the five felts of the PoolKey as 32-byte words, its highest bit set."""
        return self.pool_key.pool_id

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Sell exactly `amount_in`. Raises as `Pool.swap`."""
        if amount_in >> _AMOUNT_BITS:
            raise SwapReverts(f"pool {self.key}: {amount_in} exceeds 2^{_AMOUNT_BITS} - 1")
        sell = _sell_token0 if is_forward(self, token_in, token_out) else _sell_token1
        amount_out, sqrt_ratio, tick, liquidity = sell(self, amount_in)
        if amount_out <= 0:
            raise self.rounds_to_zero(amount_in)
        if amount_out >> _AMOUNT_BITS:
            raise SwapReverts(f"pool {self.key}: the output {amount_out} exceeds 2^{_AMOUNT_BITS} - 1")
        after: Self = _replace_position(self, sqrt_ratio, tick, liquidity)
        return amount_out, after

    def curve(self, token_in: str, token_out: str) -> ConcentratedCurve:
        """Return the direction in floats. It builds its table of ticks on first use."""
        key = self.pool_key
        return ConcentratedCurve(
            self.sqrt_ratio,
            self.tick,
            self.liquidity,
            key.ticks,
            key.liquidity_nets,
            key.fee_x128,
            is_forward(self, token_in, token_out),
            whole=Q128,
            scale=EKUBO_SCALE,
        )

    def state(self) -> dict[str, object]:
        """Return the family's fields of `swap-market/1`."""
        key = self.pool_key
        return {
            "pool_id": key.pool_id,
            "fee_x128": str(key.fee_x128),
            "tick_spacing": key.tick_spacing,
            "extension": key.extension,
            **({"skip_ahead": key.skip_ahead} if key.skip_ahead else {}),
            **({"version": key.version} if key.version != LATEST_VERSION else {}),
            "sqrt_ratio": str(self.sqrt_ratio),
            "tick": self.tick,
            "liquidity": str(self.liquidity),
            "ticks": [[tick, str(net)] for tick, net in zip(key.ticks, key.liquidity_nets, strict=True)],
        }

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read `pool_id, fee_x128, tick_spacing, extension, sqrt_ratio, tick, liquidity, ticks: [[tick, net], ...]`.

        Optional: `skip_ahead` (0), `version` (5, or 4). `fee_ppm` must be `fee_x128` rounded as `fee_ppm_of` does.
        """
        check_pair(identity)
        fields = StateFields(state)
        key = _read_key(fields, identity)
        sqrt_ratio, tick, liquidity = _read_position(fields, key)
        return cls(
            *identity,
            sqrt_ratio,
            tick,
            liquidity,
            key,
        )

    def gas_units(self, after: Pool) -> int:
        """Return `swap_gas` plus the cost of the initialised ticks between this state and `after`."""
        assert isinstance(after, Ekubo)
        return self._gas_units_at(after.tick)

    def gas_units_to(self, token_in: str, token_out: str, rate: float) -> int:
        """Return `gas_units` of a swap that ends at the marginal rate `rate`."""
        gamma, down = (Q128 - self.pool_key.fee_x128) / Q128, is_forward(self, token_in, token_out)
        if rate <= 0.0:
            return self._gas_units_at(MIN_TICK if down else MAX_TICK)
        price = rate / gamma if down else gamma / rate
        return self._gas_units_at(int(log(price) // _LOG_TICK))

    def _gas_units_at(self, tick: int) -> int:
        ticks = self.pool_key.ticks
        return self.swap_gas + _CROSSING_GAS * abs(bisect_right(ticks, self.tick) - bisect_right(ticks, tick))

    def api_extra_data(self) -> dict[str, int | str]:
        """Return the members of the PoolKey besides the tokens, and `skipAhead`. The fee has 128 fractional bits."""
        key = self.pool_key
        return {
            "poolId": key.pool_id,
            "fee": str(key.fee_x128),
            "tickSpacing": key.tick_spacing,
            "extension": key.extension,
            "skipAhead": key.skip_ahead,
        }


_replace_position = fast_replace(Ekubo, "sqrt_ratio", "tick", "liquidity")


def fee_ppm_of(fee_x128: int) -> int:
    """Return a fee with 128 fractional bits in parts per million, rounded to the nearest below the whole input."""
    return min((fee_x128 * PPM + Q128 // 2) >> 128, PPM - 1)


class SellStep(NamedTuple):
    """One step of a swap: the input that it takes, fee included, the output, and the square-root ratio after it."""

    consumed: int
    amount_out: int
    sqrt_ratio: int


def sell_step(
    sqrt_ratio: int, target: int, liquidity: int, amount: int, fee_x128: int, down: bool, version: int = LATEST_VERSION
) -> SellStep:
    """Sell up to `amount` (> 0) from `sqrt_ratio` at most to `target`, of token0 if `down`, else of token1."""
    if sqrt_ratio == target or not liquidity:
        return SellStep(0, 0, target)
    net = amount - mul_div_up(amount, fee_x128, Q128)
    spread = liquidity * abs(target - sqrt_ratio)
    if down:
        after = _ratio_after_token0(sqrt_ratio, liquidity << 128, net, version)
        if after <= target:
            return SellStep(_before_fee(div_up(spread << 128, sqrt_ratio * target), fee_x128), spread >> 128, target)
        return SellStep(amount, liquidity * (sqrt_ratio - after) >> 128, after)
    after = sqrt_ratio + (net << 128) // liquidity
    if after > target:
        return SellStep(_before_fee(div_up(spread, Q128), fee_x128), (spread << 128) // (sqrt_ratio * target), target)
    return SellStep(amount, (liquidity << 128) * (after - sqrt_ratio) // (after * sqrt_ratio), after)


def _ratio_after_token0(sqrt_ratio: int, scaled_liquidity: int, net: int, version: int) -> int:
    """Return the ratio after an input of `net`, rounded up; `scaled_liquidity` has 128 fractional bits."""
    if version == LATEST_VERSION or not net:
        return mul_div_up(scaled_liquidity, sqrt_ratio, scaled_liquidity + net * sqrt_ratio)
    return div_up(scaled_liquidity, scaled_liquidity // sqrt_ratio + net)


def _sell_token0(pool: Ekubo, amount: int) -> tuple[int, int, int, int]:
    """Walk down the ticks while selling `amount` of token0.

    Return (amount_out, sqrt_ratio, tick, liquidity) after the swap.
    """
    sqrt_ratio, tick, liquidity, key = pool.sqrt_ratio, pool.tick, pool.liquidity, pool.pool_key
    word_ticks = WORD_BITS * key.tick_spacing
    amount_out = 0
    i = bisect_right(key.ticks, tick) - 1
    while amount > 0:
        if i < 0:
            raise _out_of_liquidity(pool)
        end = key.ticks[i]
        if liquidity:  # without liquidity a step costs nothing, so empty words are skipped
            end = max(end, (tick // word_ticks - key.skip_ahead) * word_ticks, MIN_TICK)
        target = sqrt_ratio_at_tick(end)
        step = sell_step(sqrt_ratio, target, liquidity, amount, key.fee_x128, True, key.version)
        amount -= step.consumed
        amount_out += step.amount_out
        if step.sqrt_ratio == target:
            tick = end - 1
            if end == key.ticks[i]:
                liquidity -= key.liquidity_nets[i]
                i -= 1
        elif step.sqrt_ratio != sqrt_ratio:
            tick = tick_at_sqrt_ratio(step.sqrt_ratio)
        sqrt_ratio = step.sqrt_ratio
    return amount_out, sqrt_ratio, tick, liquidity


def _sell_token1(pool: Ekubo, amount: int) -> tuple[int, int, int, int]:
    """Walk up the ticks while selling token1; like `_sell_token0`."""
    sqrt_ratio, tick, liquidity, key = pool.sqrt_ratio, pool.tick, pool.liquidity, pool.pool_key
    spacing = key.tick_spacing
    word_ticks = WORD_BITS * spacing
    amount_out = 0
    i = bisect_right(key.ticks, tick)
    while amount > 0:
        if i == len(key.ticks):
            raise _out_of_liquidity(pool)
        end = key.ticks[i]
        if liquidity:
            end = min(end, ((tick + spacing) // word_ticks + key.skip_ahead + 1) * word_ticks - spacing, MAX_TICK)
        target = sqrt_ratio_at_tick(end)
        step = sell_step(sqrt_ratio, target, liquidity, amount, key.fee_x128, False, key.version)
        amount -= step.consumed
        amount_out += step.amount_out
        if step.sqrt_ratio == target:
            tick = end
            if end == key.ticks[i]:
                liquidity += key.liquidity_nets[i]
                i += 1
        elif step.sqrt_ratio != sqrt_ratio:
            tick = tick_at_sqrt_ratio(step.sqrt_ratio)
        sqrt_ratio = step.sqrt_ratio
    return amount_out, sqrt_ratio, tick, liquidity


def sell_up_to(pool: Ekubo, amount: int, limit: int, *, sells_token0: bool) -> Ekubo:
    """Return the pool after a sale that ends when `amount` is spent, or at the square-root ratio `limit`."""
    sqrt_ratio, tick, liquidity, key = pool.sqrt_ratio, pool.tick, pool.liquidity, pool.pool_key
    ticks, word_ticks = key.ticks, WORD_BITS * key.tick_spacing
    i = bisect_right(ticks, tick) - sells_token0
    while amount > 0 and sqrt_ratio != limit:
        # The core searches one word of its bitmap at a time, as a call without `skip_ahead`.
        if sells_token0:
            edge = max(tick // word_ticks * word_ticks, MIN_TICK)
            end = max(ticks[i], edge) if i >= 0 else edge
        else:
            edge = min(((tick + key.tick_spacing) // word_ticks + 1) * word_ticks - key.tick_spacing, MAX_TICK)
            end = min(ticks[i], edge) if i < len(ticks) else edge
        boundary = sqrt_ratio_at_tick(end)
        target = max(boundary, limit) if sells_token0 else min(boundary, limit)
        step = sell_step(sqrt_ratio, target, liquidity, amount, key.fee_x128, sells_token0, key.version)
        amount -= step.consumed
        if step.sqrt_ratio == boundary:
            tick = end - sells_token0
            if 0 <= i < len(ticks) and ticks[i] == end:
                liquidity += -key.liquidity_nets[i] if sells_token0 else key.liquidity_nets[i]
                i += -1 if sells_token0 else 1
        elif step.sqrt_ratio != sqrt_ratio:
            tick = tick_at_sqrt_ratio(step.sqrt_ratio)
        sqrt_ratio = step.sqrt_ratio
    after: Ekubo = _replace_position(pool, sqrt_ratio, tick, liquidity)
    return after


def _before_fee(amount: int, fee_x128: int) -> int:
    """Return the smallest input that leaves `amount` after the fee."""
    return mul_div_up(amount, Q128, Q128 - fee_x128)


def _out_of_liquidity(pool: Ekubo) -> InsufficientLiquidity:
    return InsufficientLiquidity(f"pool {pool.key} runs out of liquidity before the input is spent")


def _read_key(fields: StateFields, identity: PoolIdentity) -> EkuboKey:
    pool_id = fields.optional_hex("pool_id", 32)
    if pool_id is None:
        raise InvalidPoolState("pool_id", "missing")
    if int(identity.tokens[0], 16) >= int(identity.tokens[1], 16):
        raise InvalidPoolState("tokens", "Ekubo orders the tokens of a pool by their addresses")
    fee_x128 = fields.uint("fee_x128", 128)
    if identity.fee_ppm != fee_ppm_of(fee_x128):
        raise InvalidPoolState("fee_ppm", f"{identity.fee_ppm} differs from {fee_ppm_of(fee_x128)}, as fee_x128 says")
    spacing = fields.integer("tick_spacing", 1, MAX_TICK_SPACING)
    ticks, nets = read_ticks(fields, MAX_TICK, 128)
    off = next((i for i, tick in enumerate(ticks) if tick % spacing), None)
    if off is not None:
        raise InvalidPoolState(f"ticks[{off}]", f"{ticks[off]} is not a multiple of the tick spacing {spacing}")
    skip_ahead = fields.integer("skip_ahead", 0, MAX_TICK) if fields.has("skip_ahead") else 0
    version = fields.integer("version", _VERSIONS[0], _VERSIONS[-1]) if fields.has("version") else LATEST_VERSION
    return EkuboKey(pool_id, fee_x128, spacing, _read_extension(fields), skip_ahead, version, ticks, nets)


def _read_extension(fields: StateFields) -> str:
    text = fields.text("extension")
    try:
        felt = int(text, 16) if text.startswith("0x") else -1
    except ValueError:
        felt = -1
    if not 0 <= felt <= MAX_FELT:
        raise InvalidPoolState("extension", f"expected an address in hex, 0x0 for none, not {text[:80]}")
    return f"0x{felt:064x}" if felt else "0x0"


def _read_position(fields: StateFields, key: EkuboKey) -> tuple[int, int, int]:
    sqrt_ratio = fields.uint("sqrt_ratio", 256)
    if not MIN_SQRT_RATIO <= sqrt_ratio <= MAX_SQRT_RATIO:
        raise InvalidPoolState("sqrt_ratio", f"{sqrt_ratio} is outside {MIN_SQRT_RATIO} to {MAX_SQRT_RATIO}")
    tick = fields.integer("tick", MIN_TICK - 1, MAX_TICK)
    actual = tick_at_sqrt_ratio(sqrt_ratio)
    # On the way down a price that stops on a boundary already counts to the tick below it.
    if tick != actual and not (tick == actual - 1 and sqrt_ratio == sqrt_ratio_at_tick(actual)):
        raise InvalidPoolState("tick", f"{tick} does not contain the square-root ratio {sqrt_ratio}")
    return sqrt_ratio, tick, read_liquidity(fields, tick, key.ticks, key.liquidity_nets)


def _growth_between(a: int, b: int) -> float:
    return expm1(abs(a - b) * (_LOG_TICK / 2))


def ekubo_scale(ratio_at: Callable[[int], int]) -> TickScale:
    """Return the scale of ticks of 1.000001 and 128 fractional bits, where a tick has the ratio `ratio_at(tick)`.

    A tick is a growth of 5e-7.
    """

    def sqrt_price(tick: int) -> float:
        return ratio_at(tick) / Q128

    def growth(sqrt_ratio: int, tick: int, down: bool) -> float:
        edge = ratio_at(tick)
        return max(sqrt_ratio - edge if down else edge - sqrt_ratio, 0) / min(sqrt_ratio, edge)

    return TickScale(Q128, 2.4e-7, sqrt_price, growth, _growth_between)


EKUBO_SCALE: Final = ekubo_scale(sqrt_ratio_at_tick)
