"""The code that Ekubo's cores on Starknet and on EVM networks share: the pool, and the walk over its ticks.

One contract, the core, holds all pools of a network, each identified by its PoolKey. A step of a swap ends at the next
initialised tick, or where the core stops searching for one, at the edge of a word of its bitmap. Each step rounds on
its own, so these edges count. `Core` lists the differences between the contracts.
"""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Callable
from math import expm1, log, log1p

from swapcli.core.annotations import Any, ClassVar, Final, Self
from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, SwapReverts
from swapcli.core.frozen_dataclass import dataclass
from swapcli.core.model.pool import Pool, PoolIdentity, RateCurve
from swapcli.core.model.units import PPM
from swapcli.core.records import NamedTuple
from swapcli.families.ekubo.ekubo_tick_math import Q128, EkuboTicks
from swapcli.families.fast_replace import fast_replace
from swapcli.families.rounding import div_up, mul_div_up
from swapcli.families.state_fields import StateFields
from swapcli.families.token_positions import is_forward
from swapcli.families.uniswap.concentrated_curve import ConcentratedCurve, TickScale
from swapcli.families.uniswap.concentrated_state import read_ticks

LOG_TICK: Final = log1p(1e-6)
_DELTA_BITS: Final = 128
"""The output of a step is below 2^128."""


class Core(NamedTuple):
    """The properties in which the cores differ.

    A fee is a fraction of the input with `fee_bits` fractional bits, and an input has at most `amount_bits` bits. A
    word of the bitmap covers `word_bits` tick spacings; the first one begins `word_offset` spacings below tick 0.
    `rounds_to_units`: the ratio after an input of token0 is rounded via whole units of token0. `round_ratio`: the ratio
    after a step is rounded to the form in which the core stores it. `passes_reached_ticks`: a swap that is already at
    its tick continues, even if the fee takes its whole input; going down, a step that just reaches the tick takes no
    more input than that.
    """

    fee_bits: int
    amount_bits: int
    ticks: EkuboTicks
    scale: TickScale
    max_tick_spacing: int
    net_bits: int
    word_bits: int
    word_offset: int = 0
    rounds_to_units: bool = False
    round_ratio: Callable[..., int] | None = None
    passes_reached_ticks: bool = False

    def fee_ppm_of(self, fee: int) -> int:
        """Return a fee in parts per million, rounded to the nearest value below the whole input."""
        return min((fee * PPM + (1 << self.fee_bits - 1)) >> self.fee_bits, PPM - 1)


class EkuboKey(NamedTuple):
    """The data that no swap changes: the members of a PoolKey besides the tokens, and the initialised ticks with their
    net liquidity.

    `fee` is a fraction of the input with the core's `fee_bits`. `extension` is the address of the extension contract.

    On Starknet, `skip_ahead` is the number of additional words that the core searches in each step, as set by the
    router, and `version` is the core's version.

    On EVM networks, `tick_spacing` is 0 for a stableswap pool, whose two ticks follow from `amplification` and
    `center_tick`. `is_native` means that token0 is the native token, listed in its wrapped form. `first_tick` is the
    tick from which MEVCapture counts, None without it.
    """

    pool_id: str
    fee: int
    tick_spacing: int
    extension: str
    ticks: tuple[int, ...]
    liquidity_nets: tuple[int, ...]
    skip_ahead: int = 0
    version: int = 0
    amplification: int = 0
    center_tick: int = 0
    is_native: bool = False
    first_tick: int | None = None


