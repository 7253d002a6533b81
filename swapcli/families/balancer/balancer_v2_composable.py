"""Balancer V2's composable stable pools: stable pools whose own token is among the tokens that the Vault swaps.

Swaps with the pool token are joins and exits. All other swaps follow the stable pool maths for the remaining tokens. A
pool whose `tokens` do not contain its address does not trade its pool token.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from swapcli.core.annotations import ClassVar, Final, Self, TypeVar
from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, PoolError, SwapReverts
from swapcli.core.frozen_dataclass import dataclass
from swapcli.core.model.pool import Pool, PoolIdentity, RateCurve
from swapcli.core.model.units import WAD
from swapcli.core.validation.values import MAX_UINT256
from swapcli.families.balancer.balancer_pool import FieldTable, FurtherField, integer, texts, write_fields
from swapcli.families.balancer.balancer_pool_token import (
    VERSIONS,
    JoinOrExit,
    PoolToken,
    PoolTokenCurve,
    begin,
    finish,
)
from swapcli.families.balancer.balancer_stable_math import (
    AMP_PRECISION,
    MAX_AMP,
    amount_out,
    balance_v2,
    invariant,
    stable_curve,
)
from swapcli.families.balancer.balancer_v2_stable import BalancerV2Stable
from swapcli.families.balancer.balancer_v2_vault import BALANCE_BITS
from swapcli.families.fast_replace import fast_replace
from swapcli.families.hull_curve import ZeroCurve
from swapcli.families.reserves import reserves_after_swap
from swapcli.families.state_fields import StateFields
from swapcli.families.token_positions import token_indices

T = TypeVar("T")

_POOL_TOKEN_DECIMALS = 18
_INVARIANT_BITS = 128
"""Far above any sum of 112-bit balances, and small enough for the products in the contracts."""
_POOL_TOKEN_FIELDS: Final[FieldTable] = (
    integer("version", VERSIONS.start, VERSIONS.stop - 1, int),
    integer("total_supply", 0, MAX_UINT256),
    integer("last_amp", AMP_PRECISION, MAX_AMP, int),
    integer("last_invariant", 0, (1 << _INVARIANT_BITS) - 1),
    FurtherField("old_rates", lambda fields, count: fields.uints("old_rates", count, _INVARIANT_BITS), texts),
    integer("protocol_swap_fee", 0, WAD),
    integer("protocol_yield_fee", 0, WAD),
    FurtherField("yield_fee_exempt", lambda fields, count: fields.integers("yield_fee_exempt", count, 0, 1), list),
)


@dataclass(frozen=True, slots=True)
class BalancerV2Composable(BalancerV2Stable):
    """A stable pool like `BalancerV2Stable`. Its rate caches, which each swap updates, increase the gas of a swap.

    `pool_token` is None unless the pool's address is among `tokens`; the rate of the pool token is 10^18.
    """

    pool_token: PoolToken | None = None

    family: ClassVar[str] = "balancer_v2_composable"
    swap_gas: ClassVar[int] = 135_100
    further_token_gas: ClassVar[int] = 9_900
    pool_token_gas: ClassVar[int] = 168_500
    further_pool_token_gas: ClassVar[int] = 13_600
    """The additional gas units of swaps with the pool token, and for each token beyond two.

    They were measured relative to other swaps of the same pools with 2 to 5 tokens, through our router with the
    published bytecode and a protocol fee. Joins take up to 10,000 more, exits up to 10,000 less.
    """

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Sell `amount_in` through the Vault. Raises the same errors as `Pool.swap`."""
        own = self.pool_token
        if own is None or self.address not in (token_in, token_out):
            return BalancerV2Stable.swap(self, token_in, token_out, amount_in)
        i, j = token_indices(self, token_in, token_out)
        if self.reserves[i] + amount_in >> BALANCE_BITS:
            raise SwapReverts(f"pool {self.key}: {amount_in} would raise a balance above 2^112 - 1")
        before, after = self.join_or_exit(own), self._others(self.scaled_balances())
        sold = amount_in * self.scaling_factor(i) // WAD
        if token_out == self.address:
            k = self._position(i)
            bought = before.join(k, sold)
            after[k] += sold
            supply = before.supply + bought
        else:
            k = self._position(j)
            bought = before.exit(k, sold)
            after[k] -= bought
            supply = before.supply - sold
        amount = bought * WAD // self.scaling_factor(j)
        if amount <= 0:
            raise self.rounds_to_zero(amount_in)
        if amount > self.reserves[j]:
            raise InsufficientLiquidity(f"pool {self.key} holds less than {amount} of {token_out}")
        if not supply or not all(after):
            raise InsufficientLiquidity(f"pool {self.key} would be empty")
        reserves = reserves_after_swap(self.reserves, i, amount_in, j, amount)
        changed = finish(own, before, after, supply, tuple(self._others(self.rates)))
        replaced: Self = fast_replace(type(self), "reserves", "pool_token")(self, reserves, changed)
        return amount, replaced

    def scaled_amount_out(self, balances: Sequence[int], i: int, j: int, amount_in: int) -> int:
        """Return the output of a swap without the pool token."""
        others = self._others(balances)
        d = invariant(others, self.amp)
        return amount_out(others, self._position(i), self._position(j), amount_in, self.amp, d, balance_v2)

    def curve(self, token_in: str, token_out: str) -> RateCurve:
        """Return the floating-point curve for selling `token_in` for `token_out`."""
        i, j = token_indices(self, token_in, token_out)
        own = self.pool_token
        balances = self._others(self.scaled_balances())
        if own is None or self.address not in (token_in, token_out):
            direction = self._position(i), self._position(j)
            return stable_curve(balances, direction, self.amp, self.base_units_per_scaled(i, j))
        try:
            before = self.join_or_exit(own)
        except PoolError:
            return ZeroCurve()
        is_join = token_out == self.address
        k = self._position(i if is_join else j)
        if not (before.invariant and balances[k] and self.reserves[j]):
            return ZeroCurve()
        units = WAD / self.scaling_factor(i), WAD / self.scaling_factor(j)
        return PoolTokenCurve(before, k, is_join=is_join, units=units, max_out=float(self.reserves[j]))

    def gas_units(self, after: Pool) -> int:
        """Return the gas units of a swap. They are higher for swaps with the pool token, and grow with the number of
        tokens."""
        is_own_traded = isinstance(after, BalancerV2Composable) and after._own_reserve() != self._own_reserve()
        return self._gas_units(is_own_traded=is_own_traded)

    def gas_units_to(self, token_in: str, token_out: str, rate: float) -> int:
        """Return the gas units of a swap in this direction, which are the same at any rate."""
        del rate
        return self._gas_units(is_own_traded=self.pool_token is not None and self.address in (token_in, token_out))

    def _gas_units(self, *, is_own_traded: bool) -> int:
        further = len(self._others(self.tokens)) - 2
        if is_own_traded:
            return self.pool_token_gas + self.further_pool_token_gas * further
        return self.swap_gas + self.further_token_gas * further

    def state(self) -> dict[str, object]:
        """Return the fields of a stable pool, and the pool token's fields if it is traded."""
        own = self.pool_token
        return BalancerV2Stable.state(self) | (write_fields(own, _POOL_TOKEN_FIELDS) if own else {})

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read the fields of a stable pool and, if the pool's address is among its tokens, the fields of `PoolToken`.

        `old_rates` and `yield_fee_exempt` (0 or 1) have an entry for each of the other tokens.
        """
        pool = super().from_state(identity, state)
        if identity.address not in identity.tokens:
            return pool
        own = identity.tokens.index(identity.address)
        if len(identity.tokens) < 3:
            raise InvalidPoolState("tokens", "expected two tokens besides the pool token")
        if identity.decimals[own] != _POOL_TOKEN_DECIMALS:
            raise InvalidPoolState(
                "decimals", f"expected {_POOL_TOKEN_DECIMALS} for the pool token, not {identity.decimals[own]}"
            )
        if pool.rates[own] != WAD:
            raise InvalidPoolState("rates", f"expected 10^18 for the pool token, not {pool.rates[own]}")
        changed: Self = fast_replace(cls, "pool_token")(pool, _read_pool_token(StateFields(state), pool, own))
        return changed

    def join_or_exit(self, own: PoolToken) -> JoinOrExit:
        """Return the state from which a swap with the pool's own token starts. Raises `PoolError` if such a swap is
        impossible."""
        balances, rates = self._others(self.scaled_balances()), self._others(self.rates)
        return begin(own, self.reserves[own.position], (balances, rates), self.amp, self.swap_fee)

    def _own_reserve(self) -> int:
        return 0 if self.pool_token is None else self.reserves[self.pool_token.position]

    def _others(self, values: Sequence[T]) -> list[T]:
        """Return the values of a list over `tokens`, without the value of the pool token."""
        others = list(values)
        if self.pool_token is not None:
            del others[self.pool_token.position]
        return others

    def _position(self, k: int) -> int:
        """Return the position of the k-th of `tokens` among the other tokens."""
        own = self.pool_token
        return k if own is None or k < own.position else k - 1


def _read_pool_token(fields: StateFields, pool: BalancerV2Stable, own: int) -> PoolToken:
    token = PoolToken(own, *(each.read(fields, len(pool.tokens) - 1) for each in _POOL_TOKEN_FIELDS))
    if token.total_supply < pool.reserves[own]:
        raise InvalidPoolState("total_supply", "the pool holds more of its own tokens than exist")
    return token
