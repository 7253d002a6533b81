"""The interfaces of quote sources: one for all sources, and one for sources that know their pools.

A service only quotes. Every other source, in memory or over SQLite, with or without a node, also gives access to its
pools, which lists, prices and checks need.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

from swapcli.core.errors import InvalidOption
from swapcli.core.model.market import MarketState
from swapcli.core.model.network import Network
from swapcli.core.model.order import Order
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.route_result import RouteResult
from swapcli.core.model.state_source import StateSource
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.core.model.token import Token
from swapcli.core.model.transfer_behaviour import TransferBehaviour
from swapcli.quoting.quote_results import QuoteResult

if TYPE_CHECKING:
    from swapcli.core.model.past_pools import PastPools
    from swapcli.core.model.price_impact import PriceImpact
    from swapcli.core.model.transaction import UnsignedTransaction
    from swapcli.families.reading.pool_ref import PoolRef
    from swapcli.quoting.health import Health
    from swapcli.quoting.sources.searchable_market import SearchableMarket
    from swapcli.state.snapshot_reader import BlockSnapshot
    from swapcli.state.store import SkippedEntry

_Answer = TypeVar("_Answer", bound=QuoteResult, covariant=True)


class QuoteSource(Protocol):
    """A source of quotes on one network."""

    @property
    def network(self) -> Network:
        """The network on which the source quotes."""

    @property
    def state_source(self) -> StateSource:
        """The source of the state behind the latest quote, and that state's current age."""

    def token(self, name: str) -> Token:
        """Return the token called `name`, a symbol or an address. The zero address is the native token."""

    def quote(self, request: QuoteRequest, terms: SwapTerms | None = None) -> QuoteResult:
        """Return the best route for an order. With `terms`, also build its payload on the same state.

        Raises `SameToken`, `NoRoute`, `InvalidInput`, `UpstreamError`, and with `terms` also the errors of `build`.
        """

    def build(self, quoted: QuoteResult | RouteResult, terms: SwapTerms) -> UnsignedTransaction:
        """Return the payload of a quote from this source on the quote's own state, or of an earlier route on the
        current state.

        Raises `InvalidRoute`, `RouteExpired`, `SlippageExceeded` or `PoolError` if the state no longer allows the
        route, and `ConfigError` if the network's router is unknown.
        """

    def health(self) -> Health:
        """Return the health of the source. An unhealthy source does not raise an error."""

    def refresh(self) -> None:
        """Quote on the newest state from now on."""

    def pin(self, *, pinned: bool) -> None:
        """Quote all orders on the block of the next order from now on. If not `pinned`, quote on latest blocks
        again."""

    def close(self) -> None:
        """Close the source's connections and files."""


class KnownMarket(Protocol):
    """The pools and tokens of a network that a source keeps between orders, with the state that they have before a node
    is read."""

    def whole(self) -> MarketState:
        """Return the market with all pools and tokens."""

    def for_order(self, order: Order) -> SearchableMarket:
        """Return the market with the pools that an order can use."""

    def with_pools(self, keys: Iterable[str]) -> SearchableMarket:
        """Return a market that contains at least the known pools among `keys`."""

    def for_prices(self, tokens: Collection[str], keys: Iterable[str] = ()) -> SearchableMarket:
        """Return a market with the pools that determine the prices of `tokens` (addresses), and the pools with
        `keys`."""

    def trading(self, tokens: Collection[str]) -> Mapping[str, Pool]:
        """Return the pools that trade all of `tokens` (addresses), by key."""

    def deepest(self, tokens: Collection[str], limit: int | None) -> tuple[Mapping[str, Pool], int]:
        """Return the `limit` deepest pools that trade all of `tokens` (addresses), by key, and the total number of
        pools that do."""

    def token_at(self, address: str) -> Token | None:
        """Return the token at an address; None if it is not known."""

    def has_pool_at(self, address: str) -> bool:
        """Return whether there is a known pool at an address."""

    def skipped_pools(self) -> Iterable[tuple[SkippedEntry, PoolRef]]:
        """Yield the pools that a sync found but did not store. There are none without a store."""

    def past_pools(self, keys: Collection[str]) -> tuple[PastPools, ...]:
        """Return the states of the pools with `keys` at recent blocks, newest first; empty unless a synced store has
        the pools."""

    def record_transfers(self, behaviours: Mapping[str, TransferBehaviour], block: int) -> None:
        """Record the transfer behaviour of tokens, as probed at a block, if the market outlives the process."""


