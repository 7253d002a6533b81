"""`swapcli networks` lists the catalogue, in every form."""

from __future__ import annotations

import pytest

from swapcli.core.networks.catalogue import find_network, network_names
from tests.support.command import run_swapcli


def test_networks_lists_the_catalogue() -> None:
    listed = run_swapcli("networks", "--json").json
    assert [entry["name"] for entry in listed] == list(network_names())
    assert all(entry["chainId"] == str(find_network(entry["name"]).chain_id) for entry in listed)


WIDE = {"COLUMNS": "320"}


@pytest.mark.parametrize("command", [("networks",), ("protocols", "base"), ("config", "show")])
def test_every_form_lists_the_same(command: tuple[str, ...]) -> None:
    plain, table = (run_swapcli(*command, form, env=WIDE).stdout for form in ("--plain", "--table"))
    assert [line.split() for line in plain.splitlines()[1:]] == [line.split() for line in table.splitlines()[1:]]
    assert len(plain.splitlines()) == 1 + len(run_swapcli(*command, "--json").json)
