"""What the service answers from: the networks it serves, their markets, and the routes it gave out.

Markets are opened once, each when it is first needed. Whatever asks them runs in one thread; `networks`, `loaded` and
`missing` may be looked at from any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from swapcli.engine.answer import Origin
from swapcli.engine.clock import SYSTEM_CLOCK, Clock
from swapcli.engine.market_source import MarketSource
from swapcli.errors import MarketUnavailable, SwapcliError
from swapcli.model.market import Market, Provenance
from swapcli.model.network import Network
from swapcli.model.order import DEFAULT_MAX_HOPS
from swapcli.model.terms import DEFAULT_ROUTE_TTL_S
from swapcli.service.issued import IssuedRoutes

Opener = Callable[[], Market]


class Desk:
    """The markets of a service by network.

    `networks` are those whose paths exist; `openers` give the markets of those that are quoted on. `gas_price_wei`
    None takes each market's own.
    """

    def __init__(
        self,
        networks: Iterable[Network],
        openers: Mapping[str, Opener],
        clock: Clock = SYSTEM_CLOCK,
        *,
        route_ttl_s: int = DEFAULT_ROUTE_TTL_S,
        max_hops: int = DEFAULT_MAX_HOPS,
        gas_price_wei: int | None = None,
    ) -> None:
        self.networks = {network.name: network for network in networks}
        self.clock = clock
        self.max_hops = max_hops
        self.gas_price_wei = gas_price_wei
        self.issued = IssuedRoutes()
        self._openers = dict(openers)
        self._route_ttl_s = route_ttl_s
        self._sources: dict[str, MarketSource] = {}

    @property
    def served(self) -> tuple[Network, ...]:
        """The networks that are quoted on."""
        return tuple(network for name, network in self.networks.items() if name in self._openers)

    @property
    def loaded(self) -> Mapping[str, MarketSource]:
        """The markets that are open, by network."""
        return self._sources

    @property
    def missing(self) -> tuple[str, ...]:
        """The networks whose markets are still to be opened, or could not be."""
        return tuple(name for name in self._openers if name not in self._sources)

    def source(self, name: str) -> MarketSource:
        """What answers orders on a network. Raises `MarketUnavailable` where there is no market, or an old one."""
        source = self.open(name)
        if source.market.provenance is Provenance.SYNCED:
            self._check_fresh(source.market)
        return source

    def open(self, name: str) -> MarketSource:
        """What the market of a network gives, however old; opens it the first time. Raises `MarketUnavailable`."""
        if name in self._sources:
            return self._sources[name]
        opener = self._openers.get(name)
        if opener is None:
            raise MarketUnavailable(f"there is no market of {name} to quote on")
        try:
            market = opener()
        except SwapcliError:
            raise MarketUnavailable(f"the market of {name} cannot be loaded") from None
        source = self._sources[name] = MarketSource(market, self.clock, route_ttl_s=self._route_ttl_s)
        # Where the market is a file, it describes its network itself.
        self.networks[name] = market.network
        return source

    def now_ms(self) -> int:
        """Unix time in milliseconds."""
        return int(self.clock.now_s() * 1000)

    def _check_fresh(self, market: Market) -> None:
        age_s = Origin.of(market, self.clock.now_s()).age_s
        if age_s is not None and age_s > self._route_ttl_s:
            raise MarketUnavailable(f"the market of {market.network.name} is {age_s} seconds old, too old to quote on")
