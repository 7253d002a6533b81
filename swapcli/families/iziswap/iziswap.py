"""iZiSwap pools: concentrated liquidity in points of a single price each, and limit orders at points.

`iziswap_math` has the steps. A swap goes from point to point: first it takes the limit orders at the current point,
then the liquidity up to the next marked point, at which liquidity begins or ends or an order exists. A step also ends
at the end of a word of the contract's bitmap, which matters because each step rounds. The unspent input of a swap is
worth less than the rounding of its last point; a swap that runs out of points is rejected.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

from swapcli.core.annotations import ClassVar, Final, Self
from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, SwapReverts
from swapcli.core.frozen_dataclass import dataclass
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.core.model.units import PPM
from swapcli.core.records import NamedTuple
from swapcli.core.validation.values import InvalidValue, parse_integer, parse_list
from swapcli.families.bins.bin_curve import BinCurve
from swapcli.families.fast_replace import fast_replace
from swapcli.families.identity_checks import check_pair
from swapcli.families.iziswap.iziswap_curve import LiquidityLevel, bins_of_levels, point_of_rate
from swapcli.families.iziswap.iziswap_math import (
    Position,
    sell_x_in_range,
    sell_x_to_order,
    sell_y_in_range,
    sell_y_to_order,
)
from swapcli.families.rounding import UINT128_LIMIT
from swapcli.families.state_fields import StateFields
from swapcli.families.token_positions import is_forward

MAX_POINT: Final = 800_000
MARK_GAS: Final = 28_000
"""Gas units for each marked point that a swap crosses: five of its words change. A public simulator uses 28,675."""
_WORD_BITS: Final = 8
_WORD_MASK: Final = (1 << _WORD_BITS) - 1


class LimitOrders(NamedTuple):
    """The amount of each token that is still for sale in the limit orders at a point."""

    point: int
    selling_x: int
    selling_y: int


class Marks(NamedTuple):
    """The marked points: those where liquidity begins or ends, with the change in liquidity as the price rises, and
    those with limit orders. All are ascending multiples of `point_delta`; `points` contains both kinds."""

    point_delta: int
    endpoints: tuple[int, ...]
    nets: tuple[int, ...]
    orders: tuple[LimitOrders, ...]
    points: tuple[int, ...]

    def next_left(self, point: int) -> int:
        """Return the first mark at or below a point, or the first point of its bitmap word if there is none."""
        index = point // self.point_delta
        start = (index & ~_WORD_MASK) * self.point_delta
        k = bisect_right(self.points, index * self.point_delta) - 1
        return max(self.points[k], start) if k >= 0 else start

    def next_right(self, point: int) -> int:
        """Return the first mark above a point, or the last point of the next point's bitmap word if there is none."""
        index = point // self.point_delta + 1
        end = (index | _WORD_MASK) * self.point_delta
        k = bisect_left(self.points, index * self.point_delta)
        return min(self.points[k], end) if k < len(self.points) else end

    def net_at(self, point: int) -> int | None:
        """Return the change in liquidity at a point, or None if no liquidity begins or ends there."""
        k = bisect_left(self.endpoints, point)
        return self.nets[k] if k < len(self.endpoints) and self.endpoints[k] == point else None

    def orders_at(self, point: int) -> LimitOrders | None:
        """Return the orders at a point, or None if there are none."""
        k = bisect_left(self.orders, (point,))
        return self.orders[k] if k < len(self.orders) and self.orders[k].point == point else None

    def with_orders(self, changed: Mapping[int, LimitOrders]) -> Marks:
        """Return the marks after orders have been filled, without completely filled orders."""
        if not changed:
            return self
        current = (changed.get(each.point, each) for each in self.orders)
        return make_marks(self.point_delta, self.endpoints, self.nets, tuple(each for each in current if any(each[1:])))


def make_marks(
    point_delta: int, endpoints: tuple[int, ...], nets: tuple[int, ...], orders: tuple[LimitOrders, ...]
) -> Marks:
    """Return the marks of a pool."""
    points = tuple(sorted({*endpoints, *(each.point for each in orders)}))
    return Marks(point_delta, endpoints, nets, orders, points)


