"""A source of quotes for a network without a store. It looks up the pools for an order's tokens when they are needed.

The factories are queried for pairs of the order's tokens and the network's main tokens, at the block at which the order
is quoted (`state.discovery.token_pools`). The pools are stored in a file. Later quotes for the same tokens only read
the pools' state, and quotes for other tokens look up only the missing pools. Without a node, quotes use the stored
pools and states.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from swapcli.core.errors import BlockMismatch, ChainReorganized, ConfigError, MarketError, SwapcliError, UnknownToken
from swapcli.core.model.market import MarketState, Provenance
from swapcli.core.model.network import Network
from swapcli.core.model.order import Order
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.route_result import RouteResult
from swapcli.core.model.state_source import StateSource
from swapcli.core.model.swap_terms import DEFAULT_ROUTE_TTL_S, SwapTerms
from swapcli.core.model.token import Token
from swapcli.core.model.transfer_behaviour import TransferBehaviour
from swapcli.core.networks.address import display_address, is_native, parse_address, without_chain
from swapcli.core.networks.main_tokens import main_tokens
from swapcli.quoting.quote_results import LocalQuote, QuoteResult
from swapcli.quoting.resolve import find_token
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.sources.searchable_market import SearchableMarket
from swapcli.quoting.sources.token_checks import TokenChecks
from swapcli.state.clock import Clock
from swapcli.state.discovery.token_pools import pairs_among
from swapcli.state.found_pools_file import FoundPools, FoundPoolsFile

if TYPE_CHECKING:
    from swapcli.core.model.past_pools import PastPools
    from swapcli.core.model.transaction import UnsignedTransaction
    from swapcli.core.routing.search_memory import SearchMemory
    from swapcli.quoting.health import Health
    from swapcli.quoting.sources.quote_source import ReadsBlocks
    from swapcli.state.discovery.token_pools import LookedUpPools

_NAMED_TOKENS = 4  # in the description of a state
_MAX_ATTEMPTS = 4  # at different blocks
_RESERVE = 2
"""Requests reserved for reading remembered pools, if public nodes accept only a limited number."""


class FoundPoolSource:
    """Quotes on pools found by look-ups, as a `PoolSource`.

    `file` stores the found pools. A source that reads a node calls `use_node`. `why_no_node` returns the end of the
    sentence that explains why there is no node, and a hint.
    """

    def __init__(
        self,
        network: Network,
        file: FoundPoolsFile,
        clock: Clock,
        *,
        why_no_node: Callable[[], tuple[str, str]],
        route_ttl_s: int = DEFAULT_ROUTE_TTL_S,
        memory: SearchMemory | None = None,
    ) -> None:
        self._network, self._file, self._clock, self._why_no_node = network, file, clock, why_no_node
        self._route_ttl_s, self._memory = route_ttl_s, memory
        self._found = file.load()
        self._node: ReadsBlocks | None = None
        self._remembers = True
        self._token_checks = TokenChecks(network)
        self._inner = self._new_source()
        self._known = KnownByLookup(self)

    def use_node(self, node: ReadsBlocks, *, remembers: bool = True) -> None:
        """Look up pools at the latest block of `node` from now on. If `remembers` is false, the file does not
        change."""
        self._node, self._remembers = node, remembers

    @property
    def network(self) -> Network:
        return self._network

    @property
    def state_source(self) -> StateSource:
        return self._inner.state_source

    @property
    def inner(self) -> InMemorySource:
        """A source over the pools found so far."""
        return self._inner

    def token(self, name: str) -> Token:
        """Return a token from the catalogue, or one found earlier. Otherwise, read the contract if `name` is an
        address.

        The catalogue's tokens take precedence, because anyone can copy a symbol. Raises the same errors as
        `QuoteSource.token`, and `UpstreamError`.
        """
        name = without_chain(name, self._network)
        listed = any(token.symbol.lower() == name.lower() for token in self._network.tokens)
        try:
            return find_token(name, self._network, {}) if listed else self._inner.token(name)
        except UnknownToken:
            is_address = name[:2].lower() == "0x" and not is_native(name, self._network.kind)
            if not is_address or self._node is None:
                raise
            token = self._node.newest_snapshot().read_token(parse_address(name, self._network.kind))
            if token is None:
                raise
        self._add(self._found._replace(tokens={**self._found.tokens, token.address: token}))
        return token

    def quote(self, request: QuoteRequest, terms: SwapTerms | None = None) -> LocalQuote:
        """Return the best route through the pools found so far. Raises `MarketError` if there are none."""
        self.require_pools()
        return self._inner.quote(request, terms)

    def build(self, quoted: QuoteResult | RouteResult, terms: SwapTerms) -> UnsignedTransaction:
        return self._inner.build(quoted, terms)

    def health(self) -> Health:
        """Return the health, after quoting a sample order between main tokens on their pools."""
        try:
            self.find(())
        except SwapcliError as error:
            from swapcli.interface.health import UNHEALTHY
            from swapcli.quoting.health import Health

            return Health(self._network.name, UNHEALTHY, f"{self._network.name}: {error.message}", 0.0)
        return self._inner.health()

    def refresh(self) -> None:
        """Do nothing, because the next order reads its pools again."""

    def pin(self, *, pinned: bool) -> None:
        """Do nothing, because stored pools do not change."""
        del pinned

    def close(self) -> None:
        """Do nothing, because the file is open only while it is read or written."""

    def known(self) -> KnownByLookup:
        return self._known

    def read(self, part: SearchableMarket, keys: Collection[str], priced: Collection[str]) -> SearchableMarket:
        """Return `part`, which has the stored pools."""
        del keys, priced
        self.require_pools()
        return part

    def latest(self, keys: Collection[str]) -> SearchableMarket:
        return self._inner.latest(keys)

    def find(self, tokens: Collection[str]) -> None:
        """Look up the pools that trade `tokens` (addresses) with each other or with the network's main tokens, unless
        they are known.

        Does nothing without a node. Raises `UpstreamError`.
        """
        if self._node is None:
            return
        wanted = {self._network.to_wrapped(token) for token in tokens} | {*main_tokens(self._network)}
        pairs = [pair for pair in pairs_among(wanted) if pair not in self._found.pairs]
        if not pairs and not self._found.refs:
            return
        for attempt in range(1, _MAX_ATTEMPTS + 1):
            snapshot = self._node.newest_snapshot()
            try:
                looked_up = snapshot.find_pools(
                    pairs,
                    self._inner.market.tokens,
                    queries=self._found.queries,
                    refs=list(self._found.refs.values()),
                    reserve=_RESERVE if self._found.pools else 0,
                )
                break
            except (BlockMismatch, ChainReorganized):
                self._node.refresh()
                if attempt == _MAX_ATTEMPTS:
                    raise
        self._check_contracts(looked_up)
        # Before pools are remembered, because they contain their tokens' decimals.
        self._token_checks.check(self._inner.market.tokens, snapshot.token_facts, wanted)
        snapshot.read_at_s = self._clock.monotonic_s()  # the order is quoted at the block at which its pools were found
        self._add(self._found.with_found(looked_up, snapshot.head, self._clock.now_s()))

    def _check_contracts(self, looked_up: LookedUpPools) -> None:
        """Raise `ConfigError` if a contract in the user's definition does not exist."""
        if looked_up.without_code:
            from swapcli.core.networks.catalogue import own_contracts

            own, network = own_contracts(self._network), self._network
            for address in looked_up.without_code:
                if address in own:
                    raise ConfigError(
                        f"there is no contract at {display_address(address, network.kind)}, {own[address]} in the"
                        f" definition of {network.name}",
                        hint=f"correct the address in networks.{network.name}",
                        details={"network": network.name, "address": address},
                    )

    def record_transfers(self, behaviours: Mapping[str, TransferBehaviour]) -> None:
        """Remember the transfer behaviour of tokens."""
        self._add(self._found._replace(transfers={**self._found.transfers, **behaviours}))

    def require_pools(self) -> None:
        """Raise `MarketError` if no pool of the network has been found yet."""
        if not self._found.pools:
            reason, hint = self._why_no_node()
            raise MarketError(
                f"no pools are known for {self._network.name}, and {reason}",
                hint=f"{hint}; or run swapcli sync {self._network.name}",
                details={"network": self._network.name},
            )

    def _add(self, found: FoundPools) -> None:
        self._found = found
        if self._remembers:
            self._file.save(found)
        self._inner = self._new_source()

    def _new_source(self) -> InMemorySource:
        network, found = self._network, self._found
        listed = [*network.tokens, *([network.wrapped_native] if network.wrapped_native else ())]
        blocks = {str(block) for block in (found.block, found.newest_block) if block is not None}
        found_at = f"at block {' to '.join(sorted(blocks, key=int))}"
        coverage = f"pools found through the factories {found_at}, {self._coverage()}" if blocks else ""
        market = MarketState(
            network,
            {**found.tokens, **{token.address: token for token in listed}},
            found.pools,
            Provenance.SYNCED if found.pools else Provenance.RECORDED,
            coverage if found.pools else "the network's definition",
            found.gas_price_wei or network.gas_price_wei,
            found.block,
            found.timestamp,
            transfers=found.transfers,
            coverage=coverage,
        )
        return InMemorySource(market, self._clock, route_ttl_s=self._route_ttl_s, memory=self._memory)

    def _coverage(self) -> str:
        """Return which pools were looked for, in words."""
        tokens = dict.fromkeys(token for pair in self._found.pairs for token in pair)
        known = {token.address: token.symbol for token in self._network.tokens}
        known |= {address: token.symbol for address, token in self._found.tokens.items() if address not in known}
        names = sorted(known.get(token, token) for token in tokens)
        shown = ", ".join(names[:_NAMED_TOKENS])
        more = f" and {len(names) - _NAMED_TOKENS} more" if len(names) > _NAMED_TOKENS else ""
        without = f" (not of {', '.join(self._found.left_out)})" if self._found.left_out else ""
        if self._found.refs or not names:
            return "incomplete, because the request limit was reached: quote again"
        return f"only between {shown}{more}{without}"


