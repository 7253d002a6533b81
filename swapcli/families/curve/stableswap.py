"""Curve's StableSwap pools of two to eight coins, computed step by step like their contracts.

Balances are multiplied by their rates to a common 18 decimals. Two integer Newton iterations, each stopped at a step of
at most one unit, give the invariant D and the new balance y of the bought coin. The fee comes off the output and, with
an off-peg multiplier, grows with the imbalance at the middle of the trade; half of it leaves the pool's balances as
admin fee. The contract pays zero for an input that is too small; a router cannot use this, so it is an error here.

`amp` is A without the contract's precision factor of 100. During a ramp between two values, `amp_hundredths` has the
digits that the factor adds at the block's time. The contract's own views drop these digits; its swaps do not.

`variant` is the kind of contract: StableSwap-NG ("ng", also for a state without the field), or a plain pool from the
previous factory, without ("plain") or with ("plain_ema") a price oracle. Plain pools have a constant fee and two to
four coins; those with an oracle have two. With three or four coins they divide the invariant's product by n with each
factor, with two coins after both factors, as NG does. Without an oracle, no price makes a swap revert, and the older
oracle reverts at different prices from NG's. The rest of an exchange is the same as NG's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from swapcli.core.annotations import ClassVar, Final, Self
from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, SwapReverts
from swapcli.core.frozen_dataclass import dataclass
from swapcli.core.model.pool import Pool, PoolIdentity, RateCurve, RoundingGain, SharedState
from swapcli.core.model.units import WAD
from swapcli.families.curve.stableswap_curve import StableSwapCurve
from swapcli.families.curve.stableswap_math import (
    A_PRECISION,
    FEE_DENOMINATOR,
    PACKED_BITS,
    check_plain_price_oracle,
    check_price_oracle,
    dynamic_fee,
    find_balance,
    invariant,
    scale_to_18_decimals,
)
from swapcli.families.fast_replace import fast_replace
from swapcli.families.hull_curve import ZeroCurve
from swapcli.families.identity_checks import MAX_TOKENS, check_multi_token
from swapcli.families.reserves import reserves_after_swap, to_18_decimals
from swapcli.families.rounding import require_uint128, require_uint256
from swapcli.families.state_fields import StateFields
from swapcli.families.swap_fees import FEE_PER_PPM, read_fee_remainder, read_swap_fee, write_swap_fee
from swapcli.families.token_positions import token_indices

# Constants of the contract: `MAX_FEE`, `MAX_A`.
_FEE_UNIT: Final = WAD // FEE_DENOMINATOR
_NEWTON_ERROR: Final = 2e6
"""In units of 10^-18 of a coin: more than rounding down in the contract's D and y may pay beyond the real invariant.

This is twice the bound that docs/proof.md derives; the maximum measured on random pools is 2.5 * 10^3.
"""
_FEE_ERROR: Final = 1e-9
"""The error relative to an output whose fee depends on the trade: the contract has ten digits of the fee.

The maximum measured is 5 * 10^-10.
"""
"""The smallest unit of the contract's fee, as a 10^18 fraction."""
_MAX_FEE: Final = FEE_DENOMINATOR // 2
_MAX_AMP: Final = 10**6  # `MAX_A`

NG: Final = "ng"
PLAIN: Final = "plain"
PLAIN_EMA: Final = "plain_ema"
_MAX_COINS: Final = {NG: MAX_TOKENS, PLAIN: 4, PLAIN_EMA: 2}
"""The maximum number of coins in a pool, by variant."""


