"""`examples/plugin`, installed by pip as its users install it, and used by commands."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from swapcli.core.networks.catalogue import find_network
from swapcli.faces.service.examples import build_example
from swapcli.faces.service.openapi import build_document
from swapcli.quoting.config import Settings, networks_from
from swapcli.quoting.openers.choose_aggregators import ALL, choose_aggregators
from swapcli.state.markets.format import parse_market
from tests.support.command import clean_environment, run_swapcli
from tests.support.loopback_server import http_response, loopback_server
from tests.support.outside_ids import keccak256
from tests.support.plugin_packages import installed

EXAMPLE = Path(__file__).parents[1] / "examples" / "plugin"
PLUGINS = (EXAMPLE.parents[1] / "docs" / "plugins.md").read_text()
PACKAGE = "swapcli-example-plugin 0.1.0"
ONE, TWO, THREE = (f"0x1{'0' * 38}{number}" for number in (1, 2, 3))
PAIR, CAPPED = (f"0x3{'0' * 38}{number}" for number in (1, 2))
RECIPIENT, ROUTER = "0x" + "11" * 20, "0x" + "22" * 20


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that pip has installed the example into."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*command, "--target", str(folder), str(EXAMPLE)], check=True, timeout=120)
    return folder


@pytest.fixture
def market(tmp_path: Path) -> Path:
    """A market file of the example's network with a pair and a pool of the example's family."""
    file = tmp_path / "market.json"
    tokens = ((ONE, "ONE", 18), (TWO, "TWO", 6), (THREE, "THREE", 18))
    document = {
        "format": "swap-market/1",
        "network": {"name": "example_local"},
        "provenance": "synthetic",
        "source": "a test",
        "gas_price_wei": 1_000,
        "block": None,
        "timestamp": None,
        "tokens": [
            {"address": address, "symbol": symbol, "name": symbol, "decimals": decimals, "price_usd": 1}
            for address, symbol, decimals in tokens
        ],
        "pools": [
            {
                "address": PAIR,
                "protocol": "examplePair",
                "family": "constant_product",
                "tokens": [ONE, TWO],
                "fee_ppm": 3_000,
                "reserves": [str(10**24), str(10**12)],
            },
            {
                "address": CAPPED,
                "protocol": "cappedSum",
                "family": "capped_sum",
                "tokens": [ONE, THREE],
                "fee_ppm": 500,
                "reserves": [str(10**24), str(10**24)],
                "max_swap": str(10**21),
            },
        ],
    }
    file.write_text(json.dumps(document))
    return file


def swapcli(site: Path, *words: str, home: Path) -> Any:
    """Run a command line that finds the packages of `site`; return its JSON."""
    with installed(site):
        ran = run_swapcli(*words, "--json", env={"HOME": str(home)})
    assert ran.exit_code == 0, ran.stderr
    return ran.json


def test_its_names_are_listed_with_the_package(site: Path, tmp_path: Path) -> None:
    *_, row = swapcli(site, "networks", home=tmp_path)
    assert row == {"name": "example_local", "package": PACKAGE}
    (family,) = (each for each in swapcli(site, "protocols", "base", home=tmp_path) if "package" in each)
    assert family == {"family": "capped_sum", "package": PACKAGE}
    listed = {each["protocol"]: each for each in swapcli(site, "protocols", "example_local", home=tmp_path)}
    assert listed["cappedSum"]["package"] == PACKAGE
    assert listed["cappedSum"]["quotes"] == "exact"
    assert "package" not in listed["examplePair"]
    assert listed["cappedSum"]["dialects"] == ["example_router"]
    details = swapcli(site, "networks", "example_local", home=tmp_path)
    assert details["describedBy"] == [f"package {PACKAGE}"]
    assert [(each["dialect"], each["package"]) for each in details["routers"]] == [("example_router", PACKAGE)]


def test_its_dialect_encodes_a_payload_that_names_the_package(site: Path, market: Path, tmp_path: Path) -> None:
    order = ("example_local", "ONE", "TWO", "5", "--market", str(market))
    document = swapcli(site, "calldata", *order, "--destination", RECIPIENT, home=tmp_path)
    amount_out = 5 * 10**18 * 997 * 10**12 // (10**24 * 1_000 + 5 * 10**18 * 997)  # of Uniswap V2
    assert document["swap"]["amount_out"] == str(amount_out)
    numbers = (int(PAIR, 16), int(ONE, 16), 5 * 10**18, -(-amount_out * 995 // 1_000), int(RECIPIENT, 16))
    selector = keccak256(b"swap(address,address,uint256,uint256,address)")[:4].hex()
    assert document["calldata"] == f"0x{selector}{''.join(f'{each:064x}' for each in numbers)}"
    assert document["dialectPackage"] == PACKAGE
    (warning,) = (each for each in document["warnings"] if each["code"] == "DIALECT_OF_PACKAGE")
    assert PACKAGE in warning["message"]


def test_its_family_quotes(site: Path, market: Path, tmp_path: Path) -> None:
    order = ("example_local", "ONE", "THREE", "5", "--market", str(market))
    quoted = swapcli(site, "route", *order, home=tmp_path)
    assert quoted["outputAmount"] == str(5 * 10**18 * (10**6 - 500) // 10**6)
    assert quoted["route"][0]["swaps"][0][0]["poolAddress"] == CAPPED


def test_the_public_router_cannot_execute_its_family(site: Path, market: Path, tmp_path: Path) -> None:
    """Not even where a market file describes that router itself."""
    document = json.loads(market.read_text())
    protocol = {"id": 100, "amm_name": "cappedSum", "display_name": "Capped sum", "family": "capped_sum"}
    pair = {**protocol, "id": 101, "amm_name": "examplePair", "family": "constant_product"}
    native = {"symbol": "ETH", "name": "Ether", "decimals": 18}
    network = {"name": "elsewhere", "chain_id": 31_337, "native": native, "wrapped_native": ONE, "router": ROUTER}
    market.write_text(json.dumps({**document, "network": {**network, "protocols": [protocol, pair]}}))
    words = ("calldata", "elsewhere", "--market", str(market), "--destination", RECIPIENT, "--json", "ONE")
    with installed(site):
        refused = run_swapcli(*words, "THREE", "5", env={"HOME": str(tmp_path)})
    assert refused.error["code"] == "INVALID_ROUTE"
    assert "capped_sum" in refused.error["message"]
    assert swapcli(site, *words, "TWO", "5", home=tmp_path)["to"] == ROUTER


def test_a_market_of_its_family_needs_it(market: Path) -> None:
    refused = run_swapcli("route", "base", "ETH", "USDC", "1", "--market", str(market), "--json")
    assert refused.error["code"] == "MARKET_ERROR"


def test_its_aggregator_is_asked_where_the_settings_say(site: Path, tmp_path: Path) -> None:
    answer = {"amountOut": "3100000000", "gas": 150_000}
    with loopback_server(lambda exchange: exchange.send(http_response(200, json.dumps(answer)))) as server:
        settings = tmp_path / "config.yaml"
        settings.write_text(f"aggregators: {{example: {{address: '{server.url}'}}}}\n")
        words = ("compare", "base", "ETH", "USDC", "1", "--aggregators", "example", "--config", str(settings))
        found = swapcli(site, *words, home=tmp_path)
    (offer,) = (each for each in found["alternatives"] if each["kind"] == "aggregator")
    assert (offer["name"], offer["package"], offer["promisedAmount"]) == ("Example aggregator", PACKAGE, "3100000000")


def test_a_service_on_its_network_describes_itself(site: Path, market: Path) -> None:
    """Its market file has no native token, and its schemas have the dialect."""
    with installed(site):
        find = networks_from(Settings())
        parsed = parse_market(market.read_text(), networks=find).market
        example = build_example(parsed, 0)
        assert example is not None
        assert example.token_in == ONE
        document = build_document((parsed.network,), {"example_local": example}, has_metrics=True)
        assert '"settler", "example_router"]' in json.dumps(document)


def test_all_does_not_ask_its_aggregator(site: Path) -> None:
    with installed(site):
        chosen = choose_aggregators([ALL], find_network("base"), {})
        assert "example" not in [each.adapter.name for each in chosen.asked]
        assert PACKAGE in chosen.left_out["example"]
        assert "swapcli_example_plugin" not in sys.modules


def test_a_quote_without_it_looks_at_no_metadata(site: Path, tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from swapcli.faces.cli.app import run\n"
        "assert run(['route', 'base', 'ETH', 'USDC', '1', '--json']) == 0\n"
        "unneeded = {'importlib.metadata', 'swapcli.quoting.installed_plugins', 'swapcli_example_plugin'}\n"
        "assert not unneeded & set(sys.modules)\n"
    )
    env = clean_environment({"PYTHONPATH": str(site), "HOME": str(tmp_path)})
    subprocess.run([sys.executable, "-c", script], env=env, stdout=subprocess.DEVNULL, check=True, cwd=os.getcwd())


@pytest.mark.parametrize("number", range(PLUGINS.count("```python")))
def test_the_python_of_its_page_runs(number: int, site: Path, tmp_path: Path) -> None:
    code = re.findall(r"```python\n(.*?)```", PLUGINS, re.DOTALL)[number]
    env = clean_environment({"PYTHONPATH": str(site), "HOME": str(tmp_path)})
    ran = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert ran.stdout


def test_its_page_shows_its_entry_points() -> None:
    (shown,) = re.findall(r"```toml\n(.*?)```", PLUGINS, re.DOTALL)
    entry_points = tomllib.loads(EXAMPLE.joinpath("pyproject.toml").read_text())["project"]["entry-points"]
    assert tomllib.loads(shown)["project"]["entry-points"] == entry_points
