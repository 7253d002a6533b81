"""`swapcli compare`: each alternative is the quote that `swapcli route` gives for it."""

from __future__ import annotations

import csv
from io import StringIO
from typing import Any

import pytest

from tests.support.command import run_swapcli
from tests.support.loopback_server import http_response, loopback_server, respond_with

ORDER = ("base", "ETH", "USDC", "25")


@pytest.fixture(scope="module")
def comparison(service_url: str) -> Any:
    return run_swapcli("compare", *ORDER, "--json", "--api-url", service_url).json


def alternative(comparison: Any, kind: str, name: str | None = None) -> Any:
    found = [each for each in comparison["alternatives"] if each["kind"] == kind and name in (None, each["name"])]
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize(
    ("kind", "name", "options"),
    [
        ("split", None, ()),
        ("direct", None, ("--direct",)),
        ("protocol", "Uniswap V3", ("--exclude-protocols", "OTHERS")),
    ],
)
def test_an_alternative_is_what_route_quotes(comparison: Any, kind: str, name: str | None, options: Any) -> None:
    names = [each["amm_name"] for each in run_swapcli("protocols", "base", "--json").json]
    others = ",".join(each for each in names if each != "uniswapV3")
    route = run_swapcli("route", *ORDER, "--json", *(option.replace("OTHERS", others) for option in options)).json
    found = alternative(comparison, kind, name)
    for field in ("outputAmount", "outputNetOfGas", "gasUnits", "gasUsd"):
        assert found[field] == route[field]


def test_the_single_path_is_that_of_the_split_route(comparison: Any) -> None:
    route = run_swapcli("route", *ORDER, "--json").json
    single = alternative(comparison, "singlePath")
    assert single["outputAmount"] == route["bestSinglePath"]["amount"]
    assert int(single["gasUnits"]) < int(route["gasUnits"])
    assert single["versusSplitBps"] < 0


def test_the_best_output_net_of_gas_comes_first(comparison: Any) -> None:
    nets = [int(each["outputNetOfGas"]) for each in comparison["alternatives"] if each["outputNetOfGas"]]
    assert nets == sorted(nets, reverse=True)
    assert len(nets) > 6
    assert comparison["alternatives"][0]["versusBestBps"] == 0
    for each in comparison["alternatives"]:
        assert (each["outputAmount"] is None) == (each["error"] is not None)
        assert each["versusBestBps"] is None or each["versusBestBps"] <= 0


def test_a_service_has_its_own_row(comparison: Any, service_url: str) -> None:
    found = alternative(comparison, "service", service_url)
    assert found["outputAmount"]
    assert found["state"]["service"] == service_url


def test_a_service_that_fails_has_a_row_with_its_error(service_url: str) -> None:
    with loopback_server(respond_with(http_response(500, b"{}"))) as server:
        broken = server.url
        ran = run_swapcli("compare", *ORDER, "--json", "--timeout", "2", "--api-url", broken, "--api-url", service_url)
    assert ran.exit_code == 0
    failure = alternative(ran.json, "service", broken)["error"]
    assert failure["code"].startswith("UPSTREAM")
    assert failure["retryable"] is True
    assert alternative(ran.json, "service", service_url)["error"] is None


def test_a_key_goes_to_no_other_service(service_url: str) -> None:
    env = {"SWAPCLI_API_KEY": "swk_a-secret", "SWAPCLI_API_URL": service_url}
    with loopback_server(respond_with(http_response(404, b"{}"))) as other:
        run_swapcli("compare", *ORDER, "--api-url", other.url, "--api-url", service_url, env=env)
        alone = len(other.exchanges)
        run_swapcli("compare", *ORDER, "--api-url", other.url, env=env)
    has_key = ["swk_a-secret" in str(exchange.headers) for exchange in other.exchanges]
    assert 0 < alone < len(has_key)
    assert not any(has_key[:alone])
    assert all(has_key[alone:])


def test_csv_has_the_rows_of_the_json(comparison: Any) -> None:
    rows = list(csv.DictReader(StringIO(run_swapcli("compare", *ORDER, "--format", "csv").stdout)))
    local = [each for each in comparison["alternatives"] if each["kind"] != "service"]
    assert sorted((row["kind"], row["name"], row["outputAmount"]) for row in rows) == sorted(
        (each["kind"], each["name"] or "", each["outputAmount"] or "") for each in local
    )


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (("base", "ETH", "USDC"), 2, "TOKEN_IN, TOKEN_OUT and AMOUNT are required"),
        ((*ORDER, "--offline", "--api-url", "http://127.0.0.1:9"), 2, "a service is reached over the network"),
        ((*ORDER, "--api-url", "nonsense"), 2, "the URL of the service is not valid"),
        (("base", "ETH", "ETH", "1"), 2, "Token in and token out cannot be the same"),
    ],
)
def test_bad_input_is_one_sentence(words: tuple[str, ...], status: int, message: str) -> None:
    ran = run_swapcli("compare", *words)
    assert (ran.exit_code, ran.stdout) == (status, "")
    assert ran.stderr.splitlines()[0].startswith(f"error: {message}")


def test_an_output_that_gas_eats_up_is_negative_net_of_gas() -> None:
    ran = run_swapcli("compare", "base", "ETH", "USDC", "0.0000001", "--plain")
    nets = {
        int(each["outputNetOfGas"])
        for each in run_swapcli("compare", "base", "ETH", "USDC", "0.0000001", "--json").json["alternatives"]
        if each["outputNetOfGas"]
    }
    assert max(nets) < 0
    assert f"-{-max(nets) / 10**6:f}".rstrip("0") in ran.stdout
    assert "warning: gas costs " in ran.stderr


def test_the_last_line_counts_what_has_no_route(comparison: Any) -> None:
    count = sum(each["kind"] == "protocol" and each["error"] is not None for each in comparison["alternatives"])
    text = run_swapcli("compare", *ORDER).stdout
    assert count > 1
    assert f"{count} more protocols have no route alone" in text.split("\n\n")[-1]
