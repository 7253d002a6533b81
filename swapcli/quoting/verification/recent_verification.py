"""Verify the newest swaps of each protocol of a network, without transaction hashes.

`state.mined.recent_swaps` finds the swaps block by block, backwards. Each is quoted on the state just before it, as in
`transaction_verification`. The number of requests is limited, and the result has the swaps found within the limit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Protocol

from swapcli.core.errors import (
    ChainReorganized,
    InvalidOption,
    RequestBudgetSpent,
    SwapDiffers,
    UpstreamError,
    UpstreamRejected,
)
from swapcli.core.model.network import Network, ProtocolInfo
from swapcli.core.model.token import Token
from swapcli.core.records import NamedTuple
from swapcli.families.reading.pool_readers import ref_of_pool
from swapcli.interface.own_document import own_document
from swapcli.quoting.resolve import find_protocols
from swapcli.quoting.sources.freshness import archive_hint
from swapcli.quoting.sources.quote_source import PoolSource
from swapcli.quoting.verification.transaction_verification import swap_document
from swapcli.state.agreements_file import Agreement
from swapcli.state.mined.block_verification import verify_in_block
from swapcli.state.mined.recent_swaps import FoundSwap, RecentSwaps, find_recent_swaps
from swapcli.state.mined.swap_verification import Outcome, VerifiedSwap
from swapcli.state.mined.swapped_pools import find_pool_ref
from swapcli.state.mined.venue_pools import VenuePools, find_venue_pools
from swapcli.state.rpc.multicall import MulticallReader
from swapcli.state.rpc.node import BlockHeader, BudgetedNode, Node

if TYPE_CHECKING:
    from swapcli.interface.document_types import RecentSwapJson, RecentVenueJson, RecentVerificationJson

MAX_REQUESTS: Final = 400
"""HTTP requests of a run: about 10 for each block with a swap, so about 30 blocks fit. Chosen."""
MAX_COUNT: Final = 50
"""Swaps of each protocol, or of one pool; chosen: larger runs belong in a test."""
_SEARCH_SHARE: Final = 0.4
"""Share of the requests that may be spent before the first swap is verified."""
_KNOWN_POOLS: Final = 2_000
"""Known pools from which those of each protocol are chosen, deepest first."""
_MAX_FAILURES: Final = 3
"""Consecutive blocks that cannot be read before the node counts as failed."""


class CountingNode(Node, Protocol):
    """A node that counts the HTTP requests that it has sent."""

    @property
    def round_trips(self) -> int:
        """The number of HTTP requests sent so far."""


class VenueStatus(StrEnum):
    """The result for a protocol. It is different if any swap differs from its quote, otherwise equal if any swap equals
    its quote."""

    EQUAL = "equal"
    DIFFERENT = "different"
    NOT_EXPLAINED = "notExplained"
    NONE_FOUND = "noneFound"
    """There was no swap in the searched blocks."""
    NOT_VERIFIED = "notVerified"
    """Swaps were found, but the run ended before one of them was verified."""
    NOT_SEARCHED = "notSearched"
    """Nothing was searched; the reason says why."""


class RecentSwap(NamedTuple):
    """A verified swap with its block. `transaction` is empty if the node does not return it.

    `timestamp` is the block's Unix time, None if the block could not be read.
    """

    block: int
    timestamp: int | None
    transaction: str
    swap: VerifiedSwap


OnSwap = Callable[[ProtocolInfo, RecentSwap], object]
"""Receives a verified swap with its protocol."""


class RecentVenue(NamedTuple):
    """The newest verified swaps in a protocol, newest first. `found` is the number of swaps that were found.

    `searched_from` is the first block that was searched, None if none was. `reason` says why there are fewer swaps than
    requested; it is empty if there are enough.
    """

    protocol: ProtocolInfo
    swaps: tuple[RecentSwap, ...]
    found: int
    searched_from: int | None
    reason: str = ""

    @property
    def status(self) -> VenueStatus:
        """The protocol's status, judging by its swaps."""
        for outcome in (Outcome.DIFFERENT, Outcome.EQUAL, Outcome.NOT_EXPLAINED):
            if self.count(outcome):
                return VenueStatus(outcome.value)
        if self.found:
            return VenueStatus.NOT_VERIFIED
        return VenueStatus.NOT_SEARCHED if self.searched_from is None else VenueStatus.NONE_FOUND

    def count(self, outcome: Outcome) -> int:
        """Return the number of swaps with `outcome`."""
        return sum(each.swap.outcome is outcome for each in self.swaps)


