"""Sources that keep a network's pools between orders: in memory or in SQLite.

An `InMemorySource` has a market in memory; a `StoreSource` reads the pools that an order needs from a store. Both quote
by themselves, and a live source begins with one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Protocol

from swapcli.core.model.order import Order
from swapcli.core.model.transfer_behaviour import TransferBehaviour
from swapcli.quoting.sources.quote_source import QuoteSource

if TYPE_CHECKING:
    from swapcli.quoting.sources.in_memory import InMemorySource


class PoolSource(QuoteSource, Protocol):
    """A source of quotes that gives access to its pools."""

    def source_for(self, order: Order) -> InMemorySource:
        """Return a source with the pools that an order can use."""

    def source_with(self, keys: Iterable[str]) -> InMemorySource:
        """Return a source with at least those of these pools that are known."""

    def record_transfers(self, behaviours: Mapping[str, TransferBehaviour], block: int) -> None:
        """Record how tokens transfer, as probed at a block, if the source outlives the process."""
