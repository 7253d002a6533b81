"""The Vault's own steps in a Balancer V2 swap, for pools whose tokens have rates.

The fee comes off the input first, rounded up; then amounts are scaled to 18 decimals, times the tokens' rates. The
whole input enters the pool. The only limit of a swap is the 112 bits of a balance. Unlike in V3, rates come from their
providers at every swap and are not rounded up.

A family derives from `BalancerV2` and provides its maths (`scaled_amount_out` and `curve`) and the table of its
`further_fields`. Weighted pools (`weighted`) have no rates.
"""

from __future__ import annotations

from swapcli.core.annotations import ClassVar, Final, Self
from swapcli.core.errors import InsufficientLiquidity, SwapReverts
from swapcli.core.frozen_dataclass import dataclass
from swapcli.core.model.units import WAD
from swapcli.families.balancer.balancer_pool import BalancerPool, FieldTable, FurtherField
from swapcli.families.fast_replace import fast_replace
from swapcli.families.reserves import reserves_after_swap
from swapcli.families.rounding import mul_div_up
from swapcli.families.token_positions import token_indices

BALANCE_BITS: Final = 112


@dataclass(frozen=True, slots=True)
class BalancerV2(BalancerPool):
    """A pool in Balancer V2's Vault. `pool_id` is the Vault's ID for the pool, 32 bytes in hex; empty if unknown."""

    pool_id: str

    balance_bits: ClassVar[int] = BALANCE_BITS
    vault_fields: ClassVar[FieldTable] = (
        FurtherField("pool_id", lambda fields, _: fields.optional_hex("pool_id", 32) or "", lambda text: text or None),
    )

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Sell `amount_in` through the Vault. Raises the same errors as `Pool.swap`."""
        i, j = token_indices(self, token_in, token_out)
        balances = self.scaled_balances()
        if not (balances[j] and (self.can_be_one_sided or all(balances))):
            raise InsufficientLiquidity(f"pool {self.key} has no liquidity")
        if self.reserves[i] + amount_in >> BALANCE_BITS:
            raise SwapReverts(f"pool {self.key}: {amount_in} would raise a balance above 2^112 - 1")
        sold = (amount_in - mul_div_up(amount_in, self.swap_fee, WAD)) * self.scaling_factor(i) // WAD
        amount_out = self.scaled_amount_out(balances, i, j, sold) * WAD // self.scaling_factor(j)
        if amount_out <= 0:
            raise self.rounds_to_zero(amount_in)
        reserves = reserves_after_swap(self.reserves, i, amount_in, j, amount_out)
        after: Self = fast_replace(type(self), "reserves")(self, reserves)
        return amount_out, after
