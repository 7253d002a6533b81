"""Pools that trade two coins of the same decimals one to one, less a fee: x + y = k."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.core.model.units import PPM
from swapcli.families.bins.bin_curve import BinCurve
from swapcli.families.fast_replace import fast_replace
from swapcli.families.fixed_rate.fixed_rate_curve import fixed_rate_curve
from swapcli.families.identity_checks import check_pair
from swapcli.families.reserves import reserves_after_swap
from swapcli.families.state_fields import StateFields
from swapcli.families.token_positions import is_forward


@dataclass(frozen=True, slots=True)
class ConstantSum(Pool):
    """`reserves` are the balances of both coins. The fee stays in the pool."""

    reserves: tuple[int, ...]

    family: ClassVar[str] = "constant_sum"
    swap_gas: ClassVar[int] = 50_000

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Sell `amount_in`, with the fee rounded up. Raises the same errors as `Pool.swap`."""
        i, j = (0, 1) if is_forward(self, token_in, token_out) else (1, 0)
        amount_out = amount_in * (PPM - self.fee_ppm) // PPM
        if amount_out > self.reserves[j]:
            raise InsufficientLiquidity(f"pool {self.key} holds less than {amount_out} of {token_out}")
        if not amount_out:
            raise self.rounds_to_zero(amount_in)
        after: Self = _replace_reserves(self, reserves_after_swap(self.reserves, i, amount_in, j, amount_out))
        return amount_out, after

    def curve(self, token_in: str, token_out: str) -> BinCurve:
        """Return the floating-point curve for selling `token_in`: one rate, up to the balance of `token_out`."""
        bought = 1 if is_forward(self, token_in, token_out) else 0
        return fixed_rate_curve(1.0 - self.fee_ppm / PPM, self.reserves[bought])

    def state(self) -> dict[str, object]:
        """Return `reserves`."""
        return {"reserves": [str(reserve) for reserve in self.reserves]}

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read `reserves`."""
        check_pair(identity)
        if identity.decimals[0] != identity.decimals[1]:
            raise InvalidPoolState("decimals", f"expected the same of both coins, not {identity.decimals}")
        return cls(*identity, StateFields(state).uints("reserves", 2))


_replace_reserves = fast_replace(ConstantSum, "reserves")
