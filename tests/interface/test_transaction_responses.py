"""Responses with a transaction: their exact fields, and round trips."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidInput, NoRoute, SwapcliError
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.network import Network
from swapcli.core.model.route_result import RouteResult
from swapcli.core.model.transaction import UnsignedTransaction
from swapcli.interface import json_types
from swapcli.interface.route import render_no_route
from swapcli.interface.transaction_responses import (
    ParsedTransaction,
    RouteAndTransaction,
    parse_calldata_v1,
    parse_calldata_v2,
    parse_execute,
    parse_network_calldata,
    parse_route_and_calldata,
    render_calldata_v1,
    render_calldata_v2,
    render_execute,
    render_network_calldata,
    render_network_no_route,
    render_route_and_calldata,
    render_signer_calldata,
)
from tests.interface.build import (
    CITREA,
    EVM,
    EVM_NETWORKS,
    HYPEREVM,
    MONAD,
    NETWORKS,
    PAYLOAD,
    RESULT,
    STARKNET,
    payloads,
    results,
)
from tests.interface.conform import conforms

NOW_MS = 1_769_291_200_000
CALL_ROUTE = ["token_in", "token_out", "amount_in", "amount_out", "min_received", "destination", "swap_type"]
SWAP = ["token_in", "token_out", "rate", "protocol_id", "pool_address", "swap_type", "extra_data"]
ROUTE_V1 = [
    "success", "routeSwapType", "inputToken", "inputAmount", "outputToken", "outputAmount", "time", "estimatedGasUsed",
    "estimatedGasUsedInUsd", "route", "bestQuotesByProtocols", "initial",
]  # fmt: skip


def as_json(document: object) -> Any:
    return json.loads(json.dumps(document, allow_nan=False))


def transaction(payload: UnsignedTransaction) -> ParsedTransaction:
    """A response with everything but a route."""
    calldata = payload.calldata or None
    return ParsedTransaction(payload.router_call, payload.to, calldata, payload.value, payload.felts)


@given(st.data(), st.sampled_from(NETWORKS))
def test_execute_is_read_as_it_was_written(data: st.DataObject, network: Network) -> None:
    payload = data.draw(payloads(network, integrator=False))
    read = parse_execute(as_json(render_execute(payload, network)), network)
    assert read == (ParsedTransaction(payload.router_call) if network is HYPEREVM else transaction(payload))


@pytest.mark.parametrize(
    ("network", "fields", "route"),
    [
        (EVM, ["route", "swap_parameters", "calldata", "to", "value"], CALL_ROUTE[2:]),
        (MONAD, ["route", "swap_parameters", "calldata", "to", "value"], CALL_ROUTE),
        (HYPEREVM, ["route", "swap_parameters"], CALL_ROUTE),
    ],
)
def test_execute_has_the_fields_of_its_network(network: Network, fields: list[str], route: list[str]) -> None:
    document = as_json(render_execute(PAYLOAD, network))
    assert list(document) == fields
    assert list(document["route"]) == route
    assert list(document["swap_parameters"][0]) == SWAP
    assert conforms(document, json_types.CalldataJson if network is HYPEREVM else json_types.ExecuteJson)


@given(st.data(), st.sampled_from(NETWORKS))
def test_v1_calldata_has_a_short_route_and_a_transaction(data: st.DataObject, network: Network) -> None:
    payload, result = data.draw(payloads(network)), data.draw(results(network, ApiVersion.V1))
    document = as_json(render_calldata_v1(result, payload, network))
    short = result._replace(gas_units=None, gas_cost_wei=None, gas_usd=None, initial=True, best_quotes=())
    assert conforms(document, json_types.StarknetCalldataV1Json if network is STARKNET else json_types.CalldataV1Json)
    assert parse_calldata_v1(document, network) == (short, transaction(payload)._replace(call=None))


def test_calldata_of_an_order_has_exactly_these_fields() -> None:
    document = as_json(render_calldata_v1(RESULT, PAYLOAD, EVM))
    assert list(document) == ["success", "route", "swap_parameters", "calldata", "to", "value"]
    assert list(document["route"]) == ["inputToken", "outputToken", "inputAmount", "outputAmount", "time", "route"]
    assert list(document["swap_parameters"][0]) == SWAP[:5]


@given(payloads(HYPEREVM), results(HYPEREVM, ApiVersion.V1))
def test_hyperevm_gives_a_route_and_a_call(payload: UnsignedTransaction, result: RouteResult) -> None:
    document = as_json(render_network_calldata(result, payload, HYPEREVM))
    assert conforms(document, json_types.HyperevmCalldataJson)
    assert list(document) == ["route", "calldata"]
    assert parse_network_calldata(document, HYPEREVM) == (result, ParsedTransaction(payload.router_call))


def test_hyperevm_says_in_place_of_the_route_that_there_is_none() -> None:
    document = as_json(render_network_no_route("nothing there"))
    assert conforms(document, json_types.HyperevmNoRouteJson)
    with pytest.raises(NoRoute, match="nothing there"):
        parse_network_calldata(document, HYPEREVM)


@given(payloads(STARKNET), results(STARKNET, ApiVersion.V1))
def test_starknet_gives_a_route_and_felts(payload: UnsignedTransaction, result: RouteResult) -> None:
    document = as_json(render_network_calldata(result, payload, STARKNET))
    assert conforms(document, json_types.StarknetCalldataJson)
    assert parse_network_calldata(document, STARKNET) == (result, ParsedTransaction(felts=payload.felts))


@given(payloads(CITREA))
def test_citrea_gives_an_encoded_call(payload: UnsignedTransaction) -> None:
    document = as_json(render_signer_calldata(payload))
    assert document == {"success": True, "calldata": payload.calldata}
    assert conforms(document, json_types.CitreaCalldataJson)
    assert document["calldata"] == payload.calldata


@given(st.data(), st.sampled_from(EVM_NETWORKS), st.integers(0, 4 * 10**12))
def test_v2_calldata_is_read_as_it_was_written(data: st.DataObject, network: Network, now_ms: int) -> None:
    payload = data.draw(payloads(network))
    document = as_json(render_calldata_v2(payload, network, now_ms))
    assert conforms(document, json_types.CalldataV2Json)
    assert ("integrator_data" in document) == bool(payload.router_call.integrator_data)
    assert parse_calldata_v2(document, network) == ParsedTransaction(
        payload.router_call, payload.to, timestamp_ms=now_ms
    )


def test_v2_calldata_has_exactly_these_fields() -> None:
    document = as_json(render_calldata_v2(PAYLOAD, EVM, NOW_MS))
    assert list(document) == ["route", "swap_parameters", "router_address", "meta"]
    assert list(document["route"]) == CALL_ROUTE
    assert list(document["swap_parameters"][0]) == SWAP
    assert document["meta"] == {"apiVersion": "2.0", "timestamp": "2026-01-24T21:46:40.000Z"}


@given(st.data(), st.sampled_from(EVM_NETWORKS), st.sampled_from(ApiVersion))
def test_route_and_calldata_is_read_as_it_was_written(
    data: st.DataObject, network: Network, api_version: ApiVersion
) -> None:
    v2 = api_version is ApiVersion.V2
    payload, result = data.draw(payloads(network)), data.draw(results(network, api_version))
    document = as_json(render_route_and_calldata(result, payload, network, NOW_MS))
    assert list(document) == ["route", "calldata", "router_address", *(["meta"] if v2 else [])]
    assert list(document["calldata"]["route"]) == CALL_ROUTE
    assert ("integrator_data" in document["calldata"]) == bool(payload.router_call.integrator_data)
    assert conforms(document, json_types.RouteAndCalldataV2Json if v2 else json_types.RouteAndCalldataV1Json)
    assert parse_route_and_calldata(document, network) == (
        result,
        ParsedTransaction(payload.router_call, payload.to, timestamp_ms=NOW_MS if v2 else None),
    )


@given(payloads(STARKNET))
def test_starknet_writes_calldata_as_decimal_felts(payload: UnsignedTransaction) -> None:
    document = as_json(render_execute(payload, STARKNET))
    assert conforms(document, json_types.StarknetExecuteJson)
    assert document["calldata"] == [str(felt) for felt in payload.felts]


Parse = Callable[[object], ParsedTransaction | RouteAndTransaction]
ANSWERS: list[tuple[Any, Parse]] = [
    (render_execute(PAYLOAD, EVM), lambda document: parse_execute(document, EVM)),
    (render_execute(PAYLOAD, HYPEREVM), lambda document: parse_execute(document, HYPEREVM)),
    (render_calldata_v1(RESULT, PAYLOAD, EVM), lambda document: parse_calldata_v1(document, EVM)),
    (render_network_calldata(RESULT, PAYLOAD, HYPEREVM), lambda document: parse_network_calldata(document, HYPEREVM)),
    (render_calldata_v2(PAYLOAD, EVM, NOW_MS), lambda document: parse_calldata_v2(document, EVM)),
    (
        render_route_and_calldata(RESULT, PAYLOAD, EVM, NOW_MS),
        lambda document: parse_route_and_calldata(document, EVM),
    ),
]


@pytest.mark.parametrize(("parse"), [parse for _, parse in ANSWERS])
def test_a_failure_in_place_of_an_answer_is_told(parse: Parse) -> None:
    with pytest.raises(NoRoute, match="nothing there"):
        parse(render_no_route("nothing there"))


@pytest.mark.parametrize(("parse"), [parse for _, parse in ANSWERS])
@pytest.mark.parametrize("document", [None, [], "", 5, {}])
def test_another_answer_is_refused(parse: Parse, document: object) -> None:
    with pytest.raises(InvalidInput):
        parse(document)


def containers(value: Any) -> list[Any]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return ([value] if inner else []) + [c for entry in inner for c in containers(entry)]


rubbish: st.SearchStrategy[object] = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just([]) | st.just({})
    | st.sampled_from(["\ud800", "0x", "-1", "1e5", "9" * 500, 10**400, [[[]]], {"\udfff": 1}])
)  # fmt: skip


@given(st.data(), st.sampled_from(ANSWERS))
def test_nothing_that_arrives_breaks_a_parser(data: st.DataObject, answer: tuple[Any, Parse]) -> None:
    document, parse = deepcopy(answer[0]), answer[1]
    for _ in range(data.draw(st.integers(1, 3))):
        container = data.draw(st.sampled_from(containers(document) or [{"": 0}]))
        key = data.draw(st.sampled_from(sorted(container) if isinstance(container, dict) else range(len(container))))
        container[key] = deepcopy(data.draw(rubbish))
    shown: object = None
    try:
        parsed = parse(document)
        shown = (parsed if isinstance(parsed, ParsedTransaction) else parsed[1]).calldata
    except SwapcliError as error:
        shown = [error.message, error.details]
    assert json.dumps(shown, ensure_ascii=False).encode()
