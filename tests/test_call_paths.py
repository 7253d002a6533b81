"""A request is short to follow: few changes of module, and few calls of what was handed down."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlencode

import pytest

from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.order import Order
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.faces.cli.options import OrderOptions, OutputOptions
from swapcli.faces.cli.quote_context import open_quote_context, read_order, split_words
from swapcli.faces.cli.session import open_session
from swapcli.faces.service import endpoints
from swapcli.faces.service.endpoint_messages import EndpointRequest
from swapcli.interface import requests
from swapcli.quoting.price_policy import PriceUse
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.state.clock import SYSTEM_CLOCK
from tests.call_paths import CallPath, Crossing, trace
from tests.support.markets import embedded_market
from tests.support.service import build_order_query, open_registry
from tests.test_layers import import_graph, is_in

NETWORK = "base"


def described(crossings: Iterable[Crossing]) -> str:
    return "\n".join(f"{each.caller} -> {each.called}" for each in crossings)


def check(path: CallPath, *, most: int, most_upward: int) -> None:
    """Check the number of crossings and of those that go up, and that something was traced at all."""
    assert 3 < len(path.crossings) <= most, described(path.crossings)
    assert len(path.upward) <= most_upward, described(path.upward)


def test_the_modules_of_a_path_are_those_of_the_layers() -> None:
    path = trace(lambda: InMemorySource(embedded_market(NETWORK), SYSTEM_CLOCK))
    assert {name for crossing in path.crossings for name in crossing} <= import_graph().keys()


def test_a_handed_down_function_goes_up() -> None:
    assert Crossing("core.routing", "quoting.market").goes_up
    assert Crossing("quoting.amounts", "quoting.market").goes_up
    assert not Crossing("quoting.market", "quoting.amounts").goes_up


def test_a_route_over_http_is_short_to_follow() -> None:
    registry = open_registry([NETWORK])
    query = urlencode(build_order_query(NETWORK)).encode()
    network = registry.networks[NETWORK]
    known = frozenset(build_order_query(NETWORK))
    request = EndpointRequest(network, PriceUse.SHOWN, query, b"", "", "route", None, [], known, [])
    answer = trace(lambda: endpoints.route(requests.ROUTE_V1, registry, request).run(lambda: False))
    check(answer, most=27, most_upward=1)


def words_path(amount: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> CallPath:
    """The path from the words of a command to its order."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder))
    session = open_session(OutputOptions(), {}, offline=True)
    context = open_quote_context(session, NETWORK, OrderOptions())

    def read() -> Order:
        _, words = split_words(session, (NETWORK, "ETH", "USDC", amount))
        return context.build_order(read_order(words, "route", "base", raw=False))

    assert read().amount > 0
    return trace(read)


@pytest.mark.parametrize("amount", ["1.5", "2k"])
def test_the_words_of_an_order_only_go_down(amount: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check(words_path(amount, tmp_path, monkeypatch), most=9, most_upward=0)


def test_dollars_go_up_only_inside_their_quote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = words_path("$1000", tmp_path, monkeypatch)
    assert not [each for each in path.upward if not is_in(each.caller, {"core"})], described(path.upward)


def test_a_quote_in_memory_is_short_to_follow() -> None:
    source = InMemorySource(embedded_market(NETWORK), SYSTEM_CLOCK)
    request = QuoteRequest(Order(source.token("ETH"), source.token("USDC"), 10**18), ApiVersion.V1)
    check(trace(lambda: source.quote(request)), most=8, most_upward=1)
