"""Pools of Ekubo's EVM contracts: one core holds all of them, each identified by two tokens and a PoolConfig.

The maths follows swap_6269342730 of Core.sol (EkuboProtocol/evm-contracts, commit 5517df67), whose bytecode is the same
on every network. `CORE` lists its differences from Starknet's core: ratios are rounded to the form in which the core
stores them, the fee has 64 bits, and a word of the bitmap covers 256 multiples of the tick spacing. Routers call
without skipAhead. A second type is stableswap pools, whose whole liquidity is between two ticks: `MAX_TICK >>
amplification` to either side of `center_tick`. With an amplification of 0 and a centre of 0, this is the full range.

An extension can run before and after a swap if the first byte of its address says so. Of these extensions, the oracle
and boosted fees do not change amounts. MEVCapture takes another part of the output: one fee for each tick spacing
between the tick after the swap and the tick before the first swap with the same block time. Quotes assume that no one
has swapped at that time yet. Pools with other such extensions are rejected.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from itertools import pairwise
from math import exp, floor, log

from swapcli.core.annotations import ClassVar, Final, Self
from swapcli.core.errors import InvalidPoolState
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import PoolIdentity, RateCurve
from swapcli.core.validation.values import MAX_UINT256
from swapcli.families.bins.bin_curve import BinCurve
from swapcli.families.ekubo.ekubo_pool import (
    LOG_TICK,
    Core,
    EkuboKey,
    EkuboPool,
    read_id_and_fee,
    read_price,
    read_spaced_ticks,
    replace_position,
    tick_scale,
    ticks_state,
)
from swapcli.families.ekubo.ekubo_tick_math import EVM_TICKS, round_ratio
from swapcli.families.hull_curve import concave_hull
from swapcli.families.identity_checks import check_pair
from swapcli.families.state_fields import StateFields
from swapcli.families.token_positions import is_forward
from swapcli.families.uniswap.concentrated_curve import ConcentratedCurve
from swapcli.families.uniswap.concentrated_state import read_liquidity

CORE: Final = Core(
    fee_bits=64,
    amount_bits=127,
    ticks=EVM_TICKS,
    scale=tick_scale(EVM_TICKS.ratio_at),
    max_tick_spacing=698_605,
    net_bits=127,
    word_bits=256,
    word_offset=89_421_695,
    rounds_to_units=True,
    round_ratio=round_ratio,
)
MAX_TICK: Final = EVM_TICKS.max_tick
MAX_AMPLIFICATION: Final = 26
fee_ppm_of: Final = CORE.fee_ppm_of
"""Returns a fee, given with 64 fractional bits, in parts per million."""
CENTER_TICK_STEP: Final = 16
"""The number of ticks in the unit in which the core stores a centre."""
EXACT_EXTENSIONS: Final = frozenset(
    {
        "0x517e506700271aea091b02f42756f5e174af5230",
        "0xd4b54d0ca6979da05f25895e6e269e678ba00f9e",
    }
)
"""The extensions that keep swaps exact: Ekubo's oracle, and its boosted fees for concentrated pools, which donate to
positions before a swap."""

MEV_CAPTURE: Final = "0x5555ff9ff2757500bf4ee020dcfd0210cffa41be"

_WHOLE: Final = 1 << CORE.fee_bits
_CALLS_AT_SWAPS: Final = 0b0110_0000
"""The bits of the first byte of an extension's address that mean that it runs before or after a swap."""
_MEV_CAPTURE_GAS: Final = 32_300
"""From KyberSwap's simulator: 15,840 for each swap, 16,418 for the first one at a block time."""
_MEV_POINTS: Final = 128
"""The corners of the curve with a fee that rises with the price move, closer together near its start."""


