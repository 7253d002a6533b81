"""The fee of Clanker's hook with dynamic fees: a base fee, plus one that grows with the square of the ticks crossed.

The hook first makes a trial swap and undoes it. The fee follows from an accumulator: the distance from a reference tick
to the tick that the trial reaches, plus what is left of earlier volatility. The first swap after the filter period
renews the reference; after the reset period, earlier swaps no longer count. So the fee depends on the amount and the
time of the swap. The trial uses the fee that the last swap left in the manager, or an estimate if the reference is
renewed. Its protocol fee is the one left by the last swap in any of the hook's pools, or a fifth of the estimate.

Source: `ClankerHookDynamicFee.sol` of clanker-devco/v4-contracts.
"""

from __future__ import annotations

from swapcli.core.annotations import Final
from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, SwapReverts
from swapcli.core.model.units import BPS, PPM, WAD
from swapcli.core.records import NamedTuple
from swapcli.families.rounding import UINT256_LIMIT
from swapcli.families.state_fields import StateFields
from swapcli.families.tick_math import MAX_TICK, MIN_TICK
from swapcli.families.uniswap.concentrated import Concentrated, walk_ticks, with_lp_fee
from swapcli.families.uniswap.hook_fees import DirectionFees, HookFees

_FIELD: Final = "clanker_volatility"
_FEE_CONTROL_UNIT: Final = 10**10  # divisor of the variable fee
_MAX_ACCUMULATOR: Final = (1 << 24) - 1  # a uint24
_PROTOCOL_PART: Final = 5
"""The protocol takes a fifth of the LP fee, rounded down: 20% in the contract."""
_MAX_LP_FEE_PPM: Final = 300_000
"""The largest LP fee of the hook's first version; it is a third of that in the second."""
_TIME_BITS: Final = 40  # seconds, a uint40


