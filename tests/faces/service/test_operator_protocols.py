"""The settings `exclude_protocols` and `only_protocols` of an operator apply to every order of the service."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from swapcli.faces.service.market_registry import ServiceRules
from tests.faces.service.test_endpoints import protocols_of
from tests.faces.service.test_quote_stream import serving
from tests.support.command import run_swapcli
from tests.support.service import InProcessService, build_order_query, build_swap_terms, in_process_service
from tests.support.service_process import run_service
from tests.support.testnet import USDC, WETH, write_market_file

V2, V3 = 4, 5
"""The ids of the test network's protocols. A large order uses both."""
LARGE = 25 * 10**18
STARKNET_PARTS = 2


@pytest.fixture(scope="module")
def market_file(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_market_file(tmp_path_factory.mktemp("market"))


@pytest.fixture
def service() -> Iterator[InProcessService]:
    with in_process_service("testnet", "starknet") as served:
        yield served


def query(**more: str) -> dict[str, str]:
    return build_order_query("testnet", LARGE, **more)


RULES = [ServiceRules(exclude_protocols=("uniswapV3",)), ServiceRules(only_protocols=("Uniswap V2",))]


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("path", ["route", "v2/route"])
def test_every_order_keeps_to_them(service: InProcessService, rules: ServiceRules, path: str) -> None:
    free = service.get_json(f"/testnet/{path}", query())
    asked = service.get_json(f"/testnet/{path}", query(excludeProtocols=str(V3)))
    service.registry.rules = rules
    kept = service.get_json(f"/testnet/{path}", query())
    assert protocols_of(free) == {V2, V3}
    assert protocols_of(kept) == {V2}
    assert (kept["outputAmount"], kept["route"]) == (asked["outputAmount"], asked["route"])
    for more in ({"protocols": "extended"}, {"onlyProtocols": str(V2)}):
        assert protocols_of(service.get_json(f"/testnet/{path}", query(**more))) == {V2}


@pytest.mark.parametrize("rules", RULES)
def test_transactions_and_posted_routes_keep_to_them(service: InProcessService, rules: ServiceRules) -> None:
    issued = {path: service.get_json(f"/testnet/{path}", query()) for path in ("route", "v2/route")}
    terms = build_swap_terms("testnet")
    service.registry.rules = rules
    built = service.get_json("/testnet/v2/routeAndCalldata", query(**{k: str(v) for k, v in terms.items()}))
    assert protocols_of(built["route"]) == {V2}
    posts = [("execute", "route"), ("calldata", "route"), ("v2/calldata", "v2/route")]
    for path, origin in posts:
        answer = service.post(f"/testnet/{path}", {"route": issued[origin], **terms})
        assert answer.status_code == 400, path
        assert "this service does not use uniswapV3" in answer.text
    kept = service.get_json("/testnet/v2/route", query())
    assert service.post("/testnet/v2/calldata", {"route": kept, **terms}).status_code == 200


def test_an_orders_own_exclusions_add_to_them(service: InProcessService) -> None:
    service.registry.rules = RULES[0]
    answer = service.get("/testnet/route", query(excludeProtocols=str(V2)))
    assert not answer.json()["success"]
    assert "without uniswapV2, uniswapV3" in answer.json()["errorMessage"]


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("named", [str(V3), f"{V2},{V3}"])
def test_a_protocol_outside_them_cannot_be_asked_for(
    service: InProcessService, rules: ServiceRules, named: str
) -> None:
    service.registry.rules = rules
    answer = service.get("/testnet/v2/route", query(onlyProtocols=named))
    assert answer.status_code == 400
    assert answer.json()["message"] == "this service does not use uniswapV3"
    assert answer.json()["hint"] == "allow others"


def test_starknets_batches_keep_to_them(service: InProcessService) -> None:
    order = build_order_query("starknet", 10**18)
    used = protocols_of(service.get_json("/starknet/route", order))
    names = {each["protocol"]: each["amm_name"] for each in service.get("/starknet/protocols").json()}
    service.registry.rules = ServiceRules(exclude_protocols=tuple(names[each] for each in used))
    batch = {
        "amounts": ",".join([order["amount"]] * STARKNET_PARTS),
        "tokenInAddresses": ",".join([order["tokenInAddress"]] * STARKNET_PARTS),
        "tokenOutAddresses": order["tokenOutAddress"],
    }
    routes = service.get_json("/starknet/routeBatch", batch)
    assert len(routes) == STARKNET_PARTS
    assert not any(protocols_of(each) & used for each in routes)


def test_names_of_other_networks_count_for_nothing_or_allow_nothing() -> None:
    with in_process_service("testnet") as service:
        free = service.get_json("/testnet/route", query())
        service.registry.rules = ServiceRules(exclude_protocols=("Ekubo",))
        assert service.get_json("/testnet/route", query())["route"] == free["route"]
        service.registry.rules = ServiceRules(only_protocols=("Ekubo",))
        assert "without uniswapV2, uniswapV3" in service.get("/testnet/route", query()).json()["errorMessage"]
        assert service.get("/readyz").status_code == 200


def test_streams_keep_to_them() -> None:
    with serving() as service:
        service.registry.rules = RULES[0]
        with service.listening(amount=str(LARGE)) as events:
            assert protocols_of(next(events).data["quote"]) == {V2}


@pytest.mark.parametrize(
    "setting", [{"SWAPCLI_EXCLUDE_PROTOCOLS": "uniswapV3"}, {"SWAPCLI_ONLY_PROTOCOLS": "uniswapV2"}]
)
def test_serve_applies_the_settings_like_route(market_file: str, setting: dict[str, str]) -> None:
    command = ("route", "testnet", WETH, USDC, "25", "--market", market_file, "--json")
    printed = run_swapcli(*command, env=setting).json
    with run_service("--market", market_file, env=setting) as service:
        response = httpx.get(f"{service.url}/testnet/v2/route", params=query(shares="fine"), timeout=30)
    document = response.json()
    assert document["outputAmount"] == printed["outputAmount"]


@pytest.mark.parametrize("setting", ["exclude_protocols", "only_protocols"])
def test_serve_refuses_a_name_that_no_network_has(market_file: str, setting: str) -> None:
    variable = {f"SWAPCLI_{setting.upper()}": "uniswapV2,uniswapv33"}
    ran = run_swapcli("serve", "--port", "0", "--market", market_file, "--json", env=variable)
    assert ran.exit_code == 2
    assert ran.error["code"] == "UNKNOWN_PROTOCOL"
    assert ran.error["message"] == f"{setting}: no protocol uniswapv33 on testnet"
    assert ran.error["hint"] == "did you mean uniswapV3 or uniswapV2?"