class RecentVerification(NamedTuple):
    """The newest `per_venue` swaps in each protocol of a network, up to the block `head`, with their quotes.

    `tokens` are the tokens in the swaps, by address. `requests` is the number of HTTP requests sent. `problem` says
    which failure or limit ended the run early; it is empty if the run was complete.
    """

    network: Network
    head: BlockHeader
    per_venue: int
    venues: tuple[RecentVenue, ...]
    tokens: Mapping[str, Token]
    requests: int
    problem: str = ""

    def total(self, outcome: Outcome) -> int:
        """Return the number of swaps with `outcome` in all protocols."""
        return sum(venue.count(outcome) for venue in self.venues)

    @own_document
    def document(self) -> RecentVerificationJson:
        """Return the JSON that `swapcli verify --recent` prints."""
        return {
            "network": self.network.name,
            "block": self.head.number,
            "timestamp": self.head.timestamp,
            "swapsPerProtocol": self.per_venue,
            "requests": self.requests,
            "problem": self.problem or None,
            "equal": self.total(Outcome.EQUAL),
            "different": self.total(Outcome.DIFFERENT),
            "notExplained": self.total(Outcome.NOT_EXPLAINED),
            "protocols": [_venue_document(self, venue) for venue in self.venues],
        }

    def check(self) -> None:
        """Raise `SwapDiffers` if a swap paid a different amount than its quote, and `UpstreamError` if no swap matched
        its quote."""
        swaps = sum(len(venue.swaps) for venue in self.venues)
        different = self.total(Outcome.DIFFERENT)
        if different:
            names = [venue.protocol.amm_name for venue in self.venues if venue.count(Outcome.DIFFERENT)]
            raise SwapDiffers(
                f"{different} of {swaps} recent swaps paid a different amount than their quotes: {', '.join(names)}",
                details={"different": different, "protocols": names},
            )
        if self.total(Outcome.EQUAL):
            return
        reasons = [each.swap.reason for venue in self.venues for each in venue.swaps]
        reasons += [self.problem] if self.problem else []
        what = f"none of {swaps} recent swaps could be explained" if swaps else "no recent swap was found"
        raise UpstreamError(": ".join([what, *reasons[:1]]), details={"swaps": swaps})

    def agreements(self) -> dict[str, Agreement]:
        """Return the number of swaps that matched their quotes, and the newest block with such a swap, by protocol.

        Protocols with a swap that differed are omitted.
        """
        found = {}
        for venue in self.venues:
            equal = [each for each in venue.swaps if each.swap.outcome is Outcome.EQUAL]
            if venue.status is VenueStatus.EQUAL:
                newest = max(equal, key=lambda each: each.block)
                found[venue.protocol.amm_name] = Agreement(newest.block, newest.timestamp or 0, len(equal))
        return found


def check_recent_count(count: int) -> None:
    """Raise `InvalidOption` for a number of swaps that is out of range."""
    if not 1 <= count <= MAX_COUNT:
        raise InvalidOption(f"the number of recent swaps must be from 1 to {MAX_COUNT}", details={"count": count})


def verify_recent_swaps(
    node: CountingNode,
    known: PoolSource,
    count: int,
    *,
    protocols: Collection[str] | None = None,
    max_requests: int = MAX_REQUESTS,
    max_duration_s: float | None = None,
    on_swap: OnSwap | None = None,
    pool: str | None = None,
) -> RecentVerification:
    """Find the last `count` swaps in each protocol, and quote each on the state just before it.

    `protocols` are names as in `ProtocolInfo.amm_name`; None means all protocols of the network. If `pool` (a key) is
    given, only that pool's swaps are found. `on_swap` receives each swap as soon as it is verified. Raises
    `InvalidOption`, `UnknownProtocol`, `InvalidInput` for an unknown pool, and `UpstreamError` if the node does not
    return its latest block.
    """
    check_recent_count(count)
    run = _Run(node, known, count, RequestLimits(node, max_requests, max_duration_s), on_swap)
    return run.run(protocols) if pool is None else run.run_on_pool(pool)


