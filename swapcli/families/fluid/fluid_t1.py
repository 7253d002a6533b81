"""Pools of Fluid's DEX T1, for exact inputs: a collateral side and a debt side, each x * y = k on imaginary reserves.

All amounts in the state have 12 decimals. A swap is split such that both sides end at the same price, or uses one side
only; the fee comes off the input. A swap reverts if it is too small, takes more than half of the input reserve, leaves
a side almost empty, exceeds a limit of the liquidity layer, or ends more than 5% from the price of the last swap.

Reserves earn interest and ranges shift every second. The liquidity layer rounds what it stores, so only the first swap
of a transaction is exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isqrt

from swapcli.core.annotations import ClassVar, Final, Self
from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, SwapReverts
from swapcli.core.frozen_dataclass import dataclass
from swapcli.core.model.pool import Pool, PoolIdentity, RateCurve
from swapcli.core.model.units import PPM, WAD
from swapcli.core.records import NamedTuple
from swapcli.families.fast_replace import fast_replace
from swapcli.families.fluid.fluid_curve import FluidCurve, SideLimits
from swapcli.families.hull_curve import ZeroCurve
from swapcli.families.identity_checks import check_pair
from swapcli.families.reserves import change_decimals
from swapcli.families.state_fields import StateFields
from swapcli.families.token_positions import is_forward

ADJUSTED_DECIMALS: Final = 12
"""The decimals of the amounts in the contract's computations."""
PRICE_ONE: Final = 10**27
"""A price of one unit of the second token for one of the first, both with 12 decimals."""
_MIN_ADJUSTED, _MAX_ADJUSTED = 10**6, (1 << 96) - 1
_MIN_AMOUNT, _MAX_AMOUNT = 100, (1 << 128) - 1
"""`_verifySwapAndNonPerfectActions`: the bounds of an input with 12 decimals and in base units."""
_MIN_RESERVE_RATIO: Final = 10**4
"""`MINIMUM_LIQUIDITY_SWAP`: a side keeps at least this part of its other token's value."""
_MAX_PRICE_CHANGE: Final = 5 * 10**16
"""`ORACLE_LIMIT`, 5%, of 10^18."""
_CUT_SCALE: Final = 10**8  # a cut in percent times a fee in ppm
_MAX_CUT_PERCENT: Final = 100  # of the fee: the protocol's share
_RESERVE_BITS: Final = 128  # far above any amount with 12 decimals
_ONE_SIDE_GAS: Final = 108_000  # gas units of a swap in a pool with only collateral or only debt


class FluidSide(NamedTuple):
    """The collateral or the debt side of a pool: real and imaginary reserves of both tokens, with 12 decimals."""

    real: tuple[int, int]
    imaginary: tuple[int, int]


class _Direction(NamedTuple):
    """A side in the direction of a swap."""

    real_in: int
    real_out: int
    imaginary_in: int
    imaginary_out: int


_NO_SIDE: Final = _Direction(0, 0, 0, 0)


class _Part(NamedTuple):
    """The amounts that a swap puts into a side, fee included, and takes out of it, with 12 decimals."""

    amount_in: int
    amount_out: int


_NOTHING: Final = _Part(0, 0)


