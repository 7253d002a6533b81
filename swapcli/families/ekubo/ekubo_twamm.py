"""Ekubo pools with the TWAMM extension: orders sell evenly over time, and are executed up to the block's time before a
swap.

Such a pool has liquidity only over the whole range. Between two times at which orders begin or end, the extension swaps
in the pool. If one token was sold, it swaps that whole amount. If both were sold, it swaps as much of one as moves the
price to the level that results from both sales (`twamm_math`), and the orders exchange the remaining amounts with each
other. The swap itself is then the same as in any pool of the core. The contract is `extensions/twamm` of
EkuboProtocol/starknet-contracts, commit a5b2c7fc.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from swapcli.core.annotations import ClassVar, Final, Self
from swapcli.core.errors import InvalidPoolState, PoolError, SwapReverts
from swapcli.core.frozen_dataclass import dataclass
from swapcli.core.model.pool import Pool, PoolIdentity, RateCurve
from swapcli.core.records import NamedTuple
from swapcli.core.validation.values import parse_integer, parse_list
from swapcli.families.ekubo.ekubo import MAX_TICK_SPACING, Ekubo
from swapcli.families.ekubo.ekubo_pool import walk_ticks
from swapcli.families.ekubo.ekubo_tick_math import STARKNET_TICKS
from swapcli.families.ekubo.twamm_math import next_sqrt_ratio
from swapcli.families.fast_replace import fast_replace
from swapcli.families.hull_curve import ZeroCurve
from swapcli.families.state_fields import StateFields

MAX_USABLE_TICK: Final = 249 * MAX_TICK_SPACING
"""The ends of all positions: 88,368,108 ticks on either side."""
_RATE_BITS: Final = 128
_TIME_BITS: Final = 64
_MAX_SECONDS: Final = (1 << 32) - 1
_MAX_CHANGES: Final = 10_000


class RateChange(NamedTuple):
    """The change in the sale rates of both tokens due to orders that begin or end at a time, in Unix seconds."""

    at: int
    rate0: int
    rate1: int


class VirtualOrders(NamedTuple):
    """The orders of a pool, executed up to `executed_at` and due up to `timestamp`, both in Unix seconds.

    `rates` are base units of each token per second, with 32 fractional bits; `changes` are the rate changes between the
    two times.
    """

    rates: tuple[int, int]
    executed_at: int
    timestamp: int
    changes: tuple[RateChange, ...]


@dataclass(frozen=True, slots=True)
class EkuboTwamm(Pool):
    """A pool with orders. `core_pool` is the pool as the core stores it, before the `orders` are executed."""

    core_pool: Ekubo
    orders: VirtualOrders

    family: ClassVar[str] = "ekubo_twamm"
    swap_gas: ClassVar[int] = 2 * Ekubo.swap_gas
    """An estimate: the extension usually swaps once before each swap. Figures from Starknet are not known."""
    requires_exact_payment: ClassVar[bool] = True
    holds_reserves_in_vault: ClassVar[bool] = True
    changes_without_events: ClassVar[bool] = True
    """Orders are sold every second."""

    @property
    def key(self) -> str:
        """Same as `Ekubo.key`."""
        return self.core_pool.key

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Execute the pool's orders, then sell exactly `amount_in`. Raises the same errors as `Pool.swap`."""
        pool, rates = execute(self.core_pool, self.orders)
        amount_out, pool = pool.swap(token_in, token_out, amount_in)
        orders = VirtualOrders(rates, self.orders.timestamp, self.orders.timestamp, ())
        after: Self = _replace_pool(self, pool, orders)
        return amount_out, after

    def curve(self, token_in: str, token_out: str) -> RateCurve:
        """Return the floating-point curve for selling `token_in` for `token_out`, after the orders have been
        executed."""
        try:
            pool, _ = execute(self.core_pool, self.orders)
        except PoolError:
            return ZeroCurve()
        return pool.curve(token_in, token_out)

    def state(self) -> dict[str, object]:
        """Return the fields of `Ekubo.state` and the orders' fields."""
        orders = self.orders
        return {
            **self.core_pool.state(),
            "sale_rates": [str(rate) for rate in orders.rates],
            "executed_at": orders.executed_at,
            "timestamp": orders.timestamp,
            "rate_changes": [[at, str(rate0), str(rate1)] for at, rate0, rate1 in orders.changes],
        }

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read the fields of `Ekubo.from_state`, and `sale_rates, executed_at, timestamp, rate_changes`."""
        pool = Ekubo.from_state(identity, state)
        key = pool.pool_key
        if key.tick_spacing != MAX_TICK_SPACING:
            raise InvalidPoolState("tick_spacing", f"the extension requires {MAX_TICK_SPACING}")
        if key.ticks not in ((), (-MAX_USABLE_TICK, MAX_USABLE_TICK)):
            raise InvalidPoolState("ticks", "the extension requires positions over the whole range")
        if key.extension == "0x0":
            raise InvalidPoolState("extension", "a pool without one has no orders")
        return cls(*identity, pool, _read_orders(StateFields(state)))

    def gas_units(self, after: Pool) -> int:
        """Return `swap_gas`: the pool has liquidity over the whole range, so a swap crosses no ticks."""
        del after
        return self.swap_gas

    def api_extra_data(self) -> dict[str, int | str]:
        """Return the same data as `Ekubo.api_extra_data`."""
        return self.core_pool.api_extra_data()


_replace_pool = fast_replace(EkuboTwamm, "core_pool", "orders")


@lru_cache(maxsize=256)
def execute(pool: Ekubo, orders: VirtualOrders) -> tuple[Ekubo, tuple[int, int]]:
    """Return the pool after its orders have been executed, and the sale rates at that time.

    Raises `SwapReverts` if the contract would revert.
    """
    (rate0, rate1), since = orders.rates, orders.executed_at
    for at, more0, more1 in (*orders.changes, RateChange(orders.timestamp, 0, 0)):
        if at > since and (rate0 or rate1):
            pool = _sell_orders(pool, (rate0, rate1), at - since)
        rate0, rate1, since = rate0 + more0, rate1 + more1, at
        if min(rate0, rate1) < 0 or max(rate0, rate1) >> _RATE_BITS:
            raise SwapReverts(f"pool {pool.key}: a sale rate overflows at {at}")
    return pool, (rate0, rate1)


def _sell_orders(pool: Ekubo, rates: tuple[int, int], seconds: int) -> Ekubo:
    """Return the pool after sales at constant rates."""
    amount0, amount1 = (rate * seconds >> 32 for rate in rates)
    if max(amount0, amount1) >> _RATE_BITS:
        raise SwapReverts(f"pool {pool.key}: the virtual orders exceed 2^{_RATE_BITS} - 1")
    if not (amount0 and amount1):
        if amount0:
            return sell_up_to(pool, amount0, STARKNET_TICKS.min_ratio, sells_token0=True)
        return sell_up_to(pool, amount1, STARKNET_TICKS.max_ratio, sells_token0=False)
    # A price beyond all positions is treated as the last price with liquidity.
    low, high = map(STARKNET_TICKS.ratio_at, (-MAX_USABLE_TICK, MAX_USABLE_TICK))
    usable = min(max(pool.sqrt_ratio, low), high)
    nets = pool.pool_key.liquidity_nets
    target = next_sqrt_ratio(usable, nets[0] if nets else 0, rates, seconds, pool.pool_key.fee)
    if pool.sqrt_ratio < target:
        return sell_up_to(pool, amount1, target, sells_token0=False)
    return sell_up_to(pool, amount0, target, sells_token0=True)


def sell_up_to(pool: Ekubo, amount: int, limit: int, *, sells_token0: bool) -> Ekubo:
    """Return the pool after a sale that ends when `amount` is spent or the square-root ratio reaches `limit`."""
    _, *position = walk_ticks(pool, amount, down=sells_token0, limit=limit)
    after: Ekubo = pool.at(*position)
    return after


def _read_orders(fields: StateFields) -> VirtualOrders:
    rate0, rate1 = fields.uints("sale_rates", 2, _RATE_BITS)
    timestamp = fields.uint("timestamp", _TIME_BITS)
    executed_at = fields.integer("executed_at", max(0, timestamp - _MAX_SECONDS), timestamp)
    changes = tuple(_read_change(fields, path, entry) for path, entry in fields.items("rate_changes", 0, _MAX_CHANGES))
    last = executed_at
    for number, change in enumerate(changes):
        if not last < change.at <= timestamp:
            raise InvalidPoolState(f"rate_changes[{number}]", f"{change.at} is not above {last} and up to {timestamp}")
        last = change.at
    return VirtualOrders((rate0, rate1), executed_at, timestamp, changes)


def _read_change(fields: StateFields, path: str, entry: object) -> RateChange:
    at, rate0, rate1 = fields.parse(path, entry, parse_list, 3, 3)
    limit = (1 << _RATE_BITS) - 1
    return RateChange(
        fields.parse(f"{path}[0]", at, parse_integer, 0, (1 << _TIME_BITS) - 1),
        fields.parse(f"{path}[1]", rate0, parse_integer, -limit, limit),
        fields.parse(f"{path}[2]", rate1, parse_integer, -limit, limit),
    )