class KnownByLookup:
    """The pools found by look-ups, as a `KnownMarket`. Each query for tokens first looks up their pools."""

    def __init__(self, source: FoundPoolSource) -> None:
        self._source = source

    def whole(self) -> MarketState:
        return self._source.inner.market

    def for_order(self, order: Order) -> SearchableMarket:
        self._source.find((order.token_in.address, order.token_out.address))
        return self._source.inner.searchable

    def with_pools(self, keys: Iterable[str]) -> SearchableMarket:
        del keys
        return self._source.inner.searchable

    def for_prices(self, tokens: Collection[str], keys: Iterable[str] = ()) -> SearchableMarket:
        del keys
        self._source.find(tokens)
        return self._source.inner.searchable

    def trading(self, tokens: Collection[str]) -> Mapping[str, Pool]:
        self._source.find(tokens)
        return self._source.inner.known().trading(tokens)

    def deepest(self, tokens: Collection[str], limit: int | None) -> tuple[Mapping[str, Pool], int]:
        self._source.find(tokens)
        return self._source.inner.known().deepest(tokens, limit)

    def token_at(self, address: str) -> Token | None:
        return self._source.inner.known().token_at(address)

    def has_pool_at(self, address: str) -> bool:
        return self._source.inner.known().has_pool_at(address)

    def skipped_pools(self) -> tuple[()]:
        """Return nothing, because the market does not come from a sync."""
        return ()

    def past_pools(self, keys: Collection[str]) -> tuple[PastPools, ...]:
        """Return nothing, because only one state of each pool is stored."""
        del keys
        return ()

    def record_transfers(self, behaviours: Mapping[str, TransferBehaviour], block: int) -> None:
        del block
        self._source.record_transfers(behaviours)
