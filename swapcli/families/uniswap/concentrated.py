"""Concentrated liquidity: Uniswap V3 and its forks, Slipstream, PancakeSwap V3, Algebra, Uniswap V4,
PancakeSwap Infinity.

A swap moves the square-root price from one step to the next; inside a step the liquidity is constant. The step ends at
the next initialised tick or, in the contracts that keep ticks in a bitmap, at the edge of the current word of 256
ticks: each step rounds on its own, so the edges count. Algebra Integral (`variant` "algebra_integral") keeps its
initialised ticks in a list and has no such edges.

A pool of Uniswap V4 or Infinity may have a hook without permission to change the amounts of a swap (`v4_hooks`,
`infinity_key`), a dynamic LP fee, and a protocol fee per direction. Only swaps of an exact input with the widest price
limit are modelled: a router needs no others.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from math import log

from swapcli.core.annotations import ClassVar, Self
from swapcli.core.errors import InsufficientLiquidity, SwapReverts
from swapcli.core.frozen_dataclass import dataclass
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.core.model.units import PPM
from swapcli.families.fast_replace import fast_replace
from swapcli.families.identity_checks import check_pair
from swapcli.families.rounding import UINT256_LIMIT, div_up, mul_div_up
from swapcli.families.state_fields import StateFields
from swapcli.families.tick_math import MAX_TICK, MIN_TICK, Q96, limited_sqrt_ratio, tick_at_sqrt_ratio
from swapcli.families.token_positions import is_forward
from swapcli.families.uniswap.concentrated_curve import ConcentratedCurve
from swapcli.families.uniswap.concentrated_state import ZERO_ADDRESS, TickList, read_position, read_tick_list

CROSSING_GAS = 37_400
"""Gas units for crossing one initialised tick, measured on the contracts' bytecode in a local EVM."""
_LOG_TICK = log(1.0001)


