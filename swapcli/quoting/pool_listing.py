"""List a market's pools with their liquidity and price, and with the reason if quotes skip a pool."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from itertools import combinations
from typing import TYPE_CHECKING

from swapcli.core.errors import InvalidOption, SameToken
from swapcli.core.model.finding import Finding
from swapcli.core.model.market import MarketState
from swapcli.core.model.network import FIBROUS, Network
from swapcli.core.model.pool import Pool
from swapcli.core.model.state_source import StateSource
from swapcli.core.model.token import Token
from swapcli.core.networks.address import display_address
from swapcli.core.networks.explorer import contract_page
from swapcli.core.records import NamedTuple
from swapcli.core.routing.graph.order_market import SLICE_FRACTION, pays_for_slice
from swapcli.interface.own_document import own_document
from swapcli.interface.quote_fields import render_state_source, render_warning_list
from swapcli.payload.dialects import router_dialect
from swapcli.quoting.pool_liquidity import PairFigures, UnitPrices, liquidity_usd, pair_figures, without_own_token
from swapcli.quoting.sources.market_prices import unit_prices
from swapcli.quoting.sources.quote_source import require_pools
from swapcli.quoting.sources.searchable_market import SearchableMarket
from swapcli.quoting.transfer_rules import unroutable_reason

if TYPE_CHECKING:
    from swapcli.interface.document_types import PoolDocumentJson, PoolsJson
    from swapcli.quoting.sources.quote_source import KnownMarket, QuoteSource

MAX_TOKENS = 2
"""Pools are listed by at most this many tokens, all of which each listed pool trades."""
DUST_ORDER_USD = 1_000.0
"""The order for which a pool is called dust: the search's dust filter depends on the size of each order."""

_UNKNOWN_ADDRESS = "its address is unknown, so no node can read it"
_UNREAD = "the node returned no valid state for it"
_UNREAD_IN_THE_PAST = "the node returned no valid state for it: it may not have existed at this block"
_FAULT = "computations on its state fail: "
_NO_LIQUIDITY = "it has no liquidity"
_DUST = f"dust: it pays next to nothing for an order of ${DUST_ORDER_USD:,.0f}"


class PoolSelection(NamedTuple):
    """The deepest `pools`, by key, among the `total` pools that trade the requested tokens.

    `searchable` has the pools whose state could be read, and the pools that determine their tokens' prices. `pools`
    have the state before that read. `placeholders` are the keys of pools that cannot be read.
    """

    searchable: SearchableMarket
    pools: Mapping[str, Pool]
    total: int
    placeholders: Set[str] = frozenset()


class ListedPool(NamedTuple):
    """A pool's liquidity, price and other figures. Unknown figures are None.

    `liquidity_usd` is approximately the value that orders could trade in the pool: the value that would move the
    logarithm of its rate by one, extrapolated from a fall of 2%. `price` is the price of one whole first token in
    `pair`, in whole second tokens. `left_out` says why quotes do not use the pool; it is empty if they may use it.
    """

    key: str
    protocol: str
    fee_ppm: int
    tokens: tuple[str, ...]
    pair: tuple[str, str]
    liquidity_usd: float | None
    price: float | None
    left_out: str


class PoolList(NamedTuple):
    """Some of the `total` pools that trade the requested tokens, deepest first, and the source of their state.

    `known` are tokens by address.
    """

    pools: tuple[ListedPool, ...]
    total: int
    known: Mapping[str, Token]
    network: Network
    state: StateSource
    warnings: tuple[Finding, ...] = ()

    def address(self, pool: ListedPool) -> str:
        """Return the address or id of a pool, as its network writes it."""
        return display_address(pool.key, self.network.kind)

    def page(self, pool: ListedPool) -> str | None:
        """Return the page of a pool in the network's explorer, if it has one."""
        return contract_page(self.network, self.address(pool))

    def pair(self, pool: ListedPool) -> list[Token | str]:
        """Return the two tokens of a pool's pair. An unknown token is given by its address, as the network writes
        it."""
        return [self.known.get(each) or display_address(each, self.network.kind) for each in pool.pair]

    def protocol(self, pool: ListedPool) -> str:
        """Return the display name of a pool's protocol."""
        protocol = self.network.protocol(pool.protocol)
        return protocol.display_name if protocol else pool.protocol

    @own_document
    def document(self) -> PoolsJson:
        """Return the JSON that `swapcli pools` prints."""
        return {
            "network": self.network.name,
            "state": render_state_source(self.state),
            "warnings": render_warning_list(self.warnings),
            "count": self.total,
            "pools": self.rows(),
        }

    def rows(self) -> list[PoolDocumentJson]:
        """Return a row for each pool, with None for unknown values."""
        return [self._row(pool) for pool in self.pools]

    def _row(self, pool: ListedPool) -> PoolDocumentJson:
        known, kind, protocol = self.known, self.network.kind, self.network.protocol(pool.protocol)
        return {
            "pool": self.address(pool),
            "protocolId": protocol.id if protocol else None,
            "protocol": pool.protocol,
            "feePpm": pool.fee_ppm,
            "tokens": [display_address(address, kind) for address in pool.tokens],
            "pair": [known[address].symbol if address in known else None for address in pool.pair],
            "price": pool.price,
            "liquidityUsd": pool.liquidity_usd,
            "block": self.state.block,
            "ageS": self.state.age_s,
            "skippedReason": pool.left_out or None,
        }