class RequestLimits:
    """The number of requests that a run may still send, and the time that it may still take."""

    def __init__(self, node: CountingNode, max_requests: int, max_duration_s: float | None = None) -> None:
        self._node, self._max_requests = node, max_requests
        self._first_request = node.round_trips
        self._started_s, self._max_duration_s = time.monotonic(), max_duration_s

    @property
    def sent(self) -> int:
        """The number of requests that this run has sent."""
        return self._node.round_trips - self._first_request

    def begin(self) -> None:
        """Allow the run's requests on a node that has a budget, such as a public node."""
        if isinstance(self._node, BudgetedNode):
            self._node.allow_requests(self._max_requests)

    def allows(self, requests: int) -> bool:
        """Return whether the run may send `requests` more requests."""
        return self.sent + requests <= self._max_requests

    def problem(self, share: float = 1.0) -> str:
        """Return why nothing more may be read once `share` of the limits is used up; empty if reads may continue."""
        if self.sent >= self._max_requests * share:
            return f"this run has used all of its {self._max_requests:,} requests"
        if self._max_duration_s is not None and time.monotonic() >= self._started_s + self._max_duration_s * share:
            return f"this run has used all of its {self._max_duration_s:g} s"
        return ""


class _Run:
    """One run over a network: it finds pools, then swaps, then reads their blocks."""

    def __init__(
        self,
        node: CountingNode,
        known: PoolSource,
        count: int,
        limits: RequestLimits,
        on_swap: OnSwap | None,
    ) -> None:
        self._node, self._known, self._count, self._limits = node, known, count, limits
        self._network, self._on_swap = known.network, on_swap
        self._verified: dict[tuple[int, int], RecentSwap] = {}
        self._tokens: dict[str, Token] = {}
        self._problem = ""
        # The latest block for which the node has refused state, and why: it has no older state either.
        self._refused: tuple[int, str] | None = None

    def run(self, names: Collection[str] | None) -> RecentVerification:
        """Return the result for these protocols."""
        protocols = _chosen(self._network, names)
        head = self._node.read_head().block
        self._limits.begin()
        return self._run_in(protocols, self._find_pools(protocols, head), head)

    def run_on_pool(self, key: str) -> RecentVerification:
        """Return the result for one pool."""
        head = self._node.read_head().block
        self._limits.begin()
        pool = self._known.known().with_pools([key]).market.pools.get(key)
        ref = ref_of_pool(pool, self._network) if pool is not None else None
        if ref is None:
            ref = find_pool_ref(MulticallReader(self._node, head, self._network.multicall), self._network, key)
        protocols = tuple(each for each in self._network.protocols if each.amm_name == ref.protocol)
        pools = VenuePools({ref.protocol: (ref._replace(last_read=None),)}, {})
        return self._run_in(protocols, pools, head)

    def _run_in(self, protocols: Sequence[ProtocolInfo], pools: VenuePools, head: BlockHeader) -> RecentVerification:
        recent = find_recent_swaps(
            self._node,
            self._network,
            pools.pools,
            head.number,
            self._count,
            lambda: not self._limits.problem(_SEARCH_SHARE),
        )
        self._verify(recent)
        venues = tuple(self._venue(protocol, pools, recent) for protocol in protocols)
        problem = self._problem or (recent.problem.message if recent.problem else "")
        sent = self._limits.sent
        return RecentVerification(self._network, head, self._count, venues, self._tokens, sent, problem)

    def _find_pools(self, protocols: Sequence[ProtocolInfo], head: BlockHeader) -> VenuePools:
        known = self._known.known().deepest((), _KNOWN_POOLS)[0].values()
        reader = MulticallReader(self._node, head, self._network.multicall)
        try:
            return find_venue_pools(reader, self._network, protocols, known)
        except UpstreamError as error:
            self._problem = error.message
            return find_venue_pools(reader, self._network, protocols, known, asks_factories=False)

    def _verify(self, recent: RecentSwaps) -> None:
        """Verify the first swap of each protocol, then the second, and so on, with all other swaps in their blocks."""
        by_block: dict[int, list[FoundSwap]] = {}
        for place in range(self._count):
            for found in recent.swaps.values():
                for swap in found[place : place + 1]:
                    by_block.setdefault(swap.block_number, []).append(swap)
        failures = 0
        for number, swaps in by_block.items():
            if self._refused is not None and number < self._refused[0]:
                self._note_failure(swaps, self._refused[1])
                continue
            if problem := self._problem_of_run(failures):
                self._problem = problem
                return
            try:
                self._verify_block(number, swaps)
            except RequestBudgetSpent as error:
                self._problem = error.message
                return
            except UpstreamError as error:
                failures += 1
                reason = error.message
                if isinstance(error, UpstreamRejected):
                    reason = f"{reason}; {archive_hint(number - 1)}"
                    self._refused = number, reason
                self._note_failure(swaps, reason)
            else:
                failures = 0

    def _problem_of_run(self, failures: int) -> str:
        return self._limits.problem() or (
            f"the node failed at {_MAX_FAILURES} blocks in a row" if failures == _MAX_FAILURES else ""
        )

    def _verify_block(self, number: int, swaps: Sequence[FoundSwap]) -> None:
        node, network = self._node, self._network
        block, parent = node.read_block(number), node.read_block(number - 1)
        if block is None or parent is None or block.parent_hash != parent.hash:
            raise ChainReorganized(f"{node.redacted_url} has a different block {number} now: the chain was reorganized")
        reader = MulticallReader(node, parent, network.multicall)
        events = sorted((swap.event for swap in swaps), key=lambda event: event.first_log)
        refs = list({swap.ref.key: swap.ref for swap in swaps}.values())
        found = verify_in_block(reader, network, {}, events, refs=refs)
        reader.verify_block()
        self._tokens |= found.read.tokens
        by_log = {each.event.first_log: each for each in found.swaps}
        for swap in swaps:
            verified = by_log.get(swap.event.first_log)
            if verified is None or verified.event != swap.event:
                verified = _not_explained(swap, f"{node.redacted_url} no longer returns its event")
            self._keep(swap, block.timestamp, verified)

    def _note_failure(self, swaps: Iterable[FoundSwap], reason: str) -> None:
        for swap in swaps:
            self._keep(swap, None, _not_explained(swap, reason))

    def _keep(self, swap: FoundSwap, timestamp: int | None, verified: VerifiedSwap) -> None:
        found = RecentSwap(swap.block_number, timestamp, swap.transaction, verified)
        self._verified[_place(swap)] = found
        if self._on_swap is not None:
            protocol = self._network.protocol(swap.ref.protocol)
            assert protocol is not None
            self._on_swap(protocol, found)

    def _venue(self, protocol: ProtocolInfo, pools: VenuePools, recent: RecentSwaps) -> RecentVenue:
        name = protocol.amm_name
        found = recent.swaps.get(name, ())
        swaps = tuple(self._verified[place] for swap in found if (place := _place(swap)) in self._verified)
        searched_from = recent.searched_from.get(name)
        reason = pools.reasons.get(name, "")
        if not reason and len(swaps) < self._count:
            reason = self._why_few(len(found), len(swaps), recent)
        return RecentVenue(protocol, swaps, len(found), searched_from, reason)

    def _why_few(self, found: int, verified: int, recent: RecentSwaps) -> str:
        if verified < found:
            return self._problem
        if recent.problem:
            return recent.problem.message
        return self._limits.problem(_SEARCH_SHARE) or "its pools have had no other swaps since the first block"


