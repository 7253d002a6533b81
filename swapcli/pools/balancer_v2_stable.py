"""Stable pools of Balancer V2, exactly as their contracts compute swaps and the Vault settles them.

The fee comes off the input first, rounded up; then amounts are scaled to 18 decimals, times the tokens' rates.
`StablePool` (since 2022) rounds its invariant down, `MetaStablePool` (2021) up. The whole input enters the pool.
There is no limit to a swap beside the 112 bits of a balance. `amp` and `rates` are those of the quoted block.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Final, Self

from swapcli.errors import InsufficientLiquidity, InvalidPoolState, SwapReverts
from swapcli.model.pool import Pool, PoolIdentity, RateCurve
from swapcli.pools.balancer_fees import WAD, read_swap_fee, write_swap_fee
from swapcli.pools.balancer_stable_math import (
    amount_out,
    balance_v2,
    invariant,
    invariant_rounded_up,
    read_amp,
    stable_curve,
)
from swapcli.pools.fast_replace import fast_replace
from swapcli.pools.identity_checks import check_multi_token
from swapcli.pools.reserves import reserves_after_swap, to_18_decimals
from swapcli.pools.rounding import mul_div_up
from swapcli.pools.state_fields import StateFields
from swapcli.pools.token_positions import token_indices

BALANCE_BITS: Final = 112
_RATE_BITS: Final = 128
"""Far above any rate, and small enough for the contracts' products."""


@dataclass(frozen=True, slots=True)
class BalancerV2Stable(Pool):
    """`reserves` in base units; `rates` and `swap_fee` as 10^18 fractions; `amp` is A times 1000.

    `pool_id` is what the Vault calls the pool, 32 bytes in hex; empty if it is unknown. `is_time_dependent` says that
    `amp` or a rate can change without an event of the pool.
    """

    reserves: tuple[int, ...]
    rates: tuple[int, ...]
    amp: int
    swap_fee: int
    is_metastable: bool
    pool_id: str
    is_time_dependent: bool

    family: ClassVar[str] = "balancer_v2_stable"
    swap_gas: ClassVar[int] = 110_400
    further_token_gas: ClassVar[int] = 12_100
    """Gas units for each token beyond two. Both figures are those of `Weighted` plus the measured difference of direct
    swaps with the published bytecode."""
    holds_reserves_in_vault: ClassVar[bool] = True

    @property
    def changes_without_events(self) -> bool:
        """Whether `amp` or a rate can change without an event."""
        return self.is_time_dependent

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Sell `amount_in` through the Vault. Raises as `Pool.swap`."""
        i, j = token_indices(self, token_in, token_out)
        balances = self.scaled_balances()
        if not all(balances):
            raise InsufficientLiquidity(f"pool {self.key} has no liquidity")
        if self.reserves[i] + amount_in >> BALANCE_BITS:
            raise SwapReverts(f"pool {self.key}: {amount_in} would lift a balance above 2^112 - 1")
        sold = (amount_in - mul_div_up(amount_in, self.swap_fee, WAD)) * self.scaling_factor(i) // WAD
        d = invariant_rounded_up(balances, self.amp) if self.is_metastable else invariant(balances, self.amp)
        bought = amount_out(balances, i, j, sold, self.amp, d, balance_v2) * WAD // self.scaling_factor(j)
        if bought <= 0:
            raise SwapReverts(f"pool {self.key}: the output for {amount_in} rounds to zero")
        after: Self = _replacer(type(self))(self, reserves_after_swap(self.reserves, i, amount_in, j, bought))
        return bought, after

    def curve(self, token_in: str, token_out: str) -> RateCurve:
        """Return the direction in floats."""
        i, j = token_indices(self, token_in, token_out)
        units = WAD / self.scaling_factor(i) / (1.0 - self.swap_fee / WAD), WAD / self.scaling_factor(j)
        return stable_curve(self.scaled_balances(), (i, j), self.amp, units)

    def gas_units(self, after: Pool) -> int:
        """Return `swap_gas` plus the cost of further tokens."""
        del after
        return self.swap_gas + self.further_token_gas * (len(self.tokens) - 2)

    def scaling_factor(self, k: int) -> int:
        """Return the k-th scaling factor of the contract: 10^(18 - decimals) times the rate."""
        return to_18_decimals(self.decimals[k]) * self.rates[k]

    def scaled_balances(self) -> list[int]:
        """Return the balances that the contract's maths uses."""
        return [reserve * self.scaling_factor(k) // WAD for k, reserve in enumerate(self.reserves)]

    def state(self) -> dict[str, object]:
        """Return `reserves`, `rates`, `amp`, and those of the other fields that are not their defaults."""
        state: dict[str, object] = {
            "reserves": [str(reserve) for reserve in self.reserves],
            "rates": [str(rate) for rate in self.rates],
            "amp": self.amp,
        }
        state |= write_swap_fee(self.swap_fee, self.fee_ppm)
        for name in ("is_metastable", "pool_id", "is_time_dependent"):
            if getattr(self, name):
                state[name] = getattr(self, name)
        return state

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read `reserves`, which may be zero, `rates`, `amp`, and optionally the other fields."""
        check_multi_token(identity)
        fields = StateFields(state)
        count = len(identity.tokens)
        rates = fields.uints("rates", count, _RATE_BITS)
        if not all(rates):
            raise InvalidPoolState("rates", "a rate is zero")
        return cls(
            identity.address,
            identity.protocol,
            identity.tokens,
            identity.decimals,
            identity.fee_ppm,
            fields.uints("reserves", count, BALANCE_BITS),
            rates,
            read_amp(fields),
            read_swap_fee(identity, fields),
            fields.boolean("is_metastable"),
            fields.optional_hex("pool_id", 32) or "",
            fields.boolean("is_time_dependent"),
        )


@cache
def _replacer(family: type[BalancerV2Stable]) -> Callable[..., Any]:
    return fast_replace(family, "reserves")
