"""Hanji's order books: bids and asks in shares of one token, at prices in units of the other.

A swap is a market order: a sale of X for a number of shares, `placeOrder`, or one of Y for a target value,
`placeMarketOrderWithTargetValue`. Both are whole multiples of the scaling factors; any excess input is not taken. The
fee is taken in Y on the value of the whole order, and rounds up. The orders include a market maker's quotes, which
follow an oracle, so the book differs from block to block.
"""

from __future__ import annotations

from collections.abc import Mapping

from swapcli.core.annotations import ClassVar, Final, Self
from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState
from swapcli.core.frozen_dataclass import dataclass, replace
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.core.model.units import WAD
from swapcli.families.bins.bin_curve import BinCurve
from swapcli.families.identity_checks import check_pair
from swapcli.families.order_books.price_levels import (
    LevelRule,
    PriceLevel,
    count_emptied,
    count_levels,
    fill_levels,
    level_curve,
    read_sides,
    sides_state,
)
from swapcli.families.state_fields import StateFields
from swapcli.families.swap_fees import FEE_PER_PPM
from swapcli.families.token_positions import is_forward

LEVEL_GAS: Final = 3_200
"""Gas units for each price after the first, as measured by KyberSwap's simulator."""
_PRICES: Final = range(1, 1 << 72)
"""The prices that the contract's uint72 can hold."""
_SHARE_BITS: Final = 128  # shares are uint128
_MAX_SCALE: Final = 10**36
"""The maximum scaling factor in base units: far above that of any token, so that products stay within 256 bits."""


_SALE: Final = LevelRule(scale=1, buys_size=False)
"""A sale of X, in shares for values."""
_PURCHASE: Final = LevelRule(scale=1, buys_size=True)
"""A purchase of X, in values for shares."""


@dataclass(frozen=True, slots=True)
class Hanji(Pool):
    """A Hanji order book. `tokens` are X and Y. `asks` are [price, shares], ascending, `bids` descending; the best come
    first.

    A share is `scaling_x` base units of X, a value of 1 is `scaling_y` base units of Y. `fee_wad` is a fraction scaled
    by 10^18; `fee_ppm` is the same, rounded down.
    """

    scaling_x: int
    scaling_y: int
    fee_wad: int
    asks: tuple[PriceLevel, ...]
    bids: tuple[PriceLevel, ...]

    family: ClassVar[str] = "hanji"
    swap_gas: ClassVar[int] = 494_000
    """The gas of an order at one price, as measured by KyberSwap's simulator."""

    @property
    def changes_without_events(self) -> bool:
        """Always true, because the market maker's quotes follow an oracle."""
        return True

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Place a market order that is filled completely. Raises the same errors as `Pool.swap`."""
        sells_x = is_forward(self, token_in, token_out)
        if sells_x:
            filled = fill_levels(self.bids, amount_in // self.scaling_x, _SALE)
            value = filled.amount_out
            amount_out = (value + -value * self.fee_wad // WAD) * self.scaling_y  # rounds the fee up
        else:
            budget = amount_in // self.scaling_y * WAD // (WAD + self.fee_wad)
            filled = fill_levels(self.asks, budget, _PURCHASE)
            amount_out = filled.amount_out * self.scaling_x
        if filled.is_exhausted:
            raise InsufficientLiquidity(f"pool {self.key} does not have enough orders for the whole input")
        if amount_out <= 0:
            raise self.rounds_to_zero(amount_in)
        return amount_out, replace(self, bids=filled.levels) if sells_x else replace(self, asks=filled.levels)

    def curve(self, token_in: str, token_out: str) -> BinCurve:
        """Return the floating-point curve for selling `token_in` for `token_out`: one rate per price."""
        rule, levels, scale = self._side(token_in, token_out)
        sells_x = is_forward(self, token_in, token_out)
        unit = self.scaling_y * (1.0 - self.fee_wad / WAD) if sells_x else float(self.scaling_x)
        return level_curve(levels, rule, scale, unit)

    def state(self) -> dict[str, object]:
        """Return the family's fields in the `swap-market/1` format."""
        return {
            "scaling_factors": [str(self.scaling_x), str(self.scaling_y)],
            "fee": str(self.fee_wad),
            **sides_state(self),
        }

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read `scaling_factors: [x, y]`, `fee` as a fraction scaled by 10^18, `asks` and `bids: [[price, shares],
        ...]`."""
        check_pair(identity)
        fields = StateFields(state)
        scaling_x, scaling_y = fields.integers("scaling_factors", 2, 1, _MAX_SCALE)
        fee_wad = fields.integer("fee", 0, WAD - 1)
        if identity.fee_ppm != fee_wad // FEE_PER_PPM:
            expected = fee_wad // FEE_PER_PPM
            raise InvalidPoolState("fee_ppm", f"expected the fee of {expected} ppm, not {identity.fee_ppm}")
        return cls(*identity, scaling_x, scaling_y, fee_wad, *read_sides(fields, _PRICES, _SHARE_BITS))

    def gas_units(self, after: Pool) -> int:
        """Return `swap_gas` plus the gas for the price levels that the swap empties."""
        assert isinstance(after, Hanji)
        return self.swap_gas + LEVEL_GAS * count_emptied(self, after)

    def gas_units_to(self, token_in: str, token_out: str, rate: float) -> int:
        """Return the gas units of a swap that ends at the marginal rate `rate`."""
        rule, levels, scale = self._side(token_in, token_out)
        return self.swap_gas + LEVEL_GAS * (count_levels(levels, rule, rate / scale) - 1)

    def _side(self, token_in: str, token_out: str) -> tuple[LevelRule, tuple[PriceLevel, ...], float]:
        """Return the rule and the levels of a direction, and its rate in base units for a rate of one in the rule."""
        fee = self.fee_wad / WAD
        if is_forward(self, token_in, token_out):
            return _SALE, self.bids, self.scaling_y / self.scaling_x * (1.0 - fee)
        return _PURCHASE, self.asks, self.scaling_x / self.scaling_y / (1.0 + fee)
