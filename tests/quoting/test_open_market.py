"""A market is opened by its name or chain id, and a file of it has to match."""

from __future__ import annotations

import json

import pytest

from swapcli.core.errors import (
    InvalidInput,
    UnknownNetwork,
)
from swapcli.core.networks.catalogue import find_network
from swapcli.quoting.open_market import open_market
from swapcli.state.markets.embedded import embedded_names
from tests.support.testnet import (
    build_market_document,
    raise_unknown_network,
)


def test_a_market_is_opened_by_name_or_chain_id() -> None:
    assert open_market("BASE", find_network).market.network.name == "base"
    assert open_market("8453", find_network).market.network.name == "base"
    assert len(embedded_names()) >= 5
    with pytest.raises(UnknownNetwork):
        open_market("nowhere", find_network)


def test_a_market_file_must_match_the_named_network() -> None:
    document = json.dumps(build_market_document()).encode()
    assert open_market("TestNet", raise_unknown_network, document=document).market.network.name == "testnet"
    with pytest.raises(InvalidInput, match='for "testnet", not for "base"'):
        open_market("base", raise_unknown_network, document=document)
