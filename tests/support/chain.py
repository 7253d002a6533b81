"""Local chains with deployed contracts, shared by the tests of a pytest worker.

A worker starts a node and deploys the contracts once. A test, or a module, works on a copy of the records inside
`restored`, which reverts the node afterwards: 1 ms instead of 400 ms for a new node with all contracts.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, Self, TypeVar

from swapcli.state.rpc.rpc_node import NodePolicy, RpcEndpoint, RpcNode
from tests.chain.anvil import CHAIN_ID, AnvilChain
from tests.chain.settings import url_of


class ChainRecord(Protocol):
    """Python's record of a chain: its contracts, tokens and pools."""

    chain: AnvilChain

    def copy(self) -> Self:
        """Return a record of the same chain that can change without affecting this one."""


Record = TypeVar("Record", bound=ChainRecord)


@contextmanager
def restored(record: Record) -> Iterator[Record]:
    """Yield a copy of the record; afterwards revert its chain. May be nested, as scopes of fixtures are."""
    with record.chain.revert_after():
        yield record.copy()


@contextmanager
def connected(chain: AnvilChain, chain_id: int = CHAIN_ID) -> Iterator[RpcNode]:
    """Connect to the node of a chain, without pauses before retries."""
    node = RpcNode([RpcEndpoint(url_of(chain), "the local node")], chain_id, NodePolicy(pause=lambda _: None))
    try:
        yield node
    finally:
        node.close()
