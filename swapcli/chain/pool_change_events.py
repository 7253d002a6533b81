"""The events that signal a change of a pool's state, and the pool that each event is about.

The new state in an event is not used: the pool is read again. So an event of another kind, or one that an untrusted
contract emits, can cost a request but never change an amount.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Final

from swapcli.chain.logs_bloom import bloom_mask, may_contain
from swapcli.chain.node import Log
from swapcli.chain.pool_ref import KINDS_BY_FAMILY, ContractKind

Names = Callable[[Log], str]
"""The key of the pool that an event is about."""


def _by_emitter(log: Log) -> str:
    return log.address


def _by_id(log: Log) -> str:
    return log.topics[1]


def _by_address(log: Log) -> str:
    """Return the last 20 bytes of the first indexed value."""
    return f"0x{log.topics[1][-40:]}"


def _by_balancer_id(log: Log) -> str:
    """Return the pool's address, with which Balancer's ids begin."""
    return log.topics[1][:42]


_SYNC: Final = "0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1"
_SYNC_SOLIDLY: Final = "0xcf2aa50876cdfbb541206f89af0ee78d44a2abf8d328e37fa4917f982149848a"
_SET_CUSTOM_FEE: Final = "0xae468ce586f9a87660fdffc1448cee942042c16ae2f02046b134b5224f31936b"
_CUSTOM_FEE_SET: Final = "0xe2150e4054ad34f299189d809c507f52c0c572bfef0504af03f43be0870cd354"
_INITIALIZE: Final = "0x98636036cb66a9c19a37435efc1e90142190214e8abeb821bdba3f2990dd4c95"
_SWAP: Final = "0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67"
_SWAP_PANCAKE: Final = "0x19b47279256b2a23a1665c810c8d55a1758940ee09377d4f8d26497a3577dc83"
_MINT: Final = "0x7a53080ba414158be7ec69b987b5fb7d07dee101fe85488f0853ae16239d0bde"
_BURN: Final = "0x0c396cd989a39f4459b5fa1aed6a9a8dcdbc45908acfd67e028cd568da98982c"
_FEE: Final = "0x598b9f043c813aa6be3426ca60d1c65d17256312890be5118dab55b0775ebe2a"
_TICK_SPACING: Final = "0x01413b1d5d4c359e9a0daa7909ecda165f6e8c51fe2ff529d74b22a5a7c02645"
_SWAP_V4: Final = "0x40e9cecb9f5f1f1c5b9c97dec2917b7ee92e57ba5563708daca94dd84ad7112f"
_MODIFY_LIQUIDITY: Final = "0xf208f4912782fd25c7f114ca3723a2d5dd6f3bcc3ac8db5af63baa85f711d5ec"
_PROTOCOL_FEE_UPDATED: Final = "0xe9c42593e71f84403b84352cd168d693e2c9fcd1fdbcc3feb21d92b43e6696f9"
_SWAP_BALANCER: Final = "0x2170c741c41531aec20e7c107c24eecfdd15e69c9bb0a8dd37b1840b9e0b207b"
_BALANCE_CHANGED: Final = "0xe5ce249087ce04f05a957192435400fd97868dba0e6a4b4c049abf8af80dae78"
_BALANCE_MANAGED: Final = "0x6edcaf6241105b4c94c2efdbf3a6b12458eb3d07be3a0e81d24b13c44045fe7a"
_SWAP_FEE_CHANGED: Final = "0xa9ba3ffe0b6c366b81232caab38605a0699ad5398d6cce76f91ee809e322dafc"
_PAUSED_CHANGED: Final = "0x9e3a5e37224532dea67b89face185703738a228a6e8a23dee546960180d3be64"

_CONCENTRATED: Final[dict[str, Names]] = dict.fromkeys((_INITIALIZE, _SWAP, _MINT, _BURN), _by_emitter)
EVENTS: Final[dict[ContractKind, dict[str, Names]]] = {
    ContractKind.UNISWAP_V2: {_SYNC: _by_emitter},
    ContractKind.SOLIDLY: {_SYNC_SOLIDLY: _by_emitter, _SET_CUSTOM_FEE: _by_address},
    ContractKind.UNISWAP_V3: {**_CONCENTRATED, _SWAP_PANCAKE: _by_emitter, _CUSTOM_FEE_SET: _by_address},
    ContractKind.ALGEBRA: {**_CONCENTRATED, _FEE: _by_emitter, _TICK_SPACING: _by_emitter},
    ContractKind.UNISWAP_V4: {_SWAP_V4: _by_id, _MODIFY_LIQUIDITY: _by_id, _PROTOCOL_FEE_UPDATED: _by_id},
    ContractKind.STABLESWAP: {},
    ContractKind.WEIGHTED: {
        **dict.fromkeys((_SWAP_BALANCER, _BALANCE_CHANGED, _BALANCE_MANAGED), _by_balancer_id),
        **dict.fromkeys((_SWAP_FEE_CHANGED, _PAUSED_CHANGED), _by_emitter),
    },
}
"""The events of each contract kind by first topic. Kinds without any emit no events on a change."""

_VAULT_KINDS: Final = frozenset(kind for kind, events in EVENTS.items() if _by_balancer_id in events.values())
"""The kinds whose events are emitted by a vault at another address than the pool's."""

_ALL: Final = dict(chain.from_iterable(events.items() for events in EVENTS.values()))


def change_topics(families: Iterable[str]) -> tuple[str, ...]:
    """Return the topics of all events that change pools of these families."""
    return tuple(dict.fromkeys(topic for kind in _kinds(families) for topic in EVENTS[kind]))


def emits_events(family: str) -> bool:
    """Return whether every change of the family's pools emits an event."""
    return all(EVENTS[kind] for kind in _kinds([family]))


def vault_kinds(families: Iterable[str]) -> frozenset[ContractKind]:
    """Return the contract kinds of these families whose events a vault emits instead of the pool."""
    return _VAULT_KINDS.intersection(_kinds(families))


def _kinds(families: Iterable[str]) -> Iterator[ContractKind]:
    return (kind for name in families for kind in KINDS_BY_FAMILY.get(name, ()))


def find_possible_changes(bloom: int, pools: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    """Return the keys of those pools that can have changed in a block with that bloom filter.

    `pools` are keys, contracts and families. Events of Balancer's vault are judged by their kind alone.
    """
    present = {
        name: frozenset(names for kind in kinds for topic, names in EVENTS[kind].items() if may_contain(bloom, topic))
        for name, kinds in KINDS_BY_FAMILY.items()
    }
    others = {name: names - {_by_emitter} for name, names in present.items()}
    emitting = {name for name, names in present.items() if _by_emitter in names}
    for key, address, family in pools:
        bits = bloom_mask(address)  # inline, since there may be very many
        is_emitter = family in emitting and bloom & bits == bits
        if is_emitter or any(may_contain(bloom, *_SUBJECTS[names](key, address)) for names in others.get(family, ())):
            yield key


_SUBJECTS: Final[dict[Names, Callable[[str, str], tuple[str, ...]]]] = {
    _by_emitter: lambda _, address: (address,),
    _by_id: lambda key, address: (address, key),
    _by_address: lambda key, _: (f"0x{key[2:]:0>64}",),
    _by_balancer_id: lambda *_: (),
}
"""The bloom filter items of an event beside its first topic, from the pool's key and address."""


def changed_pool(log: Log) -> str | None:
    """Return the key of the pool that an event is about; None if it is unknown."""
    names = _ALL.get(log.topics[0]) if log.topics else None
    if names is None or (names is not _by_emitter and len(log.topics) < 2):
        return None
    return names(log)
