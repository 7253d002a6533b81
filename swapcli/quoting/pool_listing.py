"""The pools of a market as people compare them: liquidity, price, and why quotes leave some of them out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Set
from itertools import combinations
from typing import TYPE_CHECKING

from swapcli.core.model.market import MarketState
from swapcli.core.model.network import FIBROUS, Network
from swapcli.core.model.pool import Pool
from swapcli.core.model.state_source import StateSource
from swapcli.core.model.token import Token
from swapcli.core.networks.address import display_address
from swapcli.core.records import NamedTuple
from swapcli.core.routing.graph.order_market import SLICE_FRACTION, pays_for_slice
from swapcli.payload.dialects import router_dialect
from swapcli.quoting.pool_liquidity import PairFigures, UnitPrices, liquidity_usd, pair_figures, without_own_token
from swapcli.quoting.sources.market_prices import unit_prices
from swapcli.quoting.sources.quote_source import require_pools
from swapcli.quoting.sources.searchable_market import SearchableMarket
from swapcli.quoting.transfer_rules import unroutable_reason

if TYPE_CHECKING:
    from swapcli.interface.document_types import PoolDocumentJson
    from swapcli.quoting.sources.quote_source import QuoteSource
    from swapcli.state.store import Store

DUST_ORDER_USD = 1_000.0
"""The order by which a pool is called dust: the filter of the search depends on the size of each order."""

_UNKNOWN_ADDRESS = "its address is not known, so no node can read it"
_UNREAD = "the node returned no valid state of it"
_FAULT = "computations on its state fail: "
_NO_LIQUIDITY = "it has no liquidity"
_DUST = f"dust: it pays next to nothing for an order of ${DUST_ORDER_USD:,.0f}"


class PoolSelection(NamedTuple):
    """The deepest `pools`, by key, of the `total` with some tokens.

    `searchable` has what could be read of their state, and the pools that give the prices of their tokens.
    `pools` have the state before any reading, `placeholders` are the keys of those that cannot be read.
    """

    searchable: SearchableMarket
    pools: Mapping[str, Pool]
    total: int
    placeholders: Set[str] = frozenset()


class ListedPool(NamedTuple):
    """A pool in figures; None where one is unknown.

    `liquidity_usd` is about the value that orders could trade in it: what would move its rate by one on the scale of
    logarithms, extrapolated from a fall of 2%. `price` is how many whole tokens of the second of `pair` one of the
    first costs. `left_out` says why no quote uses the pool, empty if quotes may.
    """

    key: str
    protocol: str
    fee_ppm: int
    tokens: tuple[str, ...]
    pair: tuple[str, str]
    liquidity_usd: float | None
    price: float | None
    left_out: str


def select_pools(source: QuoteSource, tokens: Collection[str], limit: int | None) -> PoolSelection:
    """Return the deepest pools that trade all of these tokens, by address, at most `limit` of them if it is given.

    Raises `InvalidOption` for a service, `UpstreamError`.
    """
    access = require_pools(source)
    known = access.known()
    pools, total = known.deepest(tokens, limit)
    addresses = {token for pool in pools.values() for token in pool.tokens}
    part = known.for_prices(addresses, pools)
    read = access.read(part, pools, addresses)
    return PoolSelection(read, pools, total, part.market.placeholder_pools)


def list_pools(selection: PoolSelection, tokens: tuple[str, ...]) -> list[ListedPool]:
    """Return the selected pools, the deepest first; the price of each is between those `tokens` that are named."""
    market, prices = selection.searchable.market, unit_prices(selection.searchable)
    reason_of = exclusion_rule(market)
    listed = []
    for key, known in selection.pools.items():
        pool = market.pools.get(key)
        if pool is None:
            reason = _UNKNOWN_ADDRESS if key in selection.placeholders else _UNREAD
            listed.append(_without_figures(known, tokens, market.network, reason))
            continue
        figures = _main_pair(pool, tokens, prices, market.network)
        if figures is None:
            reason = reason_of(pool) or _reason_without_figures(pool)
            listed.append(_without_figures(pool, tokens, market.network, reason))
            continue
        decimals = dict(zip(pool.tokens, pool.decimals, strict=True))
        base, quote = figures.pair
        price = figures.rate * 10.0 ** (decimals[base] - decimals[quote])
        reason = reason_of(pool) or _reason_of_state(pool, prices)
        liquidity = liquidity_usd(pool, prices)
        listed.append(ListedPool(key, pool.protocol, pool.fee_ppm, pool.tokens, figures.pair, liquidity, price, reason))
    return sorted(listed, key=lambda pool: -(pool.liquidity_usd or 0.0))


def list_skipped(store: Store, tokens: tuple[str, ...]) -> list[ListedPool]:
    """Return the pools that a sync found and did not store, with the reason."""
    from swapcli.state.sync.skipped import parse_pool_refs

    listed = []
    for entry in store.inventory.all_skipped():
        for ref in parse_pool_refs([entry]):
            if set(tokens).issubset(ref.tokens):
                pair = _orient(ref.tokens[:2], tokens, store.network)
                listed.append(
                    ListedPool(entry.key, ref.protocol, ref.fee_ppm, ref.tokens, pair, None, None, entry.reason)
                )
    return listed


def pool_document(
    pool: ListedPool, known: Mapping[str, Token], network: Network, state: StateSource
) -> PoolDocumentJson:
    """Return a listed pool as a row of JSON; its state is of `state`."""

    def symbol(address: str) -> str | None:
        return known[address].symbol if address in known else None

    protocol = network.protocol(pool.protocol)
    return {
        "pool": display_address(pool.key, network.kind),
        "protocol": protocol.id if protocol else None,
        "amm_name": pool.protocol,
        "fee_ppm": pool.fee_ppm,
        "tokens": [display_address(address, network.kind) for address in pool.tokens],
        "pair": [symbol(address) for address in pool.pair],
        "price": pool.price,
        "liquidityUsd": pool.liquidity_usd,
        "block": state.block,
        "ageS": state.age_s,
        "leftOut": pool.left_out or None,
    }


def exclusion_rule(market: MarketState) -> Callable[[Pool], str]:
    """Return a function that says why quotes of a market leave a pool out in any state; empty if they do not."""
    unroutable = unroutable_reason(market)
    if market.network.router_dialect == FIBROUS:
        return unroutable
    dialect = router_dialect(market.network)

    def reason_of(pool: Pool) -> str:
        reason = unroutable(pool)
        if reason or dialect.executable_pool(pool) is not None:
            return reason
        why = dialect.refusal_reason(pool)
        return f"the router {dialect.name} cannot execute it{why and f': {why}'}"

    return reason_of


def _main_pair(pool: Pool, tokens: tuple[str, ...], prices: UnitPrices, network: Network) -> PairFigures | None:
    """Return the figures of the deepest pair with all of `tokens`, in the direction in which people read its price."""
    pairs = [figures for figures in pair_figures(pool, prices) if set(tokens).issubset(figures.pair)]
    if not pairs:
        return None
    deepest = max(without_own_token(pool, pairs), key=lambda figures: figures.depth_usd or 0.0)
    pair = _orient(deepest.pair, tokens, network)
    return deepest if pair == deepest.pair else deepest._replace(pair=pair, rate=1 / deepest.rate)


def _orient(pair: tuple[str, ...], tokens: tuple[str, ...], network: Network) -> tuple[str, str]:
    """Return a pair with the token to be priced first: the first named one, else the one that is less like money."""
    first, second = pair
    if tokens:
        return (first, second) if tokens[0] == first else (second, first)

    def rank(address: str) -> int:
        return 2 if address in network.stablecoins else int(address == network.wrapped_native_address)

    return (first, second) if rank(first) <= rank(second) else (second, first)


def _reason_without_figures(pool: Pool) -> str:
    from swapcli.core.routing.broken_pools import broken_pools

    broken = broken_pools((pool,))
    return _FAULT + broken[0].reason if broken else _NO_LIQUIDITY


def _reason_of_state(pool: Pool, prices: UnitPrices) -> str:
    """Return why quotes leave a pool out in its present state; empty if they do not."""
    try:
        return _DUST if _is_dust(pool, prices) else ""
    except Exception as error:
        from swapcli.core.model.skipped_pool import fault_reason

        return _FAULT + fault_reason(error)


def _is_dust(pool: Pool, prices: UnitPrices) -> bool:
    """Return whether a search for an order of `DUST_ORDER_USD` leaves out all directions of a pool of known prices."""
    is_known = False
    for pair in combinations(pool.tokens, 2):
        for token_in, token_out in (pair, pair[::-1]):
            price_in, price_out = prices.get(token_in), prices.get(token_out)
            if not price_in or not price_out:
                continue
            is_known = True
            amount_in = max(DUST_ORDER_USD * SLICE_FRACTION / price_in, 1.0)
            if pays_for_slice(pool.curve(token_in, token_out), amount_in, price_in / price_out):
                return False
    return is_known


def _without_figures(pool: Pool, tokens: tuple[str, ...], network: Network, reason: str) -> ListedPool:
    pair = _orient(tuple(tokens) if len(tokens) == 2 else pool.tokens[:2], tokens, network)
    return ListedPool(pool.key, pool.protocol, pool.fee_ppm, pool.tokens, pair, None, None, reason)
