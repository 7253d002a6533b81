"""Kuru's markets: limit orders, and a vault's orders at prices in a geometric sequence, filled by price.

A market order sells a number of sizes (`size_precision` of them are one base token) or of prices (`price_precision` are
one quote token); any excess input is not taken. At the same price, limit orders come first. The vault has an order at
each price `best_ask * (1 + spread)^k`, whose sizes shrink as its bids' grow; filling one moves both of its sides. The
taker's fee is a part of the output, rounded up. Flip orders become orders on the other side when filled; this is not
modelled, so a later swap back is quoted without them.

Source: OrderBook.sol and AbstractAMM.sol of Kuru-Labs/Kuru-contracts-dex-public @2060bb2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf, log, log1p

from swapcli.core.annotations import ClassVar, Final, Self
from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, SwapReverts
from swapcli.core.frozen_dataclass import dataclass, replace
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.core.model.units import BPS, PPM, PPM_PER_BPS, WAD
from swapcli.core.records import NamedTuple
from swapcli.core.validation.values import MAX_UINT256, parse_boolean, parse_list, parse_object
from swapcli.families.bins.bin_curve import BinCurve
from swapcli.families.identity_checks import check_pair
from swapcli.families.order_books.price_levels import (
    LevelRule,
    PriceLevel,
    count_emptied,
    currencies_of,
    fill_levels,
    native_state,
    read_native,
    read_sides,
    sides_state,
)
from swapcli.families.state_fields import StateFields
from swapcli.families.token_positions import is_forward

LEVEL_GAS: Final = 10_000
VAULT_STEP_GAS: Final = 4_300
"""Gas units for each emptied price of limit orders, and for each vault order: a least-squares fit to 386 swaps by the
router, on the contracts' bytecode in an EVM."""
VAULT_PRICE: Final = WAD
"""The unit of the vault's prices."""
_SIZE_BITS: Final = 96
_MAX_SIZE: Final = (1 << _SIZE_BITS) - 1
"""The maximum of sizes and of an order's amount: uint96."""
_PRICES: Final = range(1, (1 << 32) - 1)
"""Prices are uint32; the greatest one means no price."""
_MAX_SPREAD_BPS: Final = 499
"""The contract accepts spreads below 5%."""
_MAX_VAULT_STEPS: Final = 1_000
"""The maximum number of vault orders in one swap: more would need more gas than a block has."""
_CURVE_VAULT_STEPS: Final = 200
"""The number of vault orders in the curve: at a spread of 10 basis points, they cover 22% of the price."""


class VaultOrder(NamedTuple):
    """The vault's best order on one side, and its filled part."""

    price: int
    size: int
    filled: int


class VaultOrders(NamedTuple):
    """The vault's best orders: prices, whole sizes and filled parts; `spread` is in basis points."""

    best_bid: int
    bid_filled: int
    best_ask: int
    ask_filled: int
    bid_size: int
    ask_size: int
    spread: int

    def best(self, *, is_bid: bool) -> VaultOrder:
        """Return the best bid or ask."""
        if is_bid:
            return VaultOrder(self.best_bid, self.bid_size, self.bid_filled)
        return VaultOrder(self.best_ask, self.ask_size, self.ask_filled)

    def has_orders(self, *, is_bid: bool) -> bool:
        """Return whether the vault has bids or asks."""
        return self.bid_size > 0 and self.best_bid > 0 if is_bid else self.ask_size > 0 and self.best_ask < MAX_UINT256

    def with_filled(self, size: int, *, is_bid: bool) -> Self:
        """Return the vault after `size` of its best bid or ask, but not all of it, has been filled."""
        return self._replace(bid_filled=size) if is_bid else self._replace(ask_filled=size)

    def raised(self) -> VaultOrders:
        """Return the vault after its best ask has been filled completely: both sides move up by one price."""
        _, bid_filled, best_ask, _, _, ask_size, spread = self
        ask_size = ask_size * 2 * BPS // (2 * BPS + spread)
        best_ask = _round(best_ask * (BPS + spread), BPS)
        return VaultOrders(
            best_bid=_round(best_ask * BPS, BPS + spread),
            bid_filled=bid_filled * BPS // (BPS + spread),
            best_ask=best_ask,
            ask_filled=0,
            bid_size=ask_size * (2 * BPS + spread) // (2 * BPS),
            ask_size=ask_size,
            spread=spread,
        )

    def lowered(self) -> VaultOrders:
        """Return the vault after its best bid has been filled completely: both sides move down by one price."""
        best_bid, _, _, ask_filled, bid_size, _, spread = self
        bid_size = bid_size * (2 * BPS + spread) // (2 * BPS)
        best_bid = _round(best_bid * BPS, BPS + spread)
        return VaultOrders(
            best_bid=best_bid,
            bid_filled=0,
            best_ask=_round(best_bid * (BPS + spread), BPS),
            ask_filled=ask_filled,
            bid_size=bid_size,
            ask_size=bid_size * 2 * BPS // (2 * BPS + spread),
            spread=spread,
        )

    def steps_to(self, after: VaultOrders) -> int:
        """Return the approximate number of prices by which a swap has moved the vault."""
        if not (self.best_bid and after.best_bid):
            return 0
        return round(abs(log(after.best_bid / self.best_bid)) / log1p(self.spread / BPS))


