"""`swapcli compare`: each alternative is the quote that `swapcli route` gives for it."""

from __future__ import annotations

import csv
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator

from swapcli.faces.cli.command_app import load_app, parse_plain
from swapcli.quoting.openers.choose_aggregators import packaged_names
from tests.faces.cli.commands.test_schema import closed
from tests.quoting.aggregators.documented_answers import CALLDATA, bodies
from tests.support.command import run_swapcli
from tests.support.fake_aggregators import DEAD_URL, Character, fake_aggregators
from tests.support.loopback_server import http_response, loopback_server, respond_with

ORDER = ("base", "ETH", "USDC", "25")


@pytest.fixture(scope="module")
def comparison(service_url: str) -> Any:
    return run_swapcli("compare", *ORDER, "--json", "--api-url", service_url).json


def alternative(comparison: Any, kind: str, name: str | None = None) -> Any:
    found = [each for each in comparison["alternatives"] if each["kind"] == kind and name in (None, each.get("name"))]
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
    names = [each["protocol"] for each in run_swapcli("protocols", "base", "--json").json]
    others = ",".join(each for each in names if each != "uniswapV3")
    route = run_swapcli("route", *ORDER, "--json", *(option.replace("OTHERS", others) for option in options)).json
    found = alternative(comparison, kind, name)
    for field in ("outputAmount", "outputAfterGas", "gasUnits", "gasUsd"):
        assert found[field] == route[field]


def test_the_single_path_is_that_of_the_split_route(comparison: Any) -> None:
    route = run_swapcli("route", *ORDER, "--json").json
    single = alternative(comparison, "singlePath")
    assert single["outputAmount"] == route["singlePath"]["outputAmount"]
    assert int(single["gasUnits"]) < int(route["gasUnits"])
    assert single["versusSplitBps"] < 0


def test_the_best_output_after_gas_comes_first(comparison: Any) -> None:
    nets = [int(each.get("outputAfterGas")) for each in comparison["alternatives"] if each.get("outputAfterGas")]
    assert nets == sorted(nets, reverse=True)
    assert len(nets) > 6
    assert comparison["alternatives"][0]["versusBestBps"] == 0
    for each in comparison["alternatives"]:
        assert (each.get("outputAmount") is None) == (each.get("error") is not None)
        assert each.get("versusBestBps") is None or each.get("versusBestBps") <= 0


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
    assert alternative(ran.json, "service", service_url).get("error") is None


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


def settings_with(tmp_path: Path, aggregators: dict[str, Any]) -> dict[str, str]:
    file = tmp_path / "config.yaml"
    file.write_text(json.dumps({"aggregators": aggregators}))
    return {"SWAPCLI_CONFIG": str(file)}


def test_all_are_asked_that_need_no_key(tmp_path: Path) -> None:
    with loopback_server(respond_with(http_response(404, b'{"message": "no route"}'))) as server:
        env = settings_with(tmp_path, {name: {"address": server.url} for name in packaged_names()})
        ran = run_swapcli("compare", "--aggregators", *ORDER, "--json", env=env)
    assert ran.exit_code == 0, ran.stderr
    assert {each["name"] for each in ran.json["alternatives"] if each["kind"] == "aggregator"} == {
        "LI.FI", "OpenOcean", "KyberSwap", "Velora",
    }  # fmt: skip
    assert "not queried: 0x: it needs an API key; odos: it needs an API key" in ran.stderr
    assert len(server.exchanges) == 4


@pytest.mark.parametrize("options", [("--json",), ("--format=plain",), ("--format", "csv"), ("--format=table",)])
def test_no_output_has_the_key_or_a_payload(tmp_path: Path, options: tuple[str, ...]) -> None:
    answers = [http_response(200, each) for each in bodies("0x")]
    refusal = http_response(401, json.dumps({"message": "unknown key swk_hunter2"}))
    for responses in (answers, [refusal]):
        with loopback_server(respond_with(*responses)) as server:
            env = settings_with(tmp_path, {"0x": {"address": server.url, "api_key": "swk_hunter2"}})
            ran = run_swapcli("compare", "base", "ETH", "USDC", "1.5", "--aggregators", "0x", *options, env=env)
        assert ran.exit_code == 0, ran.stderr
        assert server.exchanges[0].headers["0x-api-key"] == "swk_hunter2"
        assert "swk_hunter2" not in ran.stdout + ran.stderr
        assert CALLDATA[:10] not in ran.stdout + ran.stderr


