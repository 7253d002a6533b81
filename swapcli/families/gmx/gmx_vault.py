"""The vault of GMX V1 and its forks, such as BMX: several tokens at oracle prices.

A token is bought at its lowest price and sold at its highest, both in USD. For each token, the vault has a debt in a
USD token with 18 decimals (USDG), and a target for it by weight. A swap that brings a token's debt closer to its target
gets a rebate on the base fee; a swap that moves it away pays a tax. The greater of the two tokens' fees counts, in
whole basis points. The fee leaves the vault. Formulas: Vault.sol and VaultUtils.sol of gmx-io/gmx-contracts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from swapcli.core.annotations import ClassVar, Final, Self
from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState
from swapcli.core.frozen_dataclass import dataclass
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.core.model.units import BPS, PPM_PER_BPS, WAD
from swapcli.core.validation.values import MAX_UINT256
from swapcli.families.bins.bin_curve import BinCurve
from swapcli.families.fast_replace import fast_replace
from swapcli.families.hull_curve import concave_hull
from swapcli.families.identity_checks import check_multi_token
from swapcli.families.reserves import reserves_after_swap
from swapcli.families.rounding import require_uint128, require_uint256
from swapcli.families.state_fields import StateFields
from swapcli.families.token_positions import token_indices

PRICE_UNIT: Final = 10**30
"""The scale of prices: USD per whole token."""
USDG_UNIT: Final = WAD  # debts are in USD with 18 decimals
MAX_TOKENS: Final = 32
"""The vault has no limit; those of GMX and its forks list up to 10. Chosen: each token takes 13 calls to read."""
MAX_FEE_BPS: Final = 500
"""The vault accepts no base fee and no tax above 5%."""
_PRICE_BITS: Final = 160
"""The number of bits of a price. Prices are below 10^48, so their products with amounts up to 10^28 fit in a word."""
_AMOUNT_BITS: Final = 128  # far above any supply
_BEFORE_A_STEP: Final = 1.0 - 1e-12
"""A margin before each step: just before a fee rises, an amount rounded to a float may be past the step."""


@dataclass(frozen=True, slots=True)
class GmxVault(Pool):
    """A GMX V1 vault. `reserves` are its pool amounts; it does not sell `min_reserves` of them, which are reserved or
    kept as buffers.

    `min_prices` and `max_prices` are in USD per whole token, times 10^30. `usdg` and `targets` are the debt of each
    token and its target, in USD times 10^18; a debt may not rise above the value in `max_usdg`, unless that is 0. A
    target of 0 means the base fee. `is_stable` is 1 for stablecoins: swaps between two stablecoins have separate fees.
    """

    reserves: tuple[int, ...]
    min_reserves: tuple[int, ...]
    min_prices: tuple[int, ...]
    max_prices: tuple[int, ...]
    usdg: tuple[int, ...]
    max_usdg: tuple[int, ...]
    targets: tuple[int, ...]
    is_stable: tuple[int, ...]
    tax_bps: int
    stable_fee_bps: int
    stable_tax_bps: int

    family: ClassVar[str] = "gmx_vault"
    swap_gas: ClassVar[int] = 290_000
    """As published for swaps through a router; most of it is for the prices of the two tokens."""
    changes_without_events: ClassVar[bool] = True
    """The oracle's prices change with every round or every transaction of its keepers."""

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Sell `amount_in`. Raises the same errors as `Pool.swap`."""
        i, j = token_indices(self, token_in, token_out)
        usdg_delta, gross, amount_out = self._amounts(i, j, amount_in)
        if self.max_usdg[i] and self.usdg[i] + usdg_delta > self.max_usdg[i]:
            raise InsufficientLiquidity(f"pool {self.key} takes no more {token_in}: it is at its debt limit")
        if self.reserves[j] - gross < self.min_reserves[j]:
            raise InsufficientLiquidity(f"pool {self.key} has less than {gross} of {token_out} to sell")
        if not amount_out:
            raise self.rounds_to_zero(amount_in)
        usdg = list(self.usdg)
        usdg[i] = require_uint128(usdg[i] + usdg_delta)
        usdg[j] = max(0, usdg[j] - usdg_delta)
        require_uint128(self.reserves[i] + amount_in)
        reserves = reserves_after_swap(self.reserves, i, amount_in, j, gross)
        after: Self = _replace_amounts(self, reserves, tuple(usdg))
        return amount_out, after

    def _amounts(self, i: int, j: int, amount_in: int) -> tuple[int, int, int]:
        """Return the debt that a sale adds in USDG, the amount that leaves the reserves, and that amount without the
        fee."""
        value = require_uint256(amount_in * self.min_prices[i])
        unit_in, unit_out = 10 ** self.decimals[i], 10 ** self.decimals[j]
        gross = require_uint256(value // self.max_prices[j] * unit_out) // unit_in
        usdg_delta = require_uint256(value // PRICE_UNIT * USDG_UNIT) // unit_in
        return usdg_delta, gross, gross * (BPS - self.fee_bps(i, j, usdg_delta)) // BPS

    def fee_bps(self, i: int, j: int, usdg_delta: int) -> int:
        """Return the fee for selling the i-th token for the j-th: the greater of both tokens' fees, in basis points."""
        base, tax = self._rates(i, j)
        sold = fee_of_token(self.usdg[i], self.usdg[i] + usdg_delta, self.targets[i], base, tax)
        bought = fee_of_token(self.usdg[j], max(0, self.usdg[j] - usdg_delta), self.targets[j], base, tax)
        return max(sold, bought)

    def _rates(self, i: int, j: int) -> tuple[int, int]:
        """Return the base fee and the tax of swaps between two tokens, in basis points."""
        if self.is_stable[i] and self.is_stable[j]:
            return self.stable_fee_bps, self.stable_tax_bps
        return self.fee_ppm // PPM_PER_BPS, self.tax_bps

    def curve(self, token_in: str, token_out: str) -> BinCurve:
        """Return the floating-point curve for selling `token_in` for `token_out`: the concave hull of the amounts just
        before each step of the fee.

        Between two steps, the contract pays a constant rate for the whole amount, so no amount pays more than the hull,
        and the corners are exact.
        """
        i, j = token_indices(self, token_in, token_out)
        capacity = self._max_amount_in(i, j)
        per_usdg = PRICE_UNIT * 10 ** self.decimals[i] / (self.min_prices[i] * USDG_UNIT)
        _, tax = self._rates(i, j)
        ends = {capacity}
        for debt, sign, k in ((self.usdg[i], 1, i), (self.usdg[j], -1, j)):
            for step in steps_of_token(debt, self.targets[k], tax, sign):
                amount = int(step * per_usdg * _BEFORE_A_STEP)
                if 0 < amount < capacity:
                    ends.add(amount)
        corners = [(0, 0), *((amount, self._amounts(i, j, amount)[2]) for amount in sorted(ends) if amount)]
        hull = concave_hull(corners)
        return BinCurve(
            (((more[1] - less[1]) / (more[0] - less[0]), more[1] - less[1]) for less, more in pairwise(hull)), capacity
        )

    def _max_amount_in(self, i: int, j: int) -> int:
        """Return the largest input that neither limit rejects, or slightly less."""
        sellable = max(0, self.reserves[j] - self.min_reserves[j])
        unit_in, unit_out = 10 ** self.decimals[i], 10 ** self.decimals[j]
        limit: int = sellable * self.max_prices[j] * unit_in // (self.min_prices[i] * unit_out)
        if self.max_usdg[i]:
            usdg = max(0, self.max_usdg[i] - self.usdg[i])
            limit = min(limit, usdg * PRICE_UNIT * unit_in // (self.min_prices[i] * USDG_UNIT))
        return min(limit, MAX_UINT256 // self.min_prices[i])

    def state(self) -> dict[str, object]:
        """Return the amounts, prices and debts by token, and the fees of the whole vault."""
        return {
            **{name: [str(value) for value in getattr(self, name)] for name in _BY_TOKEN},
            "is_stable": list(self.is_stable),
            "tax_bps": self.tax_bps,
            "stable_fee_bps": self.stable_fee_bps,
            "stable_tax_bps": self.stable_tax_bps,
        }

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read the fields of `state`. The identity's `fee_ppm` is the base fee, a multiple of 100 ppm."""
        check_multi_token(identity, MAX_TOKENS)
        if identity.fee_ppm % PPM_PER_BPS or identity.fee_ppm > MAX_FEE_BPS * PPM_PER_BPS:
            raise InvalidPoolState("fee_ppm", f"expected whole basis points up to 50000 ppm, not {identity.fee_ppm}")
        fields, count = StateFields(state), len(identity.tokens)
        reserves, min_reserves, min_prices, max_prices, usdg, max_usdg, targets = (
            fields.uints(name, count, bits) for name, bits in _BY_TOKEN.items()
        )
        for k in range(count):
            if not min_prices[k]:
                raise InvalidPoolState(f"min_prices[{k}]", "expected a number above 0")
            if max_prices[k] < min_prices[k]:
                raise InvalidPoolState(f"max_prices[{k}]", "expected at least the lowest price")
        amounts = reserves, min_reserves, min_prices, max_prices, usdg, max_usdg, targets
        fees = [fields.integer(name, 0, MAX_FEE_BPS) for name in ("tax_bps", "stable_fee_bps", "stable_tax_bps")]
        return cls(*identity, *amounts, fields.uints("is_stable", count, 1), fees[0], fees[1], fees[2])


_BY_TOKEN: Final = {
    "reserves": _AMOUNT_BITS,
    "min_reserves": _AMOUNT_BITS,
    "min_prices": _PRICE_BITS,
    "max_prices": _PRICE_BITS,
    "usdg": _AMOUNT_BITS,
    "max_usdg": 256,
    "targets": _AMOUNT_BITS,
}
"""The fields with a number for each token, in the order of the class, with their number of bits."""


def fee_of_token(debt: int, debt_after: int, target: int, base_bps: int, tax_bps: int) -> int:
    """Return the fee in basis points for a debt that changes to `debt_after`, as in the vault's `getFeeBasisPoints`."""
    if not target:
        return base_bps
    distance, distance_after = abs(debt - target), abs(debt_after - target)
    if distance_after < distance:
        return max(0, base_bps - tax_bps * distance // target)
    return base_bps + tax_bps * min((distance + distance_after) // 2, target) // target


def steps_of_token(debt: int, target: int, tax_bps: int, sign: int) -> Iterator[float]:
    """Yield the changes in a debt, in USDG, at which the fee rises. `sign` is 1 for a debt that grows, and -1 for one
    that falls."""
    if not target or not tax_bps:
        return
    distance = sign * (target - debt)
    # Towards the target and equally far beyond it, a swap gets a rebate. After that, and when starting from the target,
    # the tax is that of the mean distance.
    turn = 2 * max(0, distance)
    if turn:
        yield float(turn)
    for steps in range(1, tax_bps + 1):
        change = 2 * (steps * target / tax_bps) + min(0, distance) * 2
        if change > turn:
            yield change


_replace_amounts = fast_replace(GmxVault, "reserves", "usdg")
