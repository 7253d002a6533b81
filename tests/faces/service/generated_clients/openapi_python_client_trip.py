"""Ask for a route and have it encoded, with the client that openapi-python-client makes: `URL NETWORK ORDER RECIPIENT`.

Prints a line of JSON for each way: the operation, and the output of the route and of the payload.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from typing import Any

from service_client import Client, models

WAYS = {
    "base": (("first_generation", "route", "execute"), ("second_generation", "route_v2", "calldata_v2")),
    "citrea": (("first_generation", "route", "execute"), ("second_generation", "route_v2", "calldata_v2")),
    "monad": (("first_generation", "route", "calldata"), ("second_generation", "route_v2", "calldata_v2")),
    "hyperevm": (
        ("first_generation", "route_hyperevm", "execute_hyperevm"),
        ("second_generation", "route_v2", "calldata_v2"),
    ),
    "starknet": (("first_generation", "route_starknet", "execute_starknet"),),
}


def main(url: str, network: str, order: dict[str, str], recipient: str) -> None:
    client = Client(base_url=url, raise_on_unexpected_status=True)
    amounts = {"amount": order["amount"]}
    tokens = {"token_in_address": order["tokenInAddress"], "token_out_address": order["tokenOutAddress"]}
    for tag, ask, build in WAYS[network]:
        places = [] if ask.endswith(f"_{network}") else [_network_enum(ask)(network)]
        found = _operation(tag, ask).sync(*places, client=client, **amounts, **tokens)
        request_type = models.CalldataRequestV2 if build == "calldata_v2" else models.ExecuteRequest
        for route in (found, models.PostedRoute.from_dict(found.to_dict())):
            body = request_type(route=route, slippage=0.5, destination=recipient)
            places = [] if build.endswith(f"_{network}") else [_network_enum(build)(network)]
            payload = _operation(tag, build).sync(*places, client=client, body=body)
            print(json.dumps([build, type(payload).__name__, found.output_amount, payload.route.amount_out]))


def _operation(tag: str, name: str) -> Any:
    return import_module(f"service_client.api.{tag}.{name}")


def _network_enum(operation: str) -> Any:
    return getattr(models, f"{''.join(part.capitalize() for part in operation.split('_'))}Network")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], json.loads(sys.argv[3]), sys.argv[4])
