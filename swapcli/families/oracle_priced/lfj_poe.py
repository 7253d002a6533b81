"""LFJ's POE: a pool that trades at an oracle's price as long as a sale balances its reserves, and on a concentrated
constant-product curve after that.

The formulas are in `lfj_poe_math`. The fee is in the second token: on the input when that token is sold, otherwise on
the output, rounded up. It goes to a contract that pays liquidity providers (DefiLlama dimension-adapters,
dexs/lfj-poe). A sale that would drain the pool is filled only in part, and counts as rejected here. The contract is not
published, so a route uses such a pool once.
"""

from __future__ import annotations

from collections.abc import Mapping

from swapcli.core.annotations import ClassVar, Final, Self
from swapcli.core.errors import SwapReverts
from swapcli.core.frozen_dataclass import dataclass
from swapcli.core.model.pool import Pool, PoolIdentity, RateCurve, RoundingGain
from swapcli.core.model.units import BPS, PPM
from swapcli.families.fast_replace import fast_replace
from swapcli.families.fixed_rate.fixed_rate_curve import fixed_rate_curve
from swapcli.families.hull_curve import ZeroCurve
from swapcli.families.identity_checks import check_pair
from swapcli.families.oracle_priced.lfj_poe_math import PRICE_UNIT, curve_part, flat_part, virtual_reserves
from swapcli.families.reserves import reserves_after_swap
from swapcli.families.rounding import CAPACITY_MARGIN, UINT256_LIMIT, mul_div_up
from swapcli.families.state_fields import StateFields
from swapcli.families.token_positions import is_forward
from swapcli.families.two_part_curve import TwoPartCurve
from swapcli.families.uniswap.constant_product import ConstantProductCurve

_RESERVE_BITS: Final = 128  # far above any supply
_PRICE_BITS: Final = 160
"""Prices of tokens with 18 decimals in tokens with none would still fit."""
_ALPHA_BITS: Final = 32
"""Far above the usual concentrations of a few percent."""


@dataclass(frozen=True, slots=True)
class LfjPoe(Pool):
    """A POE pool.

    `price` is base units of the second token per base unit of the first, times 10^24; `alpha_bps` is the concentration,
    in basis points of the price.
    """

    reserves: tuple[int, int]
    price: int
    alpha_bps: int

    family: ClassVar[str] = "lfj_poe"
    swap_gas: ClassVar[int] = 200_000
    """The estimate of public routers, since the contract is not published."""
    changes_without_events: ClassVar[bool] = True
    """The operator sets the oracle's price without an event, and the price expires."""

    @property
    def is_single_use(self) -> bool:
        """Whether only the pool's first swap is predictable."""
        return True

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Sell `amount_in`. Raises the same errors as `Pool.swap`."""
        sells_x = is_forward(self, token_in, token_out)
        fee = 0 if sells_x else mul_div_up(amount_in, self.fee_ppm, PPM)
        net = amount_in - fee
        flat = flat_part(*self.reserves, self.price, net, sells_x)
        virtual = virtual_reserves(flat.x, flat.y, self.price, self.alpha_bps, sells_x)
        gross = flat.amount_out + curve_part(virtual, net - flat.amount_in)
        amount_out = gross - mul_div_up(gross, self.fee_ppm, PPM) if sells_x else gross
        if amount_out <= 0:
            raise self.rounds_to_zero(amount_in)
        i = 0 if sells_x else 1
        reserves = reserves_after_swap(self.reserves, i, net, 1 - i, gross)
        if reserves[i] >> _RESERVE_BITS:
            raise SwapReverts(f"pool {self.key} would hold {reserves[i]}, more than any supply")
        after: Self = _replace_reserves(self, reserves)
        return amount_out, after

    def curve(self, token_in: str, token_out: str) -> RateCurve:
        """Return the floating-point curve for selling `token_in` for `token_out`: a fixed rate up to the balance, then
        a constant product."""
        sells_x = is_forward(self, token_in, token_out)
        gamma = (PPM - self.fee_ppm) / PPM
        flat = flat_part(*self.reserves, self.price, UINT256_LIMIT, sells_x)
        sold, bought, real = virtual_reserves(flat.x, flat.y, self.price, self.alpha_bps, sells_x)
        drained = sold * real // (bought - real) if bought > real else UINT256_LIMIT
        rest: RateCurve = ZeroCurve()
        if sold and real:
            limit = drained * CAPACITY_MARGIN
            x, y = (sold, bought * gamma) if sells_x else (sold / gamma, bought)
            rest = ConstantProductCurve(x, y, 0, limit if sells_x else limit / gamma)
        if not flat.amount_out:
            return rest
        rate = (self.price / PRICE_UNIT if sells_x else PRICE_UNIT / self.price) * gamma
        paid = int(flat.amount_out * gamma) if sells_x else flat.amount_out
        return TwoPartCurve(fixed_rate_curve(rate, paid), rest)

    def rounding_gain(self, token_in: str, token_out: str) -> RoundingGain | None:
        """Return what a trader may gain from rounding down in the flat part of a sale, which shifts the rest of the
        sale."""
        del token_in, token_out
        return RoundingGain(1.0, 1.0)

    def state(self) -> dict[str, object]:
        """Return `reserves`, `price` and `alpha_bps`."""
        return {
            "reserves": [str(reserve) for reserve in self.reserves],
            "price": str(self.price),
            "alpha_bps": self.alpha_bps,
        }

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read `reserves`, `price` and `alpha_bps`, which must exceed 10,000 (100%)."""
        check_pair(identity)
        fields = StateFields(state)
        reserves = fields.uints("reserves", 2, _RESERVE_BITS)
        price = fields.integer("price", 1, (1 << _PRICE_BITS) - 1)
        alpha_bps = fields.integer("alpha_bps", BPS + 1, (1 << _ALPHA_BITS) - 1)
        return cls(*identity, (reserves[0], reserves[1]), price, alpha_bps)


_replace_reserves = fast_replace(LfjPoe, "reserves")
