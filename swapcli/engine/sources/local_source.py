"""Sources that keep a network's pools between orders: in memory or in SQLite.

An `InMemorySource` has a market in memory; a `StoreSource` reads the pools that an order needs from a store. Both quote
by themselves, and a live source begins with one of them.
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
    from swapcli.engine.sources.in_memory import InMemorySource


class PoolSource(QuoteSource, Protocol):
    """A source of quotes that gives access to its pools."""

    def source_for(self, order: Order) -> InMemorySource:
        """Return a source with the pools that an order can use."""

    def source_with(self, keys: Iterable[str]) -> InMemorySource:
        """Return a source with at least those of these pools that are known."""

    def record_transfers(self, behaviours: Mapping[str, TransferBehaviour], block: int) -> None:
        """Record how tokens transfer, as probed at a block, if the source outlives the process."""


def is_fresh(state: StateSource, max_age_s: int) -> bool:
    """Return whether the state is known to be at most that old."""
    return state.age_s is not None and state.age_s <= max_age_s


def check_fresh(state: StateSource, network: Network, max_age_s: int | None) -> None:
    """Raise `MarketUnavailable` if the state is older than `max_age_s`, or of unknown age."""
    if max_age_s is None or is_fresh(state, max_age_s):
        return
    if state.age_s is None:
        problem = f"{network.name} is quoted on {state.provenance} state, which has no timestamp"
    else:
        problem = f"the state of the pools of {network.name} is {state.age_s} seconds old"
    if state.provenance is Provenance.LIVE:
        hint = "the node is behind, or the network stands still: set another node, or allow a greater --max-age"
    else:
        hint = f"set networks.{network.name}.rpc_url and leave out --offline, or allow a greater --max-age"
    raise MarketUnavailable(
        f"{problem}, so --max-age {max_age_s} cannot be met",
        hint=hint,
        details={"age_s": state.age_s, "max_age_s": max_age_s, "block": state.block},
    )
