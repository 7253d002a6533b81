"""What a service answers with a payload is read by `swapcli decode`, and no change of it passes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from types import MappingProxyType

import pytest

from swapcli.core.model.network import SETTLER, UNIVERSAL_ROUTER
from swapcli.faces.cli import exit_codes
from tests.examples import few
from tests.support.command import CommandResult, run_swapcli
from tests.support.markets import embedded_market
from tests.support.service import (
    EVM_NETWORKS,
    ROUTER,
    InProcessService,
    Json,
    build_order_query,
    build_swap_terms,
    in_process_service,
)

OTHER = "0x" + "22" * 20


@pytest.fixture(scope="module")
def service() -> Iterator[InProcessService]:
    with in_process_service(*EVM_NETWORKS, "starknet") as served:
        yield served


def decode(document: object, network: str, env: Mapping[str, str] = MappingProxyType({})) -> CommandResult:
    words = ("decode", "-", "--offline", "--json", "--network", network)
    return run_swapcli(*words, stdin=json.dumps(document).encode(), env=env)


def answers(service: InProcessService, name: str) -> Iterator[Json]:
    """Yield the answers that have calldata."""
    order, terms = build_order_query(name), build_swap_terms(name)
    route = service.get_json(f"/{name}/route", order)
    for path, body in (("execute", {"route": route, **terms}), ("calldata", {**order, **terms})):
        answer = service.post(f"/{name}/{path}", body)
        if answer.status_code == 200 and "calldata" in answer.json():
            yield answer.json()


def changed(document: Json) -> Iterator[tuple[str, Json]]:
    """Yield the document with one thing changed."""
    yield "router", {**document, "to": OTHER}
    yield "value", {**document, "value": str(int(document["value"]) + 1)}
    route = document.get("route") or {}
    has_quoted_output = isinstance(document["calldata"], str) and "dialect" not in document
    for name in ("outputAmount", "amount_out", "min_received", "destination", "inputAmount", "amount_in"):
        if name in route and (name not in ("amount_out", "outputAmount") or has_quoted_output):
            other = OTHER if name == "destination" else str(int(route[name]) + 1)
            yield name, {**document, "route": {**route, name: other}}
    for name in ("rate", "pool_address"):
        if "swap_parameters" in document:
            first, *rest = document["swap_parameters"]
            other = OTHER if name == "pool_address" else str(int(first[name]) - 1)
            yield name, {**document, "swap_parameters": [{**first, name: other}, *rest]}
    if "deadline" in document:
        yield "deadline", {**document, "deadline": document["deadline"] + 1}
    if "transactions" in document:
        yield "approval", {**document, "transactions": document["transactions"][1:]}


@pytest.mark.parametrize("name", few([*EVM_NETWORKS, "starknet"], 2))
def test_answers_with_calldata_are_read(service: InProcessService, name: str) -> None:
    for document in answers(service, name):
        check(document, name)


@pytest.mark.parametrize("dialect", [UNIVERSAL_ROUTER, SETTLER])
def test_answers_of_other_dialects_are_read(dialect: str) -> None:
    market = embedded_market("base")
    network = market.network.for_dialect(dialect)
    served = InProcessService(
        {"base": lambda: market._replace(network=network._replace(router=network.router or ROUTER))}
    )
    env = {"SWAPCLI_NETWORKS_BASE_ROUTER": ROUTER, "SWAPCLI_NETWORKS_BASE_ROUTER_DIALECT": SETTLER}
    env = env if dialect == SETTLER else {}  # its registry names it, which nobody asks here
    terms = {**build_swap_terms("base"), "dialect": dialect}
    order = {**build_order_query("base", 10**19), "tokenInAddress": str(network.wrapped_native_address)}
    try:
        route = served.get_json("/base/v2/route", order)
        check(served.post("/base/v2/calldata", {"route": route, **terms}).json(), "base", env)
        at_once = served.get_json("/base/v2/routeAndCalldata", {**order, **terms})
    finally:
        served.close()
    assert decode(at_once, "base", env).exit_code == exit_codes.OK
    at_once["route"]["outputAmount"] = str(int(at_once["route"]["outputAmount"]) + 1)
    assert decode(at_once, "base", env).exit_code == exit_codes.UNSAFE


def check(document: Json, network: str, env: Mapping[str, str] = MappingProxyType({})) -> None:
    """Assert that a document is read without a danger, and that no change of it passes."""
    ran = decode(document, network, env)
    assert ran.exit_code == exit_codes.OK, (document, ran.stdout, ran.stderr)
    for what, other in changed(document):
        assert decode(other, network, env).exit_code in (exit_codes.UNSAFE, exit_codes.USAGE), what
