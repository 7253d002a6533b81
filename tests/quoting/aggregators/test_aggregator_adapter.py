"""An adapter says which networks it knows, and whom it asks."""

from __future__ import annotations

import pytest

from swapcli.core.networks.catalogue import find_network
from swapcli.quoting.aggregators.adapter_definitions import find_adapter

STARKNET, BASE, CITREA = map(find_network, ("starknet", "base", "citrea"))


def test_an_adapter_by_chain_ids_knows_every_evm_network() -> None:
    adapter = find_adapter("lifi")
    assert [adapter.knows(each) for each in (BASE, CITREA, STARKNET)] == [True, True, False]


def test_an_adapter_with_names_knows_those_chains_only() -> None:
    adapter = find_adapter("kyberswap")
    assert [adapter.knows(each) for each in (BASE, CITREA, STARKNET)] == [True, False, False]


@pytest.mark.parametrize(("name", "takes_key"), [("lifi", True), ("0x", True), ("openocean", False)])
def test_a_key_is_taken_where_a_header_has_its_place(name: str, takes_key: bool) -> None:
    assert find_adapter(name).takes_key is takes_key


def test_the_host_has_no_path() -> None:
    assert find_adapter("lifi", {"lifi": {"address": "http://127.0.0.1:80/a/b"}}).host == "127.0.0.1:80"
