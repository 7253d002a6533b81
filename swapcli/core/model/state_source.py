"""The source and age of a quote's pool state."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from swapcli.core.model.block_tag import BlockTag
from swapcli.core.model.market import MarketState, Provenance
from swapcli.core.records import NamedTuple

if TYPE_CHECKING:
    from swapcli.core.model.skipped_pool import SkippedPool


PAST: Final = "past"
"""The kind of state that was read from a node at a block chosen by number or hash."""


class ReportedWarnings(NamedTuple):
    """The warning codes that a service reports, and its price impact as a fraction, None if not reported."""

    codes: tuple[str, ...] = ()
    price_impact: float | None = None


class StateSource(NamedTuple):
    """The origin of pool state, such as a market file, a store, a node or a remote service.

    `description` is for people. `age_s` is None if the state has no timestamp. `service_url` is the service that made
    the quote, None if this process did. `provenance` is None if the service does not report it; `reported` are the
    warnings of the service. `pinned` is as in `MarketState`. `is_proposed` means that the network had not yet agreed on
    the block when it was read. `tag` is the block's tag at that time, None without a node. `is_past` means that the
    block was requested by its number or hash. `without_samples` counts sampled pools that are not used because no node
    has quoted them. `live_failure` is the reason why the state is not live although live state was requested.
    `clock_offset_s` is as in `MarketState`. `skipped_pools` are not used, because their readers or their computations
    failed.
    """

    provenance: Provenance | None
    description: str
    block: int | None = None
    timestamp: int | None = None
    age_s: int | None = None
    service_url: str | None = None
    reported: ReportedWarnings = ReportedWarnings()
    pinned: bool | None = None
    is_proposed: bool = False
    tag: BlockTag | None = None
    without_samples: int = 0
    live_failure: str = ""
    is_past: bool = False
    clock_offset_s: int = 0
    skipped_pools: tuple[SkippedPool, ...] = ()

    @classmethod
    def of(
        cls,
        market: MarketState,
        now_s: float,
        broken: Iterable[SkippedPool] = (),
        *,
        without_samples: int | None = None,
    ) -> StateSource:
        """Return the state source of a market; `now_s` is the time of this machine's clock (Unix).

        `broken` are the market's pools that break computations. `without_samples` is the result of
        `count_without_samples`, if known: counting takes longer than everything else.
        """
        network_s = int(market.network_time_s(now_s))
        age_s = None if market.timestamp is None else max(0, network_s - market.timestamp)
        was_read_from_node = market.provenance in (Provenance.LIVE, Provenance.SYNCED)
        return cls(
            market.provenance,
            market.source,
            market.block,
            market.timestamp,
            age_s,
            pinned=market.pinned,
            is_proposed=was_read_from_node and market.network.head_is_proposed and market.tag is BlockTag.LATEST,
            tag=market.tag if was_read_from_node else None,
            without_samples=count_without_samples(market) if without_samples is None else without_samples,
            is_past=was_read_from_node and market.tag is None,
            clock_offset_s=market.clock_offset_s,
            skipped_pools=tuple(dict.fromkeys((*market.skipped_pools, *broken))),
        )

    def network_time_s(self, now_s: float) -> float:
        """Return the network's time in Unix seconds; `now_s` is the time of this machine's clock."""
        return now_s + self.clock_offset_s

    @property
    def kind(self) -> str | None:
        """The kind of the state in all outputs: its provenance, or `PAST`; None if unknown."""
        return PAST if self.is_past else self.provenance.value if self.provenance else None

    @property
    def is_live(self) -> bool:
        """Whether the state was read from the network itself, which makes its prices real."""
        return is_real(self.provenance)


def is_real(provenance: Provenance | None) -> bool:
    """Return whether state with this provenance was read from the network itself."""
    return provenance in (Provenance.LIVE, Provenance.SYNCED, Provenance.RECORDED)


def chain_time_s(state: StateSource) -> int | None:
    """Return the Unix time of the latest block, as just reported by a node; None if no node has reported one."""
    is_newest = state.provenance is Provenance.LIVE and state.tag in (BlockTag.LATEST, BlockTag.PENDING)
    return state.timestamp if is_newest else None


def count_without_samples(market: MarketState) -> int:
    """Return the number of sampled pools that cannot trade because they have no quotes.

    Only networks with quote functions have sampled pools.
    """
    if not market.network.quoters:
        return 0
    return sum(pool.is_sampled and not pool.changes_without_events for pool in market.pools.values())
