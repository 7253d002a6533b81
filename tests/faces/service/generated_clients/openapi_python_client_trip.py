"""Route, calldata and execute with the client that openapi-python-client makes: `URL TRIPS`, both as in `trips.py`."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from typing import Any

from service_client import Client, models


class Caller:
    """Operations of one network, which has some of its own: `executeStarknet`."""

    def __init__(self, url: str, network: str) -> None:
        self.client, self.network = Client(base_url=url, raise_on_unexpected_status=True), network

    def __call__(self, tag: str, name: str, **arguments: Any) -> Any:
        try:
            operation, places = import_module(f"service_client.api.{tag}.{name}_{self.network}"), []
        except ModuleNotFoundError:
            operation = import_module(f"service_client.api.{tag}.{name}")
            enum = "".join(part.capitalize() for part in f"{name}_network".split("_"))
            places = [getattr(models, enum)(self.network)]
        return operation.sync(*places, client=self.client, **arguments)


def travel(url: str, trip: dict[str, str]) -> dict[str, Any]:
    call, first, second = Caller(url, trip["network"]), "first_generation", "second_generation"
    order = {name: trip[name] for name in ("amount", "token_in_address", "token_out_address")}
    terms = {"slippage": 0.5, "destination": trip["destination"]}

    route = expect(models.RouteV1, call(first, "route", **order, details=True))
    own = call(first, "calldata", body=models.OrderRequest(**order, **terms))
    assert type(own) is (models.StarknetCalldataV1 if trip["network"] == "starknet" else models.CalldataV1)
    posted = models.ExecuteRequest(route=models.PostedRoute.from_dict(route.to_dict()), **terms)
    built = call(first, "calldata", body=posted)
    assert type(built) is (list if trip["network"] == "starknet" else models.Execute)
    executed = call(first, "execute", body=posted)
    told = {
        "first": [route.output_amount, own.route.output_amount, executed.route.amount_out],
        "state": route.state.kind,
        "second": [],
    }
    if trip["network"] != "starknet":
        route = expect(models.RouteV2, call(second, "route_v2", **order))
        body = models.CalldataRequestV2(route=models.PostedRoute.from_dict(route.to_dict()), **terms)
        built = expect(models.CalldataV2, call(second, "calldata_v2", body=body))
        told["second"] = [route.output_amount, built.route.amount_out]
    unknown = call(first, "route", **order | {"token_in_address": trip["unknown_token"]})
    same = call(first, "route", **order | {"token_in_address": order["token_out_address"]})
    told["no_route"] = expect(models.RouteNotFound, unknown).error_message
    told["fault"] = expect(models.StatusFault, same).message
    return told


def expect(form: type, value: Any) -> Any:
    assert type(value) is form, value
    return value


if __name__ == "__main__":
    print(json.dumps([travel(sys.argv[1], trip) for trip in json.loads(sys.argv[2])]))
