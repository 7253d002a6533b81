"""Pools of Ekubo's EVM contracts: one core holds all of them, each named by a PoolKey of two tokens and a PoolConfig.

The maths follows swap_6269342730 of Core.sol (EkuboProtocol/evm-contracts, commit 5517df67), whose bytecode is the same
on every network. It differs from that of Starknet in

* ratios, which are rounded to the form in which the core stores them (`round_ratio`) after each step;
* the fee, a fraction of 64 bits;
* words of the bitmap, which have 256 ticks of the spacing and begin at an offset. A step ends at the next initialised
  tick or at the edge of a word: routers call without skipAhead;
* stableswap pools, a second type, whose liquidity is all between two ticks: `MAX_TICK >> amplification` to either side
  of `center_tick`. With an amplification of 0 and a centre of 0 that is the full range.

An extension can run before and after a swap if the first byte of its address says so. Of those that do, the oracle and
boosted fees leave the amounts alone. MEVCapture takes a further part of the output: once the fee for each tick spacing
between the tick after the swap and the tick before the first swap with the same block time; quotes assume that nobody
has swapped at that time yet. Pools with other such extensions are refused.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import exp, floor, log, log1p
from typing import ClassVar, Final, Self

from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, SwapReverts
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool, PoolIdentity, RateCurve
from swapcli.core.model.units import PPM
from swapcli.core.records import NamedTuple
from swapcli.core.validation.values import MAX_UINT256
from swapcli.families.bins.bin_curve import BinCurve
from swapcli.families.ekubo.ekubo import ekubo_scale
from swapcli.families.ekubo.ekubo_evm_tick_math import (
    MAX_SQRT_RATIO,
    MAX_TICK,
    MIN_SQRT_RATIO,
    MIN_TICK,
    round_ratio,
    sqrt_ratio_at_tick,
    tick_at_sqrt_ratio,
)
from swapcli.families.fast_replace import fast_replace
from swapcli.families.hull_curve import concave_hull
from swapcli.families.identity_checks import check_pair
from swapcli.families.rounding import div_up
from swapcli.families.state_fields import StateFields
from swapcli.families.token_positions import is_forward
from swapcli.families.uniswap.concentrated_curve import ConcentratedCurve
from swapcli.families.uniswap.concentrated_state import read_liquidity, read_ticks

MAX_TICK_SPACING: Final = 698_605
MAX_AMPLIFICATION: Final = 26
CENTER_TICK_STEP: Final = 16
"""The core stores a centre in units of so many ticks."""
WORD_BITS: Final = 256
EXACT_EXTENSIONS: Final = frozenset(
    {
        "0x517e506700271aea091b02f42756f5e174af5230",
        "0xd4b54d0ca6979da05f25895e6e269e678ba00f9e",
    }
)
"""Ekubo's oracle, and its boosted fees of concentrated pools, which donate to positions before a swap."""

MEV_CAPTURE: Final = "0x5555ff9ff2757500bf4ee020dcfd0210cffa41be"

_BITMAP_OFFSET: Final = 89_421_695
_FEE_BITS: Final = 64
_WHOLE: Final = 1 << _FEE_BITS
_AMOUNT_BITS: Final = 127
_DELTA_BITS: Final = 128
_CALLS_AT_SWAPS: Final = 0b0110_0000
"""The bits of the first byte of an extension's address that say that it runs before or after a swap."""
_CROSSING_GAS: Final = 13_900
_MEV_CAPTURE_GAS: Final = 32_300
"""From KyberSwap's simulator: 15,840 for each swap, 16,418 for the first one at a block time."""
_MEV_POINTS: Final = 128
"""Corners of the curve with a fee that rises with the price's move, closer to each other near its start."""
_LOG_TICK: Final = log1p(1e-6)


class EkuboEvmKey(NamedTuple):
    """What swaps do not change: the PoolConfig and the initialised ticks with their net liquidity.

    `fee_x64` is a fraction of the input with 64 fractional bits. `tick_spacing` is 0 for a stableswap pool, whose two
    ticks follow from `amplification` and `center_tick`; those are 0 for all others. `is_native` means that token0 is
    the native token, listed in its wrapped form. `first_tick` is where MEVCapture counts from, None without it.
    """

    pool_id: str
    fee_x64: int
    tick_spacing: int
    amplification: int
    center_tick: int
    extension: str
    is_native: bool
    ticks: tuple[int, ...]
    liquidity_nets: tuple[int, ...]
    first_tick: int | None = None


