"""Maverick V2 pools: ticks with their own reserves, which a swap walks through from the active one.

The source of the pools is not published, only their bytecode and the source of their libraries (see `maverick_math`).
Tokens A and B are in the order of their addresses, and amounts are scaled to 18 decimals. In a tick, the input after
the fee buys part of the reserve, or all of it; the walk then continues at the next tick with reserves, upwards if A is
sold.

Some kinds of bins move: after a swap, the contract moves them towards the average price, which depends on the block's
time. So the state after a swap equals the contract's only in a pool whose bins are all static, and a route swaps only
once in any other pool.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from math import log, sqrt

from swapcli.core.annotations import ClassVar, Final, Self
from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, SwapReverts
from swapcli.core.frozen_dataclass import dataclass
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.core.model.units import WAD
from swapcli.core.records import NamedTuple
from swapcli.core.validation.values import InvalidValue, parse_integer, parse_list
from swapcli.families.fast_replace import fast_replace
from swapcli.families.identity_checks import check_pair
from swapcli.families.maverick.maverick_curve import MaverickCurve, TickSale
from swapcli.families.maverick.maverick_math import (
    MAX_SUB_TICK,
    input_for_output,
    output_for_input,
    prices_in_tick,
)
from swapcli.families.reserves import MAX_DECIMALS
from swapcli.families.rounding import mul_div_up, require_uint128
from swapcli.families.state_fields import StateFields
from swapcli.families.token_positions import is_forward

MAX_TICK_SPACING: Final = 10_000  # the factory's limit
MAX_FEE: Final = 9 * 10**17  # the factory's limit, as a 10^18 fraction
MAX_PROTOCOL_FEE_PER_MILLE: Final = 250  # the factory's limit, of the fee
ALL_KINDS: Final = 0b1111  # one bit per kind of bin
STATIC: Final = 0b0001
"""The bit for static bins among the bin kinds that a pool may have; the three other kinds follow the price."""

_SHARES: Final = 1_000  # units of the protocol's part of the fee
_AMOUNT_BITS: Final = 128  # amounts are uint128
_TICK_GAS: Final = 20_000  # gas units of each tick after the first
_LOG_SUB_TICK: Final = log(1.0001)


class MaverickTick(NamedTuple):
    """A tick with its reserves, which have 18 decimals."""

    tick: int
    reserve_a: int
    reserve_b: int


@dataclass(frozen=True, slots=True)
class MaverickV2(Pool):
    """A Maverick V2 pool. `tokens` are A and B. `fees` are for selling A and for selling B, as fractions of the input,
    scaled by 10^18.

    `ticks` are the ticks with reserves, ascending. `kinds` are the pool's kinds of bins, as bits.
    """

    tick_spacing: int
    fees: tuple[int, int]
    protocol_fee_per_mille: int
    kinds: int
    active_tick: int
    ticks: tuple[MaverickTick, ...]

    family: ClassVar[str] = "maverick_v2"
    swap_gas: ClassVar[int] = 125_000
    """From KyberSwap's simulator, like the gas of a tick."""
    requires_exact_payment: ClassVar[bool] = True

    @property
    def is_single_use(self) -> bool:
        """Whether bins can move after a swap."""
        return self.kinds != STATIC

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Sell exactly `amount_in`. Raises the same errors as `Pool.swap`."""
        sells_a = is_forward(self, token_in, token_out)
        sold, bought = (10 ** (MAX_DECIMALS - each) for each in (self.decimals if sells_a else self.decimals[::-1]))
        if amount_in * sold >> _AMOUNT_BITS:
            raise SwapReverts(f"pool {self.key}: {amount_in} exceeds 2^{_AMOUNT_BITS} - 1 with 18 decimals")
        scaled_out, active, ticks = self._sell(amount_in * sold, sells_a)
        amount_out = scaled_out // bought
        if not amount_out:
            raise self.rounds_to_zero(amount_in)
        after: Self = _replace_ticks(self, active, ticks)
        return amount_out, after

    def _sell(self, amount: int, sells_a: bool) -> tuple[int, int, tuple[MaverickTick, ...]]:
        """Walk over the ticks; return (amount_out, active tick, ticks) after the swap. Amounts have 18 decimals."""
        ticks, fee, amount_out = list(self.ticks), self.fees[not sells_a], 0
        i, active, direction = self._first_ahead(sells_a), self.active_tick, 1 if sells_a else -1
        while amount:
            if not 0 <= i < len(ticks):
                raise InsufficientLiquidity(f"pool {self.key} runs out of liquidity before the input is spent")
            active, reserve_a, reserve_b = ticks[i]
            prices = prices_in_tick(active, self.tick_spacing, reserve_a, reserve_b)
            paid = reserve_b if sells_a else reserve_a
            net, space = amount * (WAD - fee) // WAD, input_for_output(prices, paid, sells_a)
            if net < space:
                consumed, left, fee_amount = amount, 0, amount - net
            else:
                net, fee_amount = space, mul_div_up(space, fee, WAD - fee)
                consumed = space + fee_amount
                left = max(amount - consumed, 0)
            if not left:
                paid = min(paid, output_for_input(prices, net, sells_a))
            added = max(consumed - mul_div_up(fee_amount, self.protocol_fee_per_mille, _SHARES), 0)
            if sells_a:
                ticks[i] = MaverickTick(active, require_uint128(reserve_a + added), reserve_b - paid)
            else:
                ticks[i] = MaverickTick(active, reserve_a - paid, require_uint128(reserve_b + added))
            amount, amount_out = left, amount_out + paid
            if left:
                active, i = active + direction, i + direction
        return amount_out, active, tuple(each for each in ticks if each.reserve_a or each.reserve_b)

    def _first_ahead(self, sells_a: bool) -> int:
        """Return the index of the first tick with reserves at or after the active one, in the direction of a sale."""
        numbers = [each.tick for each in self.ticks]
        return bisect_left(numbers, self.active_tick) if sells_a else bisect_right(numbers, self.active_tick) - 1

    def curve(self, token_in: str, token_out: str) -> MaverickCurve:
        """Return the floating-point curve for selling `token_in` for `token_out`: one segment for each tick ahead."""
        sells_a = is_forward(self, token_in, token_out)
        return MaverickCurve(self._sales(sells_a), 1.0 - self.fees[not sells_a] / WAD)

    def _sales(self, sells_a: bool) -> Iterator[TickSale]:
        scale_a, scale_b = (10 ** (MAX_DECIMALS - each) for each in self.decimals)
        sold, bought = (scale_a, scale_b) if sells_a else (scale_b, scale_a)
        unit = sqrt(bought / sold)
        i = self._first_ahead(sells_a)
        for tick, reserve_a, reserve_b in self.ticks[i:] if sells_a else self.ticks[: i + 1][::-1]:
            prices = prices_in_tick(tick, self.tick_spacing, reserve_a, reserve_b)
            reserve = reserve_b if sells_a else reserve_a
            amount_in = input_for_output(prices, reserve, sells_a)
            q, edge = (_q_of(each, sells_a) * unit for each in (prices.price, prices.high if sells_a else prices.low))
            yield TickSale(q, edge, amount_in / sold, reserve / bought)

    def state(self) -> dict[str, object]:
        """Return the family's fields in the `swap-market/1` format."""
        return {
            "tick_spacing": self.tick_spacing,
            "fees": [str(fee) for fee in self.fees],
            "protocol_fee_per_mille": self.protocol_fee_per_mille,
            "kinds": self.kinds,
            "active_tick": self.active_tick,
            "ticks": [[each.tick, str(each.reserve_a), str(each.reserve_b)] for each in self.ticks],
        }

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read `tick_spacing, fees, protocol_fee_per_mille, kinds, active_tick, ticks: [[tick, A, B], ...]`.

        `fee_ppm` is the fee for selling A, rounded down.
        """
        check_pair(identity)
        if max(identity.decimals) > MAX_DECIMALS:
            raise InvalidPoolState("decimals", f"a token has more than {MAX_DECIMALS}")
        fields = StateFields(state)
        spacing = fields.integer("tick_spacing", 1, MAX_TICK_SPACING)
        fees = fields.uints("fees", 2, 64)
        if max(fees) > MAX_FEE:
            raise InvalidPoolState("fees", f"{max(fees)} exceeds {MAX_FEE}")
        if identity.fee_ppm != fee_ppm_of(fees[0]):
            raise InvalidPoolState(
                "fee_ppm", f"{identity.fee_ppm} differs from {fee_ppm_of(fees[0])}, the value of fees"
            )
        limit = MAX_SUB_TICK // spacing - 1
        return cls(
            *identity,
            spacing,
            (fees[0], fees[1]),
            fields.integer("protocol_fee_per_mille", 0, MAX_PROTOCOL_FEE_PER_MILLE),
            fields.integer("kinds", 1, ALL_KINDS),
            fields.integer("active_tick", -limit, limit),
            _check_ticks(fields.read("ticks", _parse_ticks), limit),
        )

    def gas_units(self, after: Pool) -> int:
        """Return `swap_gas` plus the gas for the ticks with reserves between this state and `after`."""
        assert isinstance(after, MaverickV2)
        return self._gas_units_at(after.active_tick)

    def gas_units_to(self, token_in: str, token_out: str, rate: float) -> int:
        """Return the gas units of a swap that ends at the marginal rate `rate`."""
        sells_a = is_forward(self, token_in, token_out)
        if rate <= 0.0:
            return self._gas_units_at(MAX_SUB_TICK if sells_a else -MAX_SUB_TICK)
        scale = 10 ** (self.decimals[0] - self.decimals[1])
        gamma = 1.0 - self.fees[not sells_a] / WAD
        price = gamma / (rate * scale) if sells_a else rate / (gamma * scale)
        tick = int(log(price) / _LOG_SUB_TICK // self.tick_spacing)
        return self._gas_units_at(max(tick, self.active_tick) if sells_a else min(tick, self.active_tick))

    def _gas_units_at(self, tick: int) -> int:
        low, high = sorted((tick, self.active_tick))
        return self.swap_gas + _TICK_GAS * sum(low <= each.tick <= high and each.tick != tick for each in self.ticks)

    def api_extra_data(self) -> dict[str, int | str]:
        """Return an empty object: a swap needs only the pool's address."""
        return {}


