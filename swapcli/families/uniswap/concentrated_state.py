"""The state of a concentrated pool, read from a market file and checked."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from math import gcd
from operator import lt

from swapcli.core.annotations import Final, cast
from swapcli.core.errors import InvalidPoolState
from swapcli.core.records import NamedTuple
from swapcli.core.validation.values import InvalidValue, describe, parse_integers, parse_list
from swapcli.families.state_fields import StateFields
from swapcli.families.tick_math import (
    MAX_SQRT_RATIO,
    MAX_TICK,
    MIN_SQRT_RATIO,
    MIN_TICK,
    sqrt_ratio_at_tick,
    tick_at_sqrt_ratio,
)

UNISWAP_V3: Final = "uniswap_v3"
ALGEBRA_INTEGRAL: Final = "algebra_integral"
ZERO_ADDRESS: Final = "0x" + "0" * 40
NO_FEES: Final = (0, 0)

_MAX_V4_PROTOCOL_FEE_PPM = 1_000  # `MAX_PROTOCOL_FEE` of the contracts
_WORD_TICKS = 256
_MAX_TICK_SPACING = 32_767
_PAIR_TYPES = frozenset({list, tuple})


class TickList(NamedTuple):
    """The part of the state that swaps do not change: the initialised `ticks`, ascending, with their net liquidity.

    `word_ticks` is the width, in ticks, of a word of the contract's bitmap, 0 if it keeps a list. Amounts are below
    2^`amount_bits`.

    A Uniswap V4 pool has a `pool_id`; `is_native` means that its currency0 is the native token, `has_dynamic_fee` that
    its hook can set the LP fee. `protocol_fees_ppm` are the protocol's fees for selling token0 and for selling token1.
    A PancakeSwap Infinity pool also has the `parameters` of its key, which are 0 for all others.

    For a pool with its own contract, `has_dynamic_fee` means that the fee can change without an event: with time, as in
    Slipstream, or through an Algebra plugin. `deployer` is the creator of a custom Algebra pool, empty for all others.
    """

    tick_spacing: int
    ticks: tuple[int, ...]
    liquidity_nets: tuple[int, ...]
    word_ticks: int
    pool_id: str | None = None
    is_native: bool = False
    amount_bits: int = 255
    hooks: str = ZERO_ADDRESS
    has_dynamic_fee: bool = False
    protocol_fees_ppm: tuple[int, int] = NO_FEES
    parameters: int = 0
    deployer: str = ""

    @property
    def has_hook_after_swaps(self) -> bool:
        """Whether a hook is called after each swap."""
        if self.hooks == ZERO_ADDRESS:
            return False
        # Loaded on demand: hardly any quote needs them.
        if self.parameters:
            from swapcli.families.infinity_key import is_infinity_hook_called_after_swaps

            return is_infinity_hook_called_after_swaps(self.parameters)
        from swapcli.families.uniswap.v4_hooks import is_called_after_swaps

        return is_called_after_swaps(self.hooks)

    def state(self) -> dict[str, object]:
        """Return the fields that `read_tick_list` reads."""
        state: dict[str, object] = {
            "tick_spacing": self.tick_spacing,
            "ticks": [[tick, str(net)] for tick, net in zip(self.ticks, self.liquidity_nets, strict=True)],
        }
        if not self.word_ticks:
            state["variant"] = ALGEBRA_INTEGRAL
        if self.pool_id:
            state |= {"pool_id": self.pool_id, "hooks": self.hooks}
        if self.parameters:
            state["parameters"] = f"0x{self.parameters:064x}"
        if self.is_native:
            state["native"] = True
        if self.has_dynamic_fee:
            state["dynamic_fee"] = True
        if self.protocol_fees_ppm != NO_FEES:
            state["protocol_fees_ppm"] = list(self.protocol_fees_ppm)
        if self.deployer:
            state["deployer"] = self.deployer
        return state


def read_tick_list(fields: StateFields, fee_ppm: int, *, accepts_any_hook: bool = False) -> TickList:
    """Check and read all fields except the position; `fee_ppm` is the LP fee. Raises `InvalidPoolState`.

    A Uniswap V4 hook that may change the amounts of a swap is rejected, unless `accepts_any_hook` is set.
    """
    spacing = fields.integer("tick_spacing", 1, _MAX_TICK_SPACING)
    in_list = fields.choice("variant", (UNISWAP_V3, ALGEBRA_INTEGRAL), default=UNISWAP_V3) == ALGEBRA_INTEGRAL
    pool_id = fields.optional_hex("pool_id", 32)
    hooks, has_dynamic_fee, parameters, protocol_fees_ppm = _read_hooks_and_fees(
        fields, pool_id, spacing, fee_ppm, accepts_any_hook=accepts_any_hook
    )
    deployer = fields.optional_hex("deployer", 20) or ""
    if deployer and not in_list:
        raise InvalidPoolState("deployer", "only Algebra Integral has custom pools")
    ticks, nets = read_ticks(fields)
    # Algebra's spacing can change while older positions remain.
    if not in_list and gcd(spacing, *ticks) != spacing:
        off = next(i for i, tick in enumerate(ticks) if tick % spacing)
        raise InvalidPoolState(f"ticks[{off}]", f"{ticks[off]} is not a multiple of the tick spacing {spacing}")
    return TickList(
        tick_spacing=spacing,
        ticks=ticks,
        liquidity_nets=nets,
        word_ticks=0 if in_list else _WORD_TICKS * spacing,
        pool_id=pool_id,
        is_native=fields.has("native") and fields.boolean("native"),
        amount_bits=127 if pool_id else 128 if in_list else 255,
        hooks=hooks,
        has_dynamic_fee=has_dynamic_fee,
        protocol_fees_ppm=protocol_fees_ppm,
        parameters=parameters,
        deployer=deployer,
    )


def _read_hooks_and_fees(
    fields: StateFields, pool_id: str | None, spacing: int, fee_ppm: int, *, accepts_any_hook: bool
) -> tuple[str, bool, int, tuple[int, int]]:
    """Read (hooks, has_dynamic_fee, parameters, protocol_fees_ppm).

    Pools without an ID can only have a dynamic fee. The modules for the others are loaded on demand: hardly any quote
    needs them.
    """
    hooks = fields.optional_hex("hooks", 20) or ZERO_ADDRESS
    has_dynamic_fee = fields.has("dynamic_fee") and fields.boolean("dynamic_fee")
    parameters = int(fields.optional_hex("parameters", 32) or "0", 16)
    max_protocol_fee_ppm = _MAX_V4_PROTOCOL_FEE_PPM
    if parameters:
        from swapcli.families.infinity_key import MAX_INFINITY_PROTOCOL_FEE_PPM, check_infinity_hooks, step_in

        max_protocol_fee_ppm = MAX_INFINITY_PROTOCOL_FEE_PPM
        check_infinity_hooks(hooks, parameters, has_dynamic_fee=has_dynamic_fee)
        if step_in(parameters) != spacing:
            raise InvalidPoolState("tick_spacing", f"{spacing} differs from {step_in(parameters)} in parameters")
    elif hooks != ZERO_ADDRESS or (has_dynamic_fee and pool_id):
        from swapcli.families.uniswap.v4_hooks import check_hook_address, check_hooks

        check = check_hook_address if accepts_any_hook else check_hooks
        check(hooks, has_dynamic_fee=has_dynamic_fee)
    protocol_fees_ppm = NO_FEES
    if fields.has("protocol_fees_ppm"):
        from swapcli.families.protocol_fees import read_protocol_fees

        protocol_fees_ppm = read_protocol_fees(fields, fee_ppm, max_protocol_fee_ppm)
    if not pool_id and (parameters or hooks != ZERO_ADDRESS or protocol_fees_ppm != NO_FEES):
        raise InvalidPoolState("pool_id", "missing, but only pools with an id have hooks and protocol fees")
    return hooks, has_dynamic_fee, parameters, protocol_fees_ppm


def read_position(fields: StateFields, tick_list: TickList) -> tuple[int, int, int]:
    """Check and read (sqrt_price_x96, tick, liquidity). Raises `InvalidPoolState`."""
    price = fields.uint("sqrt_price_x96", 160)
    if not MIN_SQRT_RATIO <= price < MAX_SQRT_RATIO:
        raise InvalidPoolState("sqrt_price_x96", f"{price} is outside {MIN_SQRT_RATIO} to {MAX_SQRT_RATIO} - 1")
    tick = fields.integer("tick", MIN_TICK, MAX_TICK - 1)
    actual = tick_at_sqrt_ratio(price)
    # On the way down, a price that stops on a boundary already counts as the tick below.
    if tick != actual and not (tick == actual - 1 and price == sqrt_ratio_at_tick(actual)):
        raise InvalidPoolState("tick", f"{tick} does not contain the square-root price {price}")
    return price, tick, read_liquidity(fields, tick, tick_list.ticks, tick_list.liquidity_nets)


def read_liquidity(fields: StateFields, tick: int, ticks: Sequence[int], nets: Sequence[int]) -> int:
    """Read `liquidity`, which must be the sum of the ticks' net liquidity up to the tick of the price."""
    liquidity = fields.uint("liquidity", 128)
    active = sum(nets[: bisect_right(ticks, tick)])
    if liquidity != active:
        raise InvalidPoolState("liquidity", f"{liquidity} differs from {active}, the sum of the ticks up to {tick}")
    return liquidity


