"""Quote orders at past blocks: one quote for each order at each block, with statistics.

Each quote is compared with the best single path, which has one pool per hop: the usual route of a simple router. Both
routes are found on the same state, and pay the block's gas price.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from swapcli.core.errors import SwapcliError, UpstreamError
from swapcli.core.model.distribution import Distribution, distribution_of
from swapcli.core.model.network import Network
from swapcli.core.model.quote import GasValueSource
from swapcli.core.model.token import Token
from swapcli.core.model.units import BPS
from swapcli.core.records import NamedTuple
from swapcli.interface.own_document import own_document
from swapcli.interface.quote_fields import render_swap_token
from swapcli.quoting.quote_figures import compute_figures
from swapcli.quoting.quote_options import QuoteOptions
from swapcli.quoting.quote_results import LocalQuote
from swapcli.quoting.sources.live import LiveSource
from swapcli.quoting.sources.quote_source import PoolSource
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.rpc.block_view import view_past_block
from swapcli.state.rpc.node import HistoryNode

if TYPE_CHECKING:
    from swapcli.interface.document_types import BacktestJson, BacktestQuoteJson, DistributionJson

QUOTE_FIELDS: Final = (
    "block", "timestamp", "id", "inputToken", "outputToken", "inputAmount", "outputAmount", "outputAfterGas",
    "gasValueSource", "gasUnits", "singlePathOutputAmount", "singlePathAfterGas", "gainBps", "pools", "error",
)  # fmt: skip
"""The fields of a row, in order."""
WIN_BPS = 0.01
"""The least gain over the single path, in basis points, that counts as a win: searches differ by less than this."""


class BacktestOrder(NamedTuple):
    """An order in a backtest. `amount_in` is in base units."""

    id: str
    token_in: Token
    token_out: Token
    amount_in: int


class BacktestQuote(NamedTuple):
    """The quote for an order at a past block. Amounts are in base units of the output token.

    `output_after_gas` and `single_path_after_gas` are None if gas has no price. `single_out` is the output of the best
    single path, None if no single path can fill the order. `pools` is the number of pools in the route. If there is no
    quote, `error` says why. `gas_value_source` is as in `QuoteFigures`.
    """

    block: int
    timestamp: int
    order_id: str
    amount_in: int
    amount_out: int | None = None
    output_after_gas: int | None = None
    gas_units: int | None = None
    single_out: int | None = None
    single_path_after_gas: int | None = None
    pools: int | None = None
    error: str = ""
    gas_value_source: GasValueSource | None = None

    @own_document
    def document(self, order: BacktestOrder) -> BacktestQuoteJson:
        """Return the quote as JSON without nested values."""
        return {
            "block": self.block,
            "timestamp": self.timestamp,
            "id": self.order_id,
            "inputToken": order.token_in.symbol,
            "outputToken": order.token_out.symbol,
            "inputAmount": str(self.amount_in),
            "outputAmount": _text(self.amount_out),
            "outputAfterGas": _text(self.output_after_gas),
            "gasValueSource": self.gas_value_source,
            "gasUnits": _text(self.gas_units),
            "singlePathOutputAmount": _text(self.single_out),
            "singlePathAfterGas": _text(self.single_path_after_gas),
            "gainBps": self.gain_bps,
            "pools": self.pools,
            "error": self.error or None,
        }

    @property
    def gain_bps(self) -> float | None:
        """The route's gain over the single path in basis points, after gas if gas is known; None if the gain is
        unknown."""
        route, single = self.output_after_gas, self.single_path_after_gas
        if route is None or single is None or single <= 0:
            route, single = self.amount_out, self.single_out
        if route is None or single is None or single <= 0:
            return None
        return round(BPS * (route - single) / single, 4)


class OrderSummary(NamedTuple):
    """Statistics of one order's quotes over all blocks.

    `rates` are output tokens per input token, in whole tokens. `gains` are in basis points over the best single path.
    `win_share` is the share of comparisons in which the route pays more.
    """

    order: BacktestOrder
    quoted: int
    failed: int
    rates: Distribution | None
    gains: Distribution | None
    win_share: float | None


class BacktestSummary(NamedTuple):
    """Statistics of all orders' quotes: counts, gains and the share of comparisons won, as in `OrderSummary`."""

    orders: tuple[OrderSummary, ...]
    quoted: int
    failed: int
    gains: Distribution | None
    win_share: float | None


