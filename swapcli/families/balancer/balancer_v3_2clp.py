"""Gyroscope's 2-CLPs in Balancer V3: (x + L / sqrt(beta)) (y + L sqrt(alpha)) = L^2, for prices from alpha to beta.

The invariant L solves a quadratic equation whose terms are rounded down. The virtual balance of the sold token is
rounded up, and the virtual balance of the bought token is rounded down. All numbers have 18 decimals.
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
from swapcli.families.balancer.signed_fixed_point import sqrt
from swapcli.families.balancer.virtual_balance_curve import curve_with_virtual_balances
from swapcli.families.hull_curve import ZeroCurve
from swapcli.families.rounding import mul_div_up
from swapcli.families.token_positions import token_indices

_MAX_BALANCE_BITS = 120
"""Squares and the argument of the root then stay below 2^256; the limit is above 10^18 tokens."""


@dataclass(frozen=True, slots=True)
class BalancerV3TwoClp(BalancerV3):
    """A Gyroscope 2-CLP in Balancer V3.

    `sqrt_alpha` and `sqrt_beta` are the square roots of the lowest and the highest price, with 18 decimals.
    """

    sqrt_alpha: int
    sqrt_beta: int

    family: ClassVar[str] = "balancer_v3_2clp"
    swap_gas: ClassVar[int] = 132_000
    can_be_one_sided: ClassVar[bool] = True
    is_pair: ClassVar[bool] = True
    further_fields: ClassVar[FieldTable] = (integer("sqrt_alpha", 1, WAD**2), integer("sqrt_beta", 1, WAD**2))

    def scaled_amount_out(self, balances: Sequence[int], i: int, j: int, amount_in: int) -> int:
        """Return the output; see `BalancerPool.scaled_amount_out`."""
        up, down = self._virtual_balances(balances)
        bought = ((balances[j] + down[j]) * amount_in // WAD) * WAD // (balances[i] + up[i] + amount_in)
        if bought > balances[j]:
            raise SwapReverts(f"pool {self.key} does not have enough of the bought token (AssetBoundsExceeded)")
        return bought

    def curve(self, token_in: str, token_out: str) -> RateCurve:
        """Return the floating-point curve for selling `token_in` for `token_out`."""
        i, j = token_indices(self, token_in, token_out)
        balances = self.scaled_balances()
        try:
            virtual, _ = self._virtual_balances(balances)
        except SwapReverts:
            return ZeroCurve()
        return curve_with_virtual_balances(balances, virtual, i, j, self.base_units_per_scaled(i, j))

    def check(self) -> None:
        """Raise `InvalidPoolState` unless `sqrt_alpha` < `sqrt_beta` and the Vault can hold the balances."""
        BalancerV3.check(self)
        if self.sqrt_alpha * WAD // self.sqrt_beta >= WAD:
            raise InvalidPoolState(
                "sqrt_beta", f"expected more than sqrt_alpha = {self.sqrt_alpha}, not {self.sqrt_beta}"
            )

    def _virtual_balances(self, balances: Sequence[int]) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return the virtual balances of both tokens rounded up, and rounded down."""
        alpha, beta = self.sqrt_alpha, self.sqrt_beta
        invariant = self._invariant(balances[0], balances[1])
        up = -(-invariant * WAD // beta), mul_div_up(invariant, alpha, WAD)
        return up, (invariant * WAD // beta, invariant * alpha // WAD)

    def _invariant(self, x: int, y: int) -> int:
        """Return L = (b + sqrt(b^2 + 4 a c)) / (2 a), with b^2 multiplied out as in the contract."""
        if (x | y) >> _MAX_BALANCE_BITS:
            raise SwapReverts(f"pool {self.key}: the balances are too large for the contract's arithmetic")
        alpha, beta = self.sqrt_alpha, self.sqrt_beta
        a = WAD - alpha * WAD // beta
        b = y * WAD // beta + x * alpha // WAD
        c = x * y // WAD
        b_squared = (x * x // WAD * alpha // WAD) * alpha // WAD
        b_squared += 2 * (c * alpha // WAD) * WAD // beta
        b_squared += (y * y // WAD) * WAD // mul_div_up(beta, beta, WAD)
        return (b + sqrt(b_squared + 4 * c * a // WAD)) * WAD // (2 * a)
