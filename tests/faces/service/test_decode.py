"""POST /{network}/decode reads the bytes that a client is about to sign, as `swapcli decode` does."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import pytest

from swapcli.faces.service.payload_decoding import MAX_CALLDATA_BYTES
from swapcli.quoting.price_policy import PriceRequest
from tests.support.command import run_swapcli
from tests.support.service import (
    InProcessService,
    Json,
    build_order_query,
    build_swap_terms,
    in_process_service,
    recipient_on,
)

NETWORKS = ("base", "starknet")
OTHER = "0x" + "22" * 20


@pytest.fixture(scope="module")
def service() -> Iterator[InProcessService]:
    with in_process_service(*NETWORKS) as served:
        yield served


def transaction(service: InProcessService, name: str) -> Json:
    """Return the fields of a swap's transaction, for its recipient."""
    route = service.get_json(f"/{name}/route", build_order_query(name))
    answer = service.post(f"/{name}/execute", {"route": route, **build_swap_terms(name)}).json()
    fields = ("to", "calldata") if name == "starknet" else ("to", "calldata", "value")
    return {**{field: answer[field] for field in fields}, "destination": recipient_on(name)}


def decode(service: InProcessService, name: str, body: Json) -> Json:
    answer = service.post(f"/{name}/decode", body)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize("name", NETWORKS)
def test_a_swap_is_decoded_as_by_the_command(service: InProcessService, name: str) -> None:
    body = transaction(service, name)
    given = {field: body[field] for field in body if field != "destination"}
    words = ("decode", "-", "--offline", "--json", "--network", name, "--destination", body["destination"])
    expected = run_swapcli(*words, stdin=json.dumps(given).encode()).json
    found = decode(service, name, body)
    further = {"transactions", "state"}  # the service takes no list of transactions, and has its state elsewhere
    assert found == {key: expected[key] for key in expected if key not in further}
    assert found["order"]["recipient"].lower() == body["destination"]


def test_the_command_names_the_endpoint_of_responses_without_bytes(service: InProcessService) -> None:
    query, terms = build_order_query("base"), build_swap_terms("base")
    both = service.get("/base/v2/routeAndCalldata", {**query, **terms}).json()
    parameters = service.post("/base/v2/calldata", {"route": both["route"], **terms}).json()
    for response in (both, parameters):
        ran = run_swapcli("decode", "-", "--offline", stdin=json.dumps(response).encode())
        assert (ran.exit_code, "POST the route to /NETWORK/execute" in ran.stderr) == (2, True), ran.stderr
    executed = service.post("/base/execute", {"route": both["route"], **terms}).json()
    ran = run_swapcli("decode", "-", "--offline", "--json", stdin=json.dumps(executed).encode())
    assert ran.json["order"]["recipient"].lower() == recipient_on("base"), ran.stderr


def test_other_bytes_than_those_shown_are_a_danger(service: InProcessService) -> None:
    body = transaction(service, "base")
    assert "dangers" not in decode(service, "base", body)
    assert decode(service, "base", {**body, "value": "1"})["verdict"]["status"] == "danger"
    assert decode(service, "base", {**body, "to": OTHER})["verdict"]["status"] == "danger"
    assert "RECIPIENT" in " ".join(decode(service, "base", {**body, "destination": OTHER})["dangers"])
    stranger = body["calldata"].replace(body["destination"][2:], OTHER[2:])
    assert "RECIPIENT" in " ".join(decode(service, "base", {**body, "calldata": stranger})["dangers"])


@pytest.mark.parametrize("name", NETWORKS)
def test_nothing_is_decoded_without_prices_for_transactions(name: str) -> None:
    """The comparison of a decoded swap never has to judge prices again: all such requests get 503."""
    with in_process_service(name) as service:
        body = transaction(service, name)
        assert decode(service, name, body)["freshOutputAmount"]
        for request in (PriceRequest.NONE, PriceRequest.MARKET):
            service.registry.price_request = request
            answer = service.post(f"/{name}/decode", body)
            assert (answer.status_code, "are modelled, so no transaction" in answer.json()["message"]) == (503, True)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"to": OTHER},
        {"calldata": "0x06fdde03"},
        {"to": OTHER, "calldata": "0xabc"},
        {"to": OTHER, "calldata": ["1"]},
        {"to": OTHER, "calldata": "0x06fdde03", "value": "-1"},
        {"to": OTHER, "calldata": "0x06fdde03", "sender": "0x0000000000000000000000000000000000000000"},
        {"to": OTHER, "calldata": "0x" + "00" * (MAX_CALLDATA_BYTES + 1)},
    ],
)
def test_what_is_not_a_transaction_is_rejected(service: InProcessService, body: Json) -> None:
    answer = service.post("/base/decode", body)
    assert (answer.status_code, set(answer.json()) - {"hint"}) == (400, {"statusCode", "message", "error"})


def test_a_call_of_many_swaps_is_decoded_in_bounded_time(service: InProcessService) -> None:
    """As many swaps as fit, each of which is compared with every pool, and an order that nobody would quote."""
    body = transaction(service, "base")
    digits, swap_words = body["calldata"][2:], 9
    head, swap = digits[: 8 + 64 * 10], digits[8 + 64 * 10 : 8 + 64 * (10 + swap_words)]
    repeated = "0x" + head + swap * (MAX_CALLDATA_BYTES // (32 * swap_words) - 2)
    started_s = time.perf_counter()
    assert service.post("/base/decode", {**body, "calldata": repeated}).status_code in (200, 400)
    assert time.perf_counter() - started_s < 5


def test_from_is_the_sender_as_in_the_command(service: InProcessService) -> None:
    body = transaction(service, "base")
    account = body.pop("destination")
    stolen = body["calldata"].replace(account[2:], OTHER[2:])
    for field in ("sender", "from"):
        assert decode(service, "base", {**body, field: account}).get("dangers") is None
        assert "RECIPIENT" in " ".join(decode(service, "base", {**body, "calldata": stolen, field: account})["dangers"])
    answer = service.post("/base/decode", {**body, "sender": account, "from": OTHER})
    assert (answer.status_code, answer.json()["message"]) == (400, "from is not the sender in the field sender")


def test_missing_facts_are_named_by_their_fields(service: InProcessService) -> None:
    body = transaction(service, "base")
    del body["destination"], body["value"]
    messages = " ".join(each["message"] for each in decode(service, "base", body)["warnings"])
    assert "(value)" in messages
    assert "(sender or destination)" in messages
    assert "--" not in messages