class EkuboEvm(EkuboPool):
    """A pool of the core on an EVM network; see `EkuboPool`.

    Outside the range of a stableswap pool, `liquidity` is 0, although the core keeps the liquidity of the range.
    """

    __slots__ = ()

    family: ClassVar[str] = "ekubo_evm"
    swap_gas: ClassVar[int] = 64_800
    """From the source's gas snapshots: 85,834 for a swap of two tokens, less the 21,000 of any transaction."""
    crossing_gas: ClassVar[int] = 13_900
    core: ClassVar[Core] = CORE

    def paid_of(self, amount_out: int, tick: int) -> int:
        """Return the output (at most 2^127) without the part that MEVCapture takes."""
        amount_out = min(amount_out, 1 << CORE.amount_bits)
        return amount_out - (amount_out * self._captured_fee_x64(tick) + _WHOLE - 1 >> CORE.fee_bits)

    def _captured_fee_x64(self, tick: int) -> int:
        """Return the share of the output that MEVCapture takes from a swap that ends at `tick`, with 64 fractional
        bits."""
        key = self.pool_key
        if key.first_tick is None:
            return 0
        spacings_x64 = (abs(tick - key.first_tick) << 64) // key.tick_spacing
        return min(spacings_x64 * key.fee >> 64, _WHOLE - 1)

    def curve(self, token_in: str, token_out: str) -> RateCurve:
        """Return the floating-point curve for selling `token_in` for `token_out`. Its table of ticks is built on first
        use."""
        plain = self.plain_curve(token_in, token_out)
        if self.pool_key.first_tick is None:
            return plain
        return BinCurve(self._captured_bins(plain, is_forward(self, token_in, token_out)), MAX_UINT256)

    def _captured_bins(self, plain: ConcentratedCurve, down: bool) -> Iterator[tuple[float, int]]:
        """Yield (rate, output) between corners of the curve with MEVCapture's fee, until more input would pay less."""
        key, start_rate = self.pool_key, plain.start_rate
        if not start_rate:
            return
        gamma, share = (_WHOLE - key.fee) / _WHOLE, key.fee / _WHOLE / key.tick_spacing
        start_tick = _tick_of_rate(start_rate / gamma, down)
        reach = min(1.0 / share, abs(key.ticks[0 if down else -1] - start_tick))
        points = [(0.0, 0.0)]
        for i in range(1, _MEV_POINTS + 1):
            moved = (i / _MEV_POINTS) ** 2 * reach
            amount_in, amount_out, _ = plain.trade_to_marginal_rate(start_rate * exp(-moved * LOG_TICK))
            tick = start_tick - moved if down else start_tick + moved
            kept_out = amount_out * max(1.0 - share * abs(tick - (key.first_tick or 0)), 0.0)
            if kept_out < points[-1][1]:
                break
            points.append((amount_in, kept_out))
        for (start_in, start_out), (amount_in, amount_out) in pairwise(concave_hull(points)):
            yield (amount_out - start_out) / (amount_in - start_in), int(amount_out - start_out)

    def state(self) -> dict[str, object]:
        """Return the family's fields in the `swap-market/1` format."""
        key = self.pool_key
        state: dict[str, object] = {"pool_id": key.pool_id, "fee_x64": str(key.fee), "extension": key.extension}
        if key.is_native:
            state["native"] = True
        if key.first_tick not in (None, self.tick):
            state["first_tick"] = key.first_tick
        position = {"sqrt_ratio": str(self.sqrt_ratio), "tick": self.tick}
        if key.tick_spacing:
            ladder = {"liquidity": str(self.liquidity), "ticks": ticks_state(key)}
            return {**state, "tick_spacing": key.tick_spacing, **position, **ladder}
        liquidity = key.liquidity_nets[0] if key.liquidity_nets else 0
        shape = {"amplification": key.amplification, "center_tick": key.center_tick}
        return {**state, **shape, **position, "liquidity": str(liquidity)}

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read `pool_id, fee_x64, extension, sqrt_ratio, tick, liquidity`, and the fields of the pool's type.

        A concentrated pool has `tick_spacing` and `ticks: [[tick, net], ...]`, a stableswap pool `amplification` and
        `center_tick`; its `liquidity` is the liquidity of its range. Optional: `native`, and with MEVCapture
        `first_tick`, by default `tick`. `fee_ppm` must be `fee_x64` rounded.
        """
        check_pair(identity)
        fields = StateFields(state)
        key = _read_key(fields, identity)
        sqrt_ratio, tick = read_price(fields, CORE)
        if key.extension == MEV_CAPTURE:
            key = key._replace(first_tick=_read_first_tick(fields, key, tick))
        if key.tick_spacing:
            liquidity = read_liquidity(fields, tick, key.ticks, key.liquidity_nets)
        else:
            liquidity = sum(key.liquidity_nets[: bisect_right(key.ticks, tick)])
        return cls(*identity, sqrt_ratio, tick, liquidity, key)

    def tick_of_rate(self, rate: float, gamma: float, *, down: bool) -> int:
        """Return the tick at a marginal rate; see `EkuboPool.tick_of_rate`."""
        return floor(_tick_of_rate(rate / gamma, down))

    def gas_units_at(self, tick: int) -> int:
        """Return the gas units of a swap that ends at `tick`. In a stableswap pool, ticks cost no gas."""
        key = self.pool_key
        if not key.tick_spacing:
            return self.swap_gas
        return super().gas_units_at(tick) + (0 if key.first_tick is None else _MEV_CAPTURE_GAS)

    def api_extra_data(self) -> dict[str, int | str]:
        """Return the ID and the PoolConfig, which identifies the pool in a swap together with the two tokens."""
        key = self.pool_key
        return {"poolId": key.pool_id, "config": config_of(key)}


EkuboEvm.at = replace_position(EkuboEvm)


def _tick_of_rate(rate: float, down: bool) -> float:
    """Return the tick at which the marginal rate, before the fee, is `rate`; `down` means that token0 is sold."""
    tick = log(rate) / LOG_TICK
    return tick if down else -tick


def pool_config(fee_x64: int, tick_spacing: int, amplification: int, center_tick: int, extension: str) -> str:
    """Return a PoolConfig, 32 bytes in hex: the extension, the fee, and the type of the pool."""
    shape = amplification << 24 | center_tick // CENTER_TICK_STEP & 0xFFFFFF
    return f"{extension}{fee_x64:016x}{1 << 31 | tick_spacing if tick_spacing else shape:08x}"


def config_of(key: EkuboKey) -> str:
    """Return the PoolConfig of a pool, as computed by `pool_config`."""
    return pool_config(key.fee, key.tick_spacing, key.amplification, key.center_tick, key.extension)


def may_change_amounts(extension: str) -> bool:
    """Return whether an extension runs before or after a swap with an unknown effect."""
    return bool(int(extension[2:4], 16) & _CALLS_AT_SWAPS) and extension not in (*EXACT_EXTENSIONS, MEV_CAPTURE)


def stableswap_range(amplification: int, center_tick: int) -> tuple[int, int]:
    """Return the two ticks between which a stableswap pool has its whole liquidity."""
    width = MAX_TICK >> amplification
    return max(center_tick - width, -MAX_TICK), min(center_tick + width, MAX_TICK)


def _read_key(fields: StateFields, identity: PoolIdentity) -> EkuboKey:
    is_native = fields.has("native") and fields.boolean("native")
    pool_id, fee_x64 = read_id_and_fee(fields, identity, CORE, is_native=is_native)
    extension = fields.optional_hex("extension", 20) or ZERO_ADDRESS
    if may_change_amounts(extension):
        raise InvalidPoolState("extension", f"the extension {extension} runs on each swap and may change its amounts")
    key = EkuboKey(pool_id, fee_x64, 0, extension, (), (), is_native=is_native)
    if fields.has("amplification"):
        return _read_stableswap_key(fields, key)
    spacing, ticks, nets = read_spaced_ticks(fields, CORE)
    return key._replace(tick_spacing=spacing, ticks=ticks, liquidity_nets=nets)


def _read_stableswap_key(fields: StateFields, key: EkuboKey) -> EkuboKey:
    if fields.has("tick_spacing"):
        raise InvalidPoolState("tick_spacing", "a stableswap pool has none")
    amplification = fields.integer("amplification", 0, MAX_AMPLIFICATION)
    center = fields.integer("center_tick", -MAX_TICK, MAX_TICK)
    if center % CENTER_TICK_STEP:
        raise InvalidPoolState("center_tick", f"{center} is not a multiple of {CENTER_TICK_STEP}")
    key = key._replace(amplification=amplification, center_tick=center)
    liquidity = fields.uint("liquidity", 128)
    if not liquidity:
        return key
    return key._replace(ticks=stableswap_range(amplification, center), liquidity_nets=(liquidity, -liquidity))


def _read_first_tick(fields: StateFields, key: EkuboKey, tick: int) -> int:
    if not key.tick_spacing or not key.fee:
        raise InvalidPoolState("extension", "MEVCapture supports only concentrated pools with a fee")
    return fields.integer("first_tick", -MAX_TICK - 1, MAX_TICK) if fields.has("first_tick") else tick