@dataclass(frozen=True, slots=True)
class Kuru(Pool):
    """A Kuru market. `tokens` are base and quote. `asks` are [price, size], ascending, `bids` descending; the best come
    first.

    `vault` is None if it has no orders. `is_cut` shows, for asks and for bids, whether the market has more price levels
    than are listed. `native` shows which token is the native one, listed in its wrapped form: "base", "quote", or
    empty.
    """

    size_precision: int
    price_precision: int
    asks: tuple[PriceLevel, ...]
    bids: tuple[PriceLevel, ...]
    vault: VaultOrders | None
    is_cut: tuple[bool, bool]
    native: str

    family: ClassVar[str] = "kuru"
    swap_gas: ClassVar[int] = 75_000
    """From the same fit, in which a swap with two transfers takes 74,000, including 21,000 for the transaction."""

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Place a market order that fills completely or reverts, as Kuru's router does.

        Raises the same errors as `Pool.swap`.
        """
        sells_base = is_forward(self, token_in, token_out)
        precision, decimals = (
            (self.size_precision, self.decimals[0]) if sells_base else (self.price_precision, self.decimals[1])
        )
        units = amount_in * precision // 10**decimals
        if units > _MAX_SIZE:
            raise SwapReverts(f"pool {self.key}: {amount_in} exceeds 96 bits")
        order = _MarketOrder(self, sells_base=sells_base)
        amount_out = order.fill(units)
        amount_out += -amount_out * self.fee_ppm // PPM  # rounds the fee up
        if amount_out <= 0:
            raise self.rounds_to_zero(amount_in)
        asks, bids = (self.asks, order.levels) if sells_base else (order.levels, self.bids)
        after = replace(self, asks=asks, bids=bids, vault=order.vault)
        if order.vault is not self.vault and (problem := _contradiction(after)):
            raise SwapReverts(f"pool {self.key}: after {amount_in} its vault's {problem[0]} is {problem[1]}")
        return amount_out, after

    def curve(self, token_in: str, token_out: str) -> BinCurve:
        """Return the floating-point curve for selling `token_in` for `token_out`: one rate per order price."""
        return BinCurve(self._orders_in_floats(sells_base=is_forward(self, token_in, token_out)), MAX_UINT256)

    def state(self) -> dict[str, object]:
        """Return the family's fields in the `swap-market/1` format."""
        state: dict[str, object] = {
            "size_precision": str(self.size_precision),
            "price_precision": self.price_precision,
            **sides_state(self),
        }
        if self.vault:
            state["vault"] = {name: str(value) for name, value in self.vault._asdict().items()}
        if any(self.is_cut):
            state["cut"] = list(self.is_cut)
        return {**state, **native_state(self.native)}

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read the precisions, `asks` and `bids: [[price, size], ...]`, and the optional `vault`, `cut`, `native`.

        The fee is a whole number of basis points.
        """
        check_pair(identity)
        if identity.fee_ppm % PPM_PER_BPS:
            raise InvalidPoolState("fee_ppm", f"expected whole basis points, not {identity.fee_ppm} ppm")
        fields = StateFields(state)
        asks, bids = read_sides(fields, _PRICES, _SIZE_BITS)
        cut = fields.read_optional("cut", _parse_cut) or (False, False)
        pool = cls(
            *identity,
            _power_of_ten(fields, "size_precision", _MAX_SIZE),
            _power_of_ten(fields, "price_precision", (1 << 32) - 1),
            asks,
            bids,
            _read_vault(fields),
            cut,
            read_native(fields),
        )
        if problem := _contradiction(pool):
            raise InvalidPoolState(f"vault.{problem[0]}", problem[1])
        return pool

    def gas_units(self, after: Pool) -> int:
        """Return `swap_gas` plus the gas for the emptied price levels and for the vault's orders."""
        assert isinstance(after, Kuru)
        steps = self.vault.steps_to(after.vault) if self.vault and after.vault else 0
        return self.swap_gas + LEVEL_GAS * count_emptied(self, after) + VAULT_STEP_GAS * steps

    def gas_units_to(self, token_in: str, token_out: str, rate: float) -> int:
        """Return the gas units of a swap that ends at the marginal rate `rate`."""
        base, quote = self.decimals
        if is_forward(self, token_in, token_out):
            lowest = rate * self.price_precision * 10.0 ** (base - quote)
            count = sum(1 for level in self.bids if level.price >= lowest)
        else:
            highest = self.price_precision * 10.0 ** (base - quote) / rate if rate > 0.0 else inf
            count = sum(1 for level in self.asks if level.price <= highest)
        return self.swap_gas + LEVEL_GAS * max(count - 1, 0)

    def currencies(self) -> tuple[str, str]:
        """Return the market's base and quote assets, with the zero address for the native token."""
        return currencies_of(self.tokens, self.native)

    def vault_price(self, level: PriceLevel) -> int:
        """Return the price of limit orders in the unit of the vault's prices."""
        return level.price * VAULT_PRICE // self.price_precision

    def _orders_in_floats(self, *, sells_base: bool) -> Iterator[tuple[float, float]]:
        """Yield the rate and output of each order price that a sale of the base or the quote token meets."""
        side, is_cut = (self.bids, self.is_cut[1]) if sells_base else (self.asks, self.is_cut[0])
        levels = [(level.price / self.price_precision, level.size) for level in side]
        vault = self.vault
        steps = _vault_levels(vault, is_bid=sells_base) if vault and vault.has_orders(is_bid=sells_base) else ()
        base, quote = self.decimals
        paid = 1.0 - self.fee_ppm / PPM
        scale = paid * 10.0 ** (quote - base if sells_base else base - quote)
        for price, size in _merged(levels, steps, is_cut=is_cut, is_ascending=not sells_base):
            rate = price * scale if sells_base else scale / price
            yield rate, (rate if sells_base else paid) * size * 10.0**base / self.size_precision


