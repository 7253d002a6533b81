"""What pools of Balancer's second and third vault have in common: balances, the rates of their tokens, and the fee."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from swapcli.core.errors import InvalidPoolState
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.core.model.units import WAD
from swapcli.core.records import NamedTuple
from swapcli.families.reserves import to_18_decimals
from swapcli.families.state_fields import StateFields
from swapcli.families.swap_fees import read_swap_fee, write_swap_fee


@dataclass(frozen=True, slots=True)
class BalancerPool(Pool):
    """`reserves` are in base units; `rates` and `swap_fee` are 10^18 fractions.

    `changes_without_events` is a field, since it depends on how the pool was created: whether a token has a rate
    provider, the amplification is in a ramp, or a hook sets the fee.
    """

    reserves: tuple[int, ...]
    rates: tuple[int, ...]
    swap_fee: int
    changes_without_events: bool = field()  # or else the property of `Pool` would be its default

    holds_reserves_in_vault: ClassVar[bool] = True
    can_be_one_sided: ClassVar[bool] = False
    """Whether a pool that has run out of a token still buys it."""
    further_token_gas: ClassVar[int] = 0
    """Gas units for each token of the pool beyond two, which a swap reads too. `swap_gas` is that of two tokens."""

    @abstractmethod
    def scaled_amount_out(self, balances: Sequence[int], i: int, j: int, amount_in: int) -> int:
        """Return the output for `amount_in` of the i-th token, the fee taken off; all amounts are scaled.

        `balances` are those before the swap. Raises `SwapReverts` and `InsufficientLiquidity`.
        """

    def scaling_factor(self, k: int) -> int:
        """Return the k-th scaling factor of the contract: 10^(18 - decimals) times the rate."""
        return to_18_decimals(self.decimals[k]) * self.rates[k]

    def scaled_balances(self) -> list[int]:
        """Return the balances that the contract's maths uses."""
        return [reserve * self.scaling_factor(k) // WAD for k, reserve in enumerate(self.reserves)]

    def base_units_per_scaled(self, i: int, j: int) -> tuple[float, float]:
        """Return base units per scaled unit: of the i-th token, with the pool's own fee on top, and of the j-th."""
        return WAD / self.scaling_factor(i) / (1.0 - self.swap_fee / WAD), WAD / self.scaling_factor(j)

    def gas_units(self, after: Pool) -> int:
        """Return `swap_gas` plus the cost of further tokens."""
        del after
        return self.swap_gas + self.further_token_gas * (len(self.tokens) - 2)

    def vault_state(self) -> dict[str, object]:
        """Return the fields that `read_balancer_state` and the vault's reader read, without those of default values."""
        state: dict[str, object] = {
            "reserves": [str(reserve) for reserve in self.reserves],
            "rates": [str(rate) for rate in self.rates],
        }
        state |= write_swap_fee(self.swap_fee, self.fee_ppm) | self.further_vault_state()
        if self.changes_without_events:
            state["changes_without_events"] = True
        return state

    @abstractmethod
    def further_vault_state(self) -> dict[str, object]:
        """Return the fields that only one of the vaults has, without those of default values."""


class BalancerState(NamedTuple):
    """The fields of `BalancerPool`, in its order."""

    address: str
    protocol: str
    tokens: tuple[str, ...]
    decimals: tuple[int, ...]
    fee_ppm: int
    reserves: tuple[int, ...]
    rates: tuple[int, ...]
    swap_fee: int
    changes_without_events: bool


def read_balancer_state(
    identity: PoolIdentity, fields: StateFields, *, balance_bits: int, rate_bits: int
) -> BalancerState:
    """Read `reserves`, which may be zero, `rates`, and optionally `swap_fee` and `changes_without_events`.

    `swap_fee` is needed only if the fee is no whole number of parts per million, which `fee_ppm` then rounds down.
    """
    count = len(identity.tokens)
    rates = fields.uints("rates", count, rate_bits)
    if not all(rates):
        raise InvalidPoolState("rates", "a rate is zero")
    return BalancerState(
        *identity,
        fields.uints("reserves", count, balance_bits),
        rates,
        read_swap_fee(identity, fields),
        fields.boolean("changes_without_events"),
    )