_replace_ticks = fast_replace(MaverickV2, "active_tick", "ticks")


def fee_ppm_of(fee: int) -> int:
    """Return a fee with 18 decimals in parts per million, rounded down."""
    return fee // 10**12


def _q_of(sqrt_price: int, sells_a: bool) -> float:
    """Return the square root of the input that a unit of output costs, without the fee."""
    return sqrt_price / WAD if sells_a else WAD / sqrt_price


def _parse_ticks(value: object) -> tuple[MaverickTick, ...]:
    return tuple(_parse_tick(each, f"[{i}]") for i, each in enumerate(parse_list(value)))


def _parse_tick(value: object, path: str) -> MaverickTick:
    if not isinstance(value, list | tuple) or len(value) != len(MaverickTick._fields):
        raise InvalidValue("a list [tick, reserve of A, reserve of B]", value, path)
    try:
        reserves = (parse_integer(each, 0, (1 << _AMOUNT_BITS) - 1) for each in value[1:])
        return MaverickTick(parse_integer(value[0], -MAX_SUB_TICK, MAX_SUB_TICK), *reserves)
    except InvalidValue as invalid:
        raise InvalidValue(invalid.expected, invalid.value, path) from None


def _check_ticks(ticks: Sequence[MaverickTick], limit: int) -> tuple[MaverickTick, ...]:
    previous = -limit - 1
    for i, each in enumerate(ticks):
        if not previous < each.tick <= limit:
            raise InvalidPoolState(f"ticks[{i}]", f"{each.tick} is not above {previous} and at most {limit}")
        if not each.reserve_a and not each.reserve_b:
            raise InvalidPoolState(f"ticks[{i}]", "it has no reserves")
        previous = each.tick
    return tuple(ticks)
