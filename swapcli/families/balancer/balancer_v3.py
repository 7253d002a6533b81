"""What Balancer V3's Vault does around the maths of every pool, step by step as its `swap` with an exact input.

The Vault scales balances and amounts to 18 decimals, times the tokens' rates; it calls scaled ones "live". It takes the
fee off the input, rounded up, asks the pool for the output, and rounds it down to base units, with a rate rounded up.
Inputs after the fee and outputs below a minimum revert. A part of the fee, the aggregate fee, leaves the balances.

A family derives from `BalancerV3` and gives `scaled_amount_out` and `curve`; `fee_for_swap` if a hook sets its fee.
Balances are those that `getPoolData` returns, after yield fees that are due: a swap changes no rate, so none fall due
between the swaps of a route.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, SwapReverts
from swapcli.core.model.pool import PoolIdentity
from swapcli.core.model.units import WAD
from swapcli.core.records import NamedTuple
from swapcli.families.balancer.balancer_pool import BalancerPool, BalancerState, read_balancer_state
from swapcli.families.fast_replace import fast_replace
from swapcli.families.reserves import reserves_after_swap, to_18_decimals
from swapcli.families.rounding import mul_div_up
from swapcli.families.state_fields import StateFields
from swapcli.families.token_positions import token_indices

_BALANCE_BITS: Final = 128
"""The Vault packs a raw and a live balance into one word."""
_MIN_TRADE_AMOUNT: Final = 10**6
"""`getMinimumTradeAmount` of the Vault's published deployments."""


@dataclass(frozen=True, slots=True)
class BalancerV3(BalancerPool):
    """A pool of the Vault. `aggregate_swap_fee`, a 10^18 fraction, is the part of a fee that leaves the balances.

    The gas of families is that of recorded transactions less 23,000 for the transaction itself.
    """

    aggregate_swap_fee: int
    min_trade_amount: int

    def fee_for_swap(self, balances: Sequence[int], i: int, j: int, amount_in: int) -> int:
        """Return the fee of a swap as a 10^18 fraction; `amount_in` is scaled and includes the fee."""
        del balances, i, j, amount_in
        return self.swap_fee

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Sell `amount_in` through the Vault. Raises as `Pool.swap`."""
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
            raise InsufficientLiquidity(f"pool {self.key} does not hold {amount_out} to pay")
        aggregate_fee = (fee * WAD // factor_in) * self.aggregate_swap_fee // WAD
        reserves = reserves_after_swap(self.reserves, i, amount_in - aggregate_fee, j, amount_out)
        if max(reserves[i], reserves[i] * factor_in // WAD) >> _BALANCE_BITS:
            raise SwapReverts(f"pool {self.key}: {amount_in} would lift a balance above 2^128 - 1")
        after: Self = fast_replace(type(self), "reserves")(self, reserves)
        return amount_out, after

    def further_vault_state(self) -> dict[str, object]:
        """Return `aggregate_swap_fee` and `min_trade_amount` if they are not the usual ones."""
        state: dict[str, object] = {}
        if self.aggregate_swap_fee:
            state["aggregate_swap_fee"] = str(self.aggregate_swap_fee)
        if self.min_trade_amount != _MIN_TRADE_AMOUNT:
            state["min_trade_amount"] = self.min_trade_amount
        return state

    def _check_trade_amount(self, scaled_amount: int, amount_in: int) -> None:
        if scaled_amount < self.min_trade_amount:
            raise SwapReverts(f"pool {self.key}: the Vault refuses trades as small as {amount_in}")


class VaultV3Limits(NamedTuple):
    """The fields of `BalancerV3` that other pools of Balancer have not, in its order."""

    aggregate_swap_fee: int
    min_trade_amount: int


def read_vault_v3_state(identity: PoolIdentity, fields: StateFields) -> tuple[BalancerState, VaultV3Limits]:
    """Read the fields of `read_balancer_state`, and the optional `aggregate_swap_fee` and `min_trade_amount`."""
    shared = read_balancer_state(identity, fields, balance_bits=_BALANCE_BITS, rate_bits=_BALANCE_BITS)
    for k, (reserve, places, rate) in enumerate(zip(shared.reserves, identity.decimals, shared.rates, strict=True)):
        if reserve * to_18_decimals(places) * rate // WAD >> _BALANCE_BITS:
            raise InvalidPoolState(f"reserves[{k}]", f"{reserve} at the rate {rate} is more than the Vault can hold")
    minimum = fields.optional_uint("min_trade_amount")
    aggregate_fee = fields.integer("aggregate_swap_fee", 0, WAD) if fields.has("aggregate_swap_fee") else 0
    return shared, VaultV3Limits(aggregate_fee, _MIN_TRADE_AMOUNT if minimum is None else minimum)


def _rate_rounded_up(rate: int) -> int:
    return rate if rate % WAD == 0 else rate + 1
