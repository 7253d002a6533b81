"""The same with the models of datamodel-code-generator, posted as they serialise: with nulls for absent fields."""

from __future__ import annotations

import json
import sys
from typing import Any

import httpx
import service_models as models
from pydantic import TypeAdapter


def travel(url: str, trip: dict[str, str]) -> dict[str, Any]:
    is_evm = trip["network"] != "starknet"
    order = {
        "amount": trip["amount"],
        "tokenInAddress": trip["token_in_address"],
        "tokenOutAddress": trip["token_out_address"],
    }
    terms = {"slippage": 0.5, "destination": trip["destination"]}

    with httpx.Client(base_url=f"{url}/{trip['network']}/") as client:

        def ask(path: str, form: Any, **changes: str) -> Any:
            return TypeAdapter(form).validate_json(client.get(path, params=order | changes).content)

        def build(path: str, form: Any, body: Any) -> Any:
            text = body.model_dump_json(by_alias=True)
            built = client.post(path, content=text, headers={"Content-Type": "application/json"})
            return TypeAdapter(form).validate_json(built.raise_for_status().content)

        route = ask("route", models.RouteV1 | models.RouteNotFound, details="true")
        posted = models.ExecuteRequest(route=as_posted(route), **terms)
        forms: Any = models.CalldataV1 | models.Execute if is_evm else models.StarknetCalldataV1 | list[str]
        own = build("calldata", forms | models.RouteNotFound, models.OrderRequest(**order, **terms))
        built = build("calldata", forms | models.RouteNotFound, posted)
        assert type(built) is (models.Execute if is_evm else list)
        form = {"starknet": models.StarknetExecute, "hyperevm": models.JudgedCall}.get(trip["network"], models.Execute)
        executed = build("execute", form, posted)
        told = {
            "first": [route.outputAmount, own.route.outputAmount, executed.route.amount_out],
            "state": route.state.kind,
            "second": [],
        }
        if is_evm:
            route = ask("v2/route", models.RouteV2 | models.RouteNotFoundV2)
            body = models.CalldataRequestV2(route=as_posted(route), **terms)
            payload = build("v2/calldata", models.CalldataV2 | models.DialectCalldataV2, body)
            told["second"] = [route.outputAmount, payload.route.amount_out]
        unknown = ask("route", models.RouteV1 | models.RouteNotFound, tokenInAddress=trip["unknown_token"])
        fault = ask("route", models.StatusFault, tokenInAddress=order["tokenOutAddress"])
        assert type(unknown) is models.RouteNotFound
        return told | {"no_route": unknown.errorMessage, "fault": fault.message}


def as_posted(route: Any) -> Any:
    return models.PostedRoute.model_validate(route.model_dump(mode="json", by_alias=True))


if __name__ == "__main__":
    print(json.dumps([travel(sys.argv[1], trip) for trip in json.loads(sys.argv[2])]))
