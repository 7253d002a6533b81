"""What never changes about a pool, in the records that kinds of several folders share, and what its last read found."""

from __future__ import annotations

from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.records import NamedTuple


class TickConstants(NamedTuple):
    """Of a concentrated pool with a contract of its own."""

    tick_spacing: int = 0


class InfinityConstants(NamedTuple):
    """The key of a PancakeSwap Infinity pool, besides its tokens and a constant fee, and its id.

    A pool that trades the native token lists it in its wrapped form. `parameters` has the tick spacing, or the step of
    the bins.
    """

    pool_id: str = ""
    parameters: int = 0
    hooks: str = ZERO_ADDRESS
    is_native: bool = False
    has_dynamic_fee: bool = False

    @property
    def step(self) -> int:
        """The tick spacing or the bin step."""
        from swapcli.families.infinity_key import step_in

        return step_in(self.parameters)


class FactoryConstants(NamedTuple):
    """Of a pair whose fee its factory knows.

    `likely_factory` is the only one that the network names for the protocol.
    """

    factory: str = ""
    likely_factory: str = ""


class LastTicks(NamedTuple):
    """The tick of the last read, and the initialised ticks around it."""

    tick: int
    initialized: tuple[int, ...] = ()


class LastBins(NamedTuple):
    """The active bin of the last read, and the bins with liquidity around it."""

    active_id: int
    ids: tuple[int, ...] = ()
