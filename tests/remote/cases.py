"""Orders that the tests ask services for, and answers that are twisted on the way."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import pytest

from swapcli.api.route_result import RouteResult
from swapcli.engine.sources.remote import RemoteSource
from swapcli.errors import (
    InvalidUpstreamResponse,
)
from swapcli.model.api_version import ApiVersion
from swapcli.model.order import Order
from swapcli.model.quote_request import QuoteRequest
from swapcli.model.swap_terms import SwapTerms
from swapcli.model.transaction import UnsignedTransaction
from tests.support.fake_service import remote_source
from tests.support.markets import embedded_source

V1, V2 = ApiVersion.V1, ApiVersion.V2
RECEIVER = "0x" + "ab" * 20
FELT_RECEIVER = "0x" + "0" * 24 + "ab" * 20


class Case(NamedTuple):
    """An order in words, in base units of the token that is sold."""

    network: str
    token_in: str
    token_out: str
    amount: int
    api_version: ApiVersion
    reverse: bool = False

    def __str__(self) -> str:
        way = "reverse" if self.reverse else self.api_version
        return f"{self.network}-{self.token_in}-{self.token_out}-{way}"

    def ask(self) -> QuoteRequest:
        source = embedded_source(self.network)
        order = Order(source.token(self.token_in), source.token(self.token_out), self.amount, self.reverse)
        return QuoteRequest(order, self.api_version)

    def terms(self) -> SwapTerms:
        return SwapTerms(5_000, FELT_RECEIVER if self.network == "starknet" else RECEIVER)


CASES = (
    *(Case("base", "ETH", "USDC", 10**19, api_version) for api_version in ApiVersion),
    *(Case("base", "USDC", "ETH", 10**10, api_version) for api_version in ApiVersion),
    *(Case("base", "WETH", "USDC", 10**18, api_version) for api_version in ApiVersion),
    *(Case("base", "ETH", "WETH", 10**18, api_version) for api_version in ApiVersion),
    *(Case("hyperevm", "HYPE", "USDC", 10**19, api_version) for api_version in ApiVersion),
    Case("hyperevm", "HYPE", "USDC", 10**8, V1, reverse=True),
    *(Case("citrea", "cBTC", "ctUSD", 10**16, api_version) for api_version in ApiVersion),
    *(Case("monad", "MON", "USDC", 10**20, api_version) for api_version in ApiVersion),
    Case("starknet", "STRK", "USDC", 10**19, V1),
)


def timeless(result: RouteResult) -> RouteResult:
    """A result without its times, which no two quotes share."""
    return result._replace(time_s=0.0, timestamp_ms=0)


def gasless(result: RouteResult) -> RouteResult:
    """What V1 calldata tells of a route."""
    return timeless(result)._replace(gas=0, gas_usd=None)


@cache
def core(case: Case) -> tuple[RouteResult, UnsignedTransaction]:
    answer, payload = embedded_source(case.network).quote_and_build(case.ask(), case.terms())
    return timeless(answer.result), payload


Twisted = Callable[[Any], None]
STRANGER = "0x" + "66" * 20


def put(value: object, *path: str | int) -> Twisted:
    """Puts another value where the path leads in a document."""

    def twist(document: Any) -> None:
        for step in path[:-1]:
            document = document[step]
        document[path[-1]] = value

    return twist


def refused(case: Case, twist: Twisted, build: Callable[[RemoteSource, Case], object]) -> InvalidUpstreamResponse:
    """The error of an answer that a service has twisted."""

    def twisted(_: str, document: Any) -> Any:
        twist(document)
        return document

    with remote_source(case.network, twisted) as (source, _), pytest.raises(InvalidUpstreamResponse) as caught:
        build(source, case)
    assert caught.value.message.startswith("127.0.0.1:")
    assert caught.value.message.isprintable()
    return caught.value


def quote(source: RemoteSource, case: Case) -> object:
    return source.quote(case.ask())


def at_once(source: RemoteSource, case: Case) -> object:
    return source.quote_and_build(case.ask(), case.terms())


def posted(source: RemoteSource, case: Case) -> object:
    return source.build(embedded_source(case.network).quote(case.ask()).result, case.terms())


SELL_V1, SELL_V2 = Case("monad", "MON", "USDC", 10**20, V1), Case("base", "USDC", "AERO", 10**10, V2)
HYPE, STRK = Case("hyperevm", "HYPE", "USDC", 10**19, V1), Case("starknet", "STRK", "USDC", 10**19, V1)
REVERSE = Case("hyperevm", "HYPE", "USDC", 10**8, V1, reverse=True)
