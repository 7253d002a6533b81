"""The networks that the service serves, their markets, and the V1 routes it has issued.

A market is opened once, on first use, or followed by another thread, which repeatedly replaces its source. Use the
sources from one thread only. All other members, including `set_source` and `set_status`, may be used from any thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from swapcli.core.errors import InvalidAddress, MarketUnavailable, SwapcliError
from swapcli.core.model.market import MarketState, Provenance
from swapcli.core.model.network import Network
from swapcli.core.model.state_source import StateSource, is_real
from swapcli.core.model.swap_terms import (
    DEFAULT_MAX_IMPACT_PPM,
    DEFAULT_MAX_PRICE_LOSS_PPM,
    DEFAULT_MAX_SLIPPAGE_PPM,
    DEFAULT_PRICE_GUARD_PPM,
    DEFAULT_SLIPPAGE_PPM,
    SwapTerms,
)
from swapcli.core.networks.address import without_chain
from swapcli.core.records import NamedTuple
from swapcli.core.routing.search_memory import SearchMemory
from swapcli.faces.service.issued_routes import IssuedRoutes
from swapcli.quoting.live_choice import node_variable
from swapcli.quoting.price_policy import ALLOWED_USES, PriceRequest, PriceUse, may_use
from swapcli.quoting.quote_options import check_allowed_recipient, parameter_values, warning_limits
from swapcli.quoting.resolve import unavailable_protocols
from swapcli.quoting.sources.freshness import check_fresh
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.state.clock import SYSTEM_CLOCK, Clock

if TYPE_CHECKING:
    from swapcli.quoting.config import Settings

MarketOpener = Callable[[], MarketState]
Extender = Callable[[Iterable[str], Iterable[str]], InMemorySource | None]
"""Returns a source with the pools of the given tokens and the pools with the given keys, or None if the latest source
has them."""


class ServiceRules(NamedTuple):
    """The operator's settings that apply to every request of a service.

    `values` are the fields of orders and requests that the quote parameters set. State older than `max_age_s` is not
    quoted. If `max_age_s` is None, state read from a node expires with the routes, after the `ttl_s` in `terms`.
    Responses carry a warning above the limits in `terms`. The page asks for consent above `max_impact_ppm` and
    `max_slippage_ppm`. `price_limits_ppm` are two thresholds for how far a price may be below other prices: above the
    first a verdict warns, above the second it blocks. `allowed_recipients` are addresses, in any case, that may be
    recipients although they are tokens, pools or routers. With `reuse_searches`, a search starts from earlier searches
    for similar orders. No order uses the protocols in `exclude_protocols`, nor, unless it is empty, any outside
    `only_protocols`.
    """

    values: Mapping[str, Any] = MappingProxyType({})
    terms: SwapTerms = SwapTerms(DEFAULT_SLIPPAGE_PPM)
    max_age_s: int | None = None
    max_slippage_ppm: int = DEFAULT_MAX_SLIPPAGE_PPM
    max_impact_ppm: int = DEFAULT_MAX_IMPACT_PPM
    price_limits_ppm: tuple[int, int] = (DEFAULT_PRICE_GUARD_PPM, DEFAULT_MAX_PRICE_LOSS_PPM)
    allowed_recipients: tuple[str, ...] = ()
    reuse_searches: bool = True
    exclude_protocols: tuple[str, ...] = ()
    only_protocols: tuple[str, ...] = ()

    @classmethod
    def from_settings(cls, settings: Settings) -> ServiceRules:
        """Return the rules in the settings. The search time comes from the service's own settings."""
        return cls(
            values=parameter_values(settings, {}) | {"solve_time_s": settings.service.solve_time_s},
            terms=SwapTerms(DEFAULT_SLIPPAGE_PPM, **warning_limits(settings)),
            max_age_s=settings.max_age_s,
            max_slippage_ppm=settings.max_slippage_ppm,
            max_impact_ppm=settings.max_impact_ppm,
            price_limits_ppm=(settings.price_guard_ppm, settings.max_price_loss_ppm),
            allowed_recipients=settings.service.allowed_recipients,
            reuse_searches=settings.service.reuse_searches,
            exclude_protocols=settings.exclude_protocols,
            only_protocols=settings.only_protocols,
        )

    def unavailable_protocols(self, network: Network) -> frozenset[str]:
        """Return the protocols that no order on a network may use."""
        return unavailable_protocols(self.exclude_protocols, self.only_protocols, network)


DEFAULT_RULES = ServiceRules()


