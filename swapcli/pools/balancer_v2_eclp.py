"""Gyroscope's E-CLPs of Balancer V2: the maths of `eclp_math` on balances scaled with rates, settled by the Vault.

The fee comes off the input first, rounded up; then amounts are scaled to 18 decimals, times the tokens' rates. The
whole input enters the pool. Unlike those of V3, rates come from their providers at every swap and are not rounded up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, Self

from swapcli.errors import InsufficientLiquidity, InvalidPoolState, SwapReverts
from swapcli.model.pool import Pool, PoolIdentity, RateCurve
from swapcli.pools.balancer_fees import WAD, read_swap_fee, write_swap_fee
from swapcli.pools.eclp_curve import eclp_curve
from swapcli.pools.eclp_math import EclpParameters
from swapcli.pools.fast_replace import fast_replace
from swapcli.pools.identity_checks import check_multi_token, check_pair
from swapcli.pools.reserves import reserves_after_swap, to_18_decimals
from swapcli.pools.rounding import mul_div_up
from swapcli.pools.state_fields import StateFields
from swapcli.pools.token_positions import token_indices

_BALANCE_BITS: Final = 112
_RATE_BITS: Final = 128
"""Far above any rate, and small enough for the contracts' products."""


@dataclass(frozen=True, slots=True)
class BalancerV2Eclp(Pool):
    """`reserves` in base units; `rates` and `swap_fee` as 10^18 fractions; `parameters` as `getECLPParams()` has them.

    `pool_id` is what the Vault calls the pool, 32 bytes in hex; empty if it is unknown. `is_time_dependent` says that a
    rate can change without an event of the pool.
    """

    reserves: tuple[int, ...]
    rates: tuple[int, ...]
    swap_fee: int
    pool_id: str
    is_time_dependent: bool
    parameters: EclpParameters

    family: ClassVar[str] = "balancer_v2_eclp"
    swap_gas: ClassVar[int] = 149_000
    """That of weighted pools (`Weighted`), plus what an E-CLP of V3 takes more than a weighted pool of V3: 61,000."""
    holds_reserves_in_vault: ClassVar[bool] = True

    @property
    def changes_without_events(self) -> bool:
        """Whether a rate can change without an event."""
        return self.is_time_dependent

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Sell `amount_in` through the Vault. Raises as `Pool.swap`."""
        i, j = token_indices(self, token_in, token_out)
        balances = self.scaled_balances()
        if not balances[j]:
            raise InsufficientLiquidity(f"pool {self.key} has no liquidity")
        if self.reserves[i] + amount_in >> _BALANCE_BITS:
            raise SwapReverts(f"pool {self.key}: {amount_in} would lift a balance above 2^112 - 1")
        sold = (amount_in - mul_div_up(amount_in, self.swap_fee, WAD)) * self._scaling_factor(i) // WAD
        bought = self.parameters.amount_out(balances, i, sold) * WAD // self._scaling_factor(j)
        if bought <= 0:
            raise SwapReverts(f"pool {self.key}: the output for {amount_in} rounds to zero")
        after: Self = _replace_reserves(self, reserves_after_swap(self.reserves, i, amount_in, j, bought))
        return bought, after

    def curve(self, token_in: str, token_out: str) -> RateCurve:
        """Return the direction in floats."""
        i, j = token_indices(self, token_in, token_out)
        units = WAD / self._scaling_factor(i) / (1.0 - self.swap_fee / WAD), WAD / self._scaling_factor(j)
        return eclp_curve(self.parameters, self.scaled_balances(), i, units)

    def scaled_balances(self) -> tuple[int, int]:
        """Return the balances that the contract's maths uses."""
        x, y = (reserve * self._scaling_factor(k) // WAD for k, reserve in enumerate(self.reserves))
        return x, y

    def state(self) -> dict[str, object]:
        """Return `reserves`, `rates`, the parameters, and those of the other fields that are not their defaults."""
        state: dict[str, object] = {
            "reserves": [str(reserve) for reserve in self.reserves],
            "rates": [str(rate) for rate in self.rates],
        }
        state |= self.parameters.state() | write_swap_fee(self.swap_fee, self.fee_ppm)
        for name in ("pool_id", "is_time_dependent"):
            if getattr(self, name):
                state[name] = getattr(self, name)
        return state

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read `reserves`, which may be zero, `rates`, the parameters, and optionally the other fields."""
        check_multi_token(identity)
        check_pair(identity)
        fields = StateFields(state)
        rates = fields.uints("rates", 2, _RATE_BITS)
        if not all(rates):
            raise InvalidPoolState("rates", "a rate is zero")
        return cls(
            *identity,
            fields.uints("reserves", 2, _BALANCE_BITS),
            rates,
            read_swap_fee(identity, fields),
            fields.optional_hex("pool_id", 32) or "",
            fields.boolean("is_time_dependent"),
            EclpParameters.from_fields(fields),
        )

    def _scaling_factor(self, k: int) -> int:
        return to_18_decimals(self.decimals[k]) * self.rates[k]


_replace_reserves = fast_replace(BalancerV2Eclp, "reserves")
