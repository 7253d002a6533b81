"""Markets of Kuru: limit orders, and the orders of a vault at prices in a geometric row, filled by price.

A market order sells a number of sizes (`size_precision` of them are one base token) or of prices (`price_precision` are
one quote token); what the input has beyond them is not taken. At the same price limit orders come first. The vault has
an order at each price `best_ask * (1 + spread)^k`, whose sizes shrink as its bids' grow; filling one moves both of its
sides. The taker's fee is a part of the output, rounded up. Orders that flip, when filled, become orders of the other
side; that is not followed, so that a later swap back is quoted without them.

Source: OrderBook.sol and AbstractAMM.sol of Kuru-Labs/Kuru-contracts-dex-public @2060bb2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, log, log1p
from typing import ClassVar, Final, Self

from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, SwapReverts
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.core.model.units import BPS, PPM
from swapcli.core.records import NamedTuple
from swapcli.core.validation.values import MAX_UINT256, parse_boolean, parse_choice, parse_list, parse_object
from swapcli.families.bins.bin_curve import BinCurve
from swapcli.families.identity_checks import check_pair
from swapcli.families.order_books.price_levels import PriceLevel, levels_state, read_levels
from swapcli.families.state_fields import StateFields
from swapcli.families.token_positions import is_forward

NATIVE_TOKENS: Final = ("base", "quote")
LEVEL_GAS: Final = 10_000
VAULT_STEP_GAS: Final = 4_300
"""Gas units of each price of limit orders that is emptied, and of each order of the vault: a least-squares fit to 386
swaps by the router, on the contracts' bytecode in an EVM."""
VAULT_PRICE: Final = 10**18
"""The vault's prices are fractions of it."""
PPM_PER_BPS: Final = PPM // BPS
_MAX_SIZE: Final = (1 << 96) - 1
_PRICES: Final = range(1, (1 << 32) - 1)
_MAX_SPREAD_BPS: Final = 499
_MAX_VAULT_STEPS: Final = 1_000
"""Orders of the vault in one swap: more would need more gas than a block has."""
_CURVE_VAULT_STEPS: Final = 200
"""Orders of the vault that the curve has: at a spread of 10 basis points they are 22% of the price."""


class VaultOrders(NamedTuple):
    """The vault's best orders: prices, whole sizes, and what of them is filled; `spread` is in basis points."""

    best_bid: int
    bid_filled: int
    best_ask: int
    ask_filled: int
    bid_size: int
    ask_size: int
    spread: int

    def raised(self) -> Self:
        """Return the vault when its best ask is filled: both sides are one price up."""
        ask_size = self.ask_size * 2 * BPS // (2 * BPS + self.spread)
        best_ask = _round(self.best_ask * (BPS + self.spread), BPS)
        return self._replace(
            best_ask=best_ask,
            ask_filled=0,
            ask_size=ask_size,
            best_bid=_round(best_ask * BPS, BPS + self.spread),
            bid_filled=self.bid_filled * BPS // (BPS + self.spread),
            bid_size=ask_size * (2 * BPS + self.spread) // (2 * BPS),
        )

    def lowered(self) -> Self:
        """Return the vault when its best bid is filled: both sides are one price down."""
        bid_size = self.bid_size * (2 * BPS + self.spread) // (2 * BPS)
        best_bid = _round(self.best_bid * BPS, BPS + self.spread)
        return self._replace(
            best_bid=best_bid,
            bid_filled=0,
            bid_size=bid_size,
            best_ask=_round(best_bid * (BPS + self.spread), BPS),
            ask_size=bid_size * 2 * BPS // (2 * BPS + self.spread),
        )

    def steps_to(self, after: VaultOrders) -> int:
        """Return by how many prices a swap has moved the vault, about."""
        if not (self.best_bid and after.best_bid):
            return 0
        return round(abs(log(after.best_bid / self.best_bid)) / log1p(self.spread / BPS))