def find_pools(source: QuoteSource, named: Sequence[Token], limit: int | None) -> PoolList:
    """Return the `limit` deepest pools that trade the `named` tokens, followed by the pools that a sync skipped.

    Raises `SameToken`, `InvalidOption` for more than two tokens and for a service, `UpstreamError`.
    """
    network = source.network
    if len(named) > MAX_TOKENS:
        raise InvalidOption("at most two tokens can be given")
    tokens = tuple(network.to_wrapped_token(token).address for token in named)
    if len(set(tokens)) < len(tokens):
        raise SameToken
    selection = select_pools(source, tokens, limit)
    listed, total = list_pools(selection, tokens), selection.total
    known = dict(selection.searchable.market.tokens)
    if limit is None or len(listed) < limit:
        market = require_pools(source).known()
        skipped = [*_list_skipped(market, tokens, network)]
        for address in {each for pool in skipped for each in pool.tokens} - known.keys():
            if token := market.token_at(address):
                known[address] = token
        total += len(skipped)
        listed += skipped[: None if limit is None else limit - len(listed)]
    return PoolList(tuple(listed), total, known, network, selection.searchable.state_source)


def select_pools(source: QuoteSource, tokens: Collection[str], limit: int | None) -> PoolSelection:
    """Return the deepest pools that trade all of `tokens` (addresses), at most `limit` if it is given.

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
    """Return the selected pools with their figures, deepest first. Each price is between the named `tokens`."""
    market, prices = selection.searchable.market, unit_prices(selection.searchable)
    reason_of = exclusion_rule(market)
    unread = _UNREAD_IN_THE_PAST if selection.searchable.state_source.is_past else _UNREAD
    listed = []
    for key, known in selection.pools.items():
        pool = market.pools.get(key)
        if pool is None:
            reason = _UNKNOWN_ADDRESS if key in selection.placeholders else unread
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


def _list_skipped(known: KnownMarket, tokens: tuple[str, ...], network: Network) -> Iterator[ListedPool]:
    """Yield the pools with these tokens that a sync found but did not store, with the reason."""
    for entry, ref in known.skipped_pools():
        if set(tokens).issubset(ref.tokens):
            pair = _orient(ref.tokens[:2], tokens, network)
            yield ListedPool(entry.key, ref.protocol, ref.fee_ppm, ref.tokens, pair, None, None, entry.reason)


def exclusion_rule(market: MarketState) -> Callable[[Pool], str]:
    """Return a function that gives the reason why quotes on the market never use a pool, in whatever state. The reason
    is empty if they may use it."""
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
    """Return the figures of the deepest pair with all of `tokens`, in the direction in which people quote its price."""
    pairs = [figures for figures in pair_figures(pool, prices) if set(tokens).issubset(figures.pair)]
    if not pairs:
        return None
    deepest = max(without_own_token(pool, pairs), key=lambda figures: figures.depth_usd or 0.0)
    pair = _orient(deepest.pair, tokens, network)
    return deepest if pair == deepest.pair else deepest._replace(pair=pair, rate=1 / deepest.rate)


def _orient(pair: tuple[str, ...], tokens: tuple[str, ...], network: Network) -> tuple[str, str]:
    """Return a pair with the token to be priced first: the first named one, otherwise the one that is less like
    money."""
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
    """Return why quotes exclude a pool in its present state; empty if they do not."""
    try:
        return _DUST if _is_dust(pool, prices) else ""
    except Exception as error:
        from swapcli.core.model.skipped_pool import fault_reason

        return _FAULT + fault_reason(error)


def _is_dust(pool: Pool, prices: UnitPrices) -> bool:
    """Return whether a search for an order of `DUST_ORDER_USD` skips every direction of a pool with known prices."""
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
