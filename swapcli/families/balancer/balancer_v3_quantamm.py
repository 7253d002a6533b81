"""QuantAMM's weighted pools in Balancer V3, whose weights follow a strategy.

A strategy update sets the weights and their change per second, up to the time at which the first weight would leave its
bounds. A state has the weights at its block, rounded like the contract's; they need not add up to one. Besides the
limit of weighted pools, a swap may sell and buy at most a part of the balances (`max_trade_ratio`).

Source: `QuantAMMWeightedPool` of QuantAMMProtocol/QuantAMM-V1, @e6729606.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import expm1, log1p

from swapcli.core.annotations import ClassVar
from swapcli.core.errors import InvalidPoolState, SwapReverts
from swapcli.core.frozen_dataclass import dataclass
from swapcli.core.model.units import WAD
from swapcli.families.balancer.balancer_pool import FieldTable, FurtherField, integer, texts
from swapcli.families.balancer.balancer_v3_weighted import BalancerV3Weighted
from swapcli.families.balancer.weighted import MAX_IN_RATIO, WeightedCurve
from swapcli.families.state_fields import StateFields
from swapcli.families.token_positions import token_indices

_MAX_WEIGHT = ((1 << 31) - 1) * 10**9
"""The contract packs weights with 9 decimals in 32 bits."""


def _read_block_weights(fields: StateFields, count: int) -> tuple[int, ...]:
    weights = fields.integers("weights", count, 0, _MAX_WEIGHT)
    for k, weight in enumerate(weights):
        if not weight:
            raise InvalidPoolState(f"weights[{k}]", "a weight is zero")
    return weights


@dataclass(frozen=True, slots=True)
class BalancerV3QuantAmm(BalancerV3Weighted):
    """A weighted pool with the `weights` at the block. `max_trade_ratio` is a fraction scaled by 10^18; `floors` are
    not used."""

    max_trade_ratio: int

    family: ClassVar[str] = "balancer_v3_quantamm"
    swap_gas: ClassVar[int] = 140_000
    """The gas of a weighted pool, plus two more storage reads: the weights, and the times between which they move."""
    moves_with_time: ClassVar[bool] = True
    further_fields: ClassVar[FieldTable] = (
        FurtherField("weights", _read_block_weights, texts),
        FurtherField("floors", lambda _, __: (), lambda _: None),
        integer("max_trade_ratio", 1, WAD),
    )

    def scaled_amount_out(self, balances: Sequence[int], i: int, j: int, amount_in: int) -> int:
        """Return the output of the pool's `onSwap`."""
        if amount_in > balances[i] * self.max_trade_ratio // WAD:
            raise SwapReverts(f"pool {self.key} takes only part of its balance in one swap")
        bought = super().scaled_amount_out(balances, i, j, amount_in)
        if bought > balances[j] * self.max_trade_ratio // WAD:
            raise SwapReverts(f"pool {self.key} pays only part of its balance in one swap")
        return bought

    def curve(self, token_in: str, token_out: str) -> WeightedCurve:
        """Return the floating-point curve for selling `token_in` for `token_out`, in base units: the rates cancel
        out."""
        i, j = token_indices(self, token_in, token_out)
        x, y, ratio = self.reserves[i], self.reserves[j], self.weights[i] / self.weights[j]
        left, part = WAD - self.swap_fee, self.max_trade_ratio / WAD
        max_in = x * min(MAX_IN_RATIO, self.max_trade_ratio) // left if left else 0
        if part < 1.0:  # the output is also limited to that part
            growth = expm1(min(-log1p(-part) / ratio, 1.0))
            max_in = min(max_in, int(x * growth * WAD / left) if left else 0)
        return WeightedCurve(x, y, ratio, 1.0 - self.swap_fee / WAD, max_in)
