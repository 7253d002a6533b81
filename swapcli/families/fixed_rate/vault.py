"""ERC-4626 vaults: a deposit mints vault shares, and redeemed shares return the asset.

Both directions convert at the same price, total assets over total shares at the quoted block, rounded down. Since both
totals are also rounded, a conversion may change the last digits of that price: only the first conversion is exact.
"""

from __future__ import annotations

from collections.abc import Mapping

from swapcli.core.annotations import ClassVar, Final, Self
from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState
from swapcli.core.frozen_dataclass import dataclass
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.core.validation.values import MAX_UINT256
from swapcli.families.bins.bin_curve import BinCurve
from swapcli.families.fast_replace import fast_replace
from swapcli.families.fixed_rate.fixed_rate_curve import fixed_rate_curve
from swapcli.families.identity_checks import check_no_fee, check_pair
from swapcli.families.state_fields import StateFields
from swapcli.families.token_positions import is_forward

_MAX_GROWTH: Final = 100
"""The largest deposit that the solver considers, in total assets of the vault: with an unlimited one, 2^256 - 1, floats
could not distinguish small amounts."""


@dataclass(frozen=True, slots=True)
class ShareVault(Pool):
    """An ERC-4626 vault. `tokens` are the asset and the share, whose address is the vault's.

    `assets` buy `shares`, and vice versa. A deposit is at most `max_deposit`; redeemed shares return at most
    `max_redeemed`, both in assets.
    """

    assets: int
    shares: int
    max_deposit: int
    max_redeemed: int

    family: ClassVar[str] = "vault"
    swap_gas: ClassVar[int] = 92_600
    """Measured on a model of a savings vault: 103,500 to deposit and 81,800 to redeem.

    OpenZeppelin's vault, which holds its assets itself, takes 54,000 and 34,000.
    """
    holds_reserves_in_vault: ClassVar[bool] = True
    is_single_use: ClassVar[bool] = True
    changes_without_events: ClassVar[bool] = True
    """The total assets earn interest."""

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Deposit assets or redeem shares. Raises the same errors as `Pool.swap`."""
        if is_forward(self, token_in, token_out):
            amount_out = amount_in * self.shares // self.assets
            if amount_in > self.max_deposit:
                raise InsufficientLiquidity(f"pool {self.key} accepts less than {amount_in} of {token_in}")
            change = amount_in
        else:
            amount_out = amount_in * self.assets // self.shares
            if amount_out > self.max_redeemed:
                raise InsufficientLiquidity(f"pool {self.key} returns less than {amount_out} of {token_out}")
            change = -amount_out
        if not amount_out:
            raise self.rounds_to_zero(amount_in)
        # A limit equal to the greatest integer means no limit.
        max_deposit = min(max(self.max_deposit - change, 0), MAX_UINT256)
        after: Self = _replace_limits(self, max_deposit, min(self.max_redeemed + change, MAX_UINT256))
        return amount_out, after

    def curve(self, token_in: str, token_out: str) -> BinCurve:
        """Return the floating-point curve for selling `token_in` for `token_out`: one rate, up to the amount that can
        be deposited or redeemed."""
        if is_forward(self, token_in, token_out):
            max_deposit = min(self.max_deposit, _MAX_GROWTH * self.max_redeemed)
            return fixed_rate_curve(self.shares / self.assets, max_deposit * self.shares // self.assets)
        return fixed_rate_curve(self.assets / self.shares, self.max_redeemed)

    def state(self) -> dict[str, object]:
        """Return `share_price` (the pair of `assets` and `shares`) and both limits."""
        return {
            "share_price": [str(self.assets), str(self.shares)],
            "max_deposit": str(self.max_deposit),
            "max_redeemed": str(self.max_redeemed),
        }

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read `share_price`, `max_deposit` and `max_redeemed`."""
        check_pair(identity)
        if identity.tokens[1] != identity.address.lower():
            raise InvalidPoolState("tokens", "the second token must be the vault's own, its shares")
        check_no_fee(identity)
        fields = StateFields(state)
        assets, shares = fields.uints("share_price", 2)
        if not (assets and shares):
            raise InvalidPoolState("share_price", "expected numbers above 0")
        return cls(*identity, assets, shares, fields.uint("max_deposit"), fields.uint("max_redeemed"))


_replace_limits = fast_replace(ShareVault, "max_deposit", "max_redeemed")
