"""What the service answers from: the networks it serves, their markets, and the routes it gave out.

A market is opened once, when it is first needed, or kept fresh by somebody else, who puts one source after the other.
Whatever asks them runs in one thread; the rest may be looked at from any, and `put` and `tell` be called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from swapcli.engine.clock import SYSTEM_CLOCK, Clock
from swapcli.engine.pool_sources import check_fresh
from swapcli.engine.sources.in_memory import MarketSource
from swapcli.errors import MarketUnavailable, SwapcliError
from swapcli.model.market import Market, Provenance
from swapcli.model.network import Kind, Network
from swapcli.model.order import DEFAULT_MAX_HOPS
from swapcli.model.swap_terms import DEFAULT_IMPACT_WARNING_PPM, DEFAULT_ROUTE_TTL_S
from swapcli.service.issued_routes import IssuedRoutes

MarketOpener = Callable[[], Market]


class MarketRegistry:
    """The markets of a service by network.

    `networks` are those whose paths exist; `openers` give the markets of those that are quoted on, `kept` names those
    of which somebody puts the sources. State that is older than `max_age_s` is not quoted on; where that is None,
    state that was read from a node not if it is older than `route_ttl_s`. `gas_price_wei` None takes each market's own.
    Answers warn of a price impact above `impact_warning_ppm`.
    """

    def __init__(
        self,
        networks: Iterable[Network],
        openers: Mapping[str, MarketOpener],
        clock: Clock = SYSTEM_CLOCK,
        *,
        followed: Iterable[str] = (),
        route_ttl_s: int = DEFAULT_ROUTE_TTL_S,
        max_age_s: int | None = None,
        max_hops: int = DEFAULT_MAX_HOPS,
        gas_price_wei: int | None = None,
        solve_time_s: float | None = None,
        impact_warning_ppm: int = DEFAULT_IMPACT_WARNING_PPM,
    ) -> None:
        self.networks = {network.name: network for network in networks}
        self.clock = clock
        self.route_ttl_s = route_ttl_s
        self.max_hops = max_hops
        self.gas_price_wei = gas_price_wei
        self.solve_time_s = solve_time_s
        self.impact_warning_ppm = impact_warning_ppm
        self.issued_routes = IssuedRoutes()
        self._openers = dict(openers)
        self._missing_reasons = {name: f"the pools of {name} are being read" for name in followed}
        self._max_age_s = max_age_s
        self._sources: dict[str, MarketSource] = {}
        self._tried: set[str] = set()

    @property
    def served_networks(self) -> tuple[Network, ...]:
        """The networks that are quoted on."""
        quoted = self._openers.keys() | self._missing_reasons.keys()
        return tuple(network for name, network in self.networks.items() if name in quoted)

    @property
    def sources(self) -> Mapping[str, MarketSource]:
        """The markets that are there now, by network."""
        return dict(self._sources)

    @property
    def missing_networks(self) -> tuple[str, ...]:
        """The networks whose markets are still to be opened, or could not be."""
        return tuple(network.name for network in self.served_networks if network.name not in self._sources)

    @property
    def is_ready(self) -> bool:
        """Has every network been tried, and is there a market at all? Those that are missing may come later."""
        served = [network.name for network in self.served_networks]
        return self._tried.issuperset(served) and (bool(self._sources) or not served)

    def mark_tried(self, name: str) -> None:
        """Note that a network's market has been opened, or could not be."""
        self._tried.add(name)

    def is_followed(self, name: str) -> bool:
        """Does somebody keep the market of a network fresh?"""
        return name in self._missing_reasons

    def fresh_source(self, name: str) -> MarketSource:
        """What answers orders on a network. Raises `MarketUnavailable` where there is no market, or an old one."""
        source = self.open_source(name)
        self.check_age(source)
        return source

    def open_source(self, name: str) -> MarketSource:
        """What the market of a network gives, however old; opens it the first time. Raises `MarketUnavailable`."""
        if name in self._sources:
            return self._sources[name]
        if name in self._missing_reasons:
            raise MarketUnavailable(self._missing_reasons[name])
        opener = self._openers.get(name)
        if opener is None:
            raise MarketUnavailable(_no_market(self.networks.get(name), name))
        self._tried.add(name)
        try:
            market = opener()
        except SwapcliError:
            raise MarketUnavailable(f"the market of {name} cannot be loaded") from None
        source = MarketSource(market, self.clock, route_ttl_s=self.route_ttl_s)
        self._sources[name] = source
        # Where the market is a file, it describes its network itself.
        self.networks[name] = market.network
        return source

    def set_source(self, source: MarketSource) -> None:
        """Let a source answer from now on, in place of the one before."""
        self.networks[source.network.name] = source.network
        self._sources[source.network.name] = source
        self._tried.add(source.network.name)

    def set_status(self, name: str, status: str) -> None:
        """Say why a network that is kept has no market yet."""
        self._missing_reasons[name] = status

    def check_age(self, source: MarketSource) -> None:
        """Raises `MarketUnavailable` where the state is too old to quote on."""
        origin, max_age_s = source.state_source, self._max_age_s
        if max_age_s is None and origin.provenance is Provenance.SYNCED and origin.age_s is not None:
            max_age_s = self.route_ttl_s
        check_fresh(origin, source.network, max_age_s)

    def now_ms(self) -> int:
        """Unix time in milliseconds."""
        return int(self.clock.now_s() * 1000)


def _no_market(network: Network | None, name: str) -> str:
    """What is wrong, and the way out."""
    said = f"there are no pools of {name} to quote on"
    if network is not None and network.kind is not Kind.EVM:
        return f"{said}; start the service with --market FILE"
    return f"{said}; swapcli sync {name} reads them from a node, then start the service again"
