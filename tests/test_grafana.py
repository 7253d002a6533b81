"""The dashboard of Grafana names metrics and labels that a real service has, and leaves none of its metrics out."""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from tests.support.redis_server import RedisServer
from tests.support.service import build_order_query
from tests.support.service_process import run_service
from tests.support.waiting import until

DASHBOARD: dict[str, Any] = json.loads((Path(__file__).parents[1] / "examples" / "grafana.json").read_text())
PANELS: list[dict[str, Any]] = [each for each in DASHBOARD["panels"] if each["type"] != "row"]
VARIABLES = {each["name"]: each for each in DASHBOARD["templating"]["list"]}
NAME = re.compile(r"\b(?:swapcli|process)_\w+")
SELECTOR = re.compile(r"((?:swapcli|process)_\w+)\{([^}]*)\}")
LABEL = re.compile(r"(\w+)(?:=|!=|=~|!~)\"([^\"]*)\"")
GROUPING = re.compile(r"\bby \(([^)]*)\)")
OF_PROMETHEUS = {"job", "instance"}
"""Labels that Prometheus adds when it scrapes."""
BUILT_IN_VARIABLES = {"__rate_interval", "__interval", "__range"}
SUFFIXES = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count"), "gauge": ("",)}
GRID_WIDTH = 24


def queries() -> Iterator[str]:
    for panel in PANELS:
        yield from (target["expr"] for target in panel["targets"])
    yield from (each["definition"] for each in VARIABLES.values() if each["type"] == "query")


@pytest.fixture(scope="module")
def families(redis_server: RedisServer) -> Mapping[str, Metric]:
    """The metrics of a service of two workers with shared state, after a quote, by name."""
    env = {"SWAPCLI_SERVICE_STATE_URL": redis_server.url}
    with run_service("--workers", "2", "--networks", "base", env=env) as service:
        query = "&".join(f"{key}={value}" for key, value in build_order_query("base", 10**18).items())
        assert urllib.request.urlopen(f"{service.url}/base/route?{query}").status == 200
        # The other worker sees the quote up to half a second later.
        found: dict[str, Metric] = {}

        def has_quote() -> bool:
            found.update(read_metrics(service.url))
            return bool(found["swapcli_solve_duration_seconds"].samples)

        until(has_quote)
        return found


def read_metrics(url: str) -> dict[str, Metric]:
    """Return the metrics of a service by name."""
    text = urllib.request.urlopen(f"{url}/metrics").read().decode()
    return {each.name: each for each in text_string_to_metric_families(text)}


def samples_of(families: Mapping[str, Metric]) -> dict[str, Metric]:
    """Return the names that a query may use, each with its metric."""
    return {f"{name}{suffix}": each for name, each in families.items() for suffix in SUFFIXES[each.type]}


def test_every_query_names_metrics_that_exist(families: Mapping[str, Metric]) -> None:
    known = samples_of(families)
    named = {name for query in queries() for name in NAME.findall(query)}
    assert len(named) > 25
    assert named - known.keys() == set()


def test_every_metric_is_shown(families: Mapping[str, Metric]) -> None:
    known = samples_of(families)
    shown = {known[name].name for panel in PANELS for each in panel["targets"] for name in NAME.findall(each["expr"])}
    assert {name for name in families if name.startswith("swapcli_")} - shown == set()


def test_selectors_and_groups_have_labels_of_their_metric(families: Mapping[str, Metric]) -> None:
    known, checked = samples_of(families), 0
    for query in queries():
        for name, selector in SELECTOR.findall(query):
            samples = [each for each in known[name].samples if each.name == name]
            if not samples:
                continue  # it appears with a feed or with a node
            labels = set(samples[0].labels) | OF_PROMETHEUS
            assert {label for label, _ in LABEL.findall(selector)} <= labels, query
            grouped = {each.strip() for groups in GROUPING.findall(query) for each in groups.split(",")}
            assert grouped <= labels, query
            checked += 1
    assert checked > 30


def test_queries_use_variables_that_are_declared() -> None:
    text = json.dumps(DASHBOARD)
    used = {name or braced for name, braced in re.findall(r"\$(?:(\w+)|\{(\w+)\})", text)} - {"__all"}
    assert used == VARIABLES.keys() | BUILT_IN_VARIABLES
    for query in queries():
        for opening, closing in ("()", "[]", "{}"):
            assert query.count(opening) == query.count(closing), query


def test_counters_are_never_shown_raw(families: Mapping[str, Metric]) -> None:
    known = samples_of(families)
    for panel in PANELS:
        for query in (each["expr"] for each in panel["targets"]):
            for found in NAME.finditer(query):
                if known[found[0]].type != "gauge":
                    assert query[: found.start()].endswith(("rate(", "increase(")), query


def test_panels_fit_the_grid_without_overlap() -> None:
    assert len({each["id"] for each in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
    places = [each["gridPos"] for each in DASHBOARD["panels"]]
    assert all(each["x"] + each["w"] <= GRID_WIDTH for each in places)
    for one, other in combinations(places, 2):
        beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        above = one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]
        assert beside or above


def test_every_panel_has_a_title_and_legends() -> None:
    for panel in PANELS:
        assert panel["title"]
        assert all(each["legendFormat"] and each["refId"] for each in panel["targets"])
        assert panel["datasource"]["uid"] == "${datasource}"
