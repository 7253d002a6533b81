"""A service that requires API keys: requests without a valid key get 401; only the service's own pages are open."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from swapcli.faces.service.keys import KeyStore
from swapcli.quoting.config.settings import ServiceSettings
from tests.support.service import InProcessService, build_order_query, in_process_service
from tests.support.testnet import NOW_S

REQUIRED = ServiceSettings(require_keys=True)
OPEN_PATHS = ("/", "/docs", "/openapi.json", "/livez", "/readyz", "/readyz?network=testnet", "/metrics")
CLOSED_PATHS = (
    "/supported-chains",
    "/testnet/tokens",
    "/testnet/protocols",
    "/testnet/route",
    "/testnet/healthcheck",
    "/testnet/v2/healthcheck",
    "/nowhere",
)
MISSING = ("this service requires an API key", "send it in the header X-API-Key")


@pytest.fixture
def keys(tmp_path: Path) -> KeyStore:
    return KeyStore(tmp_path / "keys.json", networks=("testnet",), now_s=lambda: NOW_S)


@pytest.fixture(params=["127.0.0.1", "203.0.113.7"])
def service(keys: KeyStore, request: pytest.FixtureRequest) -> Iterator[InProcessService]:
    """A client on this machine needs a key, too: it may be a proxy that is not configured as one."""
    keys.create("first")
    with in_process_service("testnet", keys=keys, settings=REQUIRED, client=request.param) as served:
        yield served


def test_a_request_without_a_key_is_refused(service: InProcessService) -> None:
    for path in CLOSED_PATHS:
        for header in ({}, {"Authorization": "Basic dXNlcjpwYXNz"}, {"X-API-Key": ""}):
            answer = service.get(path, headers=header)
            assert answer.status_code == 401, path
            assert (answer.json()["error"], answer.json()["statusCode"]) == ("Unauthorized", 401)
            assert (answer.json()["message"], answer.json()["hint"]) == MISSING
    posted = service.post("/testnet/decode", {})
    assert (posted.status_code, posted.json()["message"]) == (401, MISSING[0])
    assert 'swapcli_refusals_total{reason="key_missing"}' in service.get("/metrics").text


def test_an_unknown_key_is_not_told_to_send_none(service: InProcessService) -> None:
    answer = service.get("/testnet/tokens", headers={"X-API-Key": "unknown"})
    assert (answer.status_code, answer.json()["hint"]) == (401, "send a valid key")
    assert answer.json()["message"] == "the API key is unknown or was revoked"


def test_the_pages_of_the_service_need_no_key(service: InProcessService, keys: KeyStore) -> None:
    opened = service.get("/testnet/healthcheck", headers={"X-API-Key": keys.create("second").key})
    assert opened.status_code == 200
    for path in OPEN_PATHS:
        assert service.get(path, headers={"Accept": "text/html"}).status_code == 200, path
    for path in ("/livez", "/readyz", "/metrics"):
        assert service.get(path, headers={"Authorization": "Bearer of-an-ingress"}).status_code == 200, path


def test_the_pages_say_that_a_key_may_be_required(service: InProcessService) -> None:
    for path in ("/", "/docs"):
        page = service.get(path, headers={"Accept": "text/html"}).text
        assert "Optional, unless the service requires one." in page, path
        assert page.count("Optional") == 1, path


def test_a_valid_key_is_served_in_either_header(service: InProcessService, keys: KeyStore) -> None:
    key = keys.create("second").key
    for header in ({"X-API-Key": key}, {"Authorization": f"Bearer {key}"}):
        assert service.get("/testnet/v2/route", build_order_query("testnet"), headers=header).status_code == 200
        assert service.get("/testnet/healthcheck", headers=header).status_code == 200
    keys.revoke("second")
    assert service.get("/testnet/tokens", headers={"X-API-Key": key}).status_code == 401


def test_the_openapi_document_demands_a_key(keys: KeyStore) -> None:
    with in_process_service("testnet", keys=keys) as served:

        def schemes(path: str) -> list[dict[str, Any]]:
            """Return the alternatives of the operation at a path; those of the document apply to all without own."""
            document = served.get("/openapi.json").json()
            alternatives: list[dict[str, Any]] = document["paths"][path]["get"].get("security", document["security"])
            return alternatives

        paths = ("/testnet/tokens", "/testnet/v2/route", "/supported-chains", "/testnet/healthcheck")
        for path in paths:
            assert schemes(path) == [{}, {"ApiKey": []}, {"Bearer": []}]
        served.app.policy.replace(REQUIRED, keys)
        served.fake_clock.advance(60)
        for path in paths:
            assert schemes(path) == [{"ApiKey": []}, {"Bearer": []}]
        for path in ("/livez", "/readyz", "/metrics", "/docs", "/openapi.json"):
            assert schemes(path) == []
