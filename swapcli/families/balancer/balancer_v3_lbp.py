"""Balancer V3's liquidity bootstrapping pools: weighted pools of two tokens, with weights that change over time.

A project sells its token for a reserve token. The weights change linearly from their first to their last values over
the time of the sale; a state has the weights at its block. Swaps are possible only during the sale, and may be closed
to sales of the project's token. A pool may start without reserves: it then trades as if it held `virtual_reserve` more,
but pays no more than it holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import expm1, log1p

from swapcli.core.annotations import ClassVar
from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, SwapReverts
from swapcli.core.frozen_dataclass import dataclass
from swapcli.core.model.units import WAD
from swapcli.families.balancer.balancer_pool import FieldTable, flag, integer, optional_integer
from swapcli.families.balancer.balancer_v3_weighted import BalancerV3Weighted
from swapcli.families.balancer.weighted import MAX_IN_RATIO, WeightedCurve
from swapcli.families.reserves import to_18_decimals
from swapcli.families.token_positions import token_indices


@dataclass(frozen=True, slots=True)
class BalancerV3Lbp(BalancerV3Weighted):
    """A sale in a liquidity bootstrapping pool.

    `project` is the position of the project's token; `virtual_reserve` is a live balance of the other token.
    """

    project: int
    virtual_reserve: int
    is_project_bought_only: bool

    family: ClassVar[str] = "balancer_v3_lbp"
    is_pair: ClassVar[bool] = True
    further_fields: ClassVar[FieldTable] = (
        *BalancerV3Weighted.further_fields,
        integer("project", 0, 1, int),
        optional_integer("virtual_reserve", (1 << 128) - 1),
        flag("is_project_bought_only"),
    )

    def check(self) -> None:
        """Raise `InvalidPoolState` if a token has a rate, or if the Vault cannot hold the balances."""
        BalancerV3Weighted.check(self)
        if any(rate != WAD for rate in self.rates):
            raise InvalidPoolState("rates", "a liquidity bootstrapping pool has no rates")

    def scaled_balances(self) -> list[int]:
        """Return the balances that the contract's maths uses, including the virtual reserve."""
        balances = super().scaled_balances()
        balances[1 - self.project] += self.virtual_reserve
        return balances

    def scaled_amount_out(self, balances: Sequence[int], i: int, j: int, amount_in: int) -> int:
        """Return the output of the pool's `onSwap`."""
        if self.is_project_bought_only and i == self.project:
            raise SwapReverts(f"pool {self.key} does not buy {self.tokens[i]}")
        bought = super().scaled_amount_out(balances, i, j, amount_in)
        if j != self.project and bought > balances[j] - self.virtual_reserve:
            raise InsufficientLiquidity(f"pool {self.key} does not hold {bought} of {self.tokens[j]}")
        return bought

    def curve(self, token_in: str, token_out: str) -> WeightedCurve:
        """Return the floating-point curve for selling `token_in` for `token_out`, in base units, up to the pool's
        balance."""
        i, j = token_indices(self, token_in, token_out)
        balances = [balance // to_18_decimals(self.decimals[k]) for k, balance in enumerate(self.scaled_balances())]
        x, y, ratio = balances[i], balances[j], self.weights[i] / self.weights[j]
        max_in = x * MAX_IN_RATIO // (WAD - self.swap_fee)
        if (self.is_project_bought_only and i == self.project) or not self.reserves[j]:
            max_in = 0
        elif (part := self.reserves[j] / y) < 1.0:
            # If hardly any of the balance is virtual, the limit of 30% applies anyway.
            growth = expm1(min(-log1p(-part) / ratio, 1.0))
            max_in = min(max_in, int(x * growth / (1.0 - self.swap_fee / WAD)))
        return WeightedCurve(x, y, ratio, 1.0 - self.swap_fee / WAD, max_in)