@dataclass(frozen=True, slots=True)
class EkuboEvm(Pool):
    """`address` is the core. `sqrt_ratio` is the square root of token1 per token0 with 128 fractional bits.

    `tick` is the contract's: one below the price's own after a downward swap stopped on a boundary. `liquidity` is the
    active liquidity at the price: 0 outside the range of a stableswap pool, although the core keeps that of the range.
    """

    sqrt_ratio: int
    tick: int
    liquidity: int
    pool_key: EkuboEvmKey

    family: ClassVar[str] = "ekubo_evm"
    swap_gas: ClassVar[int] = 64_800
    """From the source's gas snapshots: 85,834 for a swap of two tokens, less the 21,000 of any transaction."""
    requires_exact_payment: ClassVar[bool] = True
    holds_reserves_in_vault: ClassVar[bool] = True

    @property
    def key(self) -> str:
        """Return the pool id: the Keccak-256 hash of the PoolKey."""
        return self.pool_key.pool_id

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Sell exactly `amount_in`. Raises as `Pool.swap`."""
        if amount_in >> _AMOUNT_BITS:
            raise SwapReverts(f"pool {self.key}: {amount_in} exceeds 2^{_AMOUNT_BITS} - 1")
        amount_out, sqrt_ratio, tick, liquidity = _sell(self, amount_in, is_forward(self, token_in, token_out))
        amount_out = min(amount_out, 1 << _AMOUNT_BITS)
        amount_out -= _fee_on(amount_out, self._captured_fee_x64(tick))
        if amount_out <= 0:
            raise self.rounds_to_zero(amount_in)
        after: Self = _replace_position(self, sqrt_ratio, tick, liquidity)
        return amount_out, after

    def _captured_fee_x64(self, tick: int) -> int:
        """Return the share of the output that MEVCapture takes if a swap ends at `tick`, with 64 fractional bits."""
        key = self.pool_key
        if key.first_tick is None:
            return 0
        spacings_x64 = (abs(tick - key.first_tick) << 64) // key.tick_spacing
        return min(spacings_x64 * key.fee_x64 >> 64, _WHOLE - 1)

    def curve(self, token_in: str, token_out: str) -> RateCurve:
        """Return the direction in floats. It builds its table of ticks on first use."""
        plain = self._plain_curve(token_in, token_out)
        if self.pool_key.first_tick is None:
            return plain
        return BinCurve(self._captured_bins(plain, is_forward(self, token_in, token_out)), MAX_UINT256)

    def _captured_bins(self, plain: ConcentratedCurve, down: bool) -> Iterator[tuple[float, int]]:
        """Yield (rate, output) between corners of the curve with MEVCapture's fee, up to where more would pay less."""
        key, start_rate = self.pool_key, plain.start_rate
        if not start_rate:
            return
        gamma, share = (_WHOLE - key.fee_x64) / _WHOLE, key.fee_x64 / _WHOLE / key.tick_spacing
        start_tick = _tick_of_rate(start_rate / gamma, down)
        reach = min(1.0 / share, abs(key.ticks[0 if down else -1] - start_tick))
        points = [(0.0, 0.0)]
        for i in range(1, _MEV_POINTS + 1):
            moved = (i / _MEV_POINTS) ** 2 * reach
            amount_in, amount_out, _ = plain.trade_to_marginal_rate(start_rate * exp(-moved * _LOG_TICK))
            tick = start_tick - moved if down else start_tick + moved
            kept_out = amount_out * max(1.0 - share * abs(tick - (key.first_tick or 0)), 0.0)
            if kept_out < points[-1][1]:
                break
            points.append((amount_in, kept_out))
        for (start_in, start_out), (amount_in, amount_out) in pairwise(concave_hull(points)):
            yield (amount_out - start_out) / (amount_in - start_in), int(amount_out - start_out)

    def _plain_curve(self, token_in: str, token_out: str) -> ConcentratedCurve:
        key = self.pool_key
        return ConcentratedCurve(
            self.sqrt_ratio,
            self.tick,
            self.liquidity,
            key.ticks,
            key.liquidity_nets,
            key.fee_x64,
            is_forward(self, token_in, token_out),
            whole=_WHOLE,
            scale=_SCALE,
        )

    def state(self) -> dict[str, object]:
        """Return the family's fields of `swap-market/1`."""
        key = self.pool_key
        state: dict[str, object] = {"pool_id": key.pool_id, "fee_x64": str(key.fee_x64), "extension": key.extension}
        if key.is_native:
            state["native"] = True
        if key.first_tick not in (None, self.tick):
            state["first_tick"] = key.first_tick
        position = {"sqrt_ratio": str(self.sqrt_ratio), "tick": self.tick}
        if key.tick_spacing:
            ticks = [[tick, str(net)] for tick, net in zip(key.ticks, key.liquidity_nets, strict=True)]
            ladder = {"liquidity": str(self.liquidity), "ticks": ticks}
            return {**state, "tick_spacing": key.tick_spacing, **position, **ladder}
        liquidity = key.liquidity_nets[0] if key.liquidity_nets else 0
        shape = {"amplification": key.amplification, "center_tick": key.center_tick}
        return {**state, **shape, **position, "liquidity": str(liquidity)}

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read `pool_id, fee_x64, extension, sqrt_ratio, tick, liquidity`, and what the type of the pool has.

        A concentrated pool has `tick_spacing` and `ticks: [[tick, net], ...]`, a stableswap pool `amplification` and
        `center_tick`; its `liquidity` is that of its range. Optional: `native`, and with MEVCapture `first_tick`,
        by default `tick`. `fee_ppm` must be `fee_x64` rounded.
        """
        check_pair(identity)
        fields = StateFields(state)
        key = _read_key(fields, identity)
        sqrt_ratio, tick = _read_price(fields)
        if key.extension == MEV_CAPTURE:
            key = key._replace(first_tick=_read_first_tick(fields, key, tick))
        if key.tick_spacing:
            liquidity = read_liquidity(fields, tick, key.ticks, key.liquidity_nets)
        else:
            liquidity = sum(key.liquidity_nets[: bisect_right(key.ticks, tick)])
        return cls(*identity, sqrt_ratio, tick, liquidity, key)

    def gas_units(self, after: Pool) -> int:
        """Return `swap_gas` plus the cost of the initialised ticks between this state and `after`."""
        assert isinstance(after, EkuboEvm)
        return self._gas_units_at(after.tick)

    def gas_units_to(self, token_in: str, token_out: str, rate: float) -> int:
        """Return `gas_units` of a swap that ends at the marginal rate `rate`."""
        gamma, down = (_WHOLE - self.pool_key.fee_x64) / _WHOLE, is_forward(self, token_in, token_out)
        if rate <= 0.0:
            return self._gas_units_at(MIN_TICK if down else MAX_TICK)
        return self._gas_units_at(floor(_tick_of_rate(rate / gamma, down)))

    def _gas_units_at(self, tick: int) -> int:
        key = self.pool_key
        if not key.tick_spacing:
            return self.swap_gas
        crossed = abs(bisect_right(key.ticks, self.tick) - bisect_right(key.ticks, tick))
        return self.swap_gas + _CROSSING_GAS * crossed + (0 if key.first_tick is None else _MEV_CAPTURE_GAS)

    def api_extra_data(self) -> dict[str, int | str]:
        """Return the PoolConfig, with which a swap names the pool beside the two tokens, and the id."""
        key = self.pool_key
        return {"poolId": key.pool_id, "config": pool_config(*key[1:6])}


_replace_position = fast_replace(EkuboEvm, "sqrt_ratio", "tick", "liquidity")
_SCALE: Final = ekubo_scale(sqrt_ratio_at_tick)


def _tick_of_rate(rate: float, down: bool) -> float:
    """Return the tick at which the marginal rate, before the fee, is `rate`; `down` if token0 is sold."""
    tick = log(rate) / _LOG_TICK
    return tick if down else -tick


def fee_ppm_of(fee_x64: int) -> int:
    """Return a fee with 64 fractional bits in parts per million, rounded to the nearest below the whole input."""
    return min((fee_x64 * PPM + _WHOLE // 2) >> _FEE_BITS, PPM - 1)


def pool_config(fee_x64: int, tick_spacing: int, amplification: int, center_tick: int, extension: str) -> str:
    """Return a PoolConfig, 32 bytes in hex: the extension, the fee, and the type of the pool."""
    shape = amplification << 24 | center_tick // CENTER_TICK_STEP & 0xFFFFFF
    return f"{extension}{fee_x64:016x}{1 << 31 | tick_spacing if tick_spacing else shape:08x}"


def may_change_amounts(extension: str) -> bool:
    """Return whether an extension runs before or after a swap, and is not one whose effect is known."""
    return bool(int(extension[2:4], 16) & _CALLS_AT_SWAPS) and extension not in (*EXACT_EXTENSIONS, MEV_CAPTURE)


def stableswap_range(amplification: int, center_tick: int) -> tuple[int, int]:
    """Return the two ticks between which a stableswap pool has all of its liquidity."""
    width = MAX_TICK >> amplification
    return max(center_tick - width, MIN_TICK), min(center_tick + width, MAX_TICK)


def _sell(pool: EkuboEvm, amount: int, down: bool) -> tuple[int, int, int, int]:
    """Walk over the ticks while selling `amount` of token0 if `down`, else of token1.

    Return (amount_out, sqrt_ratio, tick, liquidity) after the swap.
    """
    sqrt_ratio, tick, liquidity, key = pool.sqrt_ratio, pool.tick, pool.liquidity, pool.pool_key
    ticks, direction = key.ticks, -1 if down else 1
    i = bisect_right(ticks, tick) - down
    amount_out = 0
    while amount > 0:
        if not 0 <= i < len(ticks):
            raise InsufficientLiquidity(f"pool {pool.key} runs out of liquidity before the input is spent")
        end = ticks[i]
        if liquidity and key.tick_spacing:  # without liquidity a step costs nothing, so empty words are skipped
            edge = _edge_of_word(tick, key.tick_spacing, down)
            end = max(end, edge) if down else min(end, edge)
        target = sqrt_ratio_at_tick(end)
        after = target
        if liquidity:
            consumed, paid, after = _sell_step(sqrt_ratio, target, liquidity, amount, key.fee_x64, down)
            amount -= consumed
            amount_out += paid
        if after == target:
            tick = end - down
            if end == ticks[i]:
                liquidity += direction * key.liquidity_nets[i]
                i += direction
        elif after != sqrt_ratio:
            tick = tick_at_sqrt_ratio(after)
        sqrt_ratio = after
    return amount_out, sqrt_ratio, tick, liquidity


def _edge_of_word(tick: int, spacing: int, down: bool) -> int:
    """Return the tick at which the core ends a search that finds no initialised one: the last of a word of its bitmap.

    Going up it begins at the next multiple of the spacing.
    """
    if down:
        word = (tick // spacing + _BITMAP_OFFSET) // WORD_BITS
        return max((word * WORD_BITS - _BITMAP_OFFSET) * spacing, MIN_TICK)
    word = (tick // spacing + 1 + _BITMAP_OFFSET) // WORD_BITS
    return min((word * WORD_BITS + WORD_BITS - 1 - _BITMAP_OFFSET) * spacing, MAX_TICK)


def _sell_step(
    sqrt_ratio: int, target: int, liquidity: int, amount: int, fee_x64: int, down: bool
) -> tuple[int, int, int]:
    """Sell up to `amount` from `sqrt_ratio` at most to `target`; return (consumed, amount_out, ratio after)."""
    net = amount - _fee_on(amount, fee_x64)
    scaled = liquidity << 128
    if down:
        after = round_ratio(div_up(scaled, scaled // sqrt_ratio + net), up=True) if net else sqrt_ratio
        passes = after < target
    else:
        after = round_ratio(sqrt_ratio + (net << 128) // liquidity)
        passes = after > target
    if passes:
        after = target
    low, high = (after, sqrt_ratio) if down else (sqrt_ratio, after)
    spread, product = liquidity * (high - low), low * high
    paid = spread >> 128 if down else (spread << 128) // product
    consumed = amount
    if passes:
        moved = div_up(spread << 128, product) if down else div_up(spread, 1 << 128)
        consumed = div_up(_checked(moved) << _FEE_BITS, _WHOLE - fee_x64)
    return _checked(consumed), _checked(paid), after


def _fee_on(amount: int, fee_x64: int) -> int:
    """Return a fee of an amount, rounded up."""
    return amount * fee_x64 + _WHOLE - 1 >> _FEE_BITS


def _checked(amount: int) -> int:
    if amount >> _DELTA_BITS:
        raise SwapReverts(f"the amount {amount} of a step exceeds 2^{_DELTA_BITS} - 1")
    return amount


def _read_key(fields: StateFields, identity: PoolIdentity) -> EkuboEvmKey:
    pool_id = fields.optional_hex("pool_id", 32)
    if pool_id is None:
        raise InvalidPoolState("pool_id", "missing")
    is_native = fields.has("native") and fields.boolean("native")
    if not is_native and int(identity.tokens[0], 16) >= int(identity.tokens[1], 16):
        raise InvalidPoolState("tokens", "Ekubo orders the tokens of a pool by their addresses")
    fee_x64 = fields.uint("fee_x64", _FEE_BITS)
    if identity.fee_ppm != fee_ppm_of(fee_x64):
        raise InvalidPoolState("fee_ppm", f"{identity.fee_ppm} differs from {fee_ppm_of(fee_x64)}, as fee_x64 says")
    extension = fields.optional_hex("extension", 20) or ZERO_ADDRESS
    if may_change_amounts(extension):
        raise InvalidPoolState("extension", f"the extension {extension} runs with each swap, and may change it")
    if fields.has("amplification"):
        return _read_stableswap_key(fields, (pool_id, fee_x64, extension, is_native))
    spacing = fields.integer("tick_spacing", 1, MAX_TICK_SPACING)
    ticks, nets = read_ticks(fields, MAX_TICK)
    off = next((i for i, tick in enumerate(ticks) if tick % spacing), None)
    if off is not None:
        raise InvalidPoolState(f"ticks[{off}]", f"{ticks[off]} is not a multiple of the tick spacing {spacing}")
    return EkuboEvmKey(pool_id, fee_x64, spacing, 0, 0, extension, is_native, ticks, nets)


def _read_stableswap_key(fields: StateFields, common: tuple[str, int, str, bool]) -> EkuboEvmKey:
    if fields.has("tick_spacing"):
        raise InvalidPoolState("tick_spacing", "a stableswap pool has none")
    amplification = fields.integer("amplification", 0, MAX_AMPLIFICATION)
    center = fields.integer("center_tick", MIN_TICK, MAX_TICK)
    if center % CENTER_TICK_STEP:
        raise InvalidPoolState("center_tick", f"{center} is not a multiple of {CENTER_TICK_STEP}")
    liquidity = fields.uint("liquidity", 128)
    ticks = stableswap_range(amplification, center) if liquidity else ()
    nets = (liquidity, -liquidity) if liquidity else ()
    pool_id, fee_x64, extension, is_native = common
    return EkuboEvmKey(pool_id, fee_x64, 0, amplification, center, extension, is_native, ticks, nets)


def _read_first_tick(fields: StateFields, key: EkuboEvmKey, tick: int) -> int:
    if not key.tick_spacing or not key.fee_x64:
        raise InvalidPoolState("extension", "MEVCapture has concentrated pools with a fee only")
    return fields.integer("first_tick", MIN_TICK - 1, MAX_TICK) if fields.has("first_tick") else tick


def _read_price(fields: StateFields) -> tuple[int, int]:
    sqrt_ratio = fields.uint("sqrt_ratio", 256)
    if not MIN_SQRT_RATIO <= sqrt_ratio <= MAX_SQRT_RATIO:
        raise InvalidPoolState("sqrt_ratio", f"{sqrt_ratio} is outside {MIN_SQRT_RATIO} to {MAX_SQRT_RATIO}")
    if round_ratio(sqrt_ratio) != sqrt_ratio:
        raise InvalidPoolState("sqrt_ratio", f"{sqrt_ratio} has more digits than the core can store")
    tick = fields.integer("tick", MIN_TICK - 1, MAX_TICK)
    actual = tick_at_sqrt_ratio(sqrt_ratio)
    # On the way down a price that stops on a boundary already counts to the tick below it.
    if tick != actual and not (tick == actual - 1 and sqrt_ratio == sqrt_ratio_at_tick(actual)):
        raise InvalidPoolState("tick", f"{tick} does not contain the square-root ratio {sqrt_ratio}")
    return sqrt_ratio, tick
