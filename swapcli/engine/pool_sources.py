"""What holds a network's pools between orders: a market in memory, or a store.

A `MarketSource` holds its own market; `StoreSource` reads of a store what an order needs. Both answer orders by
themselves, and are what a live source begins with.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Protocol

from swapcli.engine.sources.quote_source import QuoteSource
from swapcli.errors import MarketUnavailable
from swapcli.model.market import Provenance
from swapcli.model.network import Network
from swapcli.model.order import Order
from swapcli.model.state_source import StateSource
from swapcli.model.transfer_behaviour import TransferBehaviour

if TYPE_CHECKING:
    from swapcli.engine.sources.in_memory import MarketSource


class Holder(QuoteSource, Protocol):
    """A source that can be asked for the pools behind its answers."""

    def around(self, order: Order) -> MarketSource:
        """The pools that an order can want."""

    def holding(self, keys: Iterable[str]) -> MarketSource:
        """At least these pools, as far as they are known."""

    def remember_transfers(self, behaviours: Mapping[str, TransferBehaviour], block: int) -> None:
        """Keep how tokens transfer, as was found at a block, where that outlives this process."""


def is_fresh(origin: StateSource, max_age_s: int) -> bool:
    """Is the state known to be at most so old?"""
    return origin.age_s is not None and origin.age_s <= max_age_s


def check_fresh(origin: StateSource, network: Network, max_age_s: int | None) -> None:
    """Raises `MarketUnavailable` where the state is older than `max_age_s`, or nobody can say how old it is."""
    if max_age_s is None or is_fresh(origin, max_age_s):
        return
    old = f"is {origin.age_s} seconds old" if origin.age_s is not None else f"is {origin.provenance}, of no moment"
    if origin.provenance is Provenance.LIVE:
        hint = "the node is behind, or the network stands still: set another node, or allow a greater --max-age"
    else:
        hint = f"set networks.{network.name}.rpc_url and leave out --offline, or allow a greater --max-age"
    raise MarketUnavailable(
        f"the state of the pools of {network.name} {old}, and {max_age_s} seconds are allowed",
        hint=hint,
        details={"age_s": origin.age_s, "max_age_s": max_age_s, "block": origin.block},
    )
