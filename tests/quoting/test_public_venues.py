"""The venues of public lists: each is a protocol of the network, or is absent for a reason."""

from __future__ import annotations

import json
from collections import Counter

import pytest

import swapcli
from swapcli.core.errors import InvalidInput
from swapcli.core.networks.catalogue import find_network
from swapcli.core.networks.definition_files import packaged_networks
from swapcli.quoting.public_venues import FILE, Coverage, list_venues, listed_networks, public_lists
from tests.generate.venues import PAGE, render_page
from tests.support.command import run_swapcli

KNOWN = json.loads(FILE.read_text())


def test_the_page_is_current() -> None:
    assert PAGE.read_text() == render_page(), "run: make venues"


def test_the_lists_of_all_packaged_networks_are_read() -> None:
    assert set(listed_networks()) == packaged_networks()
    for each in public_lists():
        assert len(each.commit) == 40
        assert each.date < KNOWN["read"]


@pytest.mark.parametrize("name", listed_networks())
def test_a_venue_is_a_protocol_or_absent_for_a_reason(name: str) -> None:
    network, lists = find_network(name), {each.name for each in public_lists()}
    entries = KNOWN["networks"][name]
    assert [each for each, count in Counter(entry["venue"] for entry in entries).items() if count > 1] == []
    for entry in entries:
        assert set(entry) <= {"venue", "lists", "protocols", "hooks", "reason"}
        assert entry["lists"]
        assert set(entry["lists"]) <= lists
        assert ("protocols" in entry) != ("reason" in entry), entry["venue"]
        assert all(network.protocol(each) for each in entry.get("protocols", ())), entry["venue"]
    for venue in list_venues(network).venues:
        assert venue.reason or venue.coverage is Coverage.EXACT, venue.name


def test_every_reason_is_used() -> None:
    used = {entry.get("reason") for entries in KNOWN["networks"].values() for entry in entries}
    assert set(KNOWN["reasons"]) <= used


def test_coverage_is_that_of_the_protocols() -> None:
    base = {each.name: each for each in swapcli.public_venues("base").venues}
    assert base["uniswap-v3"].coverage is Coverage.EXACT
    assert base["tessera"].coverage is Coverage.SAMPLED
    assert base["uniswap-v4-hook-aegis"].coverage is Coverage.EXACT
    assert base["uniswap-v4-hook-aegisprop"].coverage is Coverage.SAMPLED
    assert base["pendle"].coverage is Coverage.ABSENT
    hyperevm = {each.name: each for each in swapcli.public_venues("hyperevm").venues}
    # A protocol that the program knows of and cannot quote says itself what is missing.
    assert "oracle" in hyperevm["brownfi-v2"].reason
    assert hyperevm["brownfi-v2"].coverage is Coverage.ABSENT


def test_absent_venues_come_first() -> None:
    order = list(Coverage)
    ranks = [order.index(each.coverage) for each in list_venues(find_network("monad")).venues]
    assert ranks == sorted(ranks)


def test_a_network_whose_lists_were_not_read_is_refused() -> None:
    own = find_network("base")._replace(name="mine")
    with pytest.raises(InvalidInput, match="are not available for mine") as caught:
        list_venues(own)
    assert "base, citrea" in str(caught.value.hint)


def test_the_command_prints_the_list() -> None:
    shown = run_swapcli("protocols", "monad", "--missing")
    assert shown.exit_code == 0
    assert "nad-fun" in shown.stdout
    assert run_swapcli("protocols", "monad", "--missing", "--format", "csv").stdout.startswith("name,coverage,")
