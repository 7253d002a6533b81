"""A network's pools at one block."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING

from swapcli.core.errors import InvalidPoolState
from swapcli.core.model.block_tag import BlockTag
from swapcli.core.model.network import Network
from swapcli.core.model.pool import Pool
from swapcli.core.model.token import Token
from swapcli.core.model.transfer_behaviour import UNKNOWN, TransferBehaviour
from swapcli.core.records import NamedTuple

if TYPE_CHECKING:
    from swapcli.core.model.skipped_pool import SkippedPool


class Provenance(StrEnum):
    """Where pool state comes from. What is `live` was read from a node for the order at hand, and is never kept."""

    RECORDED = "recorded"
    SYNCED = "synced"
    MODELLED = "modelled"
    SYNTHETIC = "synthetic"
    LIVE = "live"


class MarketState(NamedTuple):
    """`tokens` by lower-case address (never the native token: pools hold its wrapped form), `pools` by key.

    `gas_price_wei` 0 ranks routes by gross output; `block` and `timestamp` (Unix seconds) are None where unknown.
    `placeholder_pools` are the keys of pools whose addresses only stand for unknown ones; nothing is deployed there.
    `transfers` by address are those tokens whose transfers were tried out, or that are marked in a file:
    `UNKNOWN` is one that refused to be tried.
    `pinned` says whether the node's answers were proven to be of `block`; None without a node. `tag` is what the node
    called the block when it was read, None for a past block that was asked for. `clock_offset_s` is what to add to this
    machine's clock to get the time of the network; it is 0 unless several nodes agree that the clock is wrong.
    `skipped_pools` could not be read because their readers failed. `coverage` says which pools were looked for, for
    people; empty if that is all pools.
    """

    network: Network
    tokens: Mapping[str, Token]
    pools: Mapping[str, Pool]
    provenance: Provenance
    source: str
    gas_price_wei: int
    block: int | None = None
    timestamp: int | None = None
    placeholder_pools: frozenset[str] = frozenset()
    transfers: Mapping[str, TransferBehaviour] = MappingProxyType({})
    pinned: bool | None = None
    tag: BlockTag | None = BlockTag.LATEST
    clock_offset_s: int = 0
    skipped_pools: tuple[SkippedPool, ...] = ()
    coverage: str = ""

    def network_time_s(self, now_s: float) -> float:
        """Return the time of the network, in Unix seconds; `now_s` is that of this machine's clock."""
        return now_s + self.clock_offset_s

    def transfers_of(self, address: str) -> TransferBehaviour:
        """Return how a token's transfers behave: as the network's settings say, else as the market knows."""
        return self.network.transfers.get(address) or self.transfers.get(address, UNKNOWN)


class ParsedMarket(NamedTuple):
    """A market and the errors of the pools that were left out of it (none unless they may be skipped)."""

    market: MarketState
    skipped: tuple[InvalidPoolState, ...] = ()