class _MarketOrder:
    """One side of a market, including its vault, while a market order fills it: the bids if it sells the base token."""

    def __init__(self, pool: Kuru, *, sells_base: bool) -> None:
        self._pool = pool
        self._sells_base = sells_base
        self.levels = pool.bids if sells_base else pool.asks
        self.vault = pool.vault
        self._is_cut = pool.is_cut[1] if sells_base else pool.is_cut[0]
        self._steps = 0
        self._rule = LevelRule(pool.size_precision, buys_size=not sells_base, counts_rest_in_sizes=not sells_base)

    def fill(self, amount: int) -> int:
        """Sell sizes or spend prices, and return the output in base units before the fee."""
        pool, from_orders, from_vault = self._pool, 0, 0
        while amount:
            limit, vault = self._vault_limit(self.levels[0] if self.levels else None), self.vault
            if vault and vault.has_orders(is_bid=self._sells_base) and self._is_better(vault, limit):
                amount, received = self._fill_from_vault(vault, amount, limit)
                from_vault += received
            else:
                amount, received = self._fill_from_orders(amount)
                from_orders += received
        unit: int = 10 ** pool.decimals[1 if self._sells_base else 0]
        if self._sells_base:
            return from_orders * unit // pool.price_precision + from_vault * unit // VAULT_PRICE
        return (from_orders + from_vault) * unit // pool.size_precision

    def _fill_from_orders(self, amount: int) -> tuple[int, int]:
        """Fill limit orders up to the vault's best price. Return the amount left, and their output."""
        pool, levels, vault = self._pool, self.levels, self.vault
        if not self._sells_base and levels and amount * pool.size_precision > _MAX_SIZE:
            raise SwapReverts(f"pool {pool.key}: an amount exceeds 96 bits")
        count = len(levels)
        if vault and vault.has_orders(is_bid=self._sells_base):
            count = next((k for k in range(count) if self._is_better(vault, self._vault_limit(levels[k]))), count)
        filled = fill_levels(levels[:count], amount, self._rule)
        self.levels = (*filled.levels, *levels[count:])
        if filled.amount_left and not self.levels and (self._is_cut or not count):
            raise InsufficientLiquidity(f"pool {pool.key} does not have enough orders for the whole input")
        return filled.amount_left, filled.amount_out

    def _vault_limit(self, level: PriceLevel | None) -> int:
        """Return the price of limit orders as a vault price; the vault comes first only at a better price."""
        if level is None:
            return 0 if self._sells_base else MAX_UINT256
        return self._pool.vault_price(level)

    def _is_better(self, vault: VaultOrders, limit: int) -> bool:
        return vault.best_bid > limit if self._sells_base else vault.best_ask < limit

    def _fill_from_vault(self, vault: VaultOrders, amount: int, limit: int) -> tuple[int, int]:
        """Fill vault orders at better prices than `limit`. Return the amount left, and their output."""
        pool, is_bid, sizes, received = self._pool, self._sells_base, self._pool.size_precision, 0
        left = amount if is_bid else amount * VAULT_PRICE // pool.price_precision
        while left and (vault.best_bid > limit if is_bid else vault.best_ask < limit):
            price, size, filled = vault.best(is_bid=is_bid)
            if filled > size:  # possible because the other side was lowered
                raise SwapReverts(f"pool {pool.key}: {filled} of the vault's {size} are filled")
            affordable = left if is_bid else left * sizes // price
            if affordable < size - filled:
                received += price * affordable // sizes if is_bid else affordable
                vault = vault.with_filled(filled + affordable, is_bid=is_bid)
                left = 0  # the contract keeps an amount that buys nothing more
                break
            if is_bid:
                received, left = received + price * (size - filled) // sizes, left - size + filled
                vault = vault.lowered()
            else:
                received, left = received + size - filled, left + -price * (size - filled) // sizes
                vault = vault.raised()
            self._steps += 1
            if self._steps > _MAX_VAULT_STEPS or vault.bid_size > _MAX_SIZE or vault.ask_size > _MAX_SIZE:
                raise SwapReverts(f"pool {pool.key}: too many orders of the vault for one swap")
        self.vault = vault
        return left if is_bid else left * pool.price_precision // VAULT_PRICE, received


