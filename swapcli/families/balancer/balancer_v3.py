"""The Vault's own steps in a Balancer V3 swap, the same for every kind of pool: its `swap` with an exact input.

The Vault scales balances and amounts to 18 decimals, times the tokens' rates, and calls the scaled amounts "live". It
takes the fee off the input, rounded up, queries the pool for the output, and rounds it down to base units, with a rate
rounded up. Inputs after the fee and outputs below a minimum revert. Part of the fee, the aggregate fee, leaves the
balances.

A family derives from `BalancerV3` and provides its maths (`scaled_amount_out` and `curve`), the table of its
`further_fields`, and `fee_for_swap` if a hook sets its fee. Balances come from `getPoolData`, with due yield fees
already deducted: a swap changes no rate, so no fees fall due between the swaps of a route.
"""

from __future__ import annotations

from collections.abc import Sequence

from swapcli.core.annotations import ClassVar, Final, Self
from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, SwapReverts
from swapcli.core.frozen_dataclass import dataclass
from swapcli.core.model.units import WAD
from swapcli.families.balancer.balancer_pool import BalancerPool, FieldTable, FurtherField, optional_integer
from swapcli.families.fast_replace import fast_replace
from swapcli.families.reserves import reserves_after_swap, to_18_decimals
from swapcli.families.rounding import mul_div_up
from swapcli.families.state_fields import StateFields
from swapcli.families.token_positions import token_indices

_MIN_TRADE_AMOUNT: Final = 10**6
"""`getMinimumTradeAmount` of the Vault's published deployments."""


def _read_min_trade_amount(fields: StateFields, _: int) -> int:
    minimum = fields.optional_uint("min_trade_amount")
    return _MIN_TRADE_AMOUNT if minimum is None else minimum


@dataclass(frozen=True, slots=True)
class BalancerV3(BalancerPool):
    """A pool in Balancer V3's Vault. `aggregate_swap_fee`, a fraction scaled by 10^18, is the part of a fee that leaves
    the balances.

    Each family's gas comes from recorded transactions, less 23,000 for the transaction itself.
    """

    aggregate_swap_fee: int
    min_trade_amount: int

    balance_bits: ClassVar[int] = 128
    """The Vault packs a raw and a live balance into one word."""
    vault_fields: ClassVar[FieldTable] = (
        optional_integer("aggregate_swap_fee", WAD),
        FurtherField("min_trade_amount", _read_min_trade_amount, lambda n: None if n == _MIN_TRADE_AMOUNT else n),
    )

    def fee_for_swap(self, balances: Sequence[int], i: int, j: int, amount_in: int) -> int:
        """Return the fee of a swap as a fraction scaled by 10^18; `amount_in` is scaled and includes the fee."""
        del balances, i, j, amount_in
        return self.swap_fee

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Sell `amount_in` through the Vault. Raises the same errors as `Pool.swap`."""
        i, j = token_indices(self, token_in, token_out)
        balances = self.scaled_balances()
        if not (balances[j] and (balances[i] or self.can_be_one_sided)):
            raise InsufficientLiquidity(f"pool {self.key} has no liquidity")
        factor_in = self.scaling_factor(i)
        sold = amount_in * factor_in // WAD
        fee = mul_div_up(sold, self.fee_for_swap(balances, i, j, sold), WAD)
        self._check_trade_amount(sold - fee, amount_in)
        bought = self.scaled_amount_out(balances, i, j, sold - fee)
        self._check_trade_amount(bought, amount_in)
        amount_out = bought * WAD // (to_18_decimals(self.decimals[j]) * _rate_rounded_up(self.rates[j]))
        if amount_out <= 0:
            raise self.rounds_to_zero(amount_in)
        if amount_out > self.reserves[j]:
            raise InsufficientLiquidity(f"pool {self.key} holds less than {amount_out} of the output token")
        aggregate_fee = (fee * WAD // factor_in) * self.aggregate_swap_fee // WAD
        reserves = reserves_after_swap(self.reserves, i, amount_in - aggregate_fee, j, amount_out)
        if max(reserves[i], reserves[i] * factor_in // WAD) >> self.balance_bits:
            raise SwapReverts(f"pool {self.key}: {amount_in} would raise a balance above 2^128 - 1")
        after: Self = fast_replace(type(self), "reserves")(self, reserves)
        return amount_out, after

    def check(self) -> None:
        """Raise `InvalidPoolState` unless the Vault can hold the balances."""
        for k, (reserve, rate) in enumerate(zip(self.reserves, self.rates, strict=True)):
            if reserve * self.scaling_factor(k) // WAD >> self.balance_bits:
                raise InvalidPoolState(
                    f"reserves[{k}]", f"{reserve} at the rate {rate} is more than the Vault can hold"
                )

    def _check_trade_amount(self, scaled_amount: int, amount_in: int) -> None:
        if scaled_amount < self.min_trade_amount:
            raise SwapReverts(f"pool {self.key}: the Vault rejects trades as small as {amount_in}")


def _rate_rounded_up(rate: int) -> int:
    return rate if rate % WAD == 0 else rate + 1
