"""Record mined swaps with the state of their pools at the parent block, so that others can replay them.

A recording is a list of pools, each with its state as in market files, and the swaps that were made in that state:

| key | meaning |
|---|---|
| `family`, `tokens`, `decimals`, `fee_ppm`, `state` | the pool at the parent block |
| `swaps` | `token_in`, `token_out`, `amount_in`, `amount_out` of each swap's event, and `error`, always null |
| `sequential` | true: each swap acts on the state that the one before it left |
| `source`, `note` | chain, pool, blocks, logs and transactions; how the program's own quotes compare with the swaps |

The amounts come from the chain alone. A swap is omitted if something besides the pool's own swaps changed the pool
earlier in the block, or if its event does not show the output of an exact input. A recording names public contracts,
blocks and transactions. It contains nothing about the node or the user.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from swapcli.core.errors import UpstreamError
from swapcli.core.model.network import Network
from swapcli.core.model.pool import Pool
from swapcli.core.records import NamedTuple
from swapcli.core.version import __version__
from swapcli.quoting.verification.recent_verification import RecentVerification
from swapcli.quoting.verification.transaction_verification import Verification
from swapcli.state.mined.swap_events import SwapEvent
from swapcli.state.mined.swap_verification import Outcome, VerifiedSwap

if TYPE_CHECKING:
    from swapcli.interface.document_types import RecordedPoolJson, RecordedSwapJson

DEFAULT_COUNT: Final = 20
"""Swaps of one pool: as many as a family needs to count as compared with the chain."""


class RecordedPool(NamedTuple):
    """A pool at the parent block of `block`, and the swaps made in it after that, up to the last of `transactions`.

    `different` is the number of swaps that paid a different amount than their quotes.
    """

    network: Network
    block: int
    pool: Pool
    swaps: tuple[SwapEvent, ...]
    transactions: tuple[str, ...]
    different: int

    def document(self) -> RecordedPoolJson:
        """Return the pool in the format of recorded swaps."""
        pool, logs = self.pool, ", ".join(str(event.last_log) for event in self.swaps)
        transactions = ", ".join(self.transactions) or "unknown to the node"
        equal = len(self.swaps) - self.different
        return {
            "family": pool.family,
            "source": (
                f"{self.network.name} (chain id {self.network.chain_id}): {pool.protocol} pool {pool.key}, state at"
                f" block {self.block - 1}, logs {logs} of block {self.block}, transaction {transactions}"
            ),
            "tokens": list(pool.tokens),
            "decimals": list(pool.decimals),
            "fee_ppm": pool.fee_ppm,
            "state": pool.state(),
            "swaps": [_swap_document(pool, event) for event in self.swaps],
            "sequential": True,
            "note": f"recorded by swapcli {__version__}, whose quotes were equal for {equal} of {len(self.swaps)}",
        }


class SkippedSwap(NamedTuple):
    """A mined swap that was not recorded, with the reason."""

    pool: str
    block: int
    reason: str


class Recording(NamedTuple):
    """Recorded pools, and the skipped swaps. `problem` says why the run ended early; it is empty if the run was
    complete."""

    network: Network
    pools: tuple[RecordedPool, ...]
    skipped: tuple[SkippedSwap, ...]
    problem: str = ""

    @property
    def swaps(self) -> int:
        """The number of recorded swaps."""
        return sum(len(each.swaps) for each in self.pools)

    def document(self) -> list[RecordedPoolJson]:
        """Return the JSON that `swapcli record` prints."""
        return [each.document() for each in self.pools]

    def check(self) -> None:
        """Raise `UpstreamError` with a reason if no swap was recorded."""
        if self.pools:
            return
        reasons = [each.reason for each in self.skipped] or [self.problem or "no swap was found"]
        raise UpstreamError(f"no swap could be recorded: {reasons[0]}", details={"swaps": len(self.skipped)})


def record_transaction(found: Verification) -> Recording:
    """Return a recording of the swaps in a mined transaction."""
    number = found.block.number
    return _record(found.network, [(number, found.transaction, swap) for swap in found.swaps])


def record_recent(found: RecentVerification) -> Recording:
    """Return a recording of recent swaps."""
    swaps = [(each.block, each.transaction, each.swap) for venue in found.venues for each in venue.swaps]
    return _record(found.network, swaps, found.problem)


def _record(network: Network, swaps: Iterable[tuple[int, str, VerifiedSwap]], problem: str = "") -> Recording:
    """Return one recorded pool per pool and block: the longest series of swaps from the state at the parent block."""
    recorded: dict[tuple[int, str], RecordedPool] = {}
    skipped: list[SkippedSwap] = []
    for block, transaction, swap in sorted(swaps, key=lambda each: (each[0], each[2].event.first_log)):
        if reason := _why_not_recorded(swap):
            skipped.append(SkippedSwap(swap.event.key, block, reason))
            continue
        assert swap.earlier is not None
        place = block, swap.event.key
        before = recorded.get(place)
        transactions = dict.fromkeys([*(before.transactions if before else ()), *filter(None, [transaction])])
        series = (*swap.earlier.swaps, swap.event)
        different = int(swap.outcome is Outcome.DIFFERENT)
        recorded[place] = RecordedPool(
            network, block, swap.earlier.pool_at_parent, series, tuple(transactions), different
        )
    return Recording(network, tuple(recorded.values()), tuple(skipped), problem)


def _why_not_recorded(swap: VerifiedSwap) -> str:
    """Return why a swap cannot be recorded; empty if it can."""
    if swap.outcome is Outcome.NOT_EXPLAINED:
        return swap.reason
    return "" if swap.earlier is not None else "its pool changed earlier in the block without a swap"


def _swap_document(pool: Pool, event: SwapEvent) -> RecordedSwapJson:
    sold, bought = _addresses(pool, event)
    amounts = event.amounts
    return {
        "token_in": sold,
        "token_out": bought,
        "amount_in": str(amounts.amount_in),
        "amount_out": str(amounts.amount_out),
        "error": None,
    }


def _addresses(pool: Pool, event: SwapEvent) -> Iterator[str]:
    """Yield the tokens that a swap sold and bought; events name them by address or position."""
    return (each if isinstance(each, str) else pool.tokens[each] for each in (event.amounts.sold, event.amounts.bought))
