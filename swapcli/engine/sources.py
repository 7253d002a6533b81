"""Whatever answers orders: today a market in memory, embedded or from a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Protocol

from swapcli.engine.answer import Answer, Origin
from swapcli.engine.clock import Clock
from swapcli.engine.lookup import find_token
from swapcli.engine.wrapping import check_wrapper_allowed, is_wrapping, wrap_quote
from swapcli.errors import InvalidInput, NoRoute, SameToken
from swapcli.markets.embedded import checksummed_addresses, embedded_market
from swapcli.markets.format import ParsedMarket, parse_market
from swapcli.model.market import Market
from swapcli.model.network import Network
from swapcli.model.order import ZERO_ADDRESS, Order
from swapcli.model.pool import Pool
from swapcli.model.route import Quote
from swapcli.model.token import Token
from swapcli.networks.address import know_checksummed
from swapcli.routing import Router


class QuoteSource(Protocol):
    """Answers orders on one network."""

    @property
    def network(self) -> Network:
        """The network that is served."""

    def token(self, name: str) -> Token:
        """The token called `name`, by symbol or address; the native one by its zero address."""

    def answer(self, order: Order, *, gas_price_wei: int | None = None, certify: bool = False) -> Answer:
        """The best route for `order`. Raises `SameToken`, `NoRoute`, `InvalidInput`."""


class MarketSource:
    """A market in memory; its index is built once and serves every order."""

    def __init__(self, market: Market, clock: Clock) -> None:
        self.market = market
        self._clock = clock
        self._router = Router(market)

    @property
    def network(self) -> Network:
        """The market's network."""
        return self.market.network

    def token(self, name: str) -> Token:
        """As `QuoteSource.token`; also knows the catalogue's tokens that the market does not hold."""
        return find_token(name, self.network, self.market.tokens)

    def answer(self, order: Order, *, gas_price_wei: int | None = None, certify: bool = False) -> Answer:
        """As `QuoteSource.answer`. The quote's time is that of the core alone."""
        if order.token_in.address == order.token_out.address:
            raise SameToken
        started_s = self._clock.timer_s()
        quote, pools = self._quote(order, gas_price_wei, certify)
        time_s = round(self._clock.timer_s() - started_s, 6)
        now_s = self._clock.now_s()
        return Answer(
            order=order,
            quote=quote._replace(time_s=time_s),
            network=self.network,
            tokens=self.market.tokens,
            pools=pools,
            origin=Origin.of(self.market, now_s),
            timestamp_ms=int(now_s * 1000),
            invented=self.market.invented.intersection(step.pool for step in quote.steps),
        )

    def _quote(self, order: Order, gas_price_wei: int | None, certify: bool) -> tuple[Quote, Mapping[str, Pool]]:
        if is_wrapping(order, self.network):
            check_wrapper_allowed(order, self.network)
            gas_price_wei = self.market.gas_price_wei if gas_price_wei is None else gas_price_wei
            return wrap_quote(order, gas_price_wei, self._native_price_usd(), certify=certify)
        wrapped = replace(order, token_in=self._held(order.token_in), token_out=self._held(order.token_out))
        return self._router.quote(wrapped, gas_price_wei=gas_price_wei, certify=certify), self.market.pools

    def _native_price_usd(self) -> float | None:
        return self._router.usd_prices(self._wrapped(self.network.native))[0]

    def _held(self, token: Token) -> Token:
        """The token as the market's pools know it, called as it was asked for. Raises `NoRoute` where no pool can."""
        wrapped = self._wrapped(token)
        if wrapped.address not in self.market.tokens:
            raise NoRoute(
                f"no route: the market of {self.network.name} holds no pool of {token.symbol}",
                hint=f"swapcli tokens {self.network.name} lists what it holds",
                details={"token": wrapped.address},
            )
        return wrapped._replace(symbol=token.symbol)

    def _wrapped(self, token: Token) -> Token:
        wrapped = self.network.wrapped_native
        return wrapped if wrapped and token.address == ZERO_ADDRESS else token


def open_market(
    name: str,
    networks: Callable[[str], Network],
    *,
    document: bytes | None = None,
    skip_bad_pools: bool = False,
) -> ParsedMarket:
    """The market of the network called `name`: from the bytes of a market file, else the embedded one.

    Raises `UnknownNetwork`, `MarketError` naming the pool or field, and `InvalidInput` for another network's file.
    """
    if document is None:
        embedded = embedded_market(networks(name).name)
        know_checksummed(checksummed_addresses(embedded))
        return parse_market(embedded, networks=networks)
    parsed = parse_market(document, networks=networks, skip_bad_pools=skip_bad_pools)
    held = parsed.market.network.name
    if name.lower() not in (held.lower(), str(parsed.market.network.chain_id)):
        raise InvalidInput(
            f'the market file is of "{held}", not of "{name}"',
            hint=f"give {held} as the network",
            details={"network": name, "market_network": held},
        )
    return parsed
