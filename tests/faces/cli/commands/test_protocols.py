"""`swapcli protocols`: what can be named on a network, and how much of it a store has."""

from __future__ import annotations

import json
from collections import Counter
from datetime import date
from pathlib import Path

import pytest

from swapcli.core.networks.catalogue import find_network, network_names
from swapcli.state.agreements_file import Agreement, AgreementsFile
from tests.support.command import run_swapcli


@pytest.mark.parametrize("name", network_names())
def test_protocols_lists_a_networks_protocols(name: str) -> None:
    listed = run_swapcli("protocols", name, "--json").json
    assert [(entry["protocolId"], entry["protocol"]) for entry in listed] == [
        (protocol.id, protocol.amm_name) for protocol in find_network(name).protocols
    ]


def test_without_a_network_the_networks_are_named() -> None:
    refused = run_swapcli("protocols", "--json")
    assert refused.exit_code == 2
    assert refused.error["hint"].startswith(f"use one of {', '.join(network_names())}")


@pytest.fixture(params=["base", "citrea", "starknet"])
def stored_market(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    """A network, and a folder where the embedded market is in its store."""
    exported = run_swapcli("market", "export", request.param).stdout.encode()
    assert run_swapcli("market", "import", "-", "--store", str(tmp_path), stdin=exported).exit_code == 0
    return request.param, str(tmp_path)


def test_protocols_tell_how_many_pools_of_each_are_in_the_store(stored_market: tuple[str, str]) -> None:
    name, folder = stored_market
    without, listed = (
        run_swapcli("protocols", name, "--json").json,
        run_swapcli("protocols", name, "--json", "--store", folder).json,
    )
    pools = json.loads(run_swapcli("market", "export", name).stdout)["pools"]
    counts = Counter(pool["protocol"] for pool in pools)
    assert [entry["pools"] for entry in listed] == [counts[entry["protocol"]] for entry in listed]
    assert {entry["poolsSource"] for entry in listed} == {"store"}
    assert [entry | {"poolsSource": "embedded"} for entry in listed] == without
    assert pools_column(run_swapcli("protocols", name, "--store", folder).stdout) == [
        f"{entry['pools']:,}" for entry in listed
    ]


def pools_column(listing: str, title: str = "Pools") -> list[str]:
    """Return the column of numbers below its title."""
    titles, *rows = listing.splitlines()
    return [row[titles.index(title) :].split()[0] for row in rows]


@pytest.mark.parametrize("name", network_names())
def test_without_a_store_embedded_pools_are_counted(name: str) -> None:
    pools = json.loads(run_swapcli("market", "export", name).stdout)["pools"]
    counts = Counter(pool["protocol"] for pool in pools)
    column = pools_column(run_swapcli("protocols", name).stdout, "Modelled")
    assert column == [str(counts[protocol.amm_name]) for protocol in find_network(name).protocols]


@pytest.mark.parametrize("name", network_names())
def test_missing_facts_have_a_date_and_addresses_a_certainty(name: str) -> None:
    network = find_network(name)
    assert date.fromisoformat(network.facts_date)
    for row, entry in zip(
        run_swapcli("protocols", name).stdout.splitlines()[1:],
        run_swapcli("protocols", name, "--json").json,
        strict=True,
    ):
        assert entry["factsDate"] == network.facts_date
        assert (f"(as of {network.facts_date})" in row) == ("reason" in entry)
        assert "contract" in entry or not entry["canSync"]


def test_block_and_time_of_the_last_agreement_are_shown(tmp_path: Path) -> None:
    AgreementsFile(tmp_path).add(8453, {"uniswapV3": Agreement(21_000_000, 1_764_547_200, 3)})
    (entry,) = (
        each
        for each in run_swapcli("protocols", "base", "--store", str(tmp_path), "--json").json
        if "lastAgreed" in each
    )
    assert entry["protocol"] == "uniswapV3"
    assert entry["lastAgreed"] == {"block": 21_000_000, "timestamp": 1_764_547_200, "swaps": 3}
    rows = run_swapcli("protocols", "base", "--store", str(tmp_path)).stdout.splitlines()
    assert [row.split()[1] for row in rows if "2025-12-01 00:00 UTC, block 21,000,000" in row] == ["uniswapV3"]


def test_a_network_can_be_set() -> None:
    assert run_swapcli("protocols", env={"SWAPCLI_NETWORK": "monad"}).stdout == run_swapcli("protocols", "monad").stdout
    assert run_swapcli("protocols").exit_code == 2
    assert "swapcli config set network base" in run_swapcli("protocols").stderr
