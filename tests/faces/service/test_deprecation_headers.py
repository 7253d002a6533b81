"""Responses for former paths and parameters announce that, by the headers of RFC 9745, RFC 8594 and RFC 5829."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.model import deprecations
from swapcli.core.model.deprecations import DEPRECATIONS, DeprecatedKind, Deprecation, deprecations_of
from swapcli.faces.service.deprecation_headers import DeprecatedHandler, announce_deprecations, deprecation_headers
from swapcli.faces.service.endpoint_table import PATHS
from tests.faces.service.test_route_events import serving
from tests.support.service import build_order_query

PATH = Deprecation(
    DeprecatedKind.PATH, "/{network}/route", "/{network}/v2/route", "0.1.0", "9.0.0", "2026-11-26", "2027-06-01"
)
PARAMETER = Deprecation(DeprecatedKind.PARAMETER, "direct", "maxHops", "0.1.0", "9.0.0", "2026-12-01")
AT = {"2026-11-26": 1_795_651_200, "2026-12-01": 1_796_083_200}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deprecations, "DEPRECATIONS", (*DEPRECATIONS, PATH, PARAMETER))
        with serving() as service:
            yield service.url


def announced(url: str, path: str, **parameters: str) -> tuple[str | None, ...]:
    """Return the headers of a response to an order."""
    response = httpx.get(url + path, params={**build_order_query("testnet"), **parameters})
    return tuple(response.headers.get(name) for name in ("Deprecation", "Sunset", "Link"))


def test_a_former_path_is_announced(url: str) -> None:
    day, sunset, link = announced(url, "/testnet/route")
    assert day == f"@{AT['2026-11-26']}"
    assert sunset == "Tue, 01 Jun 2027 00:00:00 GMT"
    assert parsedate_to_datetime(sunset) == datetime(2027, 6, 1, tzinfo=UTC)
    assert link == '</testnet/v2/route>; rel="successor-version"'
    assert announced(url, "/testnet/v2/route") == announced(url, "/livez") == (None, None, None)


def test_a_former_parameter_is_announced(url: str) -> None:
    assert announced(url, "/testnet/v2/route", direct="true") == (f"@{AT['2026-12-01']}", None, None)
    # The earliest day counts where several are used.
    assert announced(url, "/testnet/route", direct="true") == announced(url, "/testnet/route")


def test_errors_are_announced_too_and_no_client_writes_a_header(url: str) -> None:
    response = httpx.get(f"{url}/no%0d%0aX-Made-Up:%20yes/route")
    assert response.status_code == 404
    assert "x-made-up" not in response.headers
    assert response.headers["link"] == '</no%0D%0Ax-made-up%3A%20yes/v2/route>; rel="successor-version"'


def test_the_openapi_document_marks_them(url: str) -> None:
    paths = httpx.get(f"{url}/openapi.json").json()["paths"]
    by_path: Mapping[str, bool] = {path: bool(item.get("get", {}).get("deprecated")) for path, item in paths.items()}
    assert [path for path, is_marked in by_path.items() if is_marked] == ["/testnet/route"]
    marked = {
        each["name"]
        for item in paths.values()
        for each in item.get("get", {}).get("parameters", ())
        if each.get("deprecated")
    }
    assert marked == {"direct"}


def test_paths_without_former_names_cost_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async def handler(*_: object) -> None:
        pass

    monkeypatch.setattr(deprecations, "DEPRECATIONS", ())
    assert announce_deprecations(handler, PATH.name) is handler
    monkeypatch.setattr(deprecations, "DEPRECATIONS", (PATH,))
    assert isinstance(announce_deprecations(handler, PATH.name), DeprecatedHandler)
    assert announce_deprecations(handler, "/livez") is handler


def test_former_paths_exist_and_have_a_present_one() -> None:
    for each in deprecations_of(DeprecatedKind.PATH).values():
        assert {each.name, each.replacement} <= {*PATHS}


@given(st.lists(st.sampled_from([PATH, PARAMETER]), max_size=4))
def test_the_earliest_days_are_announced(found: list[Deprecation]) -> None:
    headers = deprecation_headers(found, {"network": "base"})
    names = [name for name, _ in headers]
    assert names.count(b"deprecation") == bool(found)
    assert names.count(b"sunset") == (PATH in found)
    assert names.count(b"link") == found.count(PATH)
    if found:
        assert dict(headers)[b"deprecation"] == f"@{min(AT[each.deprecated_on] for each in found)}".encode()
