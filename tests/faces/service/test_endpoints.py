"""Every endpoint on every network: responses equal the quotes of the core, transactions match their routes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.swap_terms import min_received
from swapcli.core.networks.catalogue import find_network, network_names
from swapcli.core.routing.replay import replay
from swapcli.faces.service.endpoint_table import ENDPOINTS
from swapcli.faces.service.key_file import ApiKey, KeyLookup
from swapcli.interface.interface_by_network import network_variant
from swapcli.interface.route import parse_result
from swapcli.payload.evm import decode_call
from swapcli.payload.starknet import deserialise_call
from tests.examples import examples
from tests.support.markets import embedded_market
from tests.support.service import (
    EVM_NETWORKS,
    RECIPIENT,
    ROUTER,
    InProcessService,
    Json,
    build_order_query,
    build_swap_terms,
    in_process_service,
    open_testnet_market,
)
from tests.support.testnet import USDC, WETH

ALL = (*network_names(), "testnet")
EVM = (*EVM_NETWORKS, "testnet")
DEFAULT_PPM = 5_000
EARNER = "0x" + "ab" * 20


@pytest.fixture(scope="module")
def service() -> Iterator[InProcessService]:
    with in_process_service(*ALL) as served:
        yield served


def replayed(name: str, route: Json) -> int:
    """The output of replaying a route response."""
    market = open_testnet_market() if name == "testnet" else embedded_market(name)
    result = parse_result(route, market.network)
    return replay(market.pools, result.route, result.input_amount).amount_out


def call_of(document: Json) -> Json:
    return {key: document[key] for key in ("route", "swap_parameters")}


@pytest.mark.parametrize("name", ALL)
def test_v1_route_says_what_the_replay_of_it_gives(service: InProcessService, name: str) -> None:
    route = service.get_json(f"/{name}/route", build_order_query(name))
    assert int(route["outputAmount"]) == replayed(name, route) > 0
    assert route["success"] is True
    assert route["routeSwapType"] == 0
    assert "meta" not in route
    assert "outputAmountAfterFee" not in route
    query = build_order_query(name)["tokenInAddress"]
    assert route["inputToken"]["address"] == query


@pytest.mark.parametrize("name", EVM)
def test_v2_route_says_what_the_replay_of_it_gives_and_when(service: InProcessService, name: str) -> None:
    route = service.get_json(f"/{name}/v2/route", build_order_query(name))
    assert int(route["outputAmount"]) == replayed(name, route) > 0
    assert route["routeSwapType"] == 0
    assert route["inputToken"]["address"] != ZERO_ADDRESS
    assert route["meta"] == {"apiVersion": "2.0", "timestamp": "2027-01-15T08:00:00.500Z"}
    assert "integratorAddress" not in route


@given(amount=st.integers(10**9, 10**24), name=st.sampled_from(EVM), v2=st.booleans())
@settings(max_examples=examples(10, full=40), deadline=None)
def test_every_amount_that_is_answered_is_the_replays(
    service: InProcessService, amount: int, name: str, v2: bool
) -> None:
    route = service.get_json(f"/{name}/v2/route" if v2 else f"/{name}/route", build_order_query(name, amount))
    if route["success"]:
        assert int(route["outputAmount"]) == replayed(name, route)
        assert route["inputAmount"] == str(amount)


@pytest.mark.parametrize("name", EVM)
def test_v2_route_then_calldata_is_route_and_calldata_in_one(service: InProcessService, name: str) -> None:
    route = service.get_json(f"/{name}/v2/route", build_order_query(name))
    apart = service.post(f"/{name}/v2/calldata", {"route": route, **build_swap_terms(name)}).json()
    at_once = service.get_json(f"/{name}/v2/routeAndCalldata", {**build_order_query(name), **build_swap_terms(name)})
    assert call_of(at_once["calldata"]) == call_of(apart)
    assert at_once["router_address"] == apart["router_address"]
    assert at_once["meta"]["apiVersion"] == apart["meta"]["apiVersion"] == "2.0"
    assert {**at_once["route"], "time": 0} == {**route, "time": 0}
    assert apart["route"]["amount_out"] == route["outputAmount"]
    assert int(apart["route"]["min_received"]) == min_received(int(route["outputAmount"]), DEFAULT_PPM)
    assert apart["route"]["destination"].lower() == RECIPIENT


def test_calldata_of_posted_fine_shares_is_that_of_the_order(service: InProcessService) -> None:
    name = "base"
    query, terms = {**build_order_query(name, 10**21), "shares": "fine"}, build_swap_terms(name)
    for path in (f"/{name}/route", f"/{name}/v2/route"):
        route = service.get_json(path, query)
        assert any("." in segment["percent"] for segment in route["route"])
        posted = service.post(f"/{name}/{'v2/calldata' if 'meta' in route else 'calldata'}", {"route": route, **terms})
        if "meta" in route:
            at_once = service.get_json(f"/{name}/v2/routeAndCalldata", query | terms)["calldata"]
            assert call_of(posted.json()) == call_of(at_once)
        else:
            assert posted.json()["calldata"] == service.post(f"/{name}/calldata", query | terms).json()["calldata"]
            executed = service.post(f"/{name}/execute", {"route": route, **terms}).json()
            assert executed["calldata"] == posted.json()["calldata"]


@pytest.mark.parametrize("name", EVM)
def test_v1_route_then_execute_is_calldata_in_one(service: InProcessService, name: str) -> None:
    route = service.get_json(f"/{name}/route", build_order_query(name))
    executed = service.post(f"/{name}/execute", {"route": route, **build_swap_terms(name)}).json()
    at_once = service.post(f"/{name}/calldata", {**build_order_query(name), **build_swap_terms(name)}).json()
    posted = service.post(f"/{name}/calldata", {"route": route, **build_swap_terms(name)}).json()
    assert list(at_once) == ["success", "route", "swap_parameters", "calldata", "to", "value"]
    assert list(at_once["route"]) == ["inputToken", "outputToken", "inputAmount", "outputAmount", "time", "route"]
    assert posted["calldata"] == at_once["calldata"]
    assert posted["value"] == at_once["value"] == build_order_query(name)["amount"]
    if network_variant(name).execute_has_transaction:
        assert {key: executed[key] for key in ("calldata", "to", "value")} == {
            key: at_once[key] for key in ("calldata", "to", "value")
        }
    else:
        assert set(executed) == {"route", "swap_parameters"}
    assert ("token_in" in executed["route"]) is network_variant(name).call_names_tokens
    assert "token_in" in posted["route"]


@pytest.mark.parametrize("name", EVM)
def test_calldata_says_in_bytes_what_its_answer_says_in_json(service: InProcessService, name: str) -> None:
    answer = service.post(
        f"/{name}/calldata",
        {"route": service.get_json(f"/{name}/route", build_order_query(name)), **build_swap_terms(name)},
    )
    document = answer.json()
    call = decode_call(document["calldata"])
    assert str(call.route.min_received) == document["route"]["min_received"]
    assert str(call.route.amount_out) == document["route"]["amount_out"]
    assert [str(swap.rate) for swap in call.swaps] == [swap["rate"] for swap in document["swap_parameters"]]
    assert call.route.recipient == RECIPIENT


@pytest.mark.parametrize("name", EVM)
def test_the_unversioned_route_and_calldata_is_v1_without_meta(service: InProcessService, name: str) -> None:
    answer = service.get_json(f"/{name}/routeAndCalldata", {**build_order_query(name), **build_swap_terms(name)})
    executed = service.post(f"/{name}/calldata", {"route": answer["route"], **build_swap_terms(name)}).json()
    assert list(answer) == ["route", "calldata", "router_address"]
    assert call_of(answer["calldata"]) == call_of(executed)
    assert answer["router_address"] == executed["to"]


def test_execute_takes_a_v2_route_too(service: InProcessService) -> None:
    v1, v2 = (service.get_json(path, build_order_query("base")) for path in ("/base/route", "/base/v2/route"))
    executed = [
        service.post("/base/execute", {"route": route, **build_swap_terms("base")}).json() for route in (v1, v2)
    ]
    assert executed[0] == executed[1]


def test_hyperevm_takes_an_order_by_get(service: InProcessService) -> None:
    query = {**build_order_query("hyperevm"), **build_swap_terms("hyperevm", 49)}
    answer = service.get_json("/hyperevm/calldata", query)
    assert list(answer) == ["route", "calldata"]
    assert set(answer["calldata"]) == {"route", "swap_parameters"}
    assert answer["calldata"]["route"]["amount_out"] == answer["route"]["outputAmount"]
    assert int(answer["route"]["outputAmount"]) == replayed("hyperevm", answer["route"])
    executed = service.post("/hyperevm/execute", {"route": answer["route"], **build_swap_terms("hyperevm", 49)}).json()
    assert executed == answer["calldata"]


@pytest.mark.parametrize("path", ["/hyperevm/route", "/hyperevm/calldata"])
def test_hyperevm_finds_the_least_input_for_a_wanted_output(service: InProcessService, path: str) -> None:
    desired_output = 1_000_000
    query = {**build_order_query("hyperevm", desired_output, reverse="true"), **build_swap_terms("hyperevm")}
    answer = service.get_json(path, query)
    route = answer.get("route", answer) if path.endswith("calldata") else answer
    assert int(route["outputAmount"]) >= desired_output
    assert int(route["outputAmount"]) == replayed("hyperevm", route)
    less = build_order_query("hyperevm", int(route["inputAmount"]) * 999 // 1000)
    assert int(service.get_json("/hyperevm/route", less)["outputAmount"]) < desired_output


def test_a_wanted_output_is_not_guaranteed(service: InProcessService) -> None:
    terms = build_swap_terms("hyperevm")
    order = {**build_order_query("hyperevm", 1_000_000, reverse="true"), "details": "true"}
    code = "OUTPUT_NOT_GUARANTEED"
    quoted = service.get("/hyperevm/route", {**order, "slippage": terms["slippage"]})
    assert code not in quoted.headers.get("X-Swap-Warnings", "")
    for path in ("/hyperevm/calldata", "/hyperevm/routeAndCalldata"):
        built = service.get(path, {**order, **terms})
        assert code in built.headers["X-Swap-Warnings"]
        assert code in [each["code"] for each in built.json()["route"]["warnings"]]
        sold = service.get(path, {**build_order_query("hyperevm"), **terms})
        assert code not in sold.headers["X-Swap-Warnings"]


def test_hyperevm_excludes_protocols_by_name(service: InProcessService) -> None:
    first = service.get_json("/hyperevm/route", build_order_query("hyperevm"))
    used = first["route"][0]["swaps"][0][0]["protocol"]
    name = next(each.amm_name for each in find_network("hyperevm").protocols if each.id == used)
    rest = service.get_json("/hyperevm/route", {**build_order_query("hyperevm"), "excludeProtocols": f'["{name}"]'})
    assert not rest["success"] or used not in protocols_of(rest)


def protocols_of(route: Json) -> set[int]:
    return {swap["protocol"] for segment in route["route"] for hop in segment["swaps"] for swap in hop}


@pytest.mark.parametrize("path", ["/base/route", "/base/v2/route"])
@pytest.mark.parametrize("written", ["{},{}", "[{},{}]", '["{}","{}"]'])
def test_only_the_named_protocols_are_used(service: InProcessService, path: str, written: str) -> None:
    known = find_network("base").protocols
    ids = [each.id for each in known if each.amm_name in ("uniswapV3", "aerodromeV3")]
    only = service.get_json(path, {**build_order_query("base"), "onlyProtocols": written.format(*ids)})
    others = ",".join(str(each.id) for each in known if each.id not in ids)
    rest = service.get_json(path, {**build_order_query("base"), "excludeProtocols": others})
    assert only["success"]
    assert (only["outputAmount"], only["route"]) == (rest["outputAmount"], rest["route"])
    assert protocols_of(only) <= set(ids)


@pytest.mark.parametrize("path", ["/base/route", "/base/v2/route"])
def test_protocols_are_excluded_by_id(service: InProcessService, path: str) -> None:
    used = protocols_of(service.get_json(path, build_order_query("base")))
    rest = service.get_json(path, {**build_order_query("base"), "excludeProtocols": ",".join(map(str, used))})
    assert rest["success"]
    assert not protocols_of(rest) & used


@pytest.mark.parametrize("path", ["/base/route", "/base/v2/route"])
def test_direct_takes_one_hop(service: InProcessService, path: str) -> None:
    route = service.get_json(path, {**build_order_query("base", 10**21), "direct": "true"})
    assert {len(segment["swaps"]) for segment in route["route"]} == {1}


def test_citrea_calldata_takes_a_route_and_signer_in_a_get_body(service: InProcessService) -> None:
    route = service.get_json("/citrea/route", build_order_query("citrea"))
    body = {"route_response": route, "slippage": 0.1, "signer": RECIPIENT}
    answer = service.send("GET", "/citrea/calldata", json=body)
    assert answer.status_code == 200
    executed = service.post("/citrea/execute", {"route": route, "slippage": 0.1, "destination": RECIPIENT}).json()
    assert answer.json() == {"success": True, "calldata": executed["calldata"]}
    assert decode_call(answer.json()["calldata"]).route.recipient == RECIPIENT


def test_starknet_gives_felts_everywhere(service: InProcessService) -> None:
    route = service.get_json("/starknet/route", build_order_query("starknet"))
    assert isinstance(route["inputToken"]["price"], str)
    assert len(route["bestQuotesByProtocols"]) == len(find_network("starknet").protocols)
    executed = service.post("/starknet/execute", {"route": route, **build_swap_terms("starknet")}).json()
    at_once = service.get_json("/starknet/calldata", {**build_order_query("starknet"), **build_swap_terms("starknet")})
    posted = service.post("/starknet/calldata", {"route": route, **build_swap_terms("starknet")}).json()
    of_order = service.post(
        "/starknet/calldata", {**build_order_query("starknet"), **build_swap_terms("starknet")}
    ).json()
    assert executed["calldata"] == at_once["calldata"] == posted == of_order["calldata"]
    assert executed["value"] == "0"
    call = deserialise_call(tuple(map(int, posted)))
    assert call.route.min_received == min_received(int(route["outputAmount"]), DEFAULT_PPM)


@pytest.mark.parametrize("count", [2, 3])
def test_starknet_serves_batches(service: InProcessService, count: int) -> None:
    single = build_order_query("starknet")
    market = embedded_market("starknet")
    tokens = [address for address in market.tokens if address != single["tokenOutAddress"]][:count]
    amounts = [10 ** market.tokens[address].decimals for address in tokens]
    query = {
        "amounts": ",".join(map(str, amounts)),
        "tokenInAddresses": ",".join(tokens),
        "tokenOutAddresses": single["tokenOutAddress"],
    }
    routes = service.get_json("/starknet/routeBatch", query)
    felts = service.get_json("/starknet/executeBatch", {**query, **build_swap_terms("starknet")})
    assert len(routes) == len(felts) == count
    for route, arguments in zip(routes, felts, strict=True):
        call = deserialise_call(tuple(map(int, arguments)))
        assert call.route.min_received == min_received(int(route["outputAmount"]), DEFAULT_PPM)
    alone = [
        service.post("/starknet/execute", {"route": route, **build_swap_terms("starknet")}).json() for route in routes
    ]
    assert alone[0]["calldata"] == felts[0]
    # Later orders of the transaction are quoted on the pools as earlier ones leave them.
    assert all(
        int(each["route"]["amount_out"]) >= int(route["outputAmount"])
        for each, route in zip(alone, routes, strict=True)
    )


@pytest.mark.parametrize(
    ("token_in", "token_out", "swap_type"),
    [
        (ZERO_ADDRESS, USDC, 0),
        ("0x" + "Ee" * 20, USDC, 0),
        (USDC, ZERO_ADDRESS, 1),
        (WETH, USDC, 2),
        (ZERO_ADDRESS, WETH, 0),
        (WETH, ZERO_ADDRESS, 1),
    ],
)
def test_the_native_token_shows_in_the_swap_type_and_the_value(
    service: InProcessService, token_in: str, token_out: str, swap_type: int
) -> None:
    query = {"amount": "1000000000", "tokenInAddress": token_in, "tokenOutAddress": token_out}
    if token_out == USDC:
        query["amount"] = str(10**18)
    v1, v2 = (service.get_json(f"/testnet{path}", query) for path in ("/route", "/v2/route"))
    assert v2["routeSwapType"] == swap_type
    assert ZERO_ADDRESS not in (v2["inputToken"]["address"], v2["outputToken"]["address"])
    assert (v1["inputToken"]["address"] == ZERO_ADDRESS) is (swap_type == 0)
    assert (v1["outputToken"]["address"] == ZERO_ADDRESS) is (swap_type == 1)
    for route in (v1, v2):
        executed = service.post("/testnet/execute", {"route": route, **build_swap_terms("testnet")}).json()
        assert executed["route"]["swap_type"] == swap_type
        assert executed["value"] == (query["amount"] if swap_type == 0 else "0")


@pytest.mark.parametrize("prefix", ["", "/v2"])
@pytest.mark.parametrize("name", ALL)
def test_health_is_told_in_the_form_of_its_generation(service: InProcessService, name: str, prefix: str) -> None:
    answer = service.get(f"/{name}{prefix}/healthcheck")
    if prefix and name == "starknet":
        assert answer.status_code == 404
        return
    assert answer.status_code == 200
    document = answer.json()
    assert document["status" if prefix else "staus"] == 200
    assert "alive and well" in document["message"]
    assert set(document) == ({"status", "message", "meta"} if prefix else {"staus", "message"})


@pytest.mark.parametrize(
    ("path", "like"),
    [
        ("/BASE/Route", "/base/route"),
        ("/Base/V2/ROUTE", "/base/v2/route"),
        ("/base/v2/routeAndCallData", "/base/v2/routeAndCalldata"),
        ("/base/RouteAndCallData", "/base/routeAndCalldata"),
        ("/base/healthCheck", "/base/healthcheck"),
        ("/base/v2/HealthCheck", "/base/v2/healthcheck"),
        ("/starknet/routebatch", "/starknet/routeBatch"),
        ("/Supported-Chains", "/supported-chains"),
        ("/Base/Tokens", "/base/tokens"),
    ],
)
def test_paths_match_in_any_letter_case(service: InProcessService, path: str, like: str) -> None:
    query = {**build_order_query("base"), **build_swap_terms("base")} if "oute" in like and "atch" not in like else {}
    answers = [service.get(each, query) for each in (path, like)]
    assert answers[0].status_code == answers[1].status_code != 404
    assert service.log_lines()[-1]["path"] == service.log_lines()[-2]["path"] != "other"


def test_supported_chains_are_told_with_their_routers(service: InProcessService) -> None:
    chains = {each["chain_name"]: each for each in service.get_json("/supported-chains", {})}
    assert set(chains) == set(ALL)
    assert chains["base"]["chain_id"] == 8453
    assert chains["starknet"]["chain_id"] == find_network("starknet").chain_id > 2**53
    assert chains["testnet"]["router_address"].lower() == ROUTER


@pytest.mark.parametrize("name", ALL)
def test_every_listed_token_is_found_by_its_address(service: InProcessService, name: str) -> None:
    listed = service.get_json(f"/{name}/tokens", {})
    assert len({each["address"] for each in listed}) == len(listed)
    market = open_testnet_market() if name == "testnet" else embedded_market(name)
    assert {each["address"].lower() for each in listed} >= set(market.tokens)
    for each in listed[:5]:
        assert service.get_json(f"/{name}/tokens/{each['address']}", {}) == each
        assert service.get_json(f"/{name}/tokens/{each['address'].lower()}", {}) == each
        assert each["decimals"].isdecimal()


def test_both_ways_to_write_the_native_token_find_it(service: InProcessService) -> None:
    zero, placeholder = (service.get_json(f"/base/tokens/{each}", {}) for each in (ZERO_ADDRESS, "0x" + "E" * 40))
    assert zero == placeholder
    assert zero["symbol"] == "ETH"


@pytest.mark.parametrize("name", network_names())
def test_protocols_are_listed_with_their_ids(service: InProcessService, name: str) -> None:
    listed = {each["protocol"]: each["amm_name"] for each in service.get_json(f"/{name}/protocols", {})}
    assert listed == {each.id: each.amm_name for each in find_network(name).protocols if not each.is_extended}


@pytest.mark.parametrize(
    "path", ["/base/route", "/base/v2/route", "/base/routeAndCalldata", "/base/v2/routeAndCalldata"]
)
def test_no_route_is_a_response_with_status_200(service: InProcessService, path: str) -> None:
    unknown = {**build_order_query("base"), **build_swap_terms("base"), "tokenOutAddress": "0x" + "99" * 20}
    answer = service.get(path, unknown)
    assert answer.status_code == 200
    meta = {"meta": service.v2_metadata} if "/v2/" in path else {}
    assert answer.json() == {"success": False, "errorMessage": f"no token 0x{'99' * 20} on base", **meta}


def test_no_route_in_posted_orders_and_on_hyperevm(service: InProcessService) -> None:
    impossible = {**build_order_query("testnet"), **build_swap_terms("testnet"), "tokenOutAddress": "0x" + "66" * 20}
    reported = service.post("/testnet/calldata", impossible)
    assert reported.status_code == 200
    assert reported.json()["success"] is False
    unknown = {**build_order_query("hyperevm"), **build_swap_terms("hyperevm"), "tokenOutAddress": "0x" + "99" * 20}
    own = service.get_json("/hyperevm/calldata", unknown)
    assert own == {"route": {"success": False, "errorMessage": f"no token 0x{'99' * 20} on hyperevm"}}


class OneKey(KeyLookup):
    def find(self, key: str) -> ApiKey | None:
        return ApiKey("00000001", "Acme", 0) if key == "good" else None


@pytest.mark.parametrize("header", [{"X-API-Key": "good"}, {"Authorization": "Bearer good"}])
def test_a_fee_is_in_the_route_the_minimum_and_the_call(header: dict[str, str]) -> None:
    integrator = {"integratorAddress": EARNER, "integratorFeePercentageBps": 50, "integratorSurplusPercentageBps": 0}
    with in_process_service("base", keys=OneKey()) as served:
        route = served.get("/base/v2/route", {**build_order_query("base"), **integrator}, headers=header).json()
        out = int(route["outputAmount"])
        left = out - out * 50 // 10_000
        assert route["outputAmountAfterFee"] == str(left)
        assert route["integratorName"] == "Acme"
        assert route["integratorFeePercentageBps"] == 50
        assert "integratorSurplusPercentageBps" not in route
        apart = served.post("/base/v2/calldata", {"route": route, **build_swap_terms("base")}, headers=header).json()
        assert apart["route"]["min_received"] == str(min_received(left, DEFAULT_PPM))
        query = {**build_order_query("base"), **build_swap_terms("base"), **integrator}
        at_once = served.get("/base/v2/routeAndCalldata", query, headers=header).json()
        assert at_once["calldata"]["integrator_data"] == apart["integrator_data"] != "0x"
        executed = served.post("/base/execute", {"route": route, **build_swap_terms("base")}, headers=header).json()
        assert executed["calldata"].startswith("0x21ed51f7")


def test_a_surplus_share_changes_no_output_and_no_minimum() -> None:
    integrator = {"integratorAddress": EARNER, "integratorSurplusPercentageBps": 5_000}
    key = {"X-API-Key": "good"}
    with in_process_service("base", keys=OneKey()) as served:
        plain = served.get_json("/base/v2/routeAndCalldata", {**build_order_query("base"), **build_swap_terms("base")})
        query = {**build_order_query("base"), **build_swap_terms("base"), **integrator}
        shared = served.get("/base/v2/routeAndCalldata", query, headers=key).json()
        assert shared["calldata"]["route"] == plain["calldata"]["route"]
        assert "outputAmountAfterFee" not in shared["route"]
        assert shared["route"]["integratorSurplusPercentageBps"] == 5_000
        assert "integrator_data" in shared["calldata"]


def test_zeros_in_place_of_an_integrator_need_no_key(service: InProcessService) -> None:
    zeros = {"integratorFeePercentageBps": 0, "integratorSurplusPercentageBps": 0, "integratorAddress": ""}
    with_zeros = service.get_json("/base/v2/route", {**build_order_query("base"), **zeros})
    assert {**with_zeros, "time": 0} == {**service.get_json("/base/v2/route", build_order_query("base")), "time": 0}


def test_a_network_has_one_endpoint_per_path_and_method(service: InProcessService) -> None:
    for each in service.registry.networks.values():
        here = [(e.path, e.method) for e in ENDPOINTS if e.exists_on(each)]
        assert len(set(here)) == len(here)


def test_a_network_of_the_users_without_v2_has_none() -> None:
    with in_process_service("testnet") as served:
        served.get("/testnet/tokens")
        served.registry.networks["testnet"] = served.registry.networks["testnet"]._replace(has_v2=False)
        assert served.get("/testnet/v2/route", build_order_query("testnet")).status_code == 404
        assert served.get("/testnet/route", build_order_query("testnet")).status_code == 200


def test_execute_encodes_the_replayed_output_not_the_posted_one(service: InProcessService) -> None:
    route = service.get_json("/testnet/route", build_order_query("testnet"))
    modest = {**route, "outputAmount": "1", "time": 7, "estimatedGasUsed": "0"}
    answer = service.post("/testnet/execute", {"route": modest, **build_swap_terms("testnet")}).json()
    assert answer["route"]["amount_out"] == route["outputAmount"]
    assert answer["route"]["min_received"] == str(min_received(int(route["outputAmount"]), DEFAULT_PPM))
