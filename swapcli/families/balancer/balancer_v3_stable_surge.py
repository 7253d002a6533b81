"""Balancer V3's stable pools with the StableSurge hook, whose fee rises when a swap unbalances the pool.

The imbalance is the mean distance of the balances from their median, as a fraction of their sum. The hook considers the
swap without a fee: if the swap increases the imbalance, and to above the threshold, the fee rises with the excess up to
a maximum.
"""

from __future__ import annotations

from collections.abc import Sequence

from swapcli.core.annotations import ClassVar, Final
from swapcli.core.errors import SwapReverts
from swapcli.core.frozen_dataclass import dataclass
from swapcli.core.model.pool import RateCurve
from swapcli.core.model.units import WAD
from swapcli.families.balancer.balancer_pool import FieldTable, integer
from swapcli.families.balancer.balancer_stable_math import stable_curve
from swapcli.families.balancer.balancer_v3_stable import BalancerV3Stable
from swapcli.families.surge_curve import SurgeCurve
from swapcli.families.token_positions import token_indices

_MAX_FEE: Final = 999_999 * 10**12
"""`MAX_FEE_PERCENTAGE` of the Vault: 99.9999%."""


@dataclass(frozen=True, slots=True)
class BalancerV3StableSurge(BalancerV3Stable):
    """A stable pool whose hook has the `max_surge_fee` and `surge_threshold`, as fractions scaled by 10^18."""

    max_surge_fee: int
    surge_threshold: int

    family: ClassVar[str] = "balancer_v3_stable_surge"
    further_fields: ClassVar[FieldTable] = (
        *BalancerV3Stable.further_fields,
        integer("max_surge_fee", 0, WAD),
        integer("surge_threshold", 0, WAD - 1),
    )
    swap_gas: ClassVar[int] = 182_300
    further_token_gas: ClassVar[int] = 20_000

    def fee_for_swap(self, balances: Sequence[int], i: int, j: int, amount_in: int) -> int:
        """Return the hook's fee. Raises `SwapReverts` if the swap without a fee would revert or the fee is too high."""
        after = list(balances)
        after[i] += amount_in
        after[j] -= self.scaled_amount_out(balances, i, j, amount_in)
        fee = self._fee_between(_imbalance(balances), _imbalance(after))
        if fee > _MAX_FEE:
            raise SwapReverts(f"pool {self.key}: the fee would be above 99.9999%")
        return fee

    def curve(self, token_in: str, token_out: str) -> RateCurve:
        """Return the floating-point curve for selling `token_in` for `token_out`: never below the exact swap, and equal
        to it until the fee rises."""
        i, j = token_indices(self, token_in, token_out)
        scaled = self.scaled_balances()
        unit_in, unit_out = (WAD / self.scaling_factor(k) for k in (i, j))
        inner = stable_curve(scaled, (i, j), self.amp, (unit_in, unit_out))
        if not inner.start_rate:
            return inner
        before, static = _imbalance(scaled), self.swap_fee / WAD
        threshold, span = self.surge_threshold / WAD, max(self.max_surge_fee - self.swap_fee, 0) / WAD
        balances, limit = [float(balance) for balance in scaled], max(before, self.surge_threshold) / WAD

        def fee(amount_in: float) -> float:
            after = balances.copy()
            after[i] += amount_in / unit_in
            after[j] -= inner.amount_out(amount_in) / unit_out
            imbalance = _float_imbalance(after) if amount_in else 0.0
            return static + span * (imbalance - threshold) / (1.0 - threshold) if imbalance > limit else static

        return SurgeCurve(inner, fee, sum(balances) * unit_in, is_concave=len(balances) == 2)

    def _fee_between(self, before: int, after: int) -> int:
        """Return the fee of a swap that changes the imbalance from `before` to `after`."""
        threshold, static = self.surge_threshold, self.swap_fee
        if self.max_surge_fee < static or after <= before or after <= threshold:
            return static
        return static + (self.max_surge_fee - static) * ((after - threshold) * WAD // (WAD - threshold)) // WAD


def _float_imbalance(balances: Sequence[float]) -> float:
    """Compute `_imbalance` in floating point."""
    ordered = sorted(balances)
    middle = len(ordered) // 2
    median = ordered[middle] if len(ordered) % 2 else 0.5 * (ordered[middle - 1] + ordered[middle])
    return sum([abs(balance - median) for balance in ordered]) / sum(ordered)


def _imbalance(balances: Sequence[int]) -> int:
    """Return the sum of the distances from the median, as a fraction scaled by 10^18 of all balances."""
    ordered = sorted(balances)
    middle = len(ordered) // 2
    median = ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) // 2
    return sum(abs(balance - median) for balance in balances) * WAD // sum(balances)