@runtime_checkable
class PoolAccess(Protocol):
    """Access to the pools of a quote source. Every source except a service has it."""

    def known(self) -> KnownMarket:
        """Return the market that is known without reading a node."""

    def read(self, part: SearchableMarket, keys: Collection[str], priced: Collection[str]) -> SearchableMarket:
        """Return a part of the known market, with the state on which orders are currently quoted.

        It has at least the pools with `keys`, and the pools that determine the prices of the tokens in `priced`
        (addresses). Pools that cannot be read are omitted. Raises `UpstreamError`.
        """

    def latest(self, keys: Collection[str]) -> SearchableMarket:
        """Return the market behind the newest quote or payload, with at least its pools in `keys`."""


class PoolSource(QuoteSource, PoolAccess, Protocol):
    """A source of quotes that knows its pools."""


class ReadsBlocks(Protocol):
    """A source of quotes that reads a node."""

    def newest_snapshot(self) -> BlockSnapshot:
        """Return a snapshot of the data read from the latest block. Raises `UpstreamError`."""

    def refresh(self) -> None:
        """Read a new block the next time."""


@runtime_checkable
class FindsPools(Protocol):
    """A pool source that looks up pools at the block at which an order is quoted."""

    def use_node(self, node: ReadsBlocks, *, remembers: bool = True) -> None:
        """Look up pools at the latest block of `node` from now on, and store them if `remembers` is true."""


class _Quotes(Protocol[_Answer]):
    def quote(self, request: QuoteRequest, terms: SwapTerms | None = None) -> _Answer:
        """Return a quote."""


def quote_and_build(
    source: _Quotes[_Answer], request: QuoteRequest, terms: SwapTerms
) -> tuple[_Answer, UnsignedTransaction]:
    """Return the best route for an order, and its payload on the same state. Raises the same errors as
    `QuoteSource.quote`."""
    answer = source.quote(request, terms)
    assert answer.payload is not None
    return answer, answer.payload


def known_market(source: QuoteSource) -> KnownMarket | None:
    """Return a source's known market; None for a service, which does not list its pools."""
    return source.known() if isinstance(source, PoolAccess) else None


def require_pools(source: QuoteSource) -> PoolAccess:
    """Return the access to a source's pools. Raises `InvalidOption` for a service."""
    if not isinstance(source, PoolAccess):
        raise InvalidOption(
            "a service does not list its pools, so --api-url cannot be used here", hint="remove it, or add --offline"
        )
    return source


def payload_network(network: Network, payload: UnsignedTransaction) -> Network:
    """Return the network with the router of a payload that a source has just built."""
    choice = payload.router_choice
    return network if choice is None else network.for_dialect(choice.dialect)


def route_pools(source: QuoteSource, result: RouteResult) -> Mapping[str, Pool] | None:
    """Return the pools, by key, from whose state `source` has just built the payload of `result`; None for a
    service."""
    if not isinstance(source, PoolAccess):
        return None
    from swapcli.payload.payloads import pools_for

    return pools_for(result, source.latest(result.pool_keys).executable)


def known_contract(source: QuoteSource, address: str) -> str | None:
    """Return a description of the known token or pool at an address; None if there is none.

    For a service, only the tokens that were needed are known. The service itself checks the others.
    """
    from swapcli.payload.checks.recipients import POOL, describe_token

    if not isinstance(source, PoolAccess):
        from swapcli.quoting.sources.remote import RemoteSource

        token = source.tokens.get(address) if isinstance(source, RemoteSource) else None
        return describe_token(token.symbol) if token else None
    known = source.known()
    if token := known.token_at(address):
        return describe_token(token.symbol)
    return POOL if known.has_pool_at(address) else None


def payload_impact(source: QuoteSource, result: RouteResult, payload: UnsignedTransaction) -> PriceImpact | None:
    """Return the price impact of the payload that `source` has just built from `result`; None if it is unknown.

    For a service, the impact is based on the prices in the route, which may come from another service, and on the
    figure that the service reports.
    """
    from swapcli.payload.payloads import pools_for
    from swapcli.quoting.impact_measures import highest_impact

    network, amount_out = source.network, payload.call.route.amount_out
    if not isinstance(source, PoolAccess):
        return highest_impact(result, amount_out, network, reported=source.state_source.reported.price_impact)
    latest = source.latest(result.pool_keys)
    tokens = [network.to_wrapped_token(each) for each in (result.input_token, result.output_token)]
    price_in, price_out = latest.router.index.usd_prices(*tokens)
    priced = result._replace(
        input_token=result.input_token._replace(price_usd=price_in),
        output_token=result.output_token._replace(price_usd=price_out),
    )
    return highest_impact(priced, amount_out, network, pools_for(result, latest.executable))
