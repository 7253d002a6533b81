"""What the program knows about a pool family and a kind of contract, besides maths and readers: one row for each.

The rows stand in the module `rows` of the folder, in `FAMILIES` and `KINDS` by name; `swapcli.families` finds them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, Protocol

from swapcli.core.model.network import Kind, Network, ProtocolInfo
from swapcli.core.model.pool import Pool
from swapcli.core.records import NamedTuple
from swapcli.families.router_calls import RouterCall


class Event(Protocol):
    """The fields of a log that tell what an event is about."""

    @property
    def address(self) -> str: ...
    @property
    def topics(self) -> tuple[str, ...]: ...
    @property
    def data(self) -> bytes: ...


class PoolConstants(Protocol):
    """A record of what never changes about a pool, as text in stores.

    Every field has a default that means "not known": the reader then reads it from the pool, or refuses the pool.
    """

    def _asdict(self) -> dict[str, Any]: ...


class KeyOfEvent(NamedTuple):
    """Finds the key of the pool that an event is about.

    `bloom_items` returns the items of a block's bloom filter that the event adds besides its first topic, from the
    pool's key and address; empty if they do not tell the pool.
    """

    find: Callable[[Event], str]
    bloom_items: Callable[[str, str], tuple[str, ...]] = lambda *_: ()
    is_in_topic: bool = True
    """Whether the key is in the first indexed value."""

    def __call__(self, log: Event) -> str:
        """Return the key. Raises `IndexError` if the event lacks it."""
        return self.find(log)


key_of_emitter: Final = KeyOfEvent(lambda log: log.address, lambda _, address: (address,), is_in_topic=False)
"""The address of the contract that emitted the event."""
first_topic: Final = KeyOfEvent(lambda log: log.topics[1], lambda key, address: (address, key))
"""The first indexed value: the id of a pool in a contract of many."""
address_in_first_topic: Final = KeyOfEvent(
    lambda log: f"0x{log.topics[1][-40:]}", lambda key, _: (f"0x{key[2:]:0>64}",)
)
"""The last 20 bytes of the first indexed value."""


class SwapAmounts(NamedTuple):
    """What a swap sold and bought, by the position of the token in the pool or by its address, in base units.

    `state_after` are fields of the pool's state as in a market file. `fee_ppm` is the whole fee of the swap, None where
    the event does not say it. `problem` says why the amounts are not those of one swap of an exact input.
    """

    sold: int | str
    bought: int | str
    amount_in: int
    amount_out: int
    state_after: Mapping[str, object] = MappingProxyType({})
    fee_ppm: int | None = None
    problem: str = ""


SwapDecoder = Callable[[Event], SwapAmounts]
"""Returns the amounts of the event of a swap. Raises `InvalidUpstreamResponse` or `IndexError` for another event."""


class FamilyRow(NamedTuple):
    """A family of pools.

    `fields` are those of its state in a market file, for `swapcli help pools`. Where several kinds of contracts have
    such pools, and the definition names none, `kind_of_protocol` and `kind_of_pool` return which of them it is.
    """

    fields: tuple[str, ...]
    router: RouterCall = RouterCall()
    kind_of_protocol: Callable[[ProtocolInfo, Network], str] | None = None
    kind_of_pool: Callable[[Pool], str] | None = None


class KindRow(NamedTuple):
    """How the pools of a kind of contract are found, read and followed.

    `families` are the pool families that a contract of the kind can have. `roles` are the roles of the contracts that
    create or register them, in the deployments of the network definitions. `list_functions` are pairs of functions of
    such a contract, the length of its list of pools and an entry; one pair must work. `created` are the events that
    announce a pool. `events` are those that signal a change of a pool's state; without any, pools are read at every
    block. `swaps` are those of swaps. Events are written as their signatures, those of Starknet as their names.

    The reader is the module of the folder that is named after the kind, or `reader`, followed by "_reader". It has

    * `load(ref)`, which reads a pool;
    * `read_list(factory)` if a factory has its whole list in one answer: reads the addresses of its pools;
    * `read_constants(factory, address)` if a factory lists pools of the kind or finds them by their tokens: reads a
      reference of a pool;
    * `read_created(factory, log, wrapped_native)` if events announce pools: reads a reference of a new pool;
    * `complete_ref(ref, pool)`, optional: adds to a reference what the state of the known pool has.
    """

    families: tuple[str, ...]
    events: Mapping[str, KeyOfEvent] = MappingProxyType({})
    swaps: Mapping[str, SwapDecoder] = MappingProxyType({})
    roles: tuple[str, ...] = ("factory", "factory_2")
    list_functions: tuple[tuple[str, str], ...] = ()
    created: tuple[str, ...] = ()
    reader: str = ""
    has_constant_fee: bool = False
    """Whether the code of the contract has the fee, so that only the catalogue knows it."""
    is_sampled: bool = False
    """Whether the protocol's own quotes are read: a store has no more of a pool than what never changes."""
    is_in_vault: bool = False
    """Whether a vault at another address than the pool's emits its events."""
    has_whole_list: bool = False
    """Whether the reader reads a factory's list of pools as a whole."""
    network_kind: Kind = Kind.EVM
    is_keyed_by_id: bool = False
    """Whether one contract has all pools, which differ by their ids."""
    constants: type[PoolConstants] | None = None
    """The record of what never changes about a pool, besides its tokens and fee."""
    constants_of: Callable[[Pool, Network], PoolConstants] | None = None
    """Returns what the network's definition adds to the constants of a known pool."""
    is_pool_itself: bool = False
    """Whether the contracts in the deployments are the pools, which nothing lists or announces."""
    unannounced: str = ""
    """What changes the swaps of a pool without an event, for kinds without `events`."""
    needs_lens: bool = False
    """Whether another contract reads its pools: the role "lens" of the deployment, the field `lens` of `constants`."""
    has_event_per_bin: bool = False
    """Whether a swap emits one event for each bin, which follow one another directly."""

    def key_of_swap(self, signature: str) -> KeyOfEvent:
        """Return how the event of a swap names its pool."""
        return self.events.get(signature, key_of_emitter)


PAIR_LISTS: Final = (("allPairsLength()", "allPairs(uint256)"), ("allPoolsLength()", "allPools(uint256)"))
"""The functions of a factory of pairs that list them."""
