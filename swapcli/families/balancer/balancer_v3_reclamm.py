"""ReClAMMs of Balancer V3 ("readjusting concentrated liquidity"): x y = k with virtual balances that move in time.

Outside of a target range of prices, and while the range is being changed, the pool's virtual balances move with the
block time. `computeCurrentVirtualBalances()` gives those at the block read, which a swap in that block uses and stores;
later swaps in the same block do not move them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from swapcli.core.errors import SwapReverts
from swapcli.core.model.pool import PoolIdentity, RateCurve
from swapcli.families.balancer.balancer_v3 import BalancerV3, read_vault_v3_state
from swapcli.families.balancer.virtual_balance_curve import curve_with_virtual_balances
from swapcli.families.identity_checks import check_multi_token, check_pair
from swapcli.families.rounding import require_uint256
from swapcli.families.state_fields import StateFields
from swapcli.families.token_positions import token_indices

_VIRTUAL_BALANCE_BITS = 128
"""As the contract stores them."""


@dataclass(frozen=True, slots=True)
class BalancerV3Reclamm(BalancerV3):
    """`virtual_balances` of both tokens, with 18 decimals, as of the block read."""

    virtual_balances: tuple[int, ...]

    family: ClassVar[str] = "balancer_v3_reclamm"
    swap_gas: ClassVar[int] = 142_000
    """A 2-CLP's gas, and two writes to storage of 5,000 each: the time stamp and the virtual balances."""
    can_be_one_sided: ClassVar[bool] = True

    def scaled_amount_out(self, balances: Sequence[int], i: int, j: int, amount_in: int) -> int:
        """Return the output; see `BalancerPool.scaled_amount_out`."""
        virtual = self.virtual_balances
        product = require_uint256((balances[j] + virtual[j]) * amount_in)
        bought = product // (balances[i] + virtual[i] + amount_in)
        if bought > balances[j]:
            raise SwapReverts(f"pool {self.key} does not hold that much of the bought token")
        return bought

    def curve(self, token_in: str, token_out: str) -> RateCurve:
        """Return the direction in floats."""
        i, j = token_indices(self, token_in, token_out)
        units = self.base_units_per_scaled(i, j)
        return curve_with_virtual_balances(self.scaled_balances(), self.virtual_balances, i, j, units)

    def state(self) -> dict[str, object]:
        """Return the Vault's fields and `virtual_balances`."""
        return {**self.vault_state(), "virtual_balances": [str(balance) for balance in self.virtual_balances]}

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read the Vault's fields and `virtual_balances`, which move with the block time, without an event."""
        check_multi_token(identity)
        check_pair(identity)
        fields = StateFields(state)
        virtual_balances = fields.uints("virtual_balances", 2, _VIRTUAL_BALANCE_BITS)
        shared, limits = read_vault_v3_state(identity, fields)
        return cls(*shared._replace(changes_without_events=True), *limits, virtual_balances)
