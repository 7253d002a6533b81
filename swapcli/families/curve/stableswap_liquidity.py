"""Single-coin deposits and withdrawals in Curve's StableSwap-NG pools, computed like the contract.

Both operations charge a part of the swap fee for the imbalance that they cause. Half of this charge leaves the balances
as an admin fee.
"""

from __future__ import annotations

from swapcli.core.errors import InsufficientLiquidity, SwapReverts
from swapcli.core.frozen_dataclass import replace
from swapcli.core.model.units import WAD
from swapcli.core.records import NamedTuple
from swapcli.families.curve.stableswap import StableSwap
from swapcli.families.curve.stableswap_math import (
    FEE_DENOMINATOR,
    check_price_oracle,
    find_balance,
    invariant,
    scale_to_18_decimals,
)
from swapcli.families.reserves import reserves_after_swap
from swapcli.families.rounding import require_uint128, require_uint256


class LiquidPool(NamedTuple):
    """A pool and the number of its liquidity tokens, which have 18 decimals."""

    pool: StableSwap
    lp_supply: int

    @property
    def virtual_price(self) -> int:
        """The value of a liquidity token, scaled by 10^18. Raises `PoolError` if the token has no value."""
        return WAD * self._invariant() // self.lp_supply

    def deposit(self, k: int, amount: int) -> tuple[int, LiquidPool]:
        """Add `amount` of the k-th coin. Return the minted liquidity tokens and the pool afterwards.

        Raises `InsufficientLiquidity` and `SwapReverts`.
        """
        pool, n, amp = self.pool, len(self.pool.tokens), self.pool.precise_amp
        rates = pool.contract_rates()
        d_0 = self._invariant()
        after = list(reserves_after_swap(pool.reserves, k, amount, k, 0))
        d_1 = invariant(scale_to_18_decimals(after, rates), amp)
        if d_1 <= d_0:
            raise SwapReverts(f"pool {pool.key}: {amount} is too small to deposit")
        mean, fees = (d_0 + d_1) // n, []
        for old, new, rate in zip(pool.reserves, after, rates, strict=True):
            # The contract doubles both the sum of the two balances and the mean of a balance.
            fee = pool.fee_at(require_uint256(rate * (old + new)) // WAD, mean, self._imbalance_fee())
            fees.append(fee * abs(d_1 * old // d_0 - new) // FEE_DENOMINATOR)
        charged = [new - fee for new, fee in zip(after, fees, strict=True)]
        if min(charged) <= 0:
            raise SwapReverts(f"pool {pool.key}: the fee of the deposit consumes a balance")
        balances = scale_to_18_decimals(charged, rates)
        d_2 = invariant(balances, amp)
        if d_2 < d_0:
            raise SwapReverts(f"pool {pool.key}: {amount} is too small to deposit")
        minted = require_uint256(self.lp_supply * (d_2 - d_0)) // d_0
        check_price_oracle(balances, amp, d_2)
        require_uint128(max(after[k], self.lp_supply + minted))
        reserves = tuple(new - fee // 2 for new, fee in zip(after, fees, strict=True))
        return minted, LiquidPool(replace(pool, reserves=reserves), self.lp_supply + minted)

    def withdraw(self, k: int, burned: int) -> tuple[int, LiquidPool]:
        """Burn liquidity tokens for the k-th coin. Return its amount and the pool afterwards.

        Raises `InsufficientLiquidity` and `SwapReverts`.
        """
        pool, n, amp = self.pool, len(self.pool.tokens), self.pool.precise_amp
        if not 0 < burned <= self.lp_supply:
            raise SwapReverts(f"pool {pool.key}: {burned} liquidity tokens cannot be withdrawn")
        rates = pool.contract_rates()
        balances = scale_to_18_decimals(pool.reserves, rates)
        d_0 = self._invariant()
        d_1 = d_0 - burned * d_0 // self.lp_supply
        y = find_balance(balances, k, amp, d_1)
        mean, reduced = (d_0 + d_1) // (2 * n), []
        for position, x in enumerate(balances):
            if position == k:
                expected, middle = x * d_1 // d_0 - y, (x + y) // 2
            else:
                expected, middle = x - x * d_1 // d_0, x
            if expected < 0:
                raise SwapReverts(f"pool {pool.key}: the withdrawal is less than the contract's rounding")
            reduced.append(x - pool.fee_at(middle, mean, self._imbalance_fee()) * expected // FEE_DENOMINATOR)
        gross = reduced[k] - find_balance(reduced, k, amp, d_1)
        if gross < 1:
            raise SwapReverts(f"pool {pool.key}: the withdrawal is less than the contract's rounding")
        amount = (gross - 1) * WAD // rates[k]
        fee = (balances[k] - y) * WAD // rates[k] - amount
        if fee < 0:
            raise SwapReverts(f"pool {pool.key}: the withdrawal is more than it is without a fee")
        balances[k] = y
        check_price_oracle(balances, amp, d_1)
        reserves = reserves_after_swap(pool.reserves, k, 0, k, amount + fee // 2)
        return amount, LiquidPool(replace(pool, reserves=reserves), self.lp_supply - burned)

    def _imbalance_fee(self) -> int:
        """Return the part of the swap fee charged for a change of the imbalance, scaled by 10^10."""
        n = len(self.pool.tokens)
        return self.pool.contract_fee * n // (4 * (n - 1))

    def _invariant(self) -> int:
        balances = scale_to_18_decimals(self.pool.reserves, self.pool.contract_rates())
        if not (self.lp_supply and all(balances)):
            raise InsufficientLiquidity(f"pool {self.pool.key} has no liquidity")
        return invariant(balances, self.pool.precise_amp)