@dataclass(frozen=True, slots=True)
class Kuru(Pool):
    """`tokens` are base and quote. `asks` are [price, size], ascending, `bids` descending; the first are the best.

    `vault` is None if it has no orders. `is_cut` says of asks and bids whether the market has more than these.
    `native` says which token is the native one, listed in its wrapped form: "base", "quote", or empty.
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
    """Of the same fit, in which a swap with 21,000 for the transaction takes 74,000 and two transfers."""

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Place a market order that fills or reverts, as their router does. Raises as `Pool.swap`."""
        sells_base = is_forward(self, token_in, token_out)
        precision, decimals = (
            (self.size_precision, self.decimals[0]) if sells_base else (self.price_precision, self.decimals[1])
        )
        units = amount_in * precision // 10**decimals
        if units > _MAX_SIZE:
            raise SwapReverts(f"pool {self.key}: {amount_in} exceeds 96 bits")
        order = _MarketOrder(self)
        amount_out = order.sell(units) if sells_base else order.buy(units)
        amount_out += -amount_out * self.fee_ppm // PPM  # rounds the fee up
        if amount_out <= 0:
            raise self.rounds_to_zero(amount_in)
        return amount_out, replace(self, asks=order.asks, bids=order.bids, vault=order.vault)

    def curve(self, token_in: str, token_out: str) -> BinCurve:
        """Return the direction in floats: one rate an order price."""
        orders = self._bids_in_floats() if is_forward(self, token_in, token_out) else self._asks_in_floats()
        return BinCurve(orders, MAX_UINT256)

    def state(self) -> dict[str, object]:
        """Return the family's fields of `swap-market/1`."""
        state: dict[str, object] = {
            "size_precision": str(self.size_precision),
            "price_precision": self.price_precision,
            "asks": levels_state(self.asks),
            "bids": levels_state(self.bids),
        }
        if self.vault:
            state["vault"] = {name: str(value) for name, value in self.vault._asdict().items()}
        if any(self.is_cut):
            state["cut"] = list(self.is_cut)
        return state | ({"native": self.native} if self.native else {})

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read the precisions, `asks` and `bids: [[price, size], ...]`, and the optional `vault`, `cut`, `native`.

        The fee is a whole number of basis points.
        """
        check_pair(identity)
        if identity.fee_ppm % PPM_PER_BPS:
            raise InvalidPoolState("fee_ppm", f"expected whole basis points, not {identity.fee_ppm} ppm")
        fields = StateFields(state)
        asks = read_levels(fields, "asks", _PRICES, 96, ascending=True)
        bids = read_levels(fields, "bids", _PRICES, 96, ascending=False)
        if asks and bids and asks[0].price <= bids[0].price:
            raise InvalidPoolState("asks", f"the best one, {asks[0].price}, is not above the best bid {bids[0].price}")
        cut = fields.read_optional("cut", _parse_cut) or (False, False)
        return cls(
            *identity,
            _power_of_ten(fields, "size_precision", _MAX_SIZE),
            _power_of_ten(fields, "price_precision", (1 << 32) - 1),
            asks,
            bids,
            _read_vault(fields),
            cut,
            fields.read_optional("native", parse_choice, NATIVE_TOKENS) or "",
        )

    def gas_units(self, after: Pool) -> int:
        """Return `swap_gas` plus the cost of the prices that were emptied, and of the vault's orders."""
        assert isinstance(after, Kuru)
        emptied = len(self.asks) - len(after.asks) + len(self.bids) - len(after.bids)
        steps = self.vault.steps_to(after.vault) if self.vault and after.vault else 0
        return self.swap_gas + LEVEL_GAS * emptied + VAULT_STEP_GAS * steps

    def gas_units_to(self, token_in: str, token_out: str, rate: float) -> int:
        """Return `gas_units` of a swap that ends at the marginal rate `rate`."""
        base, quote = self.decimals
        if is_forward(self, token_in, token_out):
            lowest = rate * self.price_precision * 10.0 ** (base - quote)
            count = sum(1 for level in self.bids if level.price >= lowest)
        else:
            highest = self.price_precision * 10.0 ** (base - quote) / rate if rate > 0.0 else inf
            count = sum(1 for level in self.asks if level.price <= highest)
        return self.swap_gas + LEVEL_GAS * max(count - 1, 0)

    def currencies(self) -> tuple[str, str]:
        """Return base and quote asset as the market has them, the native token as the zero address."""
        base, quote = self.tokens
        return ZERO_ADDRESS if self.native == "base" else base, ZERO_ADDRESS if self.native == "quote" else quote

    def _bids_in_floats(self) -> Iterator[tuple[float, float]]:
        """Yield rate and output of each order price that a sale of the base token meets."""
        vault, levels = self.vault, [(level.price / self.price_precision, level.size) for level in self.bids]
        steps = _vault_bids(vault) if vault and vault.bid_size and vault.best_bid else iter(())
        base, quote = self.decimals
        scale = 10.0 ** (quote - base) * (1.0 - self.fee_ppm / PPM)
        for price, size in _merged(levels, steps, is_cut=self.is_cut[1], is_ascending=False):
            rate = price * scale
            yield rate, rate * size * 10.0**base / self.size_precision

    def _asks_in_floats(self) -> Iterator[tuple[float, float]]:
        """Yield rate and output of each order price that a sale of the quote token meets."""
        vault, levels = self.vault, [(level.price / self.price_precision, level.size) for level in self.asks]
        steps = _vault_asks(vault) if vault and vault.ask_size and vault.best_ask < MAX_UINT256 else iter(())
        base, quote = self.decimals
        paid = 1.0 - self.fee_ppm / PPM
        for price, size in _merged(levels, steps, is_cut=self.is_cut[0], is_ascending=True):
            yield paid * 10.0 ** (base - quote) / price, paid * size * 10.0**base / self.size_precision


