"""Tokens for `sync`: symbols of the store, and names together with lists."""

from __future__ import annotations

import pytest

from swapcli.core.errors import UnknownToken
from swapcli.core.model.token import Token
from swapcli.core.networks.catalogue import find_network
from swapcli.quoting.syncing.filters import parse_sync_filter, read_token_lists

ADDRESS = "0x" + "12" * 20
LIST = (
    b'{"name": "l", "tokens": [{"chainId": 8453, "address": "%s", "symbol": "OWN", "decimals": 18}]}' % ADDRESS.encode()
)


def test_a_symbol_may_name_a_token_of_the_store() -> None:
    network = find_network("base")
    stored = {ADDRESS: Token(ADDRESS, "OWN", "Own", 18)}
    with pytest.raises(UnknownToken):
        parse_sync_filter(network, None, ["ETH,OWN"], None, None)
    found = parse_sync_filter(network, None, ["ETH,OWN"], None, None, stored=stored)
    assert found.tokens == frozenset({str(network.wrapped_native_address), ADDRESS})


@pytest.mark.parametrize("given", [["ETH,@own.json"], ["@own.json", "ETH"], ["ETH", "@own.json"]])
def test_names_and_lists_may_be_mixed(given: list[str]) -> None:
    listed = read_token_lists(given, find_network("base"), 1.0, lambda name, _: LIST if name == "own.json" else b"")
    assert sorted(listed.names) == sorted(["ETH", ADDRESS])
