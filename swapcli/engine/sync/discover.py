"""Finds pools that a store does not hold yet, in portions: each begins where the one before it ended.

Factories' lists come first, then events of creation, then what was left out earlier. Where only some tokens are wanted,
factories are asked for their pairs before that, and lists and events only tell what has come since.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from swapcli.chain.batch_read import SkippedItem
from swapcli.chain.log_scan import FIRST_SPAN, MAX_SPAN, ScannedRange, find_first_available_block, scan_logs
from swapcli.chain.log_verification import MAX_HEADERS, find_missing_logs, find_withheld_block
from swapcli.chain.multicall import BlockReader
from swapcli.chain.node import LogFilter
from swapcli.chain.pair_lookup import find_pair_pools
from swapcli.chain.pool_discovery import (
    Factory,
    PoolList,
    creation_filter,
    find_factories,
    read_created_pools,
    read_listed_pools,
    read_pool_lists,
)
from swapcli.chain.pool_ref import PoolRef
from swapcli.engine.sync.cursor import Search
from swapcli.engine.sync.skipped import places_of
from swapcli.engine.sync.sync_filter import Wanted
from swapcli.errors import InvalidUpstreamResponse, UpstreamRejected, UpstreamTimeout
from swapcli.model.network import Network
from swapcli.model.token import Token
from swapcli.store import LeftOut, Store

_MOST_RANGES: Final = 8
"""Of blocks, in one portion."""
_MOST_ASKED: Final = 64
"""Tokens: their pairs grow with the square of their number, and from here on lists and events are sooner read."""


class Stage(NamedTuple):
    """What a portion was about, for people: `done` of `total`, which is None where nobody knows it."""

    phase: str
    done: int
    total: int | None


@dataclass
class Found:
    """A portion: places, some without decimals, and what cannot be held. `tokens` are known without asking.

    `search` is how far the search has come with it, `is_all` says that nothing more is to be found at the view's block;
    `stage` is None where nothing was left to do. `span` blocks of events were got at once, where any were asked for.
    """

    search: Search
    places: list[PoolRef] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    tokens: Mapping[str, Token] = field(default_factory=dict)
    stage: Stage | None = None
    is_all: bool = False
    span: int = FIRST_SPAN


class _EventsWithheld(UpstreamRejected):
    """A node leaves events out of what it tells."""


class _Source(NamedTuple):
    """A home that is wanted, and by what name its places are kept: another one where more of it is wanted."""

    name: str
    home: Factory

    @property
    def title(self) -> str:
        """For people."""
        protocol = self.home.protocol or self.home.stable_protocol
        return protocol.display_name if protocol else self.home.address


def find_more(store: Store, view: BlockReader, search: Search, size: int, span: int = FIRST_SPAN) -> Found:
    """The next portion that a search wants, of about `size` places. Raises `UpstreamError`."""
    return _Finder(store, view, Found(search, span=span), size).find()


class _Finder:
    def __init__(self, store: Store, view: BlockReader, found: Found, size: int) -> None:
        self._store, self._view, self._found, self._room = store, view, found, size
        self._silent_before = frozenset(view.contracts_without_output)
        sources = _sources(store.network, found.search.wanted.protocols)
        self._silent = [each for each in sources if not each.home.is_enumerable]
        listed = [each for each in sources if each.home.is_enumerable]
        listings = read_pool_lists(view, [each.home for each in listed]) if listed else []
        self._lists = list(zip(listed, listings, strict=True))

    def find(self) -> Found:
        """Each step says whether it is done with what there is at this block."""
        self._check_answered()
        steps = (self._ask_for_pairs, self._read_lists, self._read_events, self._look_for_lost, self._look_again)
        self._found.is_all = all(step() for step in steps)
        self._check_answered()
        return self._found

    def _check_answered(self) -> None:
        """Raises `InvalidUpstreamResponse` where a contract that must be there returns nothing: a factory that answered
        before, or a pool that a factory told of."""
        answered = {name.split()[0] for name, length in self._found.search.lists.items() if length}
        unknown = {home.address for _, home in (*(source for source, _ in self._lists), *self._silent)} - answered
        silent = sorted(self._view.contracts_without_output - unknown - self._silent_before)
        if silent:
            raise InvalidUpstreamResponse(
                f"{self._view.node.shown} answers with nothing for {silent[0]}, which must be there: nothing is stored",
                hint="try again, or set another node",
                details={"contract": silent[0], "block": self._view.block},
            )

    def _ask_for_pairs(self) -> bool:
        """All at once; lists and events then go on from here, where the home could be asked."""
        search = self._found.search
        tokens, with_events = search.wanted.tokens, search.wanted.from_block > 0
        if tokens is None or search.is_asked or len(tokens) > _MOST_ASKED:
            return True
        asked = {home.address: home for _, home in (*(source for source, _ in self._lists), *self._silent)}
        wrapped = self._store.network.wrapped_native_address
        found = list(find_pair_pools(self._view, list(asked.values()), sorted(tokens), wrapped))
        mute = {each.key: each.reason for each in found if isinstance(each, SkippedItem) and each.key in asked}
        self._take(each for each in found if each.key not in mute)
        lengths = {name: each.length for (name, _), each in self._lists if isinstance(each, PoolList)}
        lists = {name: lengths.get(name, 0) for (name, home), _ in self._lists if home.address not in mute}
        events = {} if with_events else {name: self._view.block + 1 for name, _ in self._silent}
        unread = {key: why for key, why in mute.items() if not (with_events or asked[key].is_enumerable)}
        self._move(lists={**lists, **search.lists}, events={**events, **search.events}, unread=unread, is_asked=True)
        self._stage("pairs of tokens", len(tokens), len(tokens))
        return True

    def _read_lists(self) -> bool:
        for source, listing in self._lists:
            if isinstance(listing, SkippedItem):
                self._found.left_out.append(LeftOut(*listing))
                continue
            first = self._found.search.lists.get(source.name, 0)
            if first >= listing.length:
                continue
            if self._room <= 0:
                return False
            last = min(first + self._room, listing.length)
            self._room -= last - first
            self._take(read_listed_pools(self._view, listing, first, last))
            self._move(lists={**self._found.search.lists, source.name: last})
            self._stage(f"{source.title} pairs", last, listing.length)
            if last < listing.length:
                return False
        return True

    def _read_events(self) -> bool:
        """Homes that have come equally far are asked about together."""
        if not self._silent:
            return True
        head, start = self._view.block, self._found.search.wanted.from_block
        for number in range(_MOST_RANGES):
            reached = {each.name: self._found.search.events.get(each.name, start) for each in self._silent}
            first = min(reached.values())
            if first > head:
                return True
            if self._room <= 0:
                return False
            group = [each for each in self._silent if reached[each.name] == first]
            last = min([head, *(at - 1 for at in reached.values() if at > first)])
            query = creation_filter([home for _, home in group], first, last)
            assert query
            if (number == 0 and self._is_deaf(query)) or not self._read_range(group, query):
                return True
            self._stage("creation events", max(first - start, 0), head - start + 1)
        return False

    def _is_deaf(self, query: LogFilter) -> bool:
        """Does a node that told of no events the last time still tell of none? One question then is enough."""
        if not self._found.search.refusal:
            return False
        head = self._view.block
        return find_first_available_block(self._view.node, query._replace(from_block=head, to_block=head)) > head

    def _read_range(self, group: list[_Source], query: LogFilter) -> bool:
        """As many blocks from the query's first on as the node tells of at once; False where it tells of none."""
        search, names = self._found.search, [name for name, _ in group]
        try:
            part = self._told_in_full(query)
        except (UpstreamRejected, UpstreamTimeout) as error:
            gaps = {**dict.fromkeys(names, query.from_block), **search.gaps}
            told = (
                query.to_block + 1
                if isinstance(error, _EventsWithheld)
                else find_first_available_block(self._view.node, query)
            )
            events = dict.fromkeys(names, told) if told <= query.to_block else {}
            self._move(events={**search.events, **events}, gaps=gaps, refusal=error.message)
            return bool(events)
        wrapped = self._store.network.wrapped_native_address
        known = {home.address: home for _, home in group}
        self._room -= len(part.logs)
        self._take(read_created_pools(self._view, known, part.logs, wrapped))
        width, asked = part.last - query.from_block + 1, min(self._found.span, query.to_block - query.from_block + 1)
        # A node that has just refused more would do so again.
        self._found.span = width if width < asked else min(2 * self._found.span, MAX_SPAN)
        gaps = {name: gap for name, gap in search.gaps.items() if name not in names or gap < query.from_block}
        events = {**search.events, **dict.fromkeys(names, part.last + 1)}
        self._move(events=events, gaps=gaps, refusal=search.refusal if gaps else "")
        return True

    def _told_in_full(self, query: LogFilter) -> ScannedRange:
        """Return as much as the node tells at once. Raises `_EventsWithheld` where it leaves events out."""
        node, head = self._view.node, self._view.block
        part = next(scan_logs(node, query, self._found.span))
        withheld = find_withheld_block(node, head)
        if part.last - query.from_block < MAX_HEADERS:
            emitters = dict.fromkeys(query.addresses, query.topics)
            missing = find_missing_logs(
                node, query.from_block, node.blooms(query.from_block, part.last), emitters, part.logs
            )
            if missing is None or missing:
                withheld = part.last
        if withheld is not None:
            raise _EventsWithheld(f"{node.shown} leaves out events that the headers of blocks tell of")
        return part

    def _look_for_lost(self) -> bool:
        after = self._found.search.lost
        if after is None:
            return True
        if self._room <= 0:
            return False
        lost = self._store.register.lost(after, self._room)
        self._room -= len(lost)
        self._take(places_of(lost))
        is_done = self._room > 0
        self._move(lost=None if is_done else lost[-1].key)
        if lost:
            self._stage("pools lost earlier", len(lost), None)
        return is_done

    def _look_again(self) -> bool:
        after = self._found.search.again
        if after is None:
            return True
        if self._room <= 0:
            return False
        left = self._store.register.left_out(after, self._room)
        self._take(places_of(left))
        if len(left) < self._room:
            self._move(again=None, looked_at=self._view.block)
            return True
        self._move(again=left[-1].key)
        self._stage("pools left out earlier", len(left), None)
        return False

    def _take(self, found: Iterable[PoolRef | SkippedItem]) -> None:
        """Keep those that are wanted."""
        for each in found:
            if isinstance(each, SkippedItem):
                self._found.left_out.append(LeftOut(*each))
            elif _is_wanted(each, self._found.search.wanted):
                self._found.places.append(each)

    def _move(self, **fields: Any) -> None:
        self._found.search = replace(self._found.search, **fields)

    def _stage(self, phase: str, done: int, total: int | None) -> None:
        self._found.stage = Stage(phase, done, total)


def _is_wanted(place: PoolRef, wanted: Wanted) -> bool:
    is_of_protocol = wanted.protocols is None or place.protocol in wanted.protocols
    return is_of_protocol and (wanted.tokens is None or wanted.tokens.issuperset(place.tokens))


def _sources(network: Network, protocols: frozenset[str] | None) -> list[_Source]:
    found = []
    for home in find_factories(network)[0]:
        names = {each.amm_name for each in (home.protocol, home.stable_protocol) if each}
        names = names if protocols is None else names & protocols
        if names:
            found.append(_Source(" ".join((home.address, *sorted(names))), home))
    return found
