"""Stablecoin bridges: another coin of the same currency is deposited, and the stablecoin is minted one to one.

The contract is `StablecoinBridge` of Frankencoin and its forks. It mints up to its limit until it expires or is
stopped, and returns the deposited coins for burned ones. Only the decimals differ; amounts round down. A contract that
migrates holders of a bridged coin to its native successor works in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping

from swapcli.core.annotations import ClassVar, Self
from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState
from swapcli.core.frozen_dataclass import dataclass
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.families.bins.bin_curve import BinCurve
from swapcli.families.fast_replace import fast_replace
from swapcli.families.fixed_rate.fixed_rate_curve import fixed_rate_curve
from swapcli.families.identity_checks import check_no_fee, check_pair
from swapcli.families.reserves import MAX_DECIMALS, change_decimals
from swapcli.families.rounding import require_uint256
from swapcli.families.state_fields import StateFields
from swapcli.families.token_positions import is_forward


@dataclass(frozen=True, slots=True)
class StablecoinBridge(Pool):
    """A stablecoin bridge. `tokens` are the minted coin and the deposited one, whose balance is `reserve`.

    `minted` is the amount that the bridge has minted and not burned, and `limit` the maximum of that amount (0 if the
    bridge no longer mints).
    """

    reserve: int
    minted: int
    limit: int

    family: ClassVar[str] = "bridge"
    swap_gas: ClassVar[int] = 58_800
    """Measured on a model: 57,800 to mint and 59,800 to burn."""
    changes_without_events: ClassVar[bool] = True
    """The bridge expires without emitting an event."""

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Sell `amount_in`: burn the minted coin, or mint it for the deposited one. Raises the same errors as
        `Pool.swap`."""
        burns = is_forward(self, token_in, token_out)
        i, j = (0, 1) if burns else (1, 0)
        amount_out = change_decimals(amount_in, self.decimals[i], self.decimals[j])
        if not amount_out:
            raise self.rounds_to_zero(amount_in)
        if burns:
            if amount_out > self.reserve or amount_in > self.minted:
                raise InsufficientLiquidity(f"pool {self.key} has less than {amount_out} of {token_out}")
            after: Self = _replace_amounts(self, self.reserve - amount_out, self.minted - amount_in)
            return amount_out, after
        if self.minted + amount_out > self.limit:
            raise InsufficientLiquidity(f"pool {self.key} mints less than {amount_out} now")
        after = _replace_amounts(self, require_uint256(self.reserve + amount_in), self.minted + amount_out)
        return amount_out, after

    def curve(self, token_in: str, token_out: str) -> BinCurve:
        """Return the floating-point curve for selling `token_in` for `token_out`: one rate, up to the amount that can
        be minted or returned."""
        burns = is_forward(self, token_in, token_out)
        first, second = self.decimals
        if burns:
            return fixed_rate_curve(10.0 ** (second - first), self.reserve, self.minted)
        return fixed_rate_curve(10.0 ** (first - second), max(self.limit - self.minted, 0))

    def state(self) -> dict[str, object]:
        """Return `reserve`, `minted` and `limit`."""
        return {"reserve": str(self.reserve), "minted": str(self.minted), "limit": str(self.limit)}

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read `reserve`, `minted` and `limit`."""
        check_pair(identity)
        if max(identity.decimals) > MAX_DECIMALS:
            raise InvalidPoolState("decimals", f"at most {MAX_DECIMALS} are supported, got {max(identity.decimals)}")
        check_no_fee(identity)
        fields = StateFields(state)
        return cls(*identity, fields.uint("reserve"), fields.uint("minted"), fields.uint("limit"))


_replace_amounts = fast_replace(StablecoinBridge, "reserve", "minted")