@dataclass(frozen=True, slots=True)
class StableSwap(Pool):
    """A StableSwap pool: `reserves` in base units without admin fees; `rates` scaled by 10^18, in addition to the
    scaling to 18 decimals.

    `offpeg_fee_multiplier` is scaled by 10^10; at values up to one, including 0, the fee is constant. `amp` and
    `amp_hundredths` change with time if `is_ramping`. `variant` selects the contract. `fee_remainder_wad` is the part
    of the fee that `fee_ppm` rounds off, as a fraction scaled by 10^18.
    """

    reserves: tuple[int, ...]
    amp: int
    rates: tuple[int, ...]
    offpeg_fee_multiplier: int = 0
    amp_hundredths: int = 0
    is_ramping: bool = False
    variant: str = NG
    fee_remainder_wad: int = 0

    family: ClassVar[str] = "stableswap"
    swap_gas: ClassVar[int] = 105_000

    @property
    def changes_without_events(self) -> bool:
        """Whether A is being ramped, or a rate may change."""
        return self.is_ramping or any(rate != WAD for rate in self.rates)

    @property
    def shared_states(self) -> tuple[SharedState]:
        """The reserves, which swaps in metapools of this pool also change."""
        return (SharedState(self.address, self.reserves),)

    def with_shared_state(self, shared: SharedState) -> Self:
        """Return the pool with its reserves replaced by those in `shared`."""
        after: Self = _replace_reserves(self, shared.reserves)
        return after

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Sell `amount_in` as the contract's `exchange` does. Raises the same errors as `Pool.swap`."""
        i, j = token_indices(self, token_in, token_out)
        rates = self.contract_rates()
        balances = scale_to_18_decimals(self.reserves, rates)
        if not all(balances):
            raise InsufficientLiquidity(f"pool {self.key} has no liquidity")
        x = balances[i] + require_uint256(amount_in * rates[i]) // WAD
        amount_out, admin_fee = self._exchange(balances, i, j, x, rates[j])
        if amount_out <= 0:
            raise self.rounds_to_zero(amount_in)
        require_uint128(self.reserves[i] + amount_in)
        reserves = reserves_after_swap(self.reserves, i, amount_in, j, amount_out + admin_fee)
        after: Self = _replace_reserves(self, reserves)
        return amount_out, after

    def curve(self, token_in: str, token_out: str) -> RateCurve:
        """Return the floating-point curve for selling `token_in` for `token_out`."""
        i, j = token_indices(self, token_in, token_out)
        rates = self.contract_rates()
        try:
            balances = scale_to_18_decimals(self.reserves, rates)
            d = self._invariant(balances) if all(balances) else 0
        except SwapReverts:
            d = 0
        if not d:
            return ZeroCurve()
        return StableSwapCurve(
            balances,
            d,
            (i, j),
            self.precise_amp / A_PRECISION,
            self.swap_fee / WAD,
            self.offpeg_fee_multiplier / FEE_DENOMINATOR,
            (WAD / rates[i], WAD / rates[j]),
        )

    def rounding_gain(self, token_in: str, token_out: str) -> RoundingGain:
        """Return what a trader may gain because D and y are rounded down, and because a fee that depends on the trade
        is rounded."""
        del token_in
        j = self.tokens.index(token_out)
        unit = WAD / (self.rates[j] * to_18_decimals(self.decimals[j]))
        part = _FEE_ERROR if self.offpeg_fee_multiplier > FEE_DENOMINATOR else 0.0
        return RoundingGain(0.0, min(_NEWTON_ERROR * unit, float(self.reserves[j])), part)

    def state(self) -> dict[str, object]:
        """Return `reserves`, `amp`, `rates`, and the other fields that differ from their defaults."""
        state: dict[str, object] = {
            "reserves": [str(reserve) for reserve in self.reserves],
            "amp": self.amp,
            "rates": [str(rate) for rate in self.rates],
        }
        if self.amp_hundredths:
            state["amp_hundredths"] = self.amp_hundredths
        if self.is_ramping:
            state["is_ramping"] = True
        if self.offpeg_fee_multiplier:
            state["offpeg_fee_multiplier"] = str(self.offpeg_fee_multiplier)
        if self.variant != NG:
            state["variant"] = self.variant
        return state | write_swap_fee(self.swap_fee, self.fee_ppm)

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read `reserves` (which may be zero), `amp`, `rates`, and optional fields.

        The optional fields are `offpeg_fee_multiplier`, `amp_hundredths`, `is_ramping`, `variant`, and `swap_fee` for a
        fee that is not a whole number of parts per million.
        """
        check_multi_token(identity)
        fields = StateFields(state)
        count = len(identity.tokens)
        variant = fields.choice("variant", tuple(_MAX_COINS), default=NG)
        if count > _MAX_COINS[variant]:
            raise InvalidPoolState("variant", f'a pool of {count} coins cannot be "{variant}"')
        remainder = read_fee_remainder(identity, fields, _FEE_UNIT)
        fee = read_swap_fee(identity, fields) // _FEE_UNIT
        if fee > _MAX_FEE:
            raise InvalidPoolState("fee_ppm", f"expected at most half of the output, not {identity.fee_ppm}")
        reserves = fields.uints("reserves", count, PACKED_BITS)
        rates = fields.uints("rates", count, PACKED_BITS)
        if not all(rates):
            raise InvalidPoolState("rates", "a rate is zero")
        multiplier = fields.optional_uint("offpeg_fee_multiplier", 64) or 0
        if multiplier and variant != NG:
            raise InvalidPoolState("offpeg_fee_multiplier", f'the fee of a pool that is "{variant}" is constant')
        if multiplier * fee > _MAX_FEE * FEE_DENOMINATOR:
            raise InvalidPoolState(
                "offpeg_fee_multiplier", f"raises the fee above half of the output, got {multiplier}"
            )
        return cls(
            *identity,
            reserves,
            fields.integer("amp", 1, _MAX_AMP),
            rates,
            multiplier,
            fields.integer("amp_hundredths", 0, A_PRECISION - 1) if fields.has("amp_hundredths") else 0,
            fields.boolean("is_ramping"),
            variant,
            remainder,
        )

    @property
    def swap_fee(self) -> int:
        """The basic fee as a fraction scaled by 10^18."""
        return self.fee_ppm * FEE_PER_PPM + self.fee_remainder_wad

    @property
    def contract_fee(self) -> int:
        """The basic fee scaled by 10^10, as in the contract."""
        return self.swap_fee // _FEE_UNIT

    @property
    def precise_amp(self) -> int:
        """A scaled by 100, as used in the maths."""
        return self.amp * A_PRECISION + self.amp_hundredths

    def contract_rates(self) -> list[int]:
        """Return the rates including the scaling to 18 decimals."""
        return [rate * to_18_decimals(places) for rate, places in zip(self.rates, self.decimals, strict=True)]

    def fee_at(self, x: int, y: int, fee: int | None = None) -> int:
        """Return the fee at scaled balances, scaled by 10^10. `fee` is the basic fee, by default the pool's."""
        return dynamic_fee(self.contract_fee if fee is None else fee, self.offpeg_fee_multiplier, x, y)

    def _invariant(self, balances: Sequence[int]) -> int:
        """Return D for positive scaled balances."""
        return invariant(balances, self.precise_amp, self.variant != NG and len(balances) > 2)

    def _exchange(self, balances: Sequence[int], i: int, j: int, x: int, rate_out: int) -> tuple[int, int]:
        """Return (amount_out, admin_fee) in base units when the i-th scaled balance becomes `x`."""
        amp = self.precise_amp
        d = self._invariant(balances)
        after = list(balances)
        after[i] = x
        after[j] = y = find_balance(after, j, amp, d)
        gross = balances[j] - y - 1
        if gross < 0:
            raise SwapReverts(f"pool {self.key}: the output is less than the contract's rounding")
        fee = gross * self.fee_at((balances[i] + x) // 2, (balances[j] + y) // 2) // FEE_DENOMINATOR
        if self.variant == NG:
            check_price_oracle(after, amp, d)
        elif self.variant == PLAIN_EMA:
            check_plain_price_oracle(after, amp, d)
        return (gross - fee) * WAD // rate_out, fee // 2 * WAD // rate_out


_replace_reserves = fast_replace(StableSwap, "reserves")