def _chosen(network: Network, names: Collection[str] | None) -> tuple[ProtocolInfo, ...]:
    """Return the protocols with these names, in the network's order, without the wrapper, which is not an exchange."""
    chosen = None if names is None else find_protocols(names, network)
    return tuple(
        each for each in network.protocols if not each.is_wrapper and (chosen is None or each.amm_name in chosen)
    )


def _place(swap: FoundSwap) -> tuple[int, int]:
    """Return a swap's position on the chain."""
    return swap.block_number, swap.event.first_log


def _not_explained(swap: FoundSwap, reason: str) -> VerifiedSwap:
    return VerifiedSwap(swap.event, Outcome.NOT_EXPLAINED, None, reason=reason)


def _venue_document(found: RecentVerification, venue: RecentVenue) -> RecentVenueJson:
    first = venue.searched_from
    return {
        "protocol": venue.protocol.amm_name,
        "displayName": venue.protocol.display_name,
        "family": venue.protocol.family,
        "status": venue.status.value,
        "equal": venue.count(Outcome.EQUAL),
        "different": venue.count(Outcome.DIFFERENT),
        "notExplained": venue.count(Outcome.NOT_EXPLAINED),
        "found": venue.found,
        "searchedFrom": first,
        "searchedBlocks": 0 if first is None else found.head.number - first + 1,
        "reason": venue.reason or None,
        "swaps": [_swap_document(found, each) for each in venue.swaps],
    }


def _swap_document(found: RecentVerification, each: RecentSwap) -> RecentSwapJson:
    return {
        "transaction": each.transaction or None,
        "block": each.block,
        "stateBlock": each.block - 1,
        "timestamp": each.timestamp,
        **swap_document(found.network, found.tokens, each.swap),
    }
