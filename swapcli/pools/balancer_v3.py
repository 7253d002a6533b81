"""What Balancer V3's Vault does around the maths of every pool, step by step as its `swap` with an exact input.

The Vault scales balances and amounts to 18 decimals, times the tokens' rates: these are "live". It takes the fee off
the input, rounded up, asks the pool for the output, and rounds it down to base units, with a rate that is rounded up.
Inputs after the fee and outputs below a minimum revert. A part of the fee, the aggregate fee, leaves the balances.

A family derives from `BalancerV3` and gives `live_amount_out` and `curve`; `fee_for_swap` if a hook sets its fee.
Balances are those that `getPoolData` returns, after yield fees that are due: a swap changes no rate, so none fall due
between the swaps of a route.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple, Self

from swapcli.errors import InsufficientLiquidity, InvalidPoolState, SwapReverts
from swapcli.model.pool import Pool, PoolIdentity
from swapcli.model.units import WAD
from swapcli.pools.balancer_fees import read_swap_fee, write_swap_fee
from swapcli.pools.fast_replace import fast_replace
from swapcli.pools.reserves import reserves_after_swap, to_18_decimals
from swapcli.pools.rounding import mul_div_up
from swapcli.pools.state_fields import StateFields
from swapcli.pools.token_positions import token_indices

_BALANCE_BITS: Final = 128
"""The Vault packs a raw and a live balance into one word."""
_MIN_TRADE_AMOUNT: Final = 10**6
"""`getMinimumTradeAmount` of the Vault's published deployments."""


@dataclass(frozen=True, slots=True)
class BalancerV3(Pool):
    """A pool of the Vault: `reserves` in base units, `rates` and fees as 10^18 fractions.

    `swap_fee` is the pool's own fee, and `aggregate_swap_fee` the part of a fee that leaves the balances.
    `is_time_dependent` says that a rate, or a value of the family, can change without an event of the pool.
    """

    reserves: tuple[int, ...]
    rates: tuple[int, ...]
    swap_fee: int
    aggregate_swap_fee: int
    min_trade_amount: int
    is_time_dependent: bool

    holds_reserves_in_vault: ClassVar[bool] = True
    further_token_gas: ClassVar[int]
    """Gas units for each token of the pool beyond two, which a swap reads too. `swap_gas` is that of two tokens.

    Both are those of recorded transactions less 23,000 for the transaction itself."""
    can_be_one_sided: ClassVar[bool] = False
    """Whether a pool that has run out of a token still buys it."""

    @property
    def changes_without_events(self) -> bool:
        """Return whether the state is that of one block only."""
        return self.is_time_dependent

    @abstractmethod
    def live_amount_out(self, live: Sequence[int], i: int, j: int, amount_in: int) -> int:
        """Return the output for `amount_in` of the i-th token, the fee taken off; all are live amounts.

        `live` are the balances before the swap. Raises `SwapReverts` and `InsufficientLiquidity`.
        """

    def fee_for_swap(self, live: Sequence[int], i: int, j: int, amount_in: int) -> int:
        """Return the fee of a swap as a 10^18 fraction; `amount_in` is live and includes the fee."""
        del live, i, j, amount_in
        return self.swap_fee

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Sell `amount_in` through the Vault. Raises as `Pool.swap`."""
        i, j = token_indices(self, token_in, token_out)
        live = self.live_balances()
        if not (live[j] and (live[i] or self.can_be_one_sided)):
            raise InsufficientLiquidity(f"pool {self.key} has no liquidity")
        factor_in = to_18_decimals(self.decimals[i]) * self.rates[i]
        sold = amount_in * factor_in // WAD
        fee = mul_div_up(sold, self.fee_for_swap(live, i, j, sold), WAD)
        self._check_trade_amount(sold - fee, amount_in)
        bought = self.live_amount_out(live, i, j, sold - fee)
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

    def gas_units(self, after: Pool) -> int:
        """Return `swap_gas` plus the cost of further tokens."""
        del after
        return self.swap_gas + self.further_token_gas * (len(self.tokens) - 2)

    def live_balances(self) -> list[int]:
        """Return the balances scaled to 18 decimals, times their rates."""
        return [
            reserve * to_18_decimals(places) * rate // WAD
            for reserve, places, rate in zip(self.reserves, self.decimals, self.rates, strict=True)
        ]

    def base_units_per_live(self, i: int, j: int) -> tuple[float, float]:
        """Return base units per live unit: of the i-th token, with the pool's own fee on top, and of the j-th."""
        unit_in, unit_out = (WAD / (to_18_decimals(self.decimals[k]) * self.rates[k]) for k in (i, j))
        return unit_in / (1.0 - self.swap_fee / WAD), unit_out

    def vault_state(self) -> dict[str, object]:
        """Return the fields that `read_vault_v3_state` reads; those with default values are omitted."""
        state: dict[str, object] = {
            "reserves": [str(reserve) for reserve in self.reserves],
            "rates": [str(rate) for rate in self.rates],
        }
        state |= write_swap_fee(self.swap_fee, self.fee_ppm)
        if self.aggregate_swap_fee:
            state["aggregate_swap_fee"] = str(self.aggregate_swap_fee)
        if self.min_trade_amount != _MIN_TRADE_AMOUNT:
            state["min_trade_amount"] = self.min_trade_amount
        if self.is_time_dependent:
            state["is_time_dependent"] = True
        return state

    def _check_trade_amount(self, live_amount: int, amount_in: int) -> None:
        if live_amount < self.min_trade_amount:
            raise SwapReverts(f"pool {self.key}: the Vault refuses trades as small as {amount_in}")


class VaultV3State(NamedTuple):
    """The fields of `BalancerV3`, in its order."""

    address: str
    protocol: str
    tokens: tuple[str, ...]
    decimals: tuple[int, ...]
    fee_ppm: int
    reserves: tuple[int, ...]
    rates: tuple[int, ...]
    swap_fee: int
    aggregate_swap_fee: int
    min_trade_amount: int
    is_time_dependent: bool


def read_vault_v3_state(identity: PoolIdentity, fields: StateFields) -> VaultV3State:
    """Read `reserves`, which may be zero, `rates`, and optionally fees, minimum and `is_time_dependent`.

    `swap_fee` is needed only if the fee is no whole number of parts per million, which `fee_ppm` then rounds down.
    """
    count = len(identity.tokens)
    rates = fields.uints("rates", count, _BALANCE_BITS)
    if not all(rates):
        raise InvalidPoolState("rates", "a rate is zero")
    reserves = fields.uints("reserves", count, _BALANCE_BITS)
    for k, (reserve, places, rate) in enumerate(zip(reserves, identity.decimals, rates, strict=True)):
        if reserve * to_18_decimals(places) * rate // WAD >> _BALANCE_BITS:
            raise InvalidPoolState(f"reserves[{k}]", f"{reserve} at the rate {rate} is more than the Vault can hold")
    minimum = fields.optional_uint("min_trade_amount")
    return VaultV3State(
        *identity,
        reserves,
        rates,
        read_swap_fee(identity, fields),
        fields.integer("aggregate_swap_fee", 0, WAD) if fields.has("aggregate_swap_fee") else 0,
        _MIN_TRADE_AMOUNT if minimum is None else minimum,
        fields.boolean("is_time_dependent"),
    )


def _rate_rounded_up(rate: int) -> int:
    return rate if rate % WAD == 0 else rate + 1
