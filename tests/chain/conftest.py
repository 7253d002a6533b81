"""Nodes of the shared chains."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from swapcli.chain.rpc_node import RpcNode
from tests.chain.trader import Trader
from tests.support.chain import connected


@pytest.fixture
def node(trader: Trader) -> Iterator[RpcNode]:
    with connected(trader.chain) as node:
        yield node
