"""Balancer V3's fixed-price bootstrapping pools: a project sells its token for a reserve token at a fixed rate.

The contract divides the sold amount, with 18 decimals, by the price of the project's token. Swaps are possible only
during the sale, the project's token is never bought back, and a pool starts without any reserve tokens.

Source: `FixedPriceLBPool` of balancer/balancer-v3-monorepo, @0a5890a8.
"""

from __future__ import annotations

from collections.abc import Sequence

from swapcli.core.annotations import ClassVar
from swapcli.core.errors import InvalidPoolState, SwapReverts
from swapcli.core.frozen_dataclass import dataclass
from swapcli.core.model.pool import RateCurve
from swapcli.core.model.units import WAD
from swapcli.families.balancer.balancer_pool import FieldTable, integer
from swapcli.families.balancer.balancer_v3 import BalancerV3
from swapcli.families.fixed_rate.fixed_rate_curve import fixed_rate_curve
from swapcli.families.hull_curve import ZeroCurve
from swapcli.families.token_positions import token_indices

_MAX_PRICE = (1 << 128) - 1
"""Far above any price of a whole token, scaled by 10^18."""


@dataclass(frozen=True, slots=True)
class BalancerV3FixedLbp(BalancerV3):
    """A fixed-price sale.

    `project` is the position of the project's token, `project_price` the price of one whole token in the reserve token,
    times 10^18.
    """

    project: int
    project_price: int

    family: ClassVar[str] = "balancer_v3_fixed_lbp"
    swap_gas: ClassVar[int] = 130_000
    """The gas of a 2-CLP, less the reading of its parameters and its square root."""
    is_pair: ClassVar[bool] = True
    moves_with_time: ClassVar[bool] = True
    """The sale ends at a set time."""
    can_be_one_sided: ClassVar[bool] = True
    further_fields: ClassVar[FieldTable] = (integer("project", 0, 1, int), integer("project_price", 1, _MAX_PRICE))

    def check(self) -> None:
        """Raise `InvalidPoolState` if a token has a rate, or if the Vault cannot hold the balances."""
        super().check()
        if any(rate != WAD for rate in self.rates):
            raise InvalidPoolState("rates", "a liquidity bootstrapping pool has no rates")

    def scaled_amount_out(self, balances: Sequence[int], i: int, j: int, amount_in: int) -> int:
        """Return the output of the pool's `onSwap`."""
        del balances, j
        if i == self.project:
            raise SwapReverts(f"pool {self.key} does not buy {self.tokens[i]}")
        return amount_in * WAD // self.project_price

    def curve(self, token_in: str, token_out: str) -> RateCurve:
        """Return the floating-point curve for selling `token_in` for `token_out`: one rate, up to the pool's
        balance."""
        i, j = token_indices(self, token_in, token_out)
        if i == self.project or not self.reserves[j]:
            return ZeroCurve()
        scaled_in, scaled_out = self.base_units_per_scaled(i, j)
        room = ((1 << self.balance_bits) - 1) * WAD // self.scaling_factor(i) - self.reserves[i]
        return fixed_rate_curve(WAD / self.project_price * scaled_out / scaled_in, self.reserves[j], room)