@dataclass(frozen=True, slots=True)
class EkuboPool(Pool):
    """A pool of a core. `address` is the core; `sqrt_ratio` is the square root of token1 per token0 with 128 fractional
    bits.

    `tick` is the contract's tick: after a downward swap that stopped on a boundary, it is one below the tick of the
    price. `liquidity` is the active liquidity at the price.
    """

    sqrt_ratio: int
    tick: int
    liquidity: int
    pool_key: EkuboKey

    at: ClassVar[Callable[..., Any]]
    """Returns the pool at a different `sqrt_ratio`, `tick` and `liquidity`; see `replace_position`."""
    crossing_gas: ClassVar[int]
    """Gas units of crossing an initialised tick."""
    requires_exact_payment: ClassVar[bool] = True
    holds_reserves_in_vault: ClassVar[bool] = True

    @property
    @abstractmethod
    def core(self) -> Core:
        """The properties of the pool's core."""

    @property
    def key(self) -> str:
        """The pool id: a hash of the PoolKey."""
        return self.pool_key.pool_id

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Sell exactly `amount_in`. Raises the same errors as `Pool.swap`."""
        bits = self.core.amount_bits
        if amount_in >> bits:
            raise SwapReverts(f"pool {self.key}: {amount_in} exceeds 2^{bits} - 1")
        down = is_forward(self, token_in, token_out)
        gross, sqrt_ratio, tick, liquidity = walk_ticks(self, amount_in, down=down, skip_ahead=self.pool_key.skip_ahead)
        amount_out = self.paid_of(gross, tick)
        if amount_out <= 0:
            raise self.rounds_to_zero(amount_in)
        return amount_out, self.at(sqrt_ratio, tick, liquidity)

    @abstractmethod
    def paid_of(self, amount_out: int, tick: int) -> int:
        """Return the part of the steps' output that a swap pays; `tick` is the tick after the swap.

        Raises `SwapReverts`.
        """

    def curve(self, token_in: str, token_out: str) -> RateCurve:
        """Return the floating-point curve for selling `token_in` for `token_out`. Its table of ticks is built on first
        use."""
        return self.plain_curve(token_in, token_out)

    def plain_curve(self, token_in: str, token_out: str) -> ConcentratedCurve:
        """Return the floating-point curve for selling `token_in` for `token_out`, ignoring the part of the output that
        an extension takes."""
        key, core = self.pool_key, self.core
        return ConcentratedCurve(
            self.sqrt_ratio,
            self.tick,
            self.liquidity,
            key.ticks,
            key.liquidity_nets,
            key.fee,
            is_forward(self, token_in, token_out),
            whole=1 << core.fee_bits,
            scale=core.scale,
        )

    def gas_units(self, after: Pool) -> int:
        """Return `swap_gas` plus the gas for the initialised ticks between this state and `after`."""
        assert isinstance(after, EkuboPool)
        return self.gas_units_at(after.tick)

    def gas_units_to(self, token_in: str, token_out: str, rate: float) -> int:
        """Return the gas units of a swap that ends at the marginal rate `rate`."""
        core, down = self.core, is_forward(self, token_in, token_out)
        if rate <= 0.0:
            return self.gas_units_at(-core.ticks.max_tick if down else core.ticks.max_tick)
        whole = 1 << core.fee_bits
        return self.gas_units_at(self.tick_of_rate(rate, (whole - self.pool_key.fee) / whole, down=down))

    def tick_of_rate(self, rate: float, gamma: float, *, down: bool) -> int:
        """Return the tick at a marginal rate; `gamma` is one minus the fee, and `down` means that token0 is sold."""
        return int(log(rate / gamma if down else gamma / rate) // LOG_TICK)

    def gas_units_at(self, tick: int) -> int:
        """Return the gas units of a swap that ends at `tick`."""
        ticks = self.pool_key.ticks
        return self.swap_gas + self.crossing_gas * abs(bisect_right(ticks, self.tick) - bisect_right(ticks, tick))


def replace_position(family: type[EkuboPool]) -> Callable[..., Any]:
    """Return a function that copies a pool of a family with a new square-root ratio, tick and liquidity."""
    return fast_replace(family, "sqrt_ratio", "tick", "liquidity")


def tick_scale(ratio_at: Callable[[int], int]) -> TickScale:
    """Return the tick scale with the base 1.000001, 128 fractional bits, and the ratio `ratio_at(tick)` at each tick.

    From one tick to the next, the square-root ratio grows by about 5e-7 of its value.
    """

    def sqrt_price(tick: int) -> float:
        return ratio_at(tick) / Q128

    def growth(sqrt_ratio: int, tick: int, down: bool) -> float:
        edge = ratio_at(tick)
        return max(sqrt_ratio - edge if down else edge - sqrt_ratio, 0) / min(sqrt_ratio, edge)

    return TickScale(Q128, 2.4e-7, sqrt_price, growth, _growth_between)


def _growth_between(a: int, b: int) -> float:
    return expm1(abs(a - b) * (LOG_TICK / 2))


def walk_ticks(
    pool: EkuboPool, amount: int, *, down: bool, skip_ahead: int = 0, limit: int | None = None
) -> tuple[int, int, int, int]:
    """Walk over the ticks while selling `amount` of token0 if `down`, otherwise of token1.

    Return (amount_out, sqrt_ratio, tick, liquidity) after the swap. The walk ends when `amount` is spent, or at the
    square-root ratio `limit`. Without a limit, the function raises `InsufficientLiquidity` after the last tick.
    """
    sqrt_ratio, tick, liquidity, key, core = pool.sqrt_ratio, pool.tick, pool.liquidity, pool.pool_key, pool.core
    ticks, nets, spacing, fee = key.ticks, key.liquidity_nets, key.tick_spacing, key.fee
    max_tick, _, _, ratio_at, tick_at = core.ticks
    count, direction = len(ticks), -1 if down else 1
    word_ticks, offset = core.word_bits * spacing, core.word_offset * spacing
    i = bisect_right(ticks, tick) - down
    amount_out = 0
    while amount > 0 and sqrt_ratio != limit:
        if 0 <= i < count:
            end = ticks[i]
        elif limit is None:
            raise InsufficientLiquidity(f"pool {pool.key} runs out of liquidity before the input is spent")
        else:
            end = direction * max_tick
        # Without liquidity, a step costs nothing, so empty words are skipped: only a limit can be inside one.
        if word_ticks and (liquidity or limit is not None):
            if down:
                edge = ((tick + offset) // word_ticks - skip_ahead) * word_ticks - offset
                end = max(end, edge, -max_tick)
            else:
                edge = ((tick + spacing + offset) // word_ticks + skip_ahead + 1) * word_ticks - spacing - offset
                end = min(end, edge, max_tick)
        boundary = after = ratio_at(end)
        if limit is not None:
            after = max(boundary, limit) if down else min(boundary, limit)
        if liquidity:
            consumed, paid, after = sell_step(core, sqrt_ratio, after, liquidity, amount, fee, down)
            amount -= consumed
            amount_out += paid
        if after == boundary:
            tick = end - down
            if 0 <= i < count and end == ticks[i]:
                liquidity += direction * nets[i]
                i += direction
        elif after != sqrt_ratio:
            tick = tick_at(after)
        sqrt_ratio = after
    return amount_out, sqrt_ratio, tick, liquidity


def sell_step(
    core: Core, sqrt_ratio: int, target: int, liquidity: int, amount: int, fee: int, down: bool
) -> tuple[int, int, int]:
    """Sell up to `amount` (> 0) from `sqrt_ratio` towards `target`, of token0 if `down`, otherwise of token1.

    Return the step's input (fee included), its output, and the ratio after it. `liquidity` is above 0.
    """
    passes_reached = core.passes_reached_ticks
    if passes_reached and sqrt_ratio == target:
        return 0, 0, target
    fee_bits = core.fee_bits
    whole, scaled = 1 << fee_bits, liquidity << 128
    net = amount - (amount * fee + whole - 1 >> fee_bits)
    if not down:
        after = sqrt_ratio + (net << 128) // liquidity
    elif core.rounds_to_units and net:
        after = div_up(scaled, scaled // sqrt_ratio + net)
    else:
        after = mul_div_up(scaled, sqrt_ratio, scaled + net * sqrt_ratio)
    if core.round_ratio:
        after = core.round_ratio(after, up=down)
    consumed = amount
    if down:
        if after < target or (passes_reached and after == target):
            after = target
            moved = div_up(scaled * (sqrt_ratio - target), sqrt_ratio * target)
            consumed = div_up(moved << fee_bits, whole - fee)
        paid = liquidity * (sqrt_ratio - after) >> 128
    else:
        if after > target:
            after = target
            consumed = div_up(div_up(liquidity * (target - sqrt_ratio), Q128) << fee_bits, whole - fee)
        paid = scaled * (after - sqrt_ratio) // (after * sqrt_ratio)
    if paid >> _DELTA_BITS:
        raise SwapReverts(f"the amount {paid} of a step exceeds 2^{_DELTA_BITS} - 1")
    return consumed, paid, after


def read_id_and_fee(fields: StateFields, identity: PoolIdentity, core: Core, *, is_native: bool) -> tuple[str, int]:
    """Read `pool_id`, and `fee_x128` or `fee_x64`; `fee_ppm` must be its rounded value.

    The tokens must be in the core's order, except for a native token, which is listed in its wrapped form.
    """
    pool_id = fields.optional_hex("pool_id", 32)
    if pool_id is None:
        raise InvalidPoolState("pool_id", "missing")
    if not is_native and int(identity.tokens[0], 16) >= int(identity.tokens[1], 16):
        raise InvalidPoolState("tokens", "Ekubo orders the tokens of a pool by their addresses")
    name = f"fee_x{core.fee_bits}"
    fee = fields.uint(name, core.fee_bits)
    if identity.fee_ppm != core.fee_ppm_of(fee):
        raise InvalidPoolState(
            "fee_ppm", f"{identity.fee_ppm} differs from {core.fee_ppm_of(fee)}, the value of {name}"
        )
    return pool_id, fee


def read_spaced_ticks(fields: StateFields, core: Core) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    """Read `tick_spacing` and `ticks: [[tick, net], ...]`, multiples of it; return the spacing and both columns."""
    spacing = fields.integer("tick_spacing", 1, core.max_tick_spacing)
    ticks, nets = read_ticks(fields, core.ticks.max_tick, core.net_bits)
    off = next((i for i, tick in enumerate(ticks) if tick % spacing), None)
    if off is not None:
        raise InvalidPoolState(f"ticks[{off}]", f"{ticks[off]} is not a multiple of the tick spacing {spacing}")
    return spacing, ticks, nets


def read_price(fields: StateFields, core: Core) -> tuple[int, int]:
    """Read `sqrt_ratio`, and the `tick` that must contain it."""
    max_tick, min_ratio, max_ratio, ratio_at, tick_at = core.ticks
    sqrt_ratio = fields.uint("sqrt_ratio", 256)
    if not min_ratio <= sqrt_ratio <= max_ratio:
        raise InvalidPoolState("sqrt_ratio", f"{sqrt_ratio} is outside {min_ratio} to {max_ratio}")
    if core.round_ratio and core.round_ratio(sqrt_ratio) != sqrt_ratio:
        raise InvalidPoolState("sqrt_ratio", f"{sqrt_ratio} has more digits than the core can store")
    tick = fields.integer("tick", -max_tick - 1, max_tick)
    actual = tick_at(sqrt_ratio)
    # On the way down, a price that stops on a boundary already counts as the tick below.
    if tick != actual and not (tick == actual - 1 and sqrt_ratio == ratio_at(actual)):
        raise InvalidPoolState("tick", f"{tick} does not contain the square-root ratio {sqrt_ratio}")
    return sqrt_ratio, tick


def ticks_state(key: EkuboKey) -> list[list[object]]:
    """Return `ticks` in the form that `read_spaced_ticks` reads."""
    return [[tick, str(net)] for tick, net in zip(key.ticks, key.liquidity_nets, strict=True)]
