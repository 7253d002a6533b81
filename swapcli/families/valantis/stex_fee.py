"""The fees of Valantis STEX by the size of a sale: how they depend on the pool's reserves, and where they change.

Of the two modules in ValantisLabs/valantis-stex (src/swap-fee-modules, commit cbcd594), one follows a ratio and the
other uses steps. Both use the reserves after the sale, including the withdrawal module's amounts elsewhere, and charge
one fee on the whole amount, so a larger sale may be paid less than a smaller one.
"""

from __future__ import annotations

from collections.abc import Iterator

from swapcli.core.annotations import Final
from swapcli.core.errors import InsufficientLiquidity, SwapReverts
from swapcli.core.model.units import BPS, WAD
from swapcli.core.records import NamedTuple
from swapcli.families.rounding import div_up, require_uint256

MAX_FEE_BPS: Final = BPS // 2 - 1
"""Both modules reject fees of one half or more."""


class StexReserves(NamedTuple):
    """The amounts on which the fee depends, in base units.

    `staked` is the reserve of the staking token plus the amount being unstaked; liquidity providers who have left are
    owed `owed` of this amount. `wrapped` is the reserve of the wrapped native token plus the amount lent out, and
    `rate_wad` is the value of one staking token in it, with 18 decimals.
    """

    staked: int
    owed: int
    wrapped: int
    rate_wad: int

    def value_of(self, amount: int) -> int:
        """Return the value of an amount of the staking token in the wrapped native token."""
        return amount * self.rate_wad // WAD

    def max_amount_worth(self, value: int) -> int:
        """Return the largest amount of the staking token that is worth no more than `value`."""
        return div_up((value + 1) * WAD, self.rate_wad) - 1


class StexRatioFee(NamedTuple):
    """A fee that rises in whole basis points between two ratios of the staking token to the wrapped native token."""

    min_ratio_bps: int
    max_ratio_bps: int
    min_fee_bps: int
    max_fee_bps: int

    @property
    def levels_bps(self) -> range:
        """The fees that sales may pay, with the lowest first."""
        return range(self.min_fee_bps, self.max_fee_bps + 1)

    def fee_bps(self, reserves: StexReserves, amount_in: int) -> int:
        """Return the fee on a whole sale of the staking token."""
        total = require_uint256(reserves.staked + amount_in) - reserves.owed
        if total < 0:
            raise SwapReverts("more is owed to providers than the pool has")
        if not reserves.wrapped:
            raise InsufficientLiquidity("the pool has no wrapped native token")
        ratio_bps = require_uint256(total * BPS) // reserves.wrapped
        if ratio_bps > self.max_ratio_bps:
            return self.max_fee_bps
        if ratio_bps < self.min_ratio_bps:
            return self.min_fee_bps
        rise, width = self.max_fee_bps - self.min_fee_bps, self.max_ratio_bps - self.min_ratio_bps
        return self.min_fee_bps + rise * (ratio_bps - self.min_ratio_bps) // width

    def largest_sales(self, reserves: StexReserves) -> Iterator[int]:
        """Yield the largest sale that pays each fee except the highest. A negative number means that no sale pays the
        fee."""
        rise, width = self.max_fee_bps - self.min_fee_bps, self.max_ratio_bps - self.min_ratio_bps
        for level in range(1, rise + 1):
            next_ratio_bps = self.min_ratio_bps + div_up(level * width, rise)
            yield div_up(next_ratio_bps * reserves.wrapped, BPS) - 1 + reserves.owed - reserves.staked


class StexStepwiseFee(NamedTuple):
    """A list of fees: the first as long as more than `max_reserve` of the wrapped native token is left, the others in
    equal steps down to `min_reserve`."""

    min_reserve: int
    max_reserve: int
    levels_bps: tuple[int, ...]

    def fee_bps(self, reserves: StexReserves, amount_in: int) -> int:
        """Return the fee on a whole sale of the staking token."""
        left = max(0, reserves.wrapped - require_uint256(reserves.value_of(amount_in)))
        if left > self.max_reserve:
            return self.levels_bps[0]
        last = len(self.levels_bps) - 1
        steps = require_uint256((self.max_reserve - left) * (last + 1)) // (self.max_reserve - self.min_reserve)
        return self.levels_bps[min(steps, last)]

    def largest_sales(self, reserves: StexReserves) -> Iterator[int]:
        """Yield the largest sale that pays each fee except the highest. A negative number means that no sale pays the
        fee."""
        width, count = self.max_reserve - self.min_reserve, len(self.levels_bps)
        for level in range(1, count):
            yield reserves.max_amount_worth(reserves.wrapped - self.max_reserve + div_up(level * width, count) - 1)


StexFee = StexRatioFee | StexStepwiseFee


def fee_on_net_bps(fee_bps: int) -> int:
    """Return a fee on the whole input, expressed in basis points of the input after the fee, as the pool counts it."""
    return BPS * fee_bps // (BPS - fee_bps)
