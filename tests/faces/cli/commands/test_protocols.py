"""`swapcli protocols`: what can be named on a network, and how much of it a store has."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from swapcli.core.networks.catalogue import find_network, network_names
from tests.support.command import run_swapcli


@pytest.mark.parametrize("name", network_names())
def test_protocols_lists_a_networks_protocols(name: str) -> None:
    listed = run_swapcli("protocols", name, "--json").json
    assert [(entry["protocol"], entry["amm_name"]) for entry in listed] == [
        (protocol.id, protocol.amm_name) for protocol in find_network(name).protocols
    ]


def test_without_a_network_the_networks_are_named() -> None:
    refused = run_swapcli("protocols", "--json")
    assert refused.exit_code == 2
    assert refused.error["hint"].startswith(f"name one of {', '.join(network_names())}")


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
    assert [entry["pools"] for entry in listed] == [counts[entry["amm_name"]] for entry in listed]
    assert [entry | {"pools": None} for entry in listed] == without
    assert pools_column(run_swapcli("protocols", name, "--store", folder).stdout) == [
        f"{entry['pools']:,}" for entry in listed
    ]


def pools_column(listing: str) -> list[str]:
    """Return the column of numbers below its title."""
    titles, *rows = listing.splitlines()
    return [row[titles.index("POOLS") :].split()[0] for row in rows]


def test_a_network_can_be_set() -> None:
    assert run_swapcli("protocols", env={"SWAPCLI_NETWORK": "monad"}).stdout == run_swapcli("protocols", "monad").stdout
    assert run_swapcli("protocols").exit_code == 2
    assert "swapcli config set network base" in run_swapcli("protocols").stderr
