"""Find the pools that trade the tokens in a network's definition, for a service without a store."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from swapcli.core.errors import MarketUnavailable
from swapcli.core.model.market import MarketState, Provenance
from swapcli.core.model.network import Network
from swapcli.core.networks.main_tokens import main_tokens
from swapcli.quoting.sources.found_pools import FoundPoolSource
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.found_pools_file import FoundPoolsFile
from swapcli.state.rpc.node import Node
from swapcli.state.snapshot_reader import BlockSnapshot

_MAX_TOKENS: Final = 32
"""The number of pairs grows with the square of the number of tokens: 32 tokens have 496 pairs. For more tokens, a store
is better."""


class _NewestBlock:
    """The latest block of a node; a `ReadsBlocks`."""

    def __init__(self, node: Node, network: Network) -> None:
        self._node, self._network = node, network
        self._snapshot: BlockSnapshot | None = None

    def newest_snapshot(self) -> BlockSnapshot:
        if self._snapshot is None:
            head = self._node.read_head()
            self._snapshot = BlockSnapshot(self._node, self._network, head, SYSTEM_CLOCK.monotonic_s())
        return self._snapshot

    def refresh(self) -> None:
        self._snapshot = None


def find_listed_pools(network: Network, node: Node, folder: Path) -> MarketState:
    """Return a market with the pools between the first tokens in a definition, and with the pools found for earlier
    quotes.

    A file in `folder` keeps the pools that were found. Raises `UpstreamError`, `ConfigError` as a quote would, and
    `MarketUnavailable` if there are no pools.
    """
    file = FoundPoolsFile(folder, network, SYSTEM_CLOCK.now_s)
    source = FoundPoolSource(network, file, SYSTEM_CLOCK, why_no_node=lambda: ("no node is read", "set one"))
    source.use_node(_NewestBlock(node, network))
    listed = dict.fromkeys((*main_tokens(network), *(token.address for token in network.tokens)))
    source.find(list(listed)[:_MAX_TOKENS])
    market = source.known().whole()
    if not market.pools:
        raise MarketUnavailable(
            f"the factories of {network.name} have no pools with the tokens in its definition",
            hint=f"swapcli sync {network.name} finds all pools",
        )
    return market._replace(provenance=Provenance.SYNCED)