class Backtest(NamedTuple):
    """The quotes for orders at past `blocks`. `quotes` are sorted by block, then by order; None if they were written to
    a file."""

    network: Network
    blocks: Sequence[int]
    summary: BacktestSummary
    quotes: tuple[BacktestQuote, ...] | None

    @classmethod
    def of(
        cls, network: Network, blocks: Sequence[int], orders: Sequence[BacktestOrder], quotes: Sequence[BacktestQuote]
    ) -> Backtest:
        """Return the backtest that consists of `quotes` for `orders`."""
        return cls(network, blocks, summarize_backtest(orders, quotes), tuple(quotes))

    @own_document
    def document(self) -> BacktestJson:
        """Return the JSON that `swapcli backtest` prints."""
        network, blocks, summary, quotes = self
        document: BacktestJson = {
            "network": network.name,
            "firstBlock": blocks[0],
            "lastBlock": blocks[-1],
            "blocks": len(blocks),
            "quoted": summary.quoted,
            "failed": summary.failed,
            "gainBps": _distribution(summary.gains, 4),
            "winShare": summary.win_share,
            "orders": [
                {
                    "id": each.order.id,
                    "inputToken": render_swap_token(each.order.token_in, network),
                    "outputToken": render_swap_token(each.order.token_out, network),
                    "inputAmount": str(each.order.amount_in),
                    "quoted": each.quoted,
                    "failed": each.failed,
                    "rate": _distribution(each.rates, None),
                    "gainBps": _distribution(each.gains, 4),
                    "winShare": each.win_share,
                }
                for each in summary.orders
            ],
        }
        if quotes is not None:
            document["quotes"] = self.rows()
        return document

    def rows(self) -> list[BacktestQuoteJson]:
        """Return the quotes as JSON without nested values."""
        orders = {each.order.id: each.order for each in self.summary.orders}
        return [quote.document(orders[quote.order_id]) for quote in self.quotes or ()]


class PastQuotes(NamedTuple):
    """A source of quotes for `orders` at past blocks of `node`. `known` provides the pools that quotes may use."""

    node: HistoryNode
    known: PoolSource
    orders: Sequence[BacktestOrder]
    options: QuoteOptions

    def check(self, block: int) -> None:
        """Raise `InvalidInput` if the block does not exist yet. Errors from the node are raised as well."""
        self.node.read_past_head(block)

    def at(self, block: int) -> list[BacktestQuote]:
        """Return the quotes at a block, in the same order as `orders`. Raises the same errors as `quote_block`."""
        return quote_block(self.node, self.known, block, self.orders, self.options)


def quote_block(
    node: HistoryNode, known: PoolSource, block: int, orders: Sequence[BacktestOrder], options: QuoteOptions
) -> list[BacktestQuote]:
    """Return the quotes for `orders` at a block, in the same order. `known` provides the pools that quotes may use.

    Raises `UpstreamError` if the node does not have the block or its state, and `InvalidInput` for a block that does
    not exist.
    """
    view = view_past_block(node, block)
    header = view.read_head().block
    source = LiveSource(known, view, SYSTEM_CLOCK, tag=None)
    return [_quote(source, header.number, header.timestamp, order, options) for order in orders]


def _quote(
    source: LiveSource, block: int, timestamp: int, order: BacktestOrder, options: QuoteOptions
) -> BacktestQuote:
    empty = BacktestQuote(block, timestamp, order.id, order.amount_in)
    built = options.build_order(order.token_in, order.token_out, order.amount_in)
    try:
        answer = source.quote(options.build_request(built))
    except UpstreamError:
        raise
    except SwapcliError as error:
        return empty._replace(error=error.message)
    figures = compute_figures(answer, options.terms)
    single = figures.single_path
    return empty._replace(
        amount_out=figures.amount_out,
        output_after_gas=figures.output_after_gas,
        gas_units=figures.gas_units,
        single_out=single.amount_out if single else None,
        single_path_after_gas=single.output_after_gas if single else None,
        pools=_count_pools(answer),
        gas_value_source=figures.gas_value_source,
    )


def _count_pools(answer: LocalQuote) -> int:
    return len({step.pool for step in answer.quote.steps})


def summarize_backtest(orders: Sequence[BacktestOrder], quotes: Iterable[BacktestQuote]) -> BacktestSummary:
    """Return statistics of the quotes for `orders`."""
    by_order: dict[str, list[BacktestQuote]] = {order.id: [] for order in orders}
    for quote in quotes:
        by_order[quote.order_id].append(quote)
    found = tuple(_summarize_order(order, by_order[order.id]) for order in orders)
    gains = [gain for each in by_order.values() for quote in each if (gain := quote.gain_bps) is not None]
    quoted, failed = sum(each.quoted for each in found), sum(each.failed for each in found)
    return BacktestSummary(found, quoted, failed, distribution_of(gains), _win_share(gains))


def _summarize_order(order: BacktestOrder, quotes: Sequence[BacktestQuote]) -> OrderSummary:
    amounts = [quote.amount_out for quote in quotes if quote.amount_out is not None]
    sold = order.amount_in / 10**order.token_in.decimals
    rates = distribution_of(amount / 10**order.token_out.decimals / sold for amount in amounts)
    gains = [gain for quote in quotes if (gain := quote.gain_bps) is not None]
    failed = len(quotes) - len(amounts)
    return OrderSummary(order, len(amounts), failed, rates, distribution_of(gains), _win_share(gains))


def _win_share(gains: Sequence[float]) -> float | None:
    return sum(gain > WIN_BPS for gain in gains) / len(gains) if gains else None


def _distribution(found: Distribution | None, digits: int | None) -> DistributionJson | None:
    if found is None:
        return None
    p05, p25, median, p75, p95 = (each if digits is None else round(each, digits) for each in found[1:])
    return {"size": found.size, "p05": p05, "p25": p25, "median": median, "p75": p75, "p95": p95}


def _text(amount: int | None) -> str | None:
    return None if amount is None else str(amount)
