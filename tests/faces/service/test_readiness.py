"""Whether networks can be quoted: one rule for orders, readiness and health checks, as a table over states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

import pytest

from swapcli.core.model.market import MarketState, Provenance
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.faces.service.access_log import AccessLog
from swapcli.faces.service.app import create_app
from swapcli.faces.service.market_registry import MarketRegistry, ServiceRules
from swapcli.quoting.config.settings import ServiceSettings
from swapcli.quoting.price_policy import PriceRequest
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.state.clock import SYSTEM_CLOCK
from tests.support.command import run_swapcli
from tests.support.markets import embedded_market
from tests.support.service import (
    FakeClock,
    InProcessService,
    build_app,
    build_order_query,
    open_testnet_market,
    serve_app,
)
from tests.support.testnet import NOW_S

TTL_S = 60


class State(NamedTuple):
    """The state of a network: the age of its latest block in seconds, or the provenance of prices without a block.
    Nothing has been read if it has neither; nothing was even tried unless `is_tried`."""

    age_s: int | None = None
    provenance: Provenance | None = None
    is_tried: bool = True


FRESH, AT_THE_LIMIT, STALE = State(0), State(TTL_S), State(TTL_S + 1)
FAILED, UNTRIED, MODELLED = State(), State(is_tried=False), State(provenance=Provenance.MODELLED)

TABLE = (
    # The states of networks a, b and so on; whether modelled prices were requested; ready; the missing networks.
    pytest.param((FRESH,), False, True, "", id="fresh"),
    pytest.param((AT_THE_LIMIT,), False, True, "", id="as old as allowed"),
    pytest.param((STALE,), False, False, "a", id="stale"),
    pytest.param((FAILED,), False, False, "a", id="failed"),
    pytest.param((UNTRIED,), False, False, "a", id="never read"),
    pytest.param((MODELLED,), False, False, "a", id="modelled"),
    pytest.param((MODELLED,), True, True, "", id="modelled as requested"),
    pytest.param((STALE,), True, False, "a", id="stale although modelled prices are requested"),
    pytest.param((FRESH, STALE), False, True, "b", id="fresh and stale"),
    pytest.param((FRESH, FAILED, MODELLED), False, True, "bc", id="fresh, failed and modelled"),
    pytest.param((FRESH, UNTRIED), False, False, "b", id="fresh and never read"),
    pytest.param((STALE, FAILED, MODELLED), False, False, "abc", id="nothing"),
    pytest.param((STALE, MODELLED), True, True, "a", id="stale, and modelled as requested"),
)


def market_of(name: str, state: State) -> MarketState:
    market = open_testnet_market()
    market = market._replace(network=market.network._replace(name=name))
    if state.age_s is None:
        assert state.provenance is not None
        return market._replace(provenance=state.provenance)
    return market._replace(provenance=Provenance.SYNCED, block=5, timestamp=int(NOW_S) - state.age_s)


@contextmanager
def serving(states: Mapping[str, State], *, is_requested: bool) -> Iterator[InProcessService]:
    """Serve networks in these states, as followers have set them."""
    service = InProcessService({})
    clock = service.fake_clock.clock
    service.registry = MarketRegistry(
        [open_testnet_market().network._replace(name=name) for name in states],
        {},
        clock,
        ServiceRules(terms=SwapTerms(0, ttl_s=TTL_S)),
        followed=states,
        price_request=PriceRequest.OFFLINE if is_requested else PriceRequest.NONE,
    )
    for name, state in states.items():
        if state.age_s is not None or state.provenance is not None:
            service.registry.set_source(InMemorySource(market_of(name, state), clock))
        elif state.is_tried:
            service.registry.mark_tried(name)
    service.app = create_app(service.registry, ServiceSettings(), log=AccessLog(service.log))
    try:
        yield service
    finally:
        service.close()


@pytest.mark.parametrize(("states", "is_requested", "is_ready", "missing"), TABLE)
def test_readiness_health_and_orders_agree(
    states: tuple[State, ...], is_requested: bool, is_ready: bool, missing: str
) -> None:
    names = "abc"[: len(states)]
    with serving(dict(zip(names, states, strict=True)), is_requested=is_requested) as service:

        def ask(path: str) -> tuple[int, object]:
            response = service.send("GET", path)
            return response.status_code, response.json()

        assert ask("/readyz") == (200 if is_ready else 503, {"ready": is_ready, "missing": list(missing)})
        for name, state in zip(names, states, strict=True):
            is_missing = name in missing
            status = 503 if is_missing else 200
            document = {"ready": not is_missing, "missing": [name] * is_missing}
            assert ask(f"/readyz?network={name}") == (status, document)
            assert [ask(f"/{name}{path}/healthcheck")[0] for path in ("", "/v2")] == [status, status]
            # Modelled prices are shown with a label; every other order follows the same rule.
            order = service.get(f"/{name}/v2/route", build_order_query("testnet"))
            assert order.status_code == (200 if state is MODELLED else status)


def test_a_network_without_a_source_of_pools_is_missing() -> None:
    """Nothing will ever load it, so the others do not wait for it."""
    market, clock = market_of("a", FRESH), FakeClock().clock
    registry = MarketRegistry([market.network, market.network._replace(name="b")], {"a": lambda: market}, clock)
    assert (registry.is_ready, registry.missing_networks) == (False, ("a", "b"))
    registry.open_source("a")
    assert (registry.is_ready, registry.missing_networks) == (True, ("b",))
    alone = MarketRegistry([market.network], {}, clock)
    assert (alone.is_ready, alone.missing_networks) == (False, ("a",))


def test_a_network_becomes_stale_and_recovers() -> None:
    with serving({"a": FRESH}, is_requested=False) as service:
        clock = service.fake_clock
        clock.advance(TTL_S)
        assert service.get("/readyz").status_code == 200
        clock.advance(1)
        assert service.get("/readyz").json() == {"ready": False, "missing": ["a"]}
        newer = market_of("a", FRESH)._replace(block=6, timestamp=int(clock.now_s))
        service.registry.set_source(InMemorySource(newer, clock.clock))
        assert service.get("/readyz").json() == {"ready": True, "missing": []}


def test_an_order_on_stale_state_says_when_to_retry_and_the_log_what_to_do() -> None:
    """A client cannot act on the service's options and settings."""
    with serving({"a": STALE}, is_requested=False) as service:
        response = service.get("/a/route", build_order_query("testnet"))
        problem = "the pool state of a is 61 seconds old, so a maximum age of 60 seconds cannot be met"
        assert (response.status_code, response.headers["Retry-After"]) == (503, "2")
        assert response.json() == {
            "statusCode": 503,
            "message": problem,
            "error": "Service Unavailable",
            "hint": "retry later",
            "code": "MARKET_UNAVAILABLE",
        }
        *_, line = service.log_lines()
        assert (line["status"], line["reason"]) == (503, "MARKET_UNAVAILABLE")
        hint = "set a different node with SWAPCLI_NETWORKS_A_RPC_URL, or allow a greater age with --max-age"
        assert line["message"] == f"{problem}: {hint}"


@pytest.mark.parametrize("age_s", [0, 3600])
def test_the_commands_that_use_a_service_follow_its_rule(age_s: int) -> None:
    market = embedded_market("base")
    timestamp = int(SYSTEM_CLOCK.now_s()) - age_s
    market = market._replace(provenance=Provenance.SYNCED, block=5, timestamp=timestamp)
    registry = MarketRegistry([market.network], {"base": lambda: market}, rules=ServiceRules(max_age_s=600))
    with serve_app(build_app(registry)) as url:
        checked = run_swapcli("health", "base", "--api-url", url, "--retries", "0", "--json")
        assert checked.exit_code == (8 if age_s else 0)
        assert checked.json[0]["healthy"] is (age_s == 0)
        quoted = run_swapcli("route", "base", "ETH", "USDC", "1.5", "--api-url", url, "--json")
        assert quoted.exit_code == (6 if age_s else 0)
        if age_s:
            assert (quoted.error["code"], quoted.error["hint"]) == ("MARKET_UNAVAILABLE", "retry later")
            assert quoted.error["retryable"] is True
