"""How far the search for pools has come: kept in the store as a note of each block, so that it goes on there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from swapcli.engine.sync.sync_filter import Wanted
from swapcli.store import BlockWriter, Store

NOTHING: Final = Wanted(protocols=frozenset())
"""For stores that only follow the pools that they hold."""

_NOTE: Final = "search"
_LOOK_AGAIN_BLOCKS: Final = 1_000
"""What was left out may be worth another look after so many blocks, and no sooner: there may be very many."""


@dataclass(frozen=True)
class Search:
    """`lists` has the place in each home's list to go on from, `events` the block; homes by what they are wanted for.

    `gaps` has the first block whose events the node did not tell of a home, `refusal` its reason; `unread` are homes,
    by address, that could not be asked for tokens, and why. `again` is the key up to which what was left out has been
    looked at again, None when that is done, and `looked_at` the block at which it was; `lost` is the same of the pools
    that were held before. `adopted` counts the pools of a
    market that were looked at. `is_asked` says that factories were asked for the wanted tokens, `is_judged` that pools
    which are too thin are out.
    """

    wanted: Wanted
    lists: Mapping[str, int] = field(default_factory=dict)
    events: Mapping[str, int] = field(default_factory=dict)
    gaps: Mapping[str, int] = field(default_factory=dict)
    refusal: str = ""
    unread: Mapping[str, str] = field(default_factory=dict)
    again: str | None = None
    lost: str | None = None
    looked_at: int = 0
    adopted: int = 0
    is_asked: bool = False
    is_judged: bool = False

    def anew(self) -> Search:
        """The same wishes, where nothing that is known of the chain holds."""
        return replace(self, lists={}, events={}, gaps={}, is_asked=False)


def begin(store: Store, wanted: Wanted, block: int) -> Search:
    """The search for what is wanted now, from where the last one ended, or anew where its wishes were others.

    Homes of protocols that were not wanted before have no place to go on from, so only other tokens and earlier blocks
    make it begin anew; pools that are held are not read again. Where tokens are given, the first block also says
    whether events are looked at.
    """
    last = search_of(store)
    if last is None:
        return Search(wanted, looked_at=block)
    asked, before = wanted, last.wanted
    is_elsewhere = asked.from_block != before.from_block if asked.tokens else asked.from_block < before.from_block
    is_other = asked.tokens != before.tokens
    is_wider = asked.min_liquidity_usd < before.min_liquidity_usd
    is_long_ago = block - last.looked_at >= _LOOK_AGAIN_BLOCKS
    return replace(
        last,
        wanted=wanted,
        lists={} if is_other else last.lists,
        events={} if is_other or is_elsewhere else {**last.events, **last.gaps},
        gaps={},
        refusal="",
        unread=last.unread if last.is_asked and not (is_other or is_elsewhere) else {},
        again="" if last.again is None and (is_wider or is_long_ago) else last.again,
        lost="",
        is_asked=last.is_asked and not (is_other or is_elsewhere),
        is_judged=False,
    )


def search_of(store: Store) -> Search | None:
    """The search of a store; None where none has begun."""
    note: Any = store.note(_NOTE)
    if note is None:
        return None
    *wishes, min_liquidity_usd, from_block = note.pop("wanted")
    protocols, tokens = (None if each is None else frozenset(each) for each in wishes)
    return Search(Wanted(protocols, tokens, min_liquidity_usd, from_block), **note)


def keep(search: Search, writer: BlockWriter) -> None:
    """Going back to an earlier block brings back the search as it was at it."""
    wanted = search.wanted
    wishes = [None if each is None else sorted(each) for each in (wanted.protocols, wanted.tokens)]
    fields = {name: value for name, value in vars(search).items() if name != "wanted"}
    note = {"wanted": [*wishes, wanted.min_liquidity_usd, wanted.from_block], **fields}
    writer.put_note(_NOTE, note, of_block=True)