def test_what_aggregators_add_is_in_the_schema(tmp_path: Path) -> None:
    with fake_aggregators({"good": Character("77000000000"), "dead": Character("1", is_dead=True)}) as fake:
        env = settings_with(tmp_path, fake.settings())
        document = run_swapcli("compare", *ORDER, f"--aggregators={fake.names}", "--json", env=env).json
    schema = run_swapcli("schema", "compare").json
    assert [str(each) for each in Draft202012Validator(closed(schema)).iter_errors(document)] == []
    assert document["hostsContacted"] == [fake.server.url.removeprefix("http://"), DEAD_URL.removeprefix("http://")]
    assert alternative(document, "aggregator", "Good")["simulation"]["outcome"] == "notSimulated"
    assert alternative(document, "aggregator", "Dead")["error"]["code"] == "UNREACHABLE"


def test_csv_has_the_rows_of_the_json(comparison: Any) -> None:
    rows = list(csv.DictReader(StringIO(run_swapcli("compare", *ORDER, "--format", "csv").stdout)))
    local = [each for each in comparison["alternatives"] if each["kind"] != "service"]
    assert sorted((row["kind"], row["name"], row["outputAmount"]) for row in rows) == sorted(
        (each["kind"], each.get("name") or "", each.get("outputAmount") or "") for each in local
    )
    assert {(row["network"], row["inputTokenDecimals"]) for row in rows} == {("base", "18")}
    assert all(row["outputToken"] and row["inputAmount"].isdecimal() for row in rows)


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (("base", "ETH", "USDC"), 2, "TOKEN_IN, TOKEN_OUT and AMOUNT are required"),
        ((*ORDER, "--offline", "--api-url", "http://127.0.0.1:9"), 2, "a service is reached over the network"),
        ((*ORDER, "--api-url", "nonsense"), 2, "the URL of the service is not valid"),
        (("base", "ETH", "ETH", "1"), 2, "Token in and token out cannot be the same"),
        ((*ORDER, "--offline", "--aggregators"), 2, "aggregators are queried over the network"),
        ((*ORDER, "--block", "1", "--aggregators", "lifi"), 2, "aggregators quote on their own state"),
        ((*ORDER, "--aggregators=lify"), 2, 'no aggregator "lify"'),
        ((*ORDER, "--aggregators", "0x"), 2, "0x cannot be used: it needs an API key"),
        ((*ORDER, "--from", "0x" + "11" * 20), 2, "--from is used only with --aggregators"),
        ((*ORDER, "--aggregators", "lifi", "--from", "0x12"), 2, '--from: "0x12" is not'),
        (("starknet", "ETH", "USDC", "1", "--aggregators"), 2, "no aggregator can be used on starknet"),
    ],
)
def test_bad_input_is_one_sentence(words: tuple[str, ...], status: int, message: str) -> None:
    ran = run_swapcli("compare", *words)
    assert (ran.exit_code, ran.stdout) == (status, "")
    assert ran.stderr.splitlines()[0].startswith(f"error: {message}")


def test_an_output_that_gas_eats_up_is_negative_after_gas() -> None:
    ran = run_swapcli("compare", "base", "ETH", "USDC", "0.0000001", "--format=plain")
    nets = {
        int(each["outputAfterGas"])
        for each in run_swapcli("compare", "base", "ETH", "USDC", "0.0000001", "--json").json["alternatives"]
        if each.get("outputAfterGas")
    }
    assert max(nets) < 0
    assert f"-{-max(nets) / 10**6:f}".rstrip("0") in ran.stdout
    assert "warning: gas costs " in ran.stderr


def test_the_last_line_counts_what_has_no_route(comparison: Any) -> None:
    count = sum(each["kind"] == "protocol" and each.get("error") is not None for each in comparison["alternatives"])
    text = run_swapcli("compare", *ORDER).stdout
    assert count > 1
    assert f"{count} more protocols cannot fill the order alone" in text.split("\n\n")[-1]


@pytest.mark.parametrize(
    ("value", "names"),
    [
        (("--aggregators", "mine"), ["mine"]),
        (("--aggregators", "mine,lifi"), ["mine,lifi"]),
        (("--aggregators=mine",), ["mine"]),
        (("--aggregators", "lifi"), ["lifi"]),
        (("--aggregators", "base"), ["all"]),
        (("--aggregators", "ETH"), ["all"]),
    ],
)
def test_names_of_the_settings_need_no_equals_sign(value: tuple[str, ...], names: list[str], tmp_path: Path) -> None:
    """A network named like an aggregator stays the network."""
    config = tmp_path / "c.yaml"
    config.write_text("aggregators: {mine: {title: Mine}, base: {title: Base}}\n")
    command = load_app("swapcli.faces.cli.commands.compare").only_command
    assert command is not None
    for words in ((*value, "--config", str(config)), (f"--config={config}", *value)):
        values = parse_plain(command, words if value[-1] in ("base", "ETH") else [*words, *ORDER])
        assert values is not None
        assert values["aggregators"] == names