@dataclass(frozen=True, slots=True)
class FluidT1(Pool):
    """A Fluid pool. `collateral` and `debt` are the enabled sides; prices are prices of the first token, scaled by
    10^27.

    `last_price` is the price of the last swap. `revenue_cut` is the protocol's percentage of the fee. `withdrawable`
    and `borrowable` are the most base units of each token that the liquidity layer pays out of either side. `is_native`
    means that the pool trades native currency in place of the wrapped token. `resolver` is the contract from which it
    is read, empty if unknown.
    """

    collateral: FluidSide | None
    debt: FluidSide | None
    center_price: int
    last_price: int
    revenue_cut: int
    withdrawable: tuple[int, int]
    borrowable: tuple[int, int]
    is_native: bool
    resolver: str

    family: ClassVar[str] = "fluid_t1"
    swap_gas: ClassVar[int] = 132_000
    """Medians of recorded swaps (172,000 with both sides and 148,000 with one), less 40,000 for the transaction."""
    holds_reserves_in_vault: ClassVar[bool] = True
    is_single_use: ClassVar[bool] = True
    changes_without_events: ClassVar[bool] = True
    """Reserves and ranges change every second."""

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Sell `amount_in` at the output of the contract's `swapIn`. Raises the same errors as `Pool.swap`."""
        i, j = (0, 1) if is_forward(self, token_in, token_out) else (1, 0)
        adjusted = self._to_adjusted(i, amount_in)
        if not (_MIN_AMOUNT <= amount_in <= _MAX_AMOUNT and _MIN_ADJUSTED <= adjusted <= _MAX_ADJUSTED):
            raise SwapReverts(f"pool {self.key} does not swap an input of {amount_in}")
        collateral, debt = _directed(self.collateral, i, j), _directed(self.debt, i, j)
        if adjusted > (collateral.imaginary_in + debt.imaginary_in) // 2:
            raise InsufficientLiquidity(f"pool {self.key}: {amount_in} is more than half of its reserve")
        to_collateral = self._collateral_part(adjusted, collateral, debt)
        parts = (
            self._swap_side(i, collateral, to_collateral),
            self._swap_side(i, debt, adjusted - to_collateral),
        )
        outputs = [self._from_adjusted(j, part.amount_out) for part in parts]
        if outputs[0] > self.withdrawable[j] or outputs[1] > self.borrowable[j]:
            raise InsufficientLiquidity(f"pool {self.key}: the liquidity layer limits the output for {amount_in}")
        if not sum(outputs):
            raise self.rounds_to_zero(amount_in)
        self._check_price(i, (collateral, debt), parts)
        after: Self = _replace_sides(self, _after(self.collateral, i, j, parts[0]), _after(self.debt, i, j, parts[1]))
        return sum(outputs), after

    def curve(self, token_in: str, token_out: str) -> RateCurve:
        """Return the floating-point curve for selling `token_in` for `token_out`."""
        i, j = (0, 1) if is_forward(self, token_in, token_out) else (1, 0)
        # In units of the output per input, prices fall; they may end up to 5% from the last one.
        last = self.last_price / PRICE_ONE
        change = _MAX_PRICE_CHANGE / WAD
        min_price = last / (1.0 + change) if i == 0 else (1.0 - change) / last
        center = self.center_price / PRICE_ONE if i == 0 else PRICE_ONE / self.center_price
        sides = [
            SideLimits(*map(float, (*_directed(side, i, j), self._to_adjusted(j, limits[j]))))
            for side, limits in ((self.collateral, self.withdrawable), (self.debt, self.borrowable))
            if side is not None
        ]
        gamma = (PPM - self.fee_ppm) / PPM
        added = self._after_cut(_CUT_SCALE) / _CUT_SCALE
        units = self._base_units(i), self._base_units(j)
        curve = FluidCurve(sides, gamma, added, min_price, center / _MIN_RESERVE_RATIO, units)
        return curve if curve.capacity > 0.0 else ZeroCurve()

    def gas_units(self, after: Pool) -> int:
        """Return the gas of a swap, which is lower if the pool has only one side."""
        del after
        return self.swap_gas if self.collateral and self.debt else _ONE_SIDE_GAS

    def state(self) -> dict[str, object]:
        """Return the fields of the class; each side has four reserves: the real ones, then the imaginary ones."""
        state: dict[str, object] = {
            name: [str(number) for number in (*side.real, *side.imaginary)]
            for name, side in (("collateral", self.collateral), ("debt", self.debt))
            if side is not None
        }
        state |= {
            "center_price": str(self.center_price),
            "last_price": str(self.last_price),
            "revenue_cut": self.revenue_cut,
            "withdrawable": [str(limit) for limit in self.withdrawable],
            "borrowable": [str(limit) for limit in self.borrowable],
        }
        if self.is_native:
            state["is_native"] = True
        if self.resolver:
            state["resolver"] = self.resolver
        return state

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read the fields that `state` returns; one side may be missing."""
        check_pair(identity)
        fields = StateFields(state)
        collateral, debt = _read_side(fields, "collateral"), _read_side(fields, "debt")
        if not (collateral or debt):
            raise InvalidPoolState("collateral", "expected reserves of collateral, of debt, or of both")
        center_price, last_price = (_read_price(fields, name) for name in ("center_price", "last_price"))
        withdrawable, borrowable = (_pair_of(fields.uints(name, 2)) for name in ("withdrawable", "borrowable"))
        return cls(
            *identity,
            collateral,
            debt,
            center_price,
            last_price,
            fields.integer("revenue_cut", 0, _MAX_CUT_PERCENT),
            withdrawable,
            borrowable,
            fields.boolean("is_native"),
            fields.optional_hex("resolver", 20) or "",
        )

    def _to_adjusted(self, k: int, amount: int) -> int:
        return change_decimals(amount, self.decimals[k], ADJUSTED_DECIMALS)

    def _from_adjusted(self, k: int, amount: int) -> int:
        return change_decimals(amount, ADJUSTED_DECIMALS, self.decimals[k])

    def _base_units(self, k: int) -> float:
        """Return the base units of one unit with 12 decimals."""
        return 10.0 ** (self.decimals[k] - ADJUSTED_DECIMALS)

    def _collateral_part(self, adjusted: int, collateral: _Direction, debt: _Direction) -> int:
        """Return the part of the input that goes to the collateral side; the rest goes to the debt side."""
        if self.debt is None:
            return adjusted
        if self.collateral is None:
            return 0
        a = isqrt(collateral.imaginary_in * collateral.imaginary_out * WAD)
        b = isqrt(debt.imaginary_in * debt.imaginary_out * WAD)
        numerator = (debt.imaginary_in + adjusted) * a - collateral.imaginary_in * b
        return min(numerator // (a + b), adjusted) if numerator > 0 else 0

    def _swap_side(self, i: int, side: _Direction, amount_in: int) -> _Part:
        """Return one side's part of a swap. Raises `InsufficientLiquidity` if it leaves too little."""
        if not amount_in:
            return _NOTHING
        net = amount_in * (PPM - self.fee_ppm) // PPM
        amount_out = net * side.imaginary_out // (side.imaginary_in + net)
        left = side.real_out - amount_out
        if left < 0:
            raise InsufficientLiquidity(f"pool {self.key} holds less than {amount_out} of the output token")
        reserve_in = side.real_in + amount_in
        if i == 0:
            min_left = reserve_in * self.center_price // (PRICE_ONE * _MIN_RESERVE_RATIO)
        else:
            min_left = reserve_in * PRICE_ONE // (self.center_price * _MIN_RESERVE_RATIO)
        if left < min_left:
            raise InsufficientLiquidity(f"pool {self.key}: the swap would leave too little of the output token")
        return _Part(amount_in, amount_out)

    def _after_cut(self, amount: int) -> int:
        """Return the amount that an input adds to the reserves: everything except the protocol's part of the fee."""
        return amount * (_CUT_SCALE - self.revenue_cut * self.fee_ppm) // _CUT_SCALE

    def _check_price(self, i: int, sides: tuple[_Direction, _Direction], parts: tuple[_Part, _Part]) -> None:
        """Raise `InsufficientLiquidity` if the larger part of a swap ends more than 5% from the last price."""
        added = [self._after_cut(part.amount_in) for part in parts]
        larger = 0 if added[0] > added[1] else 1
        reserve_in = sides[larger].imaginary_in + added[larger]
        reserve_out = sides[larger].imaginary_out - parts[larger].amount_out
        first, second = (reserve_in, reserve_out) if i == 0 else (reserve_out, reserve_in)
        price = second * PRICE_ONE // first if first else 0
        if not price or abs(WAD - self.last_price * WAD // price) > _MAX_PRICE_CHANGE:
            raise InsufficientLiquidity(f"pool {self.key}: the price would end more than 5% from that of the last swap")


_replace_sides = fast_replace(FluidT1, "collateral", "debt")


def _directed(side: FluidSide | None, i: int, j: int) -> _Direction:
    if side is None:
        return _NO_SIDE
    return _Direction(side.real[i], side.real[j], side.imaginary[i], side.imaginary[j])


def _after(side: FluidSide | None, i: int, j: int, part: _Part) -> FluidSide | None:
    """Return the side after a swap, without the liquidity layer's rounding."""
    if side is None:
        return None
    changes = [0, 0]
    changes[i], changes[j] = part.amount_in, -part.amount_out
    real, imaginary = ((each[0] + changes[0], each[1] + changes[1]) for each in side)
    return FluidSide(real, imaginary)


def _read_side(fields: StateFields, name: str) -> FluidSide | None:
    if not fields.has(name):
        return None
    real_0, real_1, imaginary_0, imaginary_1 = fields.uints(name, 4, _RESERVE_BITS)
    if not (imaginary_0 and imaginary_1):
        raise InvalidPoolState(name, "an imaginary reserve is zero")
    if real_0 > imaginary_0 or real_1 > imaginary_1:
        raise InvalidPoolState(name, "a real reserve exceeds the imaginary one, which contains it")
    return FluidSide((real_0, real_1), (imaginary_0, imaginary_1))


def _read_price(fields: StateFields, name: str) -> int:
    price = fields.uint(name, _RESERVE_BITS)
    if not price:
        raise InvalidPoolState(name, "expected a number above 0")
    return price


def _pair_of(values: tuple[int, ...]) -> tuple[int, int]:
    return values[0], values[1]
