"""Embedded markets, opened once for all tests of a process."""

from __future__ import annotations

from functools import cache

from swapcli.core.model.market import MarketState
from swapcli.core.networks.catalogue import find_network
from swapcli.quoting.open_market import open_market
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.state.clock import SYSTEM_CLOCK


@cache
def embedded_market(name: str) -> MarketState:
    """Return the embedded market of a network."""
    return open_market(name, find_network).market


@cache
def embedded_source(name: str) -> InMemorySource:
    """Return a source of quotes on the embedded market of a network."""
    return InMemorySource(embedded_market(name), SYSTEM_CLOCK)
