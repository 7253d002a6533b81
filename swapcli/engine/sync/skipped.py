"""What a store does not hold, and why: kept in it, so that it can be told, and looked at again."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from swapcli.chain.pool_discovery import find_factories
from swapcli.chain.pool_ref import ContractKind, PoolRef, ref_of_pool
from swapcli.engine.sync.cursor import search_of
from swapcli.model.pool import Pool
from swapcli.store import LeftOut, Store

_EXAMPLES: Final = 3
_NAMES: Final = re.compile(r"0x[0-9a-f]{8,}|\d{6,}")


@dataclass(frozen=True, slots=True)
class Omission:
    """A reason why pools, tokens or protocols are not in a store; `examples` name some of them."""

    reason: str
    count: int
    examples: tuple[str, ...]


def skipped(store: Store) -> tuple[Omission, ...]:
    """What was found, but is not held, by reason, the most frequent first."""
    counts: dict[str, int] = defaultdict(int)
    examples: dict[str, list[str]] = defaultdict(list)
    for key, reason in _all_reasons(store):
        counts[reason] += 1
        if len(examples[reason]) < _EXAMPLES:
            examples[reason].append(key)
    by_count = sorted(counts, key=lambda reason: (-counts[reason], reason))
    return tuple(Omission(reason, counts[reason], tuple(examples[reason])) for reason in by_count)


def _all_reasons(store: Store) -> Iterator[tuple[str, str]]:
    search = search_of(store)
    if search:
        wanted = search.wanted.protocols
        _, unknown = find_factories(store.network, None if wanted is None else sorted(wanted))
        yield from unknown
        reason = f"events of the creation of its pools were not told: {search.refusal}"
        yield from ((name.split()[0], reason) for name in search.gaps)
        yield from search.unread.items()
    for left in store.register.all_left_out():
        yield left.key, _NAMES.sub("…", left.reason)


def left_at(place: PoolRef, reason: str, *, is_lost: bool = False) -> LeftOut:
    """A pool that may be fit another time."""
    return LeftOut(place.key, reason, json.dumps(place._replace(last_tick=None, known_ticks=())), is_lost)


def left_pool(pool: Pool, reason: str) -> LeftOut:
    """A pool that is no longer fit."""
    place = ref_of_pool(pool)
    return left_at(place, reason) if place else LeftOut(pool.key, reason)


def places_of(left: Iterable[LeftOut]) -> list[PoolRef]:
    """Where to look again."""
    return [_place(each.place) for each in left if each.place]


def _place(text: str) -> PoolRef:
    entry = PoolRef(*json.loads(text))
    return entry._replace(
        kind=ContractKind(entry.kind), tokens=tuple(entry.tokens), decimals=tuple(entry.decimals), known_ticks=()
    )