def fees_of_selling(lp_fee_ppm: int) -> DirectionFees:
    """Return the fees for selling the launched token with a given LP fee: the protocol's part is taken from the
    output."""
    return DirectionFees(lp_fee_ppm, output_fee=lp_fee_ppm // _PROTOCOL_PART * (WAD // PPM))


def fees_of_buying(lp_fee_ppm: int) -> DirectionFees:
    """Return the fees for paying in the paired token: the protocol's fee p is p / (1 + p) of the input."""
    return DirectionFees(lp_fee_ppm, input_fee=_part_of_input(lp_fee_ppm // _PROTOCOL_PART))


def _part_of_input(protocol_fee_ppm: int) -> int:
    return protocol_fee_ppm * WAD // (PPM + protocol_fee_ppm)


class ClankerVolatility(NamedTuple):
    """The hook's configuration of a pool, its variables after the last swap, and the next swap's `timestamp`.

    `protocol_fee_ppm` is the hook's `protocolFee()`. Periods are in seconds.
    """

    token_is_first: bool
    base_fee_ppm: int
    max_fee_ppm: int
    filter_period_s: int
    reset_period_s: int
    reset_tick_filter: int
    fee_control: int
    decay_bps: int
    reference_tick: int
    reset_tick: int
    reset_at: int
    last_swap_at: int
    applied: int
    accumulator: int
    protocol_fee_ppm: int
    timestamp: int

    def start_fees(self, plain: Concentrated) -> HookFees:
        """Return the fees of the smallest swaps."""
        reference_tick, applied, _, _ = self._renewed(plain)
        fee_ppm = self._fee_ppm(abs(reference_tick - plain.tick) + applied)
        selling, buying = fees_of_selling(fee_ppm), fees_of_buying(fee_ppm)
        return HookFees(selling, buying) if self.token_is_first else HookFees(buying, selling)

    def fee_ppm_at(self, plain: Concentrated, tick: int) -> int:
        """Return the LP fee of a swap whose trial reaches a given tick."""
        reference_tick, applied, _, _ = self._renewed(plain)
        return self._fee_ppm(abs(reference_tick - tick) + applied)

    def fees_of_swap(self, plain: Concentrated, amount_in: int, *, down: bool) -> DirectionFees:
        """Return the fees for selling `amount_in` of token0 (`down`) or token1. Raises the same errors as
        `Pool.swap`."""
        reference_tick, applied, trial_fee_ppm, protocol_fee_ppm = self._renewed(plain)
        buys = down != self.token_is_first
        trial = amount_in - amount_in * _part_of_input(protocol_fee_ppm) // WAD if buys else amount_in
        if not trial:
            raise SwapReverts(f"pool {plain.key}: the hook cannot simulate a swap of zero")
        try:
            _, _, tick, _ = walk_ticks(with_lp_fee(plain, trial_fee_ppm), trial, down=down)
        except InsufficientLiquidity:
            # The trial ends beyond the known ticks. Beyond the reference, the fee only grows with the distance from it:
            # if the last known tick already has the maximum fee, so does the end.
            ticks = plain.tick_list.ticks
            tick = ticks[0] if down else ticks[-1]
            is_beyond_reference = tick <= reference_tick if down else tick >= reference_tick
            if not is_beyond_reference or self._fee_ppm(abs(reference_tick - tick) + applied) < self.max_fee_ppm:
                raise
        fee_ppm = self._fee_ppm(abs(reference_tick - tick) + applied)
        return fees_of_buying(fee_ppm) if buys else fees_of_selling(fee_ppm)

    def _renewed(self, plain: Concentrated) -> tuple[int, int, int, int]:
        """Return (reference tick, applied volatility, LP fee and protocol's fee of the trial) of the next swap."""
        tick = plain.tick
        if self.last_swap_at + self.filter_period_s < self.timestamp:
            is_recent = self.last_swap_at + self.reset_period_s > self.timestamp
            decayed = min(self.accumulator * self.decay_bps // BPS, _MAX_ACCUMULATOR)
            applied = decayed if is_recent else 0
            fee_ppm = self._fee_ppm(applied)
            return tick, applied, fee_ppm, fee_ppm // _PROTOCOL_PART
        is_calm = abs(tick - self.reset_tick) <= self.reset_tick_filter
        if self.reset_at + self.reset_period_s < self.timestamp and is_calm:
            return tick, 0, self.base_fee_ppm, self.base_fee_ppm // _PROTOCOL_PART
        return self.reference_tick, self.applied, plain.fee_ppm, self.protocol_fee_ppm

    def _fee_ppm(self, accumulator: int) -> int:
        accumulator = min(accumulator, _MAX_ACCUMULATOR)
        product = self.fee_control * accumulator * accumulator
        if product >= UINT256_LIMIT:
            raise SwapReverts("the hook's fee overflows")
        return min(product // _FEE_CONTROL_UNIT + self.base_fee_ppm, self.max_fee_ppm)

    def state(self) -> dict[str, object]:
        """Return the object in the form that `read_clanker_volatility` reads."""
        return {**self._asdict(), "fee_control": str(self.fee_control)}


def read_clanker_volatility(fields: StateFields) -> ClankerVolatility | None:
    """Parse the optional `clanker_volatility` object, which has the fields of the record. Raises `InvalidPoolState`."""
    if not fields.has(_FIELD):
        return None
    nested = fields.nested(_FIELD)
    max_fee_ppm = nested.integer("max_fee_ppm", 0, _MAX_LP_FEE_PPM)
    timestamp = nested.uint("timestamp", _TIME_BITS)
    volatility = ClankerVolatility(
        token_is_first=nested.boolean("token_is_first"),
        base_fee_ppm=nested.integer("base_fee_ppm", 0, max_fee_ppm),
        max_fee_ppm=max_fee_ppm,
        filter_period_s=nested.uint("filter_period_s", 128),
        reset_period_s=nested.uint("reset_period_s", 128),
        reset_tick_filter=nested.integer("reset_tick_filter", -(1 << 23), (1 << 23) - 1),
        fee_control=nested.uint("fee_control", 256),
        decay_bps=nested.uint("decay_bps", 24),
        reference_tick=nested.integer("reference_tick", MIN_TICK, MAX_TICK),
        reset_tick=nested.integer("reset_tick", MIN_TICK, MAX_TICK),
        reset_at=nested.uint("reset_at", _TIME_BITS),
        last_swap_at=nested.uint("last_swap_at", _TIME_BITS),
        applied=nested.uint("applied", 24),
        accumulator=nested.uint("accumulator", 24),
        protocol_fee_ppm=nested.integer("protocol_fee_ppm", 0, _MAX_LP_FEE_PPM),
        timestamp=timestamp,
    )
    for name in ("reset_at", "last_swap_at"):
        if getattr(volatility, name) > timestamp:
            raise InvalidPoolState(nested.path_of(name), f"after the state's own time {timestamp}")
    return volatility
