"""Curve's StableSwap pools of two to eight coins, step by step as the StableSwap-NG contract computes them.

Balances are multiplied by their rates to a common 18 decimals. Two integer Newton iterations, each stopped at a step of
at most one unit, give the invariant D and the new balance y of the bought coin. The fee comes off the output and, with
an off-peg multiplier, grows with the imbalance at the middle of the trade; half of it leaves the pool's balances as
admin fee. The contract pays zero for an input that is too small; a router cannot use that, so it raises an error here.

`amp` is A without the contract's precision factor of 100; in a ramp between two values, `amp_hundredths` are the digits
that the factor adds at the block's time. The contract's own views drop them, its swaps do not.
Older pools, which divide by n inside the product of the invariant, may differ from this by a unit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Self

from swapcli.errors import InsufficientLiquidity, InvalidPoolState, SwapReverts
from swapcli.model.pool import Pool, PoolIdentity, RateCurve
from swapcli.model.units import PPM
from swapcli.pools.fast_replace import fast_replace
from swapcli.pools.hull_curve import ZeroCurve
from swapcli.pools.identity_checks import check_multi_token
from swapcli.pools.reserves import reserves_after_swap, to_18_decimals
from swapcli.pools.stableswap_curve import StableSwapCurve
from swapcli.pools.state_fields import StateFields
from swapcli.pools.token_positions import token_indices

_WAD: Final = 10**18
_WORD: Final = 1 << 256
# Constants of the contract: `A_PRECISION`, `FEE_DENOMINATOR`, `MAX_FEE`, `MAX_A`.
_A_PRECISION: Final = 100
_FEE_DENOMINATOR: Final = 10**10
_FEE_PER_PPM: Final = _FEE_DENOMINATOR // PPM
_MAX_FEE: Final = _FEE_DENOMINATOR // 2
_MAX_AMP: Final = 10**6
_MAX_NEWTON_STEPS: Final = 255
"""As in the contract, which reverts after as many."""
_PACKED_BITS: Final = 128


@dataclass(frozen=True, slots=True)
class StableSwap(Pool):
    """`reserves` in base units without admin fees; `rates` scaled by 10^18, on top of the scaling to 18 decimals.

    `offpeg_fee_multiplier` is scaled by 10^10; up to one, as 0 is, the fee is constant. `amp` and
    `amp_hundredths` change with time if `is_ramping`.
    """

    reserves: tuple[int, ...]
    amp: int
    rates: tuple[int, ...]
    offpeg_fee_multiplier: int = 0
    amp_hundredths: int = 0
    is_ramping: bool = False

    family: ClassVar[str] = "stableswap"
    swap_gas: ClassVar[int] = 105_000

    @property
    def changes_without_events(self) -> bool:
        """Whether A is in a ramp, or a rate may change."""
        return self.is_ramping or any(rate != _WAD for rate in self.rates)

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Sell `amount_in` as the contract's `exchange` does. Raises as `Pool.swap`."""
        i, j = token_indices(self, token_in, token_out)
        rates = self._contract_rates()
        balances = _scale_to_18_decimals(self.reserves, rates)
        if not all(balances):
            raise InsufficientLiquidity(f"pool {self.key} has no liquidity")
        x = balances[i] + _require_uint256(amount_in * rates[i]) // _WAD
        amount_out, admin_fee = self._exchange(balances, i, j, x, rates[j])
        if amount_out <= 0:
            raise SwapReverts(f"pool {self.key}: the output for {amount_in} rounds to zero")
        reserves = reserves_after_swap(self.reserves, i, amount_in, j, amount_out + admin_fee)
        after: Self = _replace_reserves(self, reserves)
        return amount_out, after

    def curve(self, token_in: str, token_out: str) -> RateCurve:
        """Return the direction in floats."""
        i, j = token_indices(self, token_in, token_out)
        rates = self._contract_rates()
        try:
            balances = _scale_to_18_decimals(self.reserves, rates)
            d = invariant(balances, self._precise_amp) if all(balances) else 0
        except SwapReverts:
            d = 0
        if not d:
            return ZeroCurve()
        return StableSwapCurve(
            balances,
            d,
            (i, j),
            self._precise_amp / _A_PRECISION,
            self.fee_ppm / PPM,
            self.offpeg_fee_multiplier / _FEE_DENOMINATOR,
            (_WAD / rates[i], _WAD / rates[j]),
        )

    def state(self) -> dict[str, object]:
        """Return `reserves`, `amp`, `rates`, and the other fields that are not zero."""
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
        return state

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read `reserves`, which may be zero, `amp`, `rates`, and optional fields.

        These are `offpeg_fee_multiplier`, `amp_hundredths` and `is_ramping`.
        """
        check_multi_token(identity)
        fields = StateFields(state)
        count = len(identity.tokens)
        fee = identity.fee_ppm * _FEE_PER_PPM
        if fee > _MAX_FEE:
            raise InvalidPoolState("fee_ppm", f"expected at most half of the output, not {identity.fee_ppm}")
        reserves = fields.uints("reserves", count, _PACKED_BITS)
        rates = fields.uints("rates", count, _PACKED_BITS)
        if not all(rates):
            raise InvalidPoolState("rates", "a rate is zero")
        multiplier = fields.optional_uint("offpeg_fee_multiplier", 64) or 0
        if multiplier * fee > _MAX_FEE * _FEE_DENOMINATOR:
            raise InvalidPoolState("offpeg_fee_multiplier", f"lifts the fee above half of the output, got {multiplier}")
        return cls(
            identity.address,
            identity.protocol,
            identity.tokens,
            identity.decimals,
            identity.fee_ppm,
            reserves,
            fields.integer("amp", 1, _MAX_AMP),
            rates,
            multiplier,
            fields.integer("amp_hundredths", 0, _A_PRECISION - 1) if fields.has("amp_hundredths") else 0,
            fields.boolean("is_ramping"),
        )

    @property
    def _precise_amp(self) -> int:
        return self.amp * _A_PRECISION + self.amp_hundredths

    def _contract_rates(self) -> list[int]:
        return [rate * to_18_decimals(places) for rate, places in zip(self.rates, self.decimals, strict=True)]

    def _exchange(self, balances: Sequence[int], i: int, j: int, x: int, rate_out: int) -> tuple[int, int]:
        """Return (amount_out, admin_fee) in base units when the i-th scaled balance becomes `x`."""
        amp = self._precise_amp
        d = invariant(balances, amp)
        after = list(balances)
        after[i] = x
        after[j] = y = _find_balance(after, j, amp, d)
        gross = balances[j] - y - 1
        if gross < 0:
            raise SwapReverts(f"pool {self.key}: the output is less than the contract's rounding")
        fee = gross * self._dynamic_fee((balances[i] + x) // 2, (balances[j] + y) // 2) // _FEE_DENOMINATOR
        _check_price_oracle(after, amp, d)
        return (gross - fee) * _WAD // rate_out, fee // 2 * _WAD // rate_out

    def _dynamic_fee(self, x: int, y: int) -> int:
        """Return the fee, scaled by 10^10, at the scaled balances `x` and `y`."""
        fee, multiplier = self.fee_ppm * _FEE_PER_PPM, self.offpeg_fee_multiplier
        if multiplier <= _FEE_DENOMINATOR:
            return fee
        closeness = _require_uint256((multiplier - _FEE_DENOMINATOR) * 4 * x * y) // _require_uint256((x + y) ** 2)
        return multiplier * fee // (closeness + _FEE_DENOMINATOR)


_replace_reserves = fast_replace(StableSwap, "reserves")


def invariant(balances: Sequence[int], amp: int) -> int:
    """Return the contract's `get_D`: the D with A n S + D = A n D + D^(n+1) / (n^n * product).

    `amp` is 100 A; `balances` are positive."""
    n, total = len(balances), sum(balances)
    ann = amp * n
    n_to_n: int = n**n
    d = total
    for _ in range(_MAX_NEWTON_STEPS):
        d_p = d
        for balance in balances:
            d_p = _require_uint256(d_p * d) // balance
        d_p //= n_to_n
        before = d
        numerator = _require_uint256((ann * total // _A_PRECISION + d_p * n) * d)
        d = numerator // ((ann - _A_PRECISION) * d // _A_PRECISION + (n + 1) * d_p)
        if -1 <= d - before <= 1:
            return d
    raise _no_convergence()


def _find_balance(balances: Sequence[int], j: int, amp: int, d: int) -> int:
    """Return the contract's `get_y`: the j-th balance that gives the invariant `d` with the other balances."""
    n = len(balances)
    ann = amp * n
    total, c = 0, d
    for k, balance in enumerate(balances):
        if k != j:
            total += balance
            c = _require_uint256(c * d) // (balance * n)
    c = _require_uint256(c * d * _A_PRECISION) // (ann * n)
    b = total + d * _A_PRECISION // ann
    y = d
    for _ in range(_MAX_NEWTON_STEPS):
        before = y
        divisor = 2 * y + b - d
        if divisor <= 0:
            break
        y = _require_uint256(y * y + c) // divisor
        if -1 <= y - before <= 1:
            return y
    raise _no_convergence()


def _check_price_oracle(balances: Sequence[int], amp: int, d: int) -> None:
    """Raise `SwapReverts` if the contract's price oracle, which every swap updates, would revert."""
    n = len(balances)
    ratio = d // n**n
    for balance in balances:
        if not balance:
            raise SwapReverts("the bought coin would run out")
        ratio = _require_uint256(ratio * d) // balance
    first = balances[0]
    amplified = _require_uint256(amp * n * first) // _A_PRECISION
    for balance in balances[1:]:
        _require_uint256(_WAD * (amplified + ratio * first // balance))
    _require_uint256(ratio * first)
    if d >> _PACKED_BITS:
        raise SwapReverts("the invariant is too large for the contract's oracle")


def _scale_to_18_decimals(reserves: Sequence[int], rates: Sequence[int]) -> list[int]:
    return [_require_uint256(reserve * rate) // _WAD for reserve, rate in zip(reserves, rates, strict=True)]


def _require_uint256(product: int) -> int:
    if product >= _WORD:
        raise SwapReverts("the amount overflows the contract's arithmetic")
    return product


def _no_convergence() -> SwapReverts:
    return SwapReverts("the contract's iteration does not converge")
