"""Spark's peg stability module PSM3: USDC, USDS and sUSDS at fixed rates, without a fee.

USDC and USDS convert one to one. A unit of sUSDS is worth `rate` units of USDS, a fraction of 10^27 that grows with
time. Every conversion rounds down (twice for sUSDS), and the module pays at most its balance.
"""

from __future__ import annotations

from collections.abc import Mapping

from swapcli.core.annotations import ClassVar, Final, Self
from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState
from swapcli.core.frozen_dataclass import dataclass
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.families.bins.bin_curve import BinCurve
from swapcli.families.fast_replace import fast_replace
from swapcli.families.fixed_rate.fixed_rate_curve import fixed_rate_curve
from swapcli.families.identity_checks import check_multi_token, check_no_fee
from swapcli.families.reserves import reserves_after_swap
from swapcli.families.rounding import require_uint256
from swapcli.families.state_fields import StateFields
from swapcli.families.token_positions import token_indices

RAY: Final = 10**27
"""The scale of `rate`, as in Maker's contracts."""
_TOKEN_COUNT: Final = 3  # USDC, USDS, sUSDS
_SAVINGS: Final = 2
"""The position of sUSDS: the contract's order is USDC, USDS, sUSDS."""
_RATE_BITS: Final = 128
"""Chosen such that products with the rate fit in a word; the rate of savings is near 10^27, 2^90."""


@dataclass(frozen=True, slots=True)
class PegStabilityModule(Pool):
    """A PSM3 module. `tokens` are USDC, USDS and sUSDS; `rate` is the value of sUSDS in USDS, times 10^27."""

    reserves: tuple[int, ...]
    rate: int

    family: ClassVar[str] = "psm"
    swap_gas: ClassVar[int] = 72_200
    """Measured on a model: 62,200, and 77,500 with the rate of sUSDS, which is a power in another contract; four of six
    directions need it."""
    changes_without_events: ClassVar[bool] = True
    """The rate grows every second."""

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Sell `amount_in` at the output of the contract's `previewSwapExactIn`. Raises the same errors as
        `Pool.swap`."""
        i, j = token_indices(self, token_in, token_out)
        unit_in, unit_out = 10 ** self.decimals[i], 10 ** self.decimals[j]
        value = amount_in
        if j == _SAVINGS:
            value = require_uint256(amount_in * RAY) // self.rate
        elif i == _SAVINGS:
            value = require_uint256(amount_in * self.rate) // RAY
        amount_out = require_uint256(value * unit_out) // unit_in
        if amount_out > self.reserves[j]:
            raise InsufficientLiquidity(f"pool {self.key} holds less than {amount_out} of {token_out}")
        if not amount_out:
            raise self.rounds_to_zero(amount_in)
        require_uint256(self.reserves[i] + amount_in)
        after: Self = _replace_reserves(self, reserves_after_swap(self.reserves, i, amount_in, j, amount_out))
        return amount_out, after

    def curve(self, token_in: str, token_out: str) -> BinCurve:
        """Return the floating-point curve for selling `token_in` for `token_out`: one rate, up to the balance of
        `token_out`."""
        i, j = token_indices(self, token_in, token_out)
        rate = 10.0 ** (self.decimals[j] - self.decimals[i])
        if j == _SAVINGS:
            rate *= RAY / self.rate
        elif i == _SAVINGS:
            rate *= self.rate / RAY
        return fixed_rate_curve(rate, self.reserves[j])

    def state(self) -> dict[str, object]:
        """Return `reserves` and `rate`."""
        return {"reserves": [str(reserve) for reserve in self.reserves], "rate": str(self.rate)}

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read the `reserves` of USDC, USDS and sUSDS, and `rate`."""
        check_multi_token(identity)
        if len(identity.tokens) != _TOKEN_COUNT:
            raise InvalidPoolState("tokens", f"expected USDC, USDS and sUSDS, not {len(identity.tokens)} tokens")
        check_no_fee(identity)
        fields = StateFields(state)
        rate = fields.uint("rate", _RATE_BITS)
        if not rate:
            raise InvalidPoolState("rate", "expected a number above 0")
        return cls(*identity, fields.uints("reserves", _TOKEN_COUNT), rate)


_replace_reserves = fast_replace(PegStabilityModule, "reserves")
