"""What Balancer V2's Vault does around the maths of pools whose tokens have rates.

The fee comes off the input first, rounded up; then amounts are scaled to 18 decimals, times the tokens' rates. The
whole input enters the pool. There is no limit to a swap beside the 112 bits of a balance. Unlike those of V3, rates
come from their providers at every swap and are not rounded up.

A family derives from `BalancerV2` and gives `scaled_amount_out` and `curve`. Weighted pools (`weighted`) have no rates.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple, Self

from swapcli.errors import InsufficientLiquidity, InvalidPoolState, SwapReverts
from swapcli.model.pool import Pool, PoolIdentity
from swapcli.model.units import WAD
from swapcli.pools.balancer_fees import read_swap_fee, write_swap_fee
from swapcli.pools.fast_replace import fast_replace
from swapcli.pools.reserves import reserves_after_swap, to_18_decimals
from swapcli.pools.rounding import mul_div_up
from swapcli.pools.state_fields import StateFields
from swapcli.pools.token_positions import token_indices

BALANCE_BITS: Final = 112
_RATE_BITS: Final = 128
"""Far above any rate, and small enough for the contracts' products."""


@dataclass(frozen=True, slots=True)
class BalancerV2(Pool):
    """A pool of the Vault: `reserves` in base units, `rates` and `swap_fee` as 10^18 fractions.

    `pool_id` is what the Vault calls the pool, 32 bytes in hex; empty if it is unknown. `is_time_dependent` says that a
    rate, or a value of the family, can change without an event of the pool.
    """

    reserves: tuple[int, ...]
    rates: tuple[int, ...]
    swap_fee: int
    pool_id: str
    is_time_dependent: bool

    holds_reserves_in_vault: ClassVar[bool] = True
    can_be_one_sided: ClassVar[bool] = False
    """Whether a pool that has run out of a token still buys it."""

    @property
    def changes_without_events(self) -> bool:
        """Return whether the state is that of one block only."""
        return self.is_time_dependent

    @abstractmethod
    def scaled_amount_out(self, balances: Sequence[int], i: int, j: int, amount_in: int) -> int:
        """Return the output for `amount_in` of the i-th token, the fee taken off; all amounts are scaled.

        `balances` are those before the swap. Raises `SwapReverts` and `InsufficientLiquidity`.
        """

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Sell `amount_in` through the Vault. Raises as `Pool.swap`."""
        i, j = token_indices(self, token_in, token_out)
        balances = self.scaled_balances()
        if not (balances[j] and (self.can_be_one_sided or all(balances))):
            raise InsufficientLiquidity(f"pool {self.key} has no liquidity")
        if self.reserves[i] + amount_in >> BALANCE_BITS:
            raise SwapReverts(f"pool {self.key}: {amount_in} would lift a balance above 2^112 - 1")
        sold = (amount_in - mul_div_up(amount_in, self.swap_fee, WAD)) * self.scaling_factor(i) // WAD
        amount_out = self.scaled_amount_out(balances, i, j, sold) * WAD // self.scaling_factor(j)
        if amount_out <= 0:
            raise self.rounds_to_zero(amount_in)
        reserves = reserves_after_swap(self.reserves, i, amount_in, j, amount_out)
        after: Self = fast_replace(type(self), "reserves")(self, reserves)
        return amount_out, after

    def scaling_factor(self, k: int) -> int:
        """Return the k-th scaling factor of the contract: 10^(18 - decimals) times the rate."""
        return to_18_decimals(self.decimals[k]) * self.rates[k]

    def scaled_balances(self) -> list[int]:
        """Return the balances that the contract's maths uses."""
        return [reserve * self.scaling_factor(k) // WAD for k, reserve in enumerate(self.reserves)]

    def base_units_per_scaled(self, i: int, j: int) -> tuple[float, float]:
        """Return base units per scaled unit: of the i-th token, with the fee on top, and of the j-th."""
        return WAD / self.scaling_factor(i) / (1.0 - self.swap_fee / WAD), WAD / self.scaling_factor(j)

    def vault_state(self) -> dict[str, object]:
        """Return the fields that `read_vault_v2_state` reads; those with default values are omitted."""
        state: dict[str, object] = {
            "reserves": [str(reserve) for reserve in self.reserves],
            "rates": [str(rate) for rate in self.rates],
        }
        state |= write_swap_fee(self.swap_fee, self.fee_ppm)
        if self.pool_id:
            state["pool_id"] = self.pool_id
        if self.is_time_dependent:
            state["is_time_dependent"] = True
        return state


class VaultV2State(NamedTuple):
    """The fields of `BalancerV2`, in its order."""

    address: str
    protocol: str
    tokens: tuple[str, ...]
    decimals: tuple[int, ...]
    fee_ppm: int
    reserves: tuple[int, ...]
    rates: tuple[int, ...]
    swap_fee: int
    pool_id: str
    is_time_dependent: bool


def read_vault_v2_state(identity: PoolIdentity, fields: StateFields) -> VaultV2State:
    """Read `reserves`, which may be zero, `rates`, and optionally `swap_fee`, `pool_id` and `is_time_dependent`."""
    count = len(identity.tokens)
    rates = fields.uints("rates", count, _RATE_BITS)
    if not all(rates):
        raise InvalidPoolState("rates", "a rate is zero")
    return VaultV2State(
        *identity,
        fields.uints("reserves", count, BALANCE_BITS),
        rates,
        read_swap_fee(identity, fields),
        fields.optional_hex("pool_id", 32) or "",
        fields.boolean("is_time_dependent"),
    )
