"""The figures of a quote, shown by every output: tables, plain text, JSON, the service and the library."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swapcli.core.model.finding import Finding
from swapcli.core.model.price_impact import PriceImpact
from swapcli.core.model.quote import Certificate, GasValueSource
from swapcli.core.model.state_source import StateSource
from swapcli.core.records import NamedTuple

if TYPE_CHECKING:
    from swapcli.core.model.book_prices import BookPrices
    from swapcli.core.model.router_choice import RouterChoice


class SinglePath(NamedTuple):
    """The best route with one pool per hop.

    `amount_out` is its exact output, and `gain_bps` how much more the quote pays; negative if the quote pays less and
    saves more than that in gas. Both are None if no single path can fill the order. `gas_units`, `gas_usd` and
    `output_after_gas` are as in `QuoteFigures`, None if unknown, with the quote's fee for L1 data.
    """

    amount_out: int | None
    gain_bps: float | None
    gas_units: int | None = None
    gas_usd: float | None = None
    output_after_gas: int | None = None


class PoolLimitCost(NamedTuple):
    """The cost of limiting the number of pools in a route.

    `amount` is the output of the best route without the limit, or its input for an exact-output order, in base units.
    `cost_bps` is how much less the quote pays, or how much more it takes; negative if the quote saves more than that in
    gas.
    """

    max_pools: int | None
    single_path: bool
    amount: int
    cost_bps: float


class QuoteFigures(NamedTuple):
    """The figures of a quote for its user. Amounts are in base units; None means unknown.

    `amount_out_after_fee` is the output less the integrator's fee, `min_received` that output less the slippage.
    `gas_wei` is the whole gas cost, including `l1_fee_wei` for L1 data. `output_after_gas` is `amount_out_after_fee`
    less the gas cost in the output token; negative if the gas costs more. `gas_value_source` is the source of the gas
    value in the output token. `single_path` is unknown for quotes from a service and for exact-output orders.

    `expires_at_s` (Unix) is when the quote is too old to use: the lifetime of a route after the time of the pool state,
    or after the time of the quote if the state has no time or is not live; an earlier deadline takes precedence.
    `certificate` is None unless it was requested. `placeholder_pools` are the keys of the route's pools whose addresses
    are placeholders, `changing_pools` the keys of its pools that can change without an event, quoted at the state's
    block. `is_exact` shows whether every amount was computed as the contracts do, or quoted by the pool's protocol for
    that amount at a block to which the node's responses provably belong, and no token is share-based; None for a quote
    from a service. `sampled_pools` are the addresses of the pools that protocols quote. `pool_limit` is None if the
    order sets no limit.

    `unread_gain_bps` is the most that unread pools might add to the output, by their last known state; None if no limit
    stopped the reading. `proof_file` is the file to which the proof of the certificate was written. `router_choice`
    shows which router was chosen, None if there was no choice because the settings name the router or no node was read.
    `book_prices` are the best prices between the two tokens in an order book that no route can use, at the block of a
    live quote; None without such a book.
    """

    amount_in: int
    amount_out: int
    amount_out_after_fee: int
    min_received: int
    slippage_ppm: int
    price_impact: PriceImpact | None
    gas_units: int | None
    gas_price_wei: int | None
    gas_wei: int | None
    l1_fee_wei: int | None
    gas_usd: float | None
    output_after_gas: int | None
    single_path: SinglePath | None
    quoted_at_s: int
    expires_at_s: int
    state: StateSource
    warnings: tuple[Finding, ...]
    certificate: Certificate | None = None
    is_search_complete: bool = True
    placeholder_pools: tuple[str, ...] = ()
    changing_pools: tuple[str, ...] = ()
    is_exact: bool | None = True
    sampled_pools: tuple[str, ...] = ()
    pool_limit: PoolLimitCost | None = None
    unread_gain_bps: float | None = None
    proof_file: str | None = None
    router_choice: RouterChoice | None = None
    book_prices: BookPrices | None = None
    gas_value_source: GasValueSource | None = None