class _Sale:
    """A swap in progress: the rest of its input, its output so far, and how orders have changed."""

    def __init__(self, amount: int, fee_ppm: int) -> None:
        self.left, self.acquired, self.is_finished = amount, 0, False
        self.orders: dict[int, LimitOrders] = {}
        self._fee_ppm = fee_ppm

    def fill_orders(self, orders: LimitOrders, *, sells_x: bool) -> None:
        """Sell to the limit orders at a point."""
        amount, selling = self._after_fee(), orders.selling_y if sells_x else orders.selling_x
        if not amount:
            return
        cost, acquired = (sell_x_to_order if sells_x else sell_y_to_order)(amount, orders.point, selling)
        self.is_finished = acquired < selling or cost >= amount
        self._take(cost, acquired, amount)
        field = "selling_y" if sells_x else "selling_x"
        self.orders[orders.point] = orders._replace(**{field: selling - acquired})

    def sell_in_range(self, position: Position, end: int, *, sells_x: bool) -> Position:
        """Sell to points with the same liquidity, and return the point at which the sale ends."""
        amount = self._after_fee()
        if not amount or not position.liquidity:
            return position
        step = (sell_x_in_range if sells_x else sell_y_in_range)(position, end, amount)
        self.is_finished = step.is_finished
        self._take(step.cost, step.acquired, amount)
        return Position(step.point, position.liquidity, step.liquidity_x)

    def _after_fee(self) -> int:
        """Return the amount that can still be sold; if it is zero, the swap ends."""
        amount = self.left * (PPM - self._fee_ppm) // PPM
        self.is_finished = self.is_finished or not amount
        return amount

    def _take(self, cost: int, acquired: int, amount: int) -> None:
        """Charge a step and its fee; if `amount` was sold, the fee is the whole rest of the input."""
        fee = self.left - cost if cost >= amount else -(-cost * self._fee_ppm // (PPM - self._fee_ppm))
        self.left -= cost + fee
        self.acquired += acquired


@dataclass(frozen=True, slots=True)
class IziSwap(Pool):
    """An iZiSwap pool.

    `tokens` are X and Y, in the contract's order. `liquidity_x` is the part of the liquidity at `point` that is in X.
    """

    point: int
    liquidity: int
    liquidity_x: int
    marks: Marks

    family: ClassVar[str] = "iziswap"
    leaves_input: ClassVar[bool] = True
    swap_gas: ClassVar[int] = 82_500
    """Measured with the bytecode: the median swap takes 22,600 more than a Uniswap V2 pair in the same EVM."""

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Sell exactly `amount_in`. Raises the same errors as `Pool.swap`."""
        if amount_in >= UINT128_LIMIT:
            raise SwapReverts(f"pool {self.key}: {amount_in} exceeds 2^128 - 1")
        sale, position = self._sell(token_in, token_out, amount_in)
        if not sale.is_finished:
            raise InsufficientLiquidity(f"pool {self.key} runs out of liquidity before the input is spent")
        if not sale.acquired:
            raise self.rounds_to_zero(amount_in)
        after: Self = _after_swap(self, *position, self.marks.with_orders(sale.orders))
        return sale.acquired, after

    def unspent(self, token_in: str, token_out: str, amount_in: int) -> int:
        """Return the part of the input that the swap leaves unspent; see `Pool.unspent`."""
        return self._sell(token_in, token_out, amount_in)[0].left

    def curve(self, token_in: str, token_out: str) -> BinCurve:
        """Return the floating-point curve for selling `token_in` for `token_out`: one rate for each point or group of
        points, and for each order."""
        sells_x = is_forward(self, token_in, token_out)
        bins = bins_of_levels(self._levels(sells_x), (PPM - self.fee_ppm) / PPM, sells_x)
        return BinCurve(bins, UINT128_LIMIT - 1)

    def state(self) -> dict[str, object]:
        """Return the family's fields in the `swap-market/1` format."""
        marks = self.marks
        return {
            "point": self.point,
            "liquidity": str(self.liquidity),
            "liquidity_x": str(self.liquidity_x),
            "point_delta": marks.point_delta,
            "points": [[point, str(net)] for point, net in zip(marks.endpoints, marks.nets, strict=True)],
            "orders": [[each.point, str(each.selling_x), str(each.selling_y)] for each in marks.orders],
        }

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read `point`, `liquidity`, `liquidity_x`, `point_delta`, `points: [[point, net], ...]` and, if there are any,
        `orders: [[point, x, y], ...]`."""
        check_pair(identity)
        fields = StateFields(state)
        point = fields.integer("point", -MAX_POINT, MAX_POINT)
        liquidity, liquidity_x = fields.uint("liquidity", 128), fields.uint("liquidity_x", 128)
        if liquidity_x > liquidity:
            raise InvalidPoolState("liquidity_x", f"is more than the liquidity {liquidity}")
        point_delta = fields.integer("point_delta", 1, MAX_POINT)
        endpoints, nets = _read_rows(fields, "points", 2, point_delta)
        _check_liquidity(endpoints, nets, point, liquidity)
        columns = _read_rows(fields, "orders", 3, point_delta) if fields.has("orders") else [()] * 3
        orders = tuple(map(LimitOrders, *columns))
        for k, each in enumerate(orders):
            if min(each[1:]) < 0 or not any(each[1:]):
                raise InvalidPoolState(f"orders[{k}]", "expected amounts of 0 or more, with at least one above 0")
            if (each.selling_x and each.point < point) or (each.selling_y and each.point > point):
                side = "X below" if each.selling_x and each.point < point else "Y above"
                raise InvalidPoolState(f"orders[{k}]", f"sells {side} the current point {point}")
        return cls(*identity, point, liquidity, liquidity_x, make_marks(point_delta, endpoints, nets, orders))

    def gas_units(self, after: Pool) -> int:
        """Return `swap_gas` plus the gas for the marked points between this state and `after`."""
        assert isinstance(after, IziSwap)
        points = self.marks.points
        return self.swap_gas + MARK_GAS * abs(bisect_right(points, after.point) - bisect_right(points, self.point))

    def gas_units_to(self, token_in: str, token_out: str, rate: float) -> int:
        """Return the gas units of a swap that ends at the marginal rate `rate`."""
        sells_x = is_forward(self, token_in, token_out)
        if rate <= 0.0:
            return self.swap_gas
        points = self.marks.points
        last = point_of_rate(rate / ((PPM - self.fee_ppm) / PPM), sells_x)
        return self.swap_gas + MARK_GAS * max(
            bisect_right(points, self.point) - bisect_left(points, last)
            if sells_x
            else bisect_right(points, last) - bisect_right(points, self.point),
            0,
        )

    def api_extra_data(self) -> dict[str, int | str]:
        """Return `fee`."""
        return {"fee": self.fee_ppm}

    def _sell(self, token_in: str, token_out: str, amount_in: int) -> tuple[_Sale, Position]:
        """Return a sale after its last point, and that point."""
        sale = _Sale(amount_in, self.fee_ppm)
        sells_x = is_forward(self, token_in, token_out)
        return sale, self._sell_x(sale) if sells_x else self._sell_y(sale)

    def _sell_x(self, sale: _Sale) -> Position:
        """Sell X from point to point downwards, and return the point at which the swap ends."""
        marks, position = self.marks, Position(self.point, self.liquidity, self.liquidity_x)
        at: int | None = self.point  # which may have orders and an end of liquidity
        while marks.points and position.point >= marks.points[0]:
            start, net = position.point - 1, None if at is None else marks.net_at(at)
            if at is not None and (orders := marks.orders_at(at)):
                sale.fill_orders(orders, sells_x=True)
            if net is not None and not sale.is_finished:
                position = sale.sell_in_range(position, position.point, sells_x=True)
                if not sale.is_finished:
                    position = Position(start, position.liquidity - net, 0)
            if sale.is_finished or position.point < marks.points[0]:
                break
            end = marks.next_left(start)
            position = sale.sell_in_range(position, end, sells_x=True) if position.liquidity else Position(end, 0, 0)
            at = end if position.point == end else None
        return position

    def _sell_y(self, sale: _Sale) -> Position:
        """Sell Y from point to point upwards, and return the point at which the swap ends."""
        marks, position = self.marks, Position(self.point, self.liquidity, self.liquidity_x)
        while True:
            if orders := marks.orders_at(position.point):
                sale.fill_orders(orders, sells_x=False)
            if sale.is_finished or not marks.points or position.point >= marks.points[-1]:
                break
            end = marks.next_right(position.point)
            if position.liquidity:
                position = sale.sell_in_range(position, end, sells_x=False)
                if position.point != end:
                    break
            liquidity = position.liquidity + (marks.net_at(end) or 0)
            position = Position(end, liquidity, liquidity)
        return position

    def _levels(self, sells_x: bool) -> Iterator[LiquidityLevel]:
        """Yield what a sale meets, in order: points with the same liquidity, and orders at points."""
        marks, point, liquidity = self.marks, self.point, self.liquidity
        part = liquidity - self.liquidity_x if sells_x else self.liquidity_x
        yield LiquidityLevel(point, point, part, self._selling_at(point, sells_x))
        if sells_x:
            liquidity -= marks.net_at(point) or 0
            for mark in reversed(marks.points[: bisect_left(marks.points, point)]):
                yield LiquidityLevel(mark + 1, point - 1, liquidity, 0)
                yield LiquidityLevel(mark, mark, liquidity, self._selling_at(mark, sells_x))
                liquidity, point = liquidity - (marks.net_at(mark) or 0), mark
            return
        for mark in marks.points[bisect_right(marks.points, point) :]:
            yield LiquidityLevel(point + 1, mark - 1, liquidity, 0)
            liquidity, point = liquidity + (marks.net_at(mark) or 0), mark
            yield LiquidityLevel(mark, mark, liquidity, self._selling_at(mark, sells_x))

    def _selling_at(self, point: int, sells_x: bool) -> int:
        orders = self.marks.orders_at(point)
        return 0 if orders is None else orders.selling_y if sells_x else orders.selling_x


_after_swap = fast_replace(IziSwap, "point", "liquidity", "liquidity_x", "marks")


def _read_rows(fields: StateFields, key: str, width: int, point_delta: int) -> list[tuple[int, ...]]:
    """Read the columns of a list of rows, each with a point first. Raises `InvalidPoolState`."""
    rows = [fields.parse(path, row, _parse_row, width) for path, row in fields.items(key)]
    previous = -MAX_POINT - 1
    for k, (point, *_) in enumerate(rows):
        if point <= previous or point % point_delta or point > MAX_POINT:
            raise InvalidPoolState(f"{key}[{k}]", f"{point} is not a multiple of {point_delta} above {previous}")
        previous = point
    return list(zip(*rows, strict=True)) or [()] * width


def _parse_row(value: object, width: int) -> tuple[int, ...]:
    row = parse_list(value)
    if len(row) != width:
        raise InvalidValue(f"a list of {width} integers", value)
    return tuple(parse_integer(each, -UINT128_LIMIT, UINT128_LIMIT - 1) for each in row)


def _check_liquidity(endpoints: Sequence[int], nets: Sequence[int], point: int, liquidity: int) -> None:
    """Raise `InvalidPoolState` unless the liquidity of the points adds up to the current liquidity, and in total to
    0."""
    sums = list(accumulate(nets, initial=0))
    if min(sums) < 0 or max(sums) >= UINT128_LIMIT or sums[-1]:
        raise InvalidPoolState(
            "points",
            f"their cumulative liquidity goes from {min(sums)} to {max(sums)} and ends at {sums[-1]}, not at 0",
        )
    if sums[bisect_right(endpoints, point)] != liquidity:
        raise InvalidPoolState("liquidity", f"differs from that of the points, {sums[bisect_right(endpoints, point)]}")