def read_ticks(
    fields: StateFields, max_tick: int = MAX_TICK, net_bits: int = 127
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Check and read `ticks: [[tick, liquidity_net], ...]`, and return both columns. Raises `InvalidPoolState`.

    Ticks are at most `max_tick` in either direction, and the net liquidity is below 2^`net_bits`.
    """
    ticks, nets = fields.read("ticks", _parse_columns)
    net_limit = 1 << net_bits
    if nets and not (max(nets) < net_limit and min(nets) > -net_limit):
        raise _net_liquidity_error(nets, net_bits)
    if ticks and not (ticks[0] >= -max_tick and ticks[-1] <= max_tick and all(map(lt, ticks, ticks[1:]))):
        raise _tick_order_error(ticks, max_tick)
    active = tuple(accumulate(nets))
    if active and active[-1] != 0:
        raise InvalidPoolState("ticks", f"their net liquidity sums to {active[-1]} instead of 0")
    if active and (min(active) < 0 or max(active) >> 128):
        raise _active_liquidity_error(active)
    return ticks, nets


def _parse_columns(value: object) -> tuple[tuple[int, ...], tuple[int, ...]]:
    entries = parse_list(value)
    if not entries:
        return (), ()
    pairs = cast(Sequence[tuple[object, object]], entries)
    if not (_PAIR_TYPES.issuperset(map(type, pairs)) and set(map(len, pairs)) == {2}):
        raise _tick_entry_error(entries)
    ticks, nets = zip(*pairs, strict=True)
    return parse_integers(ticks), parse_integers(nets)


def _tick_entry_error(entries: Sequence[object]) -> InvalidValue:
    is_pair = [type(entry) in _PAIR_TYPES and len(cast(Sequence[object], entry)) == 2 for entry in entries]
    index = is_pair.index(False)
    return InvalidValue("a pair [tick, net liquidity]", entries[index], f"[{index}]")


def _net_liquidity_error(nets: Sequence[int], net_bits: int) -> InvalidPoolState:
    i = next(i for i, net in enumerate(nets) if abs(net) >> net_bits)
    return InvalidPoolState(f"ticks[{i}]", f"the net liquidity {describe(nets[i])} exceeds 2^{net_bits} - 1")


def _tick_order_error(ticks: Sequence[int], max_tick: int) -> InvalidPoolState:
    previous = -max_tick - 1
    for i, tick in enumerate(ticks):
        if abs(tick) > max_tick:
            return InvalidPoolState(f"ticks[{i}]", f"{describe(tick)} is outside -{max_tick} to {max_tick}")
        if tick <= previous:
            return InvalidPoolState(f"ticks[{i}]", f"{tick} does not come after {previous}")
        previous = tick
    raise AssertionError("the ticks are in order")


def _active_liquidity_error(active: Sequence[int]) -> InvalidPoolState:
    i = next(i for i, liquidity in enumerate(active) if not 0 <= liquidity < 1 << 128)
    return InvalidPoolState(f"ticks[{i}]", f"the active liquidity above it would be {active[i]}")
