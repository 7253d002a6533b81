"""The events that signal a change of a pool's state, and the pool that each event is about.

The new state in an event is not used: the pool is read again. So an event of a different kind, or from an untrusted
contract, can cost a request but can never change an amount.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain
from typing import Final

from swapcli.core.model.network import Kind
from swapcli.families import families_in_use
from swapcli.families.reading.calls import Log
from swapcli.families.reading.contract_kinds import KINDS, KindTable, kinds_of_family, topic_of
from swapcli.families.reading.logs_bloom import bloom_mask, may_contain
from swapcli.families.row import KeyOfEvent, key_of_emitter

EVENTS: Final = KindTable[dict[str, KeyOfEvent]](
    lambda row: {topic_of(signature): key_of for signature, key_of in row.events.items()}
)
"""The events of each contract kind, by first topic. Kinds without an entry emit no events on a change."""


@lru_cache(1)
def _events_of_kinds(count: int) -> Mapping[str, KeyOfEvent]:
    """Return the events of all kinds by first topic; `count` is the current number of kinds, which may grow.

    The kinds of packages come last, and do not affect the events of the others.
    """
    del count
    found: dict[str, KeyOfEvent] = {}
    for topic, key_of in chain.from_iterable(events.items() for events in EVENTS.values()):
        found.setdefault(topic, key_of)
    return found


def change_topics(families: Iterable[str], network_kind: Kind = Kind.EVM) -> tuple[str, ...]:
    """Return the topics of all events that change pools of the given families on networks of a given kind."""
    return tuple(dict.fromkeys(topic for kind in _kinds(families, network_kind) for topic in EVENTS[kind]))


def known_topics(family: str, network_kind: Kind = Kind.EVM) -> frozenset[str]:
    """Return the topics of the events that a family's pools emit themselves; empty if its kinds emit none.

    A vault's pools have none, because the vault emits their events.
    """
    kinds = tuple(_kinds([family], network_kind))
    if not all(EVENTS[kind] and not KINDS[kind].is_in_vault for kind in kinds):
        return frozenset()
    return frozenset(topic for kind in kinds for topic in EVENTS[kind])


def emits_events(family: str, network_kind: Kind = Kind.EVM) -> bool:
    """Return whether every change of the family's pools emits an event."""
    kinds = _kinds([family], network_kind)
    return all(EVENTS[kind] or KINDS[kind].is_sampled for kind in kinds)


def vault_kinds(families: Iterable[str], network_kind: Kind = Kind.EVM) -> frozenset[str]:
    """Return the contract kinds of the given families whose events come from a vault rather than from the pool."""
    return frozenset(kind for kind in _kinds(families, network_kind) if KINDS[kind].is_in_vault)


def _kinds(families: Iterable[str], network_kind: Kind) -> Iterator[str]:
    return (kind for name in families for kind in kinds_of_family(name, network_kind))


def find_possible_changes(bloom: int, pools: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    """Return the keys of the pools that may have changed in a block with the Bloom filter `bloom`.

    `pools` are keys, contracts and families. For Balancer's vault, only the kind of an event is checked.
    """
    present = {
        name: frozenset(
            names
            for kind in kinds_of_family(name)
            for topic, names in EVENTS[kind].items()
            if may_contain(bloom, topic)
        )
        for name in families_in_use()
    }
    others = {name: names - {key_of_emitter} for name, names in present.items()}
    emitting = {name for name, names in present.items() if key_of_emitter in names}
    for key, address, family in pools:
        bits = bloom_mask(address)  # inlined, since there may be very many
        is_emitter = family in emitting and bloom & bits == bits
        if is_emitter or any(may_contain(bloom, *names.bloom_items(key, address)) for names in others.get(family, ())):
            yield key


def changed_pool(log: Log) -> str | None:
    """Return the key of the pool that an event is about, or None if unknown."""
    names = _events_of_kinds(len(KINDS)).get(log.topics[0]) if log.topics else None
    return None if names is None or (names.is_in_topic and len(log.topics) < 2) else names(log)