@dataclass(frozen=True, slots=True)
class Concentrated(Pool):
    """A concentrated pool. `sqrt_price_x96` is the square root of token1 per token0 in Q64.96, `liquidity` the active
    liquidity.

    `tick` is the contract's tick: after a downward swap that stopped on a boundary, it is one below the tick of the
    price. No swap changes `tick_list`. `fee_ppm` is the LP fee; `swap_fee_ppm` adds the protocol's fee.
    """

    sqrt_price_x96: int
    tick: int
    liquidity: int
    tick_list: TickList

    family: ClassVar[str] = "concentrated"
    swap_gas: ClassVar[int] = 68_800
    requires_exact_payment: ClassVar[bool] = True

    @property
    def key(self) -> str:
        """The pool ID if one contract holds all pools; otherwise the address."""
        return self.tick_list.pool_id or self.address

    @property
    def is_single_use(self) -> bool:
        """Whether a hook is called after each swap. It may change the pool, which makes a second swap unpredictable."""
        return self.tick_list.has_hook_after_swaps

    def swap_fee_ppm(self, *, down: bool) -> int:
        """Return the total fee of a swap that sells token0 (`down`) or token1."""
        protocol_fee_ppm = self.tick_list.protocol_fees_ppm[0 if down else 1]
        if not protocol_fee_ppm:
            return self.fee_ppm
        from swapcli.families.protocol_fees import with_protocol_fee  # hardly any quote needs it

        return with_protocol_fee(self.fee_ppm, protocol_fee_ppm)

    @property
    def changes_without_events(self) -> bool:
        """Whether the fee depends on a hook, a plugin or the time, so that it can change without an event."""
        return self.tick_list.has_dynamic_fee and not self.tick_list.parameters

    @property
    def holds_reserves_in_vault(self) -> bool:
        """Whether the pool belongs to PancakeSwap Infinity."""
        return self.tick_list.parameters > 0

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Sell exactly `amount_in`. Raises the same errors as `Pool.swap`.

        The contracts take only part of an input that is too large and pay nothing for one that is too small. A router
        can use neither, so both raise an error here.
        """
        sell = _sell_token0 if is_forward(self, token_in, token_out) else _sell_token1
        amount_out, sqrt_price_x96, tick, liquidity = sell(self, amount_in)
        if amount_out <= 0 or (amount_in | amount_out) >> self.tick_list.amount_bits:
            raise _unusable_amount(self, amount_in, amount_out)
        after: Self = _replace_position(self, sqrt_price_x96, tick, liquidity)
        return amount_out, after

    def curve(self, token_in: str, token_out: str) -> ConcentratedCurve:
        """Return the floating-point curve for selling `token_in` for `token_out`. Its table of ticks is built on first
        use."""
        down = is_forward(self, token_in, token_out)
        tick_list = self.tick_list
        return ConcentratedCurve(
            self.sqrt_price_x96,
            self.tick,
            self.liquidity,
            tick_list.ticks,
            tick_list.liquidity_nets,
            self.swap_fee_ppm(down=down),
            down,
        )

    def state(self) -> dict[str, object]:
        """Return the family's fields in the `swap-market/1` format."""
        return {
            "sqrt_price_x96": str(self.sqrt_price_x96),
            "tick": self.tick,
            "liquidity": str(self.liquidity),
            **self.tick_list.state(),
        }

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read `sqrt_price_x96, tick, liquidity, tick_spacing, ticks: [[tick, liquidity_net], ...]`.

        Optional: `variant` ("uniswap_v3" or "algebra_integral"); for Uniswap V4 `pool_id`, `hooks`, `native` (true if
        currency0 is the native token, listed in its wrapped form), `dynamic_fee` (true if the key's fee is 0x800000)
        and `protocol_fees_ppm` (for selling token0, for selling token1); for PancakeSwap Infinity also the `parameters`
        of its key. Other pools have `dynamic_fee` if the fee changes without an event, and custom pools of Algebra
        Integral their `deployer`.
        """
        check_pair(identity)
        fields = StateFields(state)
        tick_list = read_tick_list(fields, identity.fee_ppm)
        sqrt_price_x96, tick, liquidity = read_position(fields, tick_list)
        return cls(
            *identity,
            sqrt_price_x96,
            tick,
            liquidity,
            tick_list,
        )

    def gas_units(self, after: Pool) -> int:
        """Return `swap_gas` plus the gas for the initialised ticks between this state and `after`."""
        assert isinstance(after, Concentrated)
        return self._gas_units_at(after.tick)

    def gas_units_to(self, token_in: str, token_out: str, rate: float) -> int:
        """Return the gas units of a swap that ends at the marginal rate `rate`."""
        down = is_forward(self, token_in, token_out)
        gamma = (PPM - self.swap_fee_ppm(down=down)) / PPM
        if rate <= 0.0:
            return self._gas_units_at(MIN_TICK if down else MAX_TICK)
        price = rate / gamma if down else gamma / rate
        return self._gas_units_at(int(log(price) // _LOG_TICK))

    def _gas_units_at(self, tick: int) -> int:
        ticks = self.tick_list.ticks
        return self.swap_gas + CROSSING_GAS * abs(bisect_right(ticks, self.tick) - bisect_right(ticks, tick))

    def api_extra_data(self) -> dict[str, int | str]:
        """Return `fee` (ppm) and `tickSpacing`; for a pool with an ID, also the ID and the pool's key.

        The fee in a key is `DYNAMIC_FEE` if a hook sets it.
        """
        tick_list = self.tick_list
        if not tick_list.pool_id:
            return {"fee": self.fee_ppm, "tickSpacing": tick_list.tick_spacing}
        parameters, key_fee = tick_list.parameters, self.fee_ppm
        if tick_list.has_dynamic_fee:
            from swapcli.families.protocol_fees import DYNAMIC_FEE

            key_fee = DYNAMIC_FEE
        return {
            "fee": key_fee,
            "tickSpacing": tick_list.tick_spacing,
            "poolId": tick_list.pool_id,
            "token0": ZERO_ADDRESS if tick_list.is_native else self.tokens[0],
            "token1": self.tokens[1],
            "hooks": tick_list.hooks,
            **({"parameters": f"0x{parameters:064x}"} if parameters else {}),
        }


_replace_position = fast_replace(Concentrated, "sqrt_price_x96", "tick", "liquidity")
_replace_fee = fast_replace(Concentrated, "fee_ppm")


def with_lp_fee(pool: Concentrated, fee_ppm: int) -> Concentrated:
    """Return the pool with `fee_ppm` as its LP fee, which a hook sets."""
    replaced: Concentrated = _replace_fee(pool, fee_ppm)
    return replaced


def with_position(pool: Concentrated, sqrt_price_x96: int, tick: int, liquidity: int) -> Concentrated:
    """Return the pool at a different price. The arguments after `pool` are as `walk_ticks` returns them."""
    moved: Concentrated = _replace_position(pool, sqrt_price_x96, tick, liquidity)
    return moved


def walk_ticks(pool: Concentrated, amount_in: int, *, down: bool) -> tuple[int, int, int, int]:
    """Sell `amount_in` of token0 (`down`) or token1, and return (amount_out, sqrt_price_x96, tick, liquidity) after it.

    The output may be zero. Raises `InsufficientLiquidity`.
    """
    return _sell_token0(pool, amount_in) if down else _sell_token1(pool, amount_in)


def _sell_token0(pool: Concentrated, amount_remaining: int) -> tuple[int, int, int, int]:
    """Walk down the ticks while selling `amount_remaining` of token0.

    Return (amount_out, sqrt_price_x96, tick, liquidity) after the swap.
    """
    price, tick, liquidity, tick_list = pool.sqrt_price_x96, pool.tick, pool.liquidity, pool.tick_list
    ticks, word_ticks, fee_complement_ppm = tick_list.ticks, tick_list.word_ticks, PPM - pool.swap_fee_ppm(down=True)
    amount_out = 0
    i = bisect_right(ticks, tick) - 1
    while amount_remaining > 0:
        if i < 0:
            raise _out_of_liquidity(pool)
        step_end_tick = ticks[i]
        if word_ticks and liquidity:  # without liquidity, a step costs nothing, so empty words are skipped
            word_start = tick // word_ticks * word_ticks
            if word_start > step_end_tick:
                step_end_tick = word_start
        target = limited_sqrt_ratio(step_end_tick)
        amount_in_after_fee = amount_remaining * fee_complement_ppm // PPM
        span, area = (liquidity << 96) * (price - target), price * target
        if amount_in_after_fee * area < span:
            after = _price_after_token0(price, liquidity, amount_in_after_fee)
            amount_out += liquidity * (price - after) >> 96
            return amount_out, after, tick if after == price else tick_at_sqrt_ratio(after), liquidity
        amount_remaining -= mul_div_up(div_up(span, area), PPM, fee_complement_ppm)
        amount_out += liquidity * (price - target) >> 96
        price = target
        if step_end_tick == MIN_TICK:  # the swap stops at the price limit, just above this tick
            tick, i = MIN_TICK, -1
        else:
            tick = step_end_tick - 1
            if step_end_tick == ticks[i]:
                liquidity -= tick_list.liquidity_nets[i]
                i -= 1
    return amount_out, price, tick, liquidity


def _sell_token1(pool: Concentrated, amount_remaining: int) -> tuple[int, int, int, int]:
    """Walk up the ticks while selling token1; like `_sell_token0`."""
    price, tick, liquidity, tick_list = pool.sqrt_price_x96, pool.tick, pool.liquidity, pool.tick_list
    ticks, word_ticks, fee_complement_ppm, spacing = (
        tick_list.ticks,
        tick_list.word_ticks,
        PPM - pool.swap_fee_ppm(down=False),
        tick_list.tick_spacing,
    )
    amount_out = 0
    i = bisect_right(ticks, tick)
    while amount_remaining > 0:
        if i == len(ticks):
            raise _out_of_liquidity(pool)
        step_end_tick = ticks[i]
        if word_ticks and liquidity:
            word_end = (tick + spacing) // word_ticks * word_ticks + word_ticks - spacing
            if word_end < step_end_tick:
                step_end_tick = word_end
        target = limited_sqrt_ratio(step_end_tick)
        amount_in_after_fee = amount_remaining * fee_complement_ppm // PPM
        span = liquidity * (target - price)
        if amount_in_after_fee << 96 < span:
            after = price + (amount_in_after_fee << 96) // liquidity
            amount_out += (liquidity << 96) * (after - price) // (after * price)
            return amount_out, after, tick if after == price else tick_at_sqrt_ratio(after), liquidity
        amount_remaining -= mul_div_up(div_up(span, Q96), PPM, fee_complement_ppm)
        amount_out += (liquidity << 96) * (target - price) // (target * price)
        price = target
        if step_end_tick == MAX_TICK:  # the swap stops at the price limit, just below this tick
            tick, i = MAX_TICK - 1, len(ticks)
        else:
            tick = step_end_tick
            if step_end_tick == ticks[i]:
                liquidity += tick_list.liquidity_nets[i]
                i += 1
    return amount_out, price, tick, liquidity


def _price_after_token0(price: int, liquidity: int, amount_in_after_fee: int) -> int:
    """Return liquidity * price / (liquidity + amount * price), rounded up; less precisely if 256 bits would overflow.

    The amount is `amount_in_after_fee`; this is `getNextSqrtPriceFromAmount0RoundingUp` of the contracts.
    """
    shifted = liquidity << 96
    denominator = shifted + amount_in_after_fee * price
    if denominator < UINT256_LIMIT:
        return mul_div_up(shifted, price, denominator)
    return div_up(shifted, shifted // price + amount_in_after_fee)


def _unusable_amount(pool: Concentrated, amount_in: int, amount_out: int) -> SwapReverts:
    if amount_out <= 0:
        return pool.rounds_to_zero(amount_in)
    return SwapReverts(f"pool {pool.key}: {amount_in} for {amount_out} exceeds 2^{pool.tick_list.amount_bits} - 1")


def _out_of_liquidity(pool: Concentrated) -> InsufficientLiquidity:
    return InsufficientLiquidity(f"pool {pool.key} runs out of liquidity before the input is spent")
