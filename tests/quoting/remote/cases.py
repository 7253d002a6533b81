"""Orders for the tests of services, and ways to change responses."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import pytest

from swapcli.core.errors import (
    InvalidUpstreamResponse,
)
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.order import Order
from swapcli.core.model.quote_request import QuoteRequest, SharePrecision
from swapcli.core.model.route_result import RouteResult
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.core.model.transaction import UnsignedTransaction
from swapcli.quoting.sources.quote_source import quote_and_build
from swapcli.quoting.sources.remote import RemoteSource
from tests.support.fake_service import remote_source
from tests.support.markets import embedded_source

V1, V2 = ApiVersion.V1, ApiVersion.V2
RECIPIENT = "0x" + "ab" * 20
FELT_RECIPIENT = "0x" + "0" * 2 + "ab" * 31


class Case(NamedTuple):
    """An order in symbols; the amount is in base units of the input token, or of the output token if reversed."""

    network: str
    token_in: str
    token_out: str
    amount: int
    api_version: ApiVersion
    reverse: bool = False

    def __str__(self) -> str:
        variant = "reverse" if self.reverse else self.api_version
        return f"{self.network}-{self.token_in}-{self.token_out}-{variant}"

    @property
    def shares(self) -> SharePrecision:
        """Whole in V1, which every service has; fine in V2."""
        return SharePrecision.FINE if self.api_version is ApiVersion.V2 else SharePrecision.WHOLE

    def build_request(self) -> QuoteRequest:
        source = embedded_source(self.network)
        order = Order(source.token(self.token_in), source.token(self.token_out), self.amount, self.reverse)
        return QuoteRequest(order, self.api_version, shares=self.shares)

    def terms(self) -> SwapTerms:
        return SwapTerms(5_000, FELT_RECIPIENT if self.network == "starknet" else RECIPIENT)


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


def without_times(result: RouteResult) -> RouteResult:
    """Return a result without its times, which differ between quotes."""
    return result._replace(time_s=0.0, timestamp_ms=0)


def without_gas(result: RouteResult) -> RouteResult:
    """Return the part of a result that V1 calldata describes."""
    return without_times(result)._replace(gas_units=None, gas_cost_wei=None, gas_usd=None)


@cache
def expected_quote(case: Case) -> tuple[RouteResult, UnsignedTransaction]:
    answer, payload = quote_and_build(embedded_source(case.network), case.build_request(), case.terms())
    # Services report the gas of routes, not of payloads.
    return without_times(answer.result), payload._replace(gas_units=None)


DocumentChange = Callable[[Any], None]
UNTRUSTED_ADDRESS = "0x" + "66" * 20


def set_value(value: object, *path: str | int) -> DocumentChange:
    """Return a change that sets the value at a path of a document."""

    def change(document: Any) -> None:
        for step in path[:-1]:
            document = document[step]
        document[path[-1]] = value

    return change


def mismatch_error(
    case: Case, change: DocumentChange, build: Callable[[RemoteSource, Case], object]
) -> InvalidUpstreamResponse:
    """Return the error for a response that the service has changed."""

    def mutation(_: str, document: Any) -> Any:
        change(document)
        return document

    with remote_source(case.network, mutation) as (source, _), pytest.raises(InvalidUpstreamResponse) as caught:
        build(source, case)
    assert caught.value.message.startswith("127.0.0.1:")
    assert caught.value.message.isprintable()
    return caught.value


def request_quote(source: RemoteSource, case: Case) -> object:
    return source.quote(case.build_request())


def request_quote_and_build(source: RemoteSource, case: Case) -> object:
    return quote_and_build(source, case.build_request(), case.terms())


def post_route(source: RemoteSource, case: Case) -> object:
    return source.build(embedded_source(case.network).quote(case.build_request()).result, case.terms())


SELL_V1, SELL_V2 = Case("monad", "MON", "USDC", 10**20, V1), Case("base", "USDC", "AERO", 10**10, V2)
HYPE, STRK = Case("hyperevm", "HYPE", "USDC", 10**19, V1), Case("starknet", "STRK", "USDC", 10**19, V1)
REVERSE = Case("hyperevm", "HYPE", "USDC", 10**8, V1, reverse=True)
