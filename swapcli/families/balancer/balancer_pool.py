"""The code that all pools in Balancer's second and third vaults share: balances, token rates, the fee, and reading and
writing the state.

The vault and the family each add a table of fields to the common ones.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence

from swapcli.core.annotations import Any, ClassVar, Final, Self
from swapcli.core.errors import InvalidPoolState
from swapcli.core.frozen_dataclass import dataclass
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.core.model.units import WAD
from swapcli.core.records import NamedTuple
from swapcli.families.identity_checks import check_multi_token, check_pair
from swapcli.families.reserves import to_18_decimals
from swapcli.families.state_fields import StateFields
from swapcli.families.swap_fees import read_swap_fee, write_swap_fee

_RATE_BITS: Final = 128
"""Far above any rate, and small enough for the products in the contracts."""


class FurtherField(NamedTuple):
    """A field that only some pools have. Its `name` is the same in the class and in market files.

    `read(fields, count)` returns the field's value for a pool of `count` tokens, and `write(value)` its JSON value.
    None is not written.
    """

    name: str
    read: Callable[[StateFields, int], Any]
    write: Callable[[Any], object] = str


FieldTable = tuple[FurtherField, ...]


def flag(name: str) -> FurtherField:
    """Return the field for a flag. It is written only if it is true."""
    return FurtherField(name, lambda fields, _: fields.boolean(name), lambda value: value or None)


def integer(name: str, low: int, high: int, write: Callable[[Any], object] = str) -> FurtherField:
    """Return the field for an integer from `low` to `high`."""
    return FurtherField(name, lambda fields, _: fields.integer(name, low, high), write)


def optional_integer(name: str, high: int) -> FurtherField:
    """Return the field for an integer from 0 to `high`. It is written only if it is not 0."""
    return FurtherField(
        name,
        lambda fields, _: fields.integer(name, 0, high) if fields.has(name) else 0,
        lambda value: str(value) if value else None,
    )


def texts(values: Sequence[int]) -> list[str] | None:
    """Return the numbers as decimal strings, or None if there are none."""
    return [str(value) for value in values] or None


def write_fields(record: object, table: FieldTable) -> dict[str, object]:
    """Return the fields of a record as JSON values, without the fields that need not be written."""
    values = {name: write(getattr(record, name)) for name, _, write in table}
    return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True)
class BalancerPool(Pool):
    """A pool in a Balancer vault. `reserves` are in base units; `rates` and `swap_fee` are fractions scaled by 10^18.

    `changes_without_events` is a field because it depends on how the pool was created: whether a token has a rate
    provider, the amplification is in a ramp, or a hook sets the fee.
    """

    reserves: tuple[int, ...]
    rates: tuple[int, ...]
    swap_fee: int
    changes_without_events: bool

    vault_fields: ClassVar[FieldTable]
    further_fields: ClassVar[FieldTable]
    """The fields of the vault's pools and of the family, in the order of the constructor."""
    balance_bits: ClassVar[int]
    holds_reserves_in_vault: ClassVar[bool] = True
    is_pair: ClassVar[bool] = False
    """Whether all pools of the family have two tokens."""
    moves_with_time: ClassVar[bool] = False
    """Whether all pools of the family change without an event."""
    can_be_one_sided: ClassVar[bool] = False
    """Whether a pool that has run out of a token still buys it."""
    further_token_gas: ClassVar[int] = 0
    """The gas units for each token beyond two, which a swap also reads. `swap_gas` is for two tokens."""

    @abstractmethod
    def scaled_amount_out(self, balances: Sequence[int], i: int, j: int, amount_in: int) -> int:
        """Return the output for `amount_in`, the input of the i-th token after the fee. All amounts are scaled.

        `balances` are the balances before the swap. Raises `SwapReverts` and `InsufficientLiquidity`.
        """

    def scaling_factor(self, k: int) -> int:
        """Return the k-th scaling factor of the contract: 10^(18 - decimals) times the rate."""
        return to_18_decimals(self.decimals[k]) * self.rates[k]

    def scaled_balances(self) -> list[int]:
        """Return the balances that the contract's maths uses."""
        return [reserve * self.scaling_factor(k) // WAD for k, reserve in enumerate(self.reserves)]

    def base_units_per_scaled(self, i: int, j: int) -> tuple[float, float]:
        """Return how many base units one scaled unit is, for the i-th token (the pool's own fee included) and for the
        j-th token."""
        return WAD / self.scaling_factor(i) / (1.0 - self.swap_fee / WAD), WAD / self.scaling_factor(j)

    def gas_units(self, after: Pool) -> int:
        """Return `swap_gas` plus the gas for each token beyond the second."""
        del after
        return self.swap_gas + self.further_token_gas * (len(self.tokens) - 2)

    def state(self) -> dict[str, object]:
        """Return the fields that `from_state` reads, without those that have default values."""
        state: dict[str, object] = {"reserves": texts(self.reserves), "rates": texts(self.rates)}
        state |= write_swap_fee(self.swap_fee, self.fee_ppm) | write_fields(self, self.vault_fields)
        if self.changes_without_events:
            state["changes_without_events"] = True
        return state | write_fields(self, self.further_fields)

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read `reserves` (which may be zero), `rates`, `vault_fields` and `further_fields`.

        Optional: `swap_fee`, which is needed if the fee is not a whole number of parts per million, and
        `changes_without_events`.
        """
        check_multi_token(identity)
        if cls.is_pair:
            check_pair(identity)
        fields, count = StateFields(state), len(identity.tokens)
        rates = fields.uints("rates", count, _RATE_BITS)
        if not all(rates):
            raise InvalidPoolState("rates", "a rate is zero")
        values: list[Any] = [
            fields.uints("reserves", count, cls.balance_bits),
            rates,
            read_swap_fee(identity, fields),
            fields.boolean("changes_without_events") or cls.moves_with_time,
            *(each.read(fields, count) for each in (*cls.vault_fields, *cls.further_fields)),
        ]
        pool = cls(*identity, *values)
        pool.check()
        return pool

    def check(self) -> None:
        """Raise `InvalidPoolState` for fields that contradict each other."""
