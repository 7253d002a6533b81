"""Tokens and health that a service reports."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from swapcli.core.errors import (
    AmbiguousToken,
    ConfigError,
    UnknownToken,
    Unreachable,
)
from swapcli.core.model.network import Network
from swapcli.core.model.token import Token
from swapcli.core.networks.catalogue import find_network
from swapcli.quoting.sources.remote import RemoteSource
from swapcli.state.clock import SYSTEM_CLOCK
from tests.quoting.remote.cases import (
    SELL_V2,
    UNTRUSTED_ADDRESS,
)
from tests.support.fake_service import remote_source
from tests.support.loopback_server import http_response, loopback_server, respond_with
from tests.support.markets import embedded_source


class TestTokens:
    """Names resolve to tokens of the catalogue, else of the service."""

    LISTED = Token("0x" + "77" * 20, "RARE", "Rare Token", 9)

    def listing(self, *, twin: bool = False) -> Callable[[str, Any], Any]:
        entry = {"address": self.LISTED.address, "name": "Rare Token", "symbol": "RARE", "decimals": "9", "price": None}

        def mutate(path: str, response: Any) -> Any:
            if path == "tokens":
                return [*response, entry, {**entry, "address": UNTRUSTED_ADDRESS}] if twin else [*response, entry]
            return entry if path.startswith("tokens/") else response

        return mutate

    @pytest.mark.parametrize("name", ["ETH", "usdc", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"])
    def test_catalogue_tokens_send_no_request(self, name: str) -> None:
        with remote_source("base") as (source, running):
            assert source.token(name) == embedded_source("base").token(name)._replace(price_usd=None)
            assert not running.exchanges

    def test_tokens_only_the_service_knows_are_requested_once(self) -> None:
        with remote_source("base", self.listing()) as (source, running):
            assert [source.token(name) for name in ("rare", "RARE", self.LISTED.address)] == [self.LISTED] * 3
            assert [exchange.target for exchange in running.exchanges] == ["/base/tokens"]

    def test_an_address_requests_only_that_token(self) -> None:
        with loopback_server(respond_with(http_response(200, json.dumps(self.listing()("tokens/", {}))))) as running:
            source = RemoteSource(running.url, find_network("base"), SYSTEM_CLOCK, api_key=None, timeout_s=5.0)
            assert source.token(self.LISTED.address) == self.LISTED
            assert [exchange.target for exchange in running.exchanges] == [f"/base/tokens/{self.LISTED.address}"]

    def test_a_token_at_another_address_is_not_returned(self) -> None:
        with loopback_server(respond_with(http_response(200, json.dumps(self.listing()("tokens/", {}))))) as running:
            source = RemoteSource(running.url, find_network("base"), SYSTEM_CLOCK, api_key=None, timeout_s=5.0)
            with pytest.raises(UnknownToken):
                source.token(UNTRUSTED_ADDRESS)

    def test_the_service_cannot_rename_catalogue_tokens(self) -> None:
        def rename_tokens(_: str, response: Any) -> Any:
            entries = [{**entry, "symbol": "WETH", "decimals": "1"} for entry in response]
            return [*entries, {**entries[0], "address": UNTRUSTED_ADDRESS, "symbol": "RARE"}]

        with remote_source("base", rename_tokens) as (source, _):
            assert source.token("rare").address == UNTRUSTED_ADDRESS
            assert source.token("USDC") == network_token(find_network("base"), "USDC")

    def test_one_symbol_of_several_tokens_is_ambiguous(self) -> None:
        with remote_source("base", self.listing(twin=True)) as (source, _), pytest.raises(AmbiguousToken):
            source.token("RARE")

    @pytest.mark.parametrize("name", ["NOTHING", UNTRUSTED_ADDRESS])
    def test_an_unknown_token_is_refused(self, name: str) -> None:
        with remote_source("base") as (source, _), pytest.raises(UnknownToken, match="on base"):
            source.token(name)

    @pytest.mark.parametrize("name", ["NOTHING", UNTRUSTED_ADDRESS])
    def test_an_empty_token_list_leaves_the_catalogue_token(self, name: str) -> None:
        with loopback_server(respond_with(http_response(404, "<html>"))) as running:
            source = RemoteSource(running.url, find_network("base"), SYSTEM_CLOCK, api_key=None, timeout_s=5.0)
            with pytest.raises(UnknownToken) as caught:
                source.token(name)
        assert caught.value.hint

    def test_a_failing_service_is_reported(self) -> None:
        with loopback_server(respond_with(b"")) as running:
            source = RemoteSource(
                running.url, find_network("base"), SYSTEM_CLOCK, api_key=None, timeout_s=5.0, retries=0
            )
            with pytest.raises(Unreachable):
                source.token("NOTHING")


def network_token(network: Network, symbol: str) -> Token:
    return next(token for token in network.tokens if token.symbol == symbol)


def test_an_unlisted_intermediate_token_shows_its_address() -> None:
    bare = find_network("base")._replace(tokens=())
    with remote_source("base", served=bare) as (source, _):
        answer = source.quote(SELL_V2.build_request())
    intermediate = {swap.token_out for s in answer.result.segments for hop in s.hops for swap in hop}
    named = {SELL_V2.build_request().order.token_in.address, SELL_V2.build_request().order.token_out.address}
    assert {answer.tokens[address].symbol[:2] for address in intermediate - named} == {"0x"}


class TestHealth:
    """The health that a service reports."""

    @pytest.mark.parametrize(
        ("name", "path"), [("base", "/base/v2/healthcheck"), ("starknet", "/starknet/healthcheck")]
    )
    def test_health_uses_the_api_version_of_the_service(self, name: str, path: str) -> None:
        with remote_source(name) as (source, running):
            health = source.health()
            assert [exchange.target for exchange in running.exchanges] == [path]
        assert (health.network, health.status, health.message, health.is_healthy) == (name, 200, "alive", True)
        assert health.state_source is not None
        assert health.state_source.service_url == running.url
        assert health.time_s > 0

    @pytest.mark.parametrize(
        ("answer", "status", "message"),
        [
            (http_response(200, '{"status": 503, "message": "ill"}'), 503, "ill"),
            (http_response(200, '{"staus": 500, "message": "ill"}'), 500, "ill"),
            (http_response(503, '{"status": 503, "message": "ill\x1b"}'), 503, "responded with status 503"),
            (http_response(503, '{"status": 200, "message": "well"}'), 503, "well"),
            (http_response(503, '{"statusCode": 503, "message": "no state"}'), 503, "no state"),
            (http_response(500, "<html>"), 500, "responded with status 500"),
            (http_response(404, ""), 404, "responded with status 404"),
            (http_response(200, "{}"), 0, "unreadable response: status is missing"),
            (http_response(302, "", "Location: https://other.example"), 0, "https://other.example"),
            (b"", 0, "closed the connection"),
        ],
    )  # fmt: skip
    def test_an_unhealthy_service_is_reported_without_an_exception(
        self, answer: bytes, status: int, message: str
    ) -> None:
        with loopback_server(respond_with(answer)) as running:
            health = RemoteSource(
                running.url, find_network("base"), SYSTEM_CLOCK, api_key=None, timeout_s=5.0, retries=0
            ).health()
        assert not health.is_healthy
        assert message in health.message
        assert health.status == status


@pytest.mark.parametrize("url", ["https://me:secret@quotes.example", "quotes.example", "https://x/?y"])
def test_an_invalid_service_url_is_refused(url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        RemoteSource(url, find_network("base"), SYSTEM_CLOCK, api_key=None, timeout_s=5.0)
    assert "secret" not in caught.value.message
