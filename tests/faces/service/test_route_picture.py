"""GET /{network}/route.svg: the picture of the route that the same query finds, and the errors of that query."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree

import pytest

from swapcli.core.networks.catalogue import network_names
from tests.support.service import InProcessService, build_order_query, in_process_service
from tests.support.testnet import LONELY

ALL = (*network_names(), "testnet")


@pytest.fixture(scope="module")
def service() -> Iterator[InProcessService]:
    with in_process_service(*ALL) as served:
        yield served


@pytest.mark.parametrize("name", ALL)
def test_the_picture_shows_the_route_of_the_same_query(service: InProcessService, name: str) -> None:
    answer = service.get(f"/{name}/route.svg", build_order_query(name))
    route = service.get_json(f"/{name}/route", build_order_query(name))
    pools = {
        (swap["extraData"] or {}).get("poolId", swap["poolAddress"])
        for segment in route["route"]
        for hop in segment["swaps"]
        for swap in hop
    }
    root = ElementTree.fromstring(answer.text)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/svg+xml")
    assert root.attrib["width"] == "720"
    assert f"{len(pools)} pool" in "".join(root.itertext())
    assert "x-swap-state" in answer.headers


@pytest.mark.parametrize("width", ["320", "390", "1600"])
def test_a_picture_has_the_width_of_the_query(service: InProcessService, width: str) -> None:
    answer = service.get("/testnet/route.svg", build_order_query("testnet", width=width))
    assert ElementTree.fromstring(answer.text).attrib["width"] == width


@pytest.mark.parametrize("width", ["", "319", "1601", "-1", "3e2", "٤٠٠", "9" * 5_000])
def test_other_widths_are_refused(service: InProcessService, width: str) -> None:
    answer = service.get("/testnet/route.svg", build_order_query("testnet", width=width))
    assert answer.status_code == 400
    assert "width must be a whole number from 320 to 1600" in answer.json()["message"]


def test_a_width_is_given_once(service: InProcessService) -> None:
    query = [*build_order_query("testnet").items(), ("width", "400"), ("width", "500")]
    answer = service.send("GET", "/testnet/route.svg", params=query)
    assert (answer.status_code, answer.json()["message"]) == (400, "width must be given once")


def test_a_picture_can_run_no_script(service: InProcessService) -> None:
    answer = service.get("/testnet/route.svg", build_order_query("testnet"))
    assert answer.headers["content-security-policy"] == "default-src 'none'; style-src 'unsafe-inline'"


@pytest.mark.parametrize(
    "change", [{"amount": "x"}, {"tokenInAddress": ""}, {"direct": "perhaps"}, {"tokenOutAddress": LONELY}]
)
def test_errors_are_those_of_the_route(service: InProcessService, change: dict[str, str]) -> None:
    query = build_order_query("testnet") | change
    picture, route = service.get("/testnet/route.svg", query), service.get("/testnet/route", query)
    assert (picture.status_code, picture.json()) == (route.status_code, route.json())
    assert picture.headers["content-type"] == "application/json"
