"""The same with the Python client of openapi-generator."""

from __future__ import annotations

import json
import sys
from typing import Any

import openapi_client as client
from openapi_client.exceptions import BadRequestException


def travel(url: str, trip: dict[str, str]) -> dict[str, Any]:
    network, is_evm = trip["network"], trip["network"] != "starknet"
    order = {name: trip[name] for name in ("amount", "token_in_address", "token_out_address")}
    to = trip["destination"]
    connection = client.ApiClient(client.Configuration(host=url))
    apis = [client.FirstGenerationApi(connection), client.SecondGenerationApi(connection)]

    def call(name: str, **arguments: Any) -> Any:
        own = [getattr(api, f"{name}_{network}") for api in apis if hasattr(api, f"{name}_{network}")]
        shared = [getattr(api, name) for api in apis if hasattr(api, name)]
        found = own[0](**arguments) if own else shared[0](network=network, **arguments)
        return getattr(found, "actual_instance", found)

    def slippage() -> Any:
        return client.ExecuteRequestSlippage(0.5)

    route = expect(client.RouteV1, call("route", **order, details=True))
    wanted = client.OrderRequest(**order, slippage=slippage(), destination=to)
    own = call("calldata", calldata_request=client.CalldataRequest(wanted))
    assert type(own) is (client.CalldataV1 if is_evm else client.StarknetCalldataV1)
    posted = client.ExecuteRequest(route=as_posted(route), slippage=slippage(), destination=to)
    built = call("calldata", calldata_request=client.CalldataRequest(posted))
    assert type(built) is (client.Execute if is_evm else list)
    executed = call("execute", execute_request=posted)
    told = {
        "first": [route.output_amount, own.route.output_amount, executed.route.amount_out],
        "state": route.state.kind,
        "second": [],
    }
    if is_evm:
        route = expect(client.RouteV2, call("route_v2", **order))
        share = client.CalldataRequestV2Slippage(0.5)
        body = client.CalldataRequestV2(route=as_posted(route), slippage=share, destination=to)
        built = expect(client.CalldataV2, call("calldata_v2", calldata_request_v2=body))
        told["second"] = [route.output_amount, built.route.amount_out]
    unknown = expect(client.RouteNotFound, call("route", **order | {"token_in_address": trip["unknown_token"]}))
    try:
        call("route", **order | {"token_in_address": order["token_out_address"]})
    except BadRequestException as error:
        fault = expect(client.StatusFault, error.data).message.actual_instance
    return told | {"no_route": unknown.error_message, "fault": fault}


def as_posted(route: Any) -> Any:
    return client.PostedRoute.from_dict(route.to_dict())


def expect(form: type, value: Any) -> Any:
    assert type(value) is form, value
    return value


if __name__ == "__main__":
    print(json.dumps([travel(sys.argv[1], trip) for trip in json.loads(sys.argv[2])]))
