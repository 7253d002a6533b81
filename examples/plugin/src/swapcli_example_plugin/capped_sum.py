"""Pools that trade two tokens of the same decimals one to one, less a fee, and take a limited input per swap.

The contract is `tests/contracts/CappedSum.sol`: it pays `amountIn * (10^6 - fee) / 10^6`, rounded down, and reverts if
the input exceeds `maxSwap`, if it would pay nothing, or if it holds less than it would pay. The fee stays in the pool.
"""

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
from swapcli.families.token_positions import token_indices


@dataclass(frozen=True, slots=True)
class CappedSum(Pool):
    """`reserves` are the balances of the tokens, and `max_swap` is the largest input, in base units."""

    reserves: tuple[int, ...]
    max_swap: int

    family: ClassVar[str] = "capped_sum"
    swap_gas: ClassVar[int] = 75_000
    """Rounded up from a swap of tokens that both sides hold."""

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Sell `amount_in`. Raises the same errors as `Pool.swap`."""
        i, j = token_indices(self, token_in, token_out)
        if amount_in > self.max_swap:
            raise InsufficientLiquidity(f"pool {self.key} takes at most {self.max_swap} of {token_in} per swap")
        amount_out = amount_in * (PPM - self.fee_ppm) // PPM
        if amount_out > self.reserves[j]:
            raise InsufficientLiquidity(f"pool {self.key} holds less than {amount_out} of {token_out}")
        if not amount_out:
            raise self.rounds_to_zero(amount_in)
        after: Self = _replace_reserves(self, reserves_after_swap(self.reserves, i, amount_in, j, amount_out))
        return amount_out, after

    def curve(self, token_in: str, token_out: str) -> BinCurve:
        """Return the floating-point curve for selling `token_in`: one rate, up to the limit and the pool's balance."""
        _, j = token_indices(self, token_in, token_out)
        return fixed_rate_curve(1.0 - self.fee_ppm / PPM, self.reserves[j], self.max_swap)

    def state(self) -> dict[str, object]:
        """Return `reserves` and `max_swap`."""
        return {"reserves": [str(reserve) for reserve in self.reserves], "max_swap": str(self.max_swap)}

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read `reserves` and `max_swap`."""
        check_pair(identity)
        if identity.decimals[0] != identity.decimals[1]:
            raise InvalidPoolState("decimals", f"expected the same for both tokens, not {identity.decimals}")
        fields = StateFields(state)
        return cls(*identity, fields.uints("reserves", 2), fields.uint("max_swap"))


_replace_reserves = fast_replace(CappedSum, "reserves")