def _vault_levels(vault: VaultOrders, *, is_bid: bool) -> Iterator[tuple[float, int]]:
    """Yield the price and size of the vault's orders on one side, as far as they matter for the curve."""
    for _ in range(_CURVE_VAULT_STEPS):
        price, size, filled = vault.best(is_bid=is_bid)
        if filled > size:
            return
        yield price / VAULT_PRICE, size - filled
        vault = vault.lowered() if is_bid else vault.raised()


def _merged(
    levels: Sequence[tuple[float, int]], steps: Iterable[tuple[float, int]], *, is_cut: bool, is_ascending: bool
) -> list[tuple[float, int]]:
    """Return the limit orders and the vault's orders by price; none beyond the last known level of a cut side."""
    last = levels[-1][0] if levels and is_cut else None
    orders = sorted((*levels, *steps), reverse=not is_ascending, key=lambda order: order[0])
    if last is None:
        return orders
    return [order for order in orders if (order[0] <= last if is_ascending else order[0] >= last)]


def _round(numerator: int, denominator: int) -> int:
    """Divide and round half up, like `mulDivRound`."""
    return (numerator + denominator // 2) // denominator


def _parse_cut(value: object) -> tuple[bool, bool]:
    asks, bids = parse_list(value, 2, 2)
    return parse_boolean(asks), parse_boolean(bids)


def _power_of_ten(fields: StateFields, key: str, maximum: int) -> int:
    value = fields.integer(key, 1, maximum)
    if 10 ** (len(str(value)) - 1) != value:
        raise InvalidPoolState(key, f"{value} is not a power of ten")
    return value


def _read_vault(fields: StateFields) -> VaultOrders | None:
    if fields.values.get("vault") is None:
        return None
    orders = StateFields(fields.read("vault", parse_object), fields.path_of("vault"))
    return VaultOrders(
        best_bid=orders.uint("best_bid"),
        bid_filled=orders.uint("bid_filled", _SIZE_BITS),
        best_ask=orders.uint("best_ask"),
        ask_filled=orders.uint("ask_filled", _SIZE_BITS),
        bid_size=orders.uint("bid_size", _SIZE_BITS),
        ask_size=orders.uint("ask_size", _SIZE_BITS),
        spread=orders.integer("spread", 1, _MAX_SPREAD_BPS),
    )


def _contradiction(pool: Kuru) -> tuple[str, str] | None:
    """Return the vault field that contradicts the vault or the limit orders, and how. Return None if there is none.

    A vault whose prices cross those of the limit orders would pay more for a round trip than was sold.
    """
    vault = pool.vault
    if vault is None:
        return None
    if vault.best_bid >= vault.best_ask:
        return "best_ask", f"{vault.best_ask} is not above the bid {vault.best_bid}"
    for name, is_bid in (("ask", False), ("bid", True)):
        _, size, filled = vault.best(is_bid=is_bid)
        if filled > size:
            return f"{name}_filled", f"{filled} of {size} are filled"
    if pool.bids and vault.has_orders(is_bid=False) and pool.vault_price(pool.bids[0]) > vault.best_ask:
        return "best_ask", f"{vault.best_ask} is below the limit order's bid {pool.bids[0].price}"
    if pool.asks and vault.has_orders(is_bid=True) and pool.vault_price(pool.asks[0]) < vault.best_bid:
        return "best_bid", f"{vault.best_bid} is above the limit order's ask {pool.asks[0].price}"
    return None