class _MarketOrder:
    """The orders of a market while a market order fills them."""

    def __init__(self, pool: Kuru) -> None:
        self._pool = pool
        self.asks, self.bids, self.vault = pool.asks, pool.bids, pool.vault
        self._steps = 0

    def buy(self, quote: int) -> int:
        """Spend `quote` prices, and return the base tokens before the fee."""
        bought = 0
        sizes = self._pool.size_precision
        while quote:
            best = self.asks[0].price if self.asks else None
            if self._is_vault_ask_best(best):
                quote, filled = self._buy_from_vault(quote, best)
                bought += filled
                continue
            if best is None:
                raise self._no_orders()
            if quote * sizes > _MAX_SIZE:
                raise SwapReverts(f"pool {self._pool.key}: an amount exceeds 96 bits")
            fillable = quote * sizes // best
            taken = min(fillable, self.asks[0].size)
            bought += taken
            quote = best * (fillable - taken) // sizes
            self.asks = self._without(self.asks, taken, is_cut=self._pool.is_cut[0] and quote > 0)
        unit: int = 10 ** self._pool.decimals[0]
        return bought * unit // sizes

    def sell(self, size: int) -> int:
        """Sell `size` sizes, and return the quote tokens before the fee."""
        quote = quote_of_vault = 0
        sizes = self._pool.size_precision
        while size:
            best = self.bids[0].price if self.bids else None
            if self._is_vault_bid_best(best):
                size, received = self._sell_to_vault(size, best)
                quote_of_vault += received
                continue
            if best is None:
                raise self._no_orders()
            taken = min(size, self.bids[0].size)
            quote += taken * best // sizes
            size -= taken
            self.bids = self._without(self.bids, taken, is_cut=self._pool.is_cut[1] and size > 0)
        unit: int = 10 ** self._pool.decimals[1]
        return quote * unit // self._pool.price_precision + quote_of_vault * unit // VAULT_PRICE

    def _is_vault_ask_best(self, best: int | None) -> bool:
        vault = self.vault
        if vault is None or not vault.ask_size or vault.best_ask == MAX_UINT256:
            return False
        return best is None or vault.best_ask < self._in_vault_price(best)

    def _is_vault_bid_best(self, best: int | None) -> bool:
        vault = self.vault
        if vault is None or not vault.bid_size or not vault.best_bid:
            return False
        return best is None or vault.best_bid > self._in_vault_price(best)

    def _in_vault_price(self, price: int) -> int:
        return price * VAULT_PRICE // self._pool.price_precision

    def _buy_from_vault(self, quote: int, best: int | None) -> tuple[int, int]:
        """Fill asks of the vault below the best limit order. Return the quote that is left, and the size filled."""
        assert self.vault
        vault, bought, sizes = self.vault, 0, self._pool.size_precision
        limit = MAX_UINT256 if best is None else self._in_vault_price(best)
        left = quote * VAULT_PRICE // self._pool.price_precision
        while vault.best_ask < limit and left:
            available = self._unfilled(vault.ask_size, vault.ask_filled)
            cost = -(-vault.best_ask * available // sizes)
            if cost > left:
                filled = left * sizes // vault.best_ask
                bought, left = bought + filled, 0
                vault = vault._replace(ask_filled=vault.ask_filled + filled)
            else:
                bought, left = bought + available, left - cost
                vault = self._next(vault.raised())
        self.vault = vault
        return left * self._pool.price_precision // VAULT_PRICE, bought

    def _sell_to_vault(self, size: int, best: int | None) -> tuple[int, int]:
        """Fill bids of the vault above the best limit order. Return the size that is left, and the quote received."""
        assert self.vault
        vault, quote, sizes = self.vault, 0, self._pool.size_precision
        limit = 0 if best is None else self._in_vault_price(best)
        while vault.best_bid > limit and size:
            filled = min(size, self._unfilled(vault.bid_size, vault.bid_filled))
            quote += vault.best_bid * filled // sizes
            size -= filled
            if vault.bid_filled + filled < vault.bid_size:
                vault = vault._replace(bid_filled=vault.bid_filled + filled)
            else:
                vault = self._next(vault.lowered())
        self.vault = vault
        return size, quote

    def _unfilled(self, size: int, filled: int) -> int:
        """Return what is left of an order. Where the other side was lowered, more may be filled than its new size."""
        if filled > size:
            raise SwapReverts(f"pool {self._pool.key}: {filled} of the vault's {size} are filled")
        return size - filled

    def _next(self, vault: VaultOrders) -> VaultOrders:
        self._steps += 1
        if self._steps > _MAX_VAULT_STEPS or max(vault.bid_size, vault.ask_size) > _MAX_SIZE:
            raise SwapReverts(f"pool {self._pool.key}: too many orders of the vault for one swap")
        return vault

    def _without(self, levels: tuple[PriceLevel, ...], taken: int, *, is_cut: bool) -> tuple[PriceLevel, ...]:
        """Return the levels without `taken` of the best one; what is left of an input may not pass the last known."""
        first = levels[0]
        if taken < first.size:
            return (first._replace(size=first.size - taken), *levels[1:])
        if is_cut and len(levels) == 1:
            raise self._no_orders()
        return levels[1:]

    def _no_orders(self) -> InsufficientLiquidity:
        return InsufficientLiquidity(f"pool {self._pool.key} has no orders for the whole input")


def _vault_asks(vault: VaultOrders) -> Iterator[tuple[float, int]]:
    """Yield price and size of the vault's asks, as far as they count for the curve."""
    for _ in range(_CURVE_VAULT_STEPS):
        if vault.ask_filled > vault.ask_size:
            return
        yield vault.best_ask / VAULT_PRICE, vault.ask_size - vault.ask_filled
        vault = vault.raised()


def _vault_bids(vault: VaultOrders) -> Iterator[tuple[float, int]]:
    for _ in range(_CURVE_VAULT_STEPS):
        yield vault.best_bid / VAULT_PRICE, vault.bid_size - vault.bid_filled
        vault = vault.lowered()


def _merged(
    levels: Sequence[tuple[float, int]], steps: Iterator[tuple[float, int]], *, is_cut: bool, is_ascending: bool
) -> list[tuple[float, int]]:
    """Return the limit orders and those of the vault by price; none beyond the last known level of a cut side."""
    last = levels[-1][0] if levels and is_cut else None
    orders = sorted((*levels, *steps), reverse=not is_ascending, key=lambda order: order[0])
    if last is None:
        return orders
    return [order for order in orders if (order[0] <= last if is_ascending else order[0] >= last)]


def _round(numerator: int, denominator: int) -> int:
    """Divide and round half up, as `mulDivRound`."""
    return (numerator + denominator // 2) // denominator


def _parse_cut(value: object) -> tuple[bool, bool]:
    asks, bids = parse_list(value, 2, 2)
    return parse_boolean(asks), parse_boolean(bids)


def _power_of_ten(fields: StateFields, key: str, maximum: int) -> int:
    value = fields.integer(key, 1, maximum)
    if 10 ** (len(str(value)) - 1) != value:
        raise InvalidPoolState(key, f"{value} is no power of ten")
    return value


def _read_vault(fields: StateFields) -> VaultOrders | None:
    if fields.values.get("vault") is None:
        return None
    orders = StateFields(fields.read("vault", parse_object), fields.path_of("vault"))
    vault = VaultOrders(
        best_bid=orders.uint("best_bid"),
        bid_filled=orders.uint("bid_filled", 96),
        best_ask=orders.uint("best_ask"),
        ask_filled=orders.uint("ask_filled", 96),
        bid_size=orders.uint("bid_size", 96),
        ask_size=orders.uint("ask_size", 96),
        spread=orders.integer("spread", 1, _MAX_SPREAD_BPS),
    )
    if vault.best_bid >= vault.best_ask:
        raise InvalidPoolState("vault.best_ask", f"{vault.best_ask} is not above the bid {vault.best_bid}")
    for name in ("ask", "bid"):
        size, filled = getattr(vault, f"{name}_size"), getattr(vault, f"{name}_filled")
        if filled > size:
            raise InvalidPoolState(f"vault.{name}_filled", f"{filled} of {size} are filled")
    return vault