class MarketRegistry:
    """The markets of a service by network.

    All `networks` have paths. `openers` load the markets of networks that can be quoted. Another thread sets the
    sources of the networks named in `followed`. A network that has an opener and is also in `followed` is quoted on the
    opener's market until its source is set. `price_request` is how the operator requested prices that are not real,
    which decides how they may be used.
    """

    def __init__(
        self,
        networks: Iterable[Network],
        openers: Mapping[str, MarketOpener],
        clock: Clock = SYSTEM_CLOCK,
        rules: ServiceRules = DEFAULT_RULES,
        *,
        followed: Iterable[str] = (),
        price_request: PriceRequest = PriceRequest.NONE,
    ) -> None:
        self.networks = {network.name: network for network in networks}
        self.clock = clock
        self.rules = rules
        self.issued_routes = IssuedRoutes()
        self._memories: dict[str, SearchMemory] = {}
        self._openers = dict(openers)
        self._missing_reasons = {name: f"the pools of {name} are being read" for name in followed}
        self.price_request = price_request
        self._sources: dict[str, InMemorySource] = {}
        self._extenders: dict[str, Extender] = {}
        self._tried: set[str] = set()
        self._versions: dict[str, int] = {}
        self._listeners: list[Callable[[str], None]] = []

    def check_recipient(self, source: InMemorySource, recipient: str | None) -> None:
        """Raise `UnsafeRecipient` if tokens sent to `recipient` would be lost, unless the settings allow it."""
        if recipient is None or self._is_allowed(int(recipient, 16), source.network):
            return
        check_allowed_recipient(source, recipient, None, "")

    def _is_allowed(self, recipient: int, network: Network) -> bool:
        for address in self.rules.allowed_recipients:
            with suppress(InvalidAddress):  # for a different chain
                if int(without_chain(address, network), 16) == recipient:
                    return True
        return False

    @property
    def served_networks(self) -> tuple[Network, ...]:
        """The networks that can be quoted."""
        names = self._openers.keys() | self._missing_reasons.keys()
        return tuple(network for name, network in self.networks.items() if name in names)

    @property
    def sources(self) -> Mapping[str, InMemorySource]:
        """The loaded markets by network."""
        return dict(self._sources)

    @property
    def missing_networks(self) -> tuple[str, ...]:
        """The networks that cannot be quoted at the moment."""
        return tuple(name for name in self.networks if not self.can_quote(name))

    @property
    def is_ready(self) -> bool:
        """Whether the service has tried to load every network that has pools, and can quote at least one of them.
        Missing networks may become available later."""
        is_tried = self._tried.issuperset(network.name for network in self.served_networks)
        return is_tried and any(map(self.can_quote, self.networks))

    def can_quote(self, name: str) -> bool:
        """Return whether a network's market is loaded and passes `check_quotable`, so that it counts as ready and
        healthy."""
        source = self._sources.get(name)
        if source is None:
            return False
        try:
            self.check_quotable(source, PriceUse.NUMBER)
        except MarketUnavailable:
            return False
        return True

    def check_quotable(self, source: InMemorySource, use: PriceUse) -> None:
        """Raise `MarketUnavailable` if a source's state is too old, or if its prices may not be used for `use`.

        Orders, readiness and health checks all use this rule.
        """
        self._check_age(source)
        self._check_use(source, use)

    def _may_use(self, source: InMemorySource, use: PriceUse) -> bool:
        """Return whether a source's prices may be used in this way."""
        return is_real(source.market.provenance) or use in ALLOWED_USES[self.price_request]

    def mark_tried(self, name: str) -> None:
        """Record an attempt to load the market of a network."""
        self._tried.add(name)

    def is_followed(self, name: str) -> bool:
        """Return whether another thread follows the network's market."""
        return name in self._missing_reasons

    def has_opener(self, name: str) -> bool:
        """Return whether the network has a market to quote on until another thread sets a source."""
        return name in self._openers

    def fresh_source(
        self, name: str, use: PriceUse, tokens: Iterable[str] = (), keys: Iterable[str] = ()
    ) -> InMemorySource:
        """Return a network's source, with all available pools for `tokens` and the pools named by `keys`.

        Raises `MarketUnavailable` if its market is missing or too old, or if its prices may not be used for `use`.
        """
        source = self.open_source(name)
        extend = self._extenders.get(name)
        if extend is not None:
            source = extend(tokens, keys) or source
        self.check_quotable(source, use)
        return source

    def _check_use(self, source: InMemorySource, use: PriceUse) -> None:
        """Raise `MarketUnavailable` unless a source's prices may be used in this way."""
        if self._may_use(source, use):
            return
        provenance, name = source.market.provenance, source.network.name
        consequence = "no transaction is built on them" if use is PriceUse.PAYLOAD else f"{name} is not healthy"
        problem = f"the prices of {name} are {provenance}, so {consequence}"
        if self.price_request is PriceRequest.MARKET:
            hint = "start the service with --offline to build transactions on this market"
        else:
            problem = f"{problem}: {self._missing_live_prices(name)}"
            hint = f"set a node with {node_variable(name)}, or start the service with --offline to use these prices"
        raise MarketUnavailable(problem, hint=hint)

    def explained(self, state: StateSource, name: str) -> StateSource:
        """Return a quote's state, with the reason why it is not live if the operator requires live prices."""
        if may_use(state, PriceUse.NUMBER, self.price_request):
            return state
        reason = self._missing_live_prices(name)
        return state._replace(live_failure=f"no live prices for {name}: {reason}")

    def _missing_live_prices(self, name: str) -> str:
        return self._missing_reasons.get(name, f"no node is set for {name}")

    def open_source(self, name: str) -> InMemorySource:
        """Return a network's source, regardless of its age. It is opened on first use. Raises `MarketUnavailable`."""
        if name in self._sources:
            return self._sources[name]
        opener = self._openers.get(name)
        if opener is None and name in self._missing_reasons:
            raise MarketUnavailable(self._missing_reasons[name])
        if opener is None:
            raise MarketUnavailable(f"{name} has no pools", hint=f"set a node with {node_variable(name)}, and restart")
        self._tried.add(name)
        try:
            market = opener()
        except SwapcliError:
            raise MarketUnavailable(f"the market of {name} cannot be loaded") from None
        source = InMemorySource(market, self.clock, route_ttl_s=self.rules.terms.ttl_s)
        opened, source = source, self._sources.setdefault(name, source)  # a follower may have set one
        if source is opened:
            self._set_memory(name, source)
            # A market file contains its own description of the network.
            self.networks[name] = market.network
        return source

    def set_source(self, source: InMemorySource) -> None:
        """Replace the source of a network."""
        self._set_memory(source.network.name, source)
        self.networks[source.network.name] = source.network
        self._sources[source.network.name] = source
        self._tried.add(source.network.name)
        self._versions[source.network.name] = self.version(source.network.name) + 1
        for listener in self._listeners:
            listener(source.network.name)

    def version(self, name: str) -> int:
        """Return how often a network's source has been replaced."""
        return self._versions.get(name, 0)

    def add_listener(self, listener: Callable[[str], None]) -> None:
        """Register `listener`, which is called with a network's name whenever its source is replaced. It may be called
        on any thread."""
        self._listeners.append(listener)

    def _set_memory(self, name: str, source: InMemorySource) -> None:
        """Let a source use its network's memory of searches."""
        if self.rules.reuse_searches:
            source.searchable.router.memory = self._memories.setdefault(name, SearchMemory())

    def set_extender(self, name: str, extender: Extender) -> None:
        """Set the function that adds pools to a network's source. That function may be called from any thread."""
        self._extenders[name] = extender

    def set_status(self, name: str, status: str) -> None:
        """Set the reason why a followed network has no live market yet."""
        self._missing_reasons[name] = status

    def _check_age(self, source: InMemorySource) -> None:
        """Raise `MarketUnavailable` if the state is too old to quote."""
        market, max_age_s = source.market, self.rules.max_age_s
        if max_age_s is None and market.provenance is Provenance.SYNCED and market.timestamp is not None:
            max_age_s = self.rules.terms.ttl_s
        if max_age_s is not None:
            name = source.network.name
            node = f"set {'a different' if self.is_followed(name) else 'a'} node with {node_variable(name)}"
            hint = f"{node}, or allow a greater age with --max-age"
            check_fresh(source.state_source, source.network, max_age_s, hint=hint)

    def network_time_s(self, name: str) -> float:
        """Return a network's Unix time: by this machine's clock, unless the network's nodes agree on another time."""
        source, now_s = self._sources.get(name), self.clock.now_s()
        return source.market.network_time_s(now_s) if source else now_s

    def network_time_ms(self, name: str) -> int:
        """Return a network's Unix time in milliseconds."""
        return int(self.network_time_s(name) * 1000)
