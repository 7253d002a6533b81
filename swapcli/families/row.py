"""The data about pool families and kinds of contracts, apart from maths and readers: one row for each.

The rows are in the module `rows` of the folder, in `FAMILIES` and `KINDS` by name; `swapcli.families` finds them. This
module defines the form of a row, and the records and functions that rows of several folders share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import Any, Final, Protocol

from swapcli.core.encoding.abi import decode_words, encode_address, encode_int, encode_uint, invalid_field, to_address
from swapcli.core.model.network import Kind, Network, ProtocolInfo
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool
from swapcli.core.records import NamedTuple

_FEE_BITS: Final = 24
_INT16_LIMIT: Final = 1 << 15


class PoolUse(NamedTuple):
    """A pool as one entry of the router's list of swaps uses it. `protocol` is the network's protocol, None if it has
    none."""

    pool: Pool
    token_in: str
    token_out: str
    protocol: ProtocolInfo | None


class Fee(NamedTuple):
    """A fee in the router's extra data. `is_tier` means that the fee identifies a concentrated pool."""

    ppm: int
    is_tier: bool = False


class TickSpacing(NamedTuple):
    """A tick spacing in the router's extra data, which identifies a concentrated pool."""

    spacing: int


class PoolKey(NamedTuple):
    """The ABI-encoded key by which a pool manager finds a pool."""

    encoded: bytes


ExtraData = bytes | Fee | TickSpacing | PoolKey


class RouterPoolKind(IntEnum):
    """How this project's router contract calls a protocol's pools. The number is the one in the contract's table. The
    contract rejects pools of kind 0."""

    WRAPPER = 1
    PAIR = 2
    CONCENTRATED = 3
    SINGLETON = 4
    """Pools of Uniswap V4."""
    STABLESWAP = 5
    BALANCER_V2 = 6
    BALANCER_V3 = 7
    CURVE_CRYPTO = 8
    INFINITY = 9
    FLUID = 10
    VAULT = 11
    """ERC-4626 vaults."""
    PSM = 12
    LIQUIDITY_BOOK = 13
    BRIDGE = 14


def no_data(use: PoolUse) -> ExtraData:
    """Return no data: the router needs only the pool's address, or cannot call the pool."""
    del use
    return b""


class RouterEncoding(NamedTuple):
    """How a router executes the pools of a family.

    `kind` is how this project's contract calls them, None if the contract cannot call them. `kinds_by_contract` has the
    exceptions, by kind of contract. `extra_data` returns the data for one use.
    """

    kind: RouterPoolKind | None = None
    extra_data: Callable[[PoolUse], ExtraData] = no_data
    kinds_by_contract: Mapping[str, RouterPoolKind] = MappingProxyType({})

    def kind_of(self, contracts: Iterable[str]) -> RouterPoolKind | None:
        """Return how the contract calls the pools of a protocol with the given contract kinds, or None if it cannot."""
        kinds = (self.kinds_by_contract[each] for each in contracts if each in self.kinds_by_contract)
        return next(kinds, self.kind)


V4_AS_SINGLETON: Final[Mapping[str, RouterPoolKind]] = {"uniswap_v4": RouterPoolKind.SINGLETON}
"""Pools whose amounts are sampled, because hooks change them, are called like the others."""


def coin_indices(use: PoolUse) -> ExtraData:
    """Return the positions of the sold and the bought token, one byte each."""
    tokens = use.pool.tokens
    return bytes((tokens.index(use.token_in), tokens.index(use.token_out)))


def is_first_sold(use: PoolUse) -> ExtraData:
    """Return one byte: 1 if the first token is sold."""
    return bytes((use.token_in == use.pool.tokens[0],))


def fee_tier(use: PoolUse) -> ExtraData:
    """Return the fee that identifies a concentrated pool."""
    return fee_data(use.pool.fee_ppm)._replace(is_tier=True)


def v4_pool_key(use: PoolUse) -> ExtraData:
    """Return the key of a Uniswap V4 pool."""
    traits = use.pool.api_extra_data()
    return PoolKey(
        bytes.fromhex(
            encode_address(str(traits["token0"]), "token0")
            + encode_address(str(traits["token1"]), "token1")
            + encode_uint(int(traits["fee"]), _FEE_BITS, "fee")
            + encode_int(int(traits["tickSpacing"]), 24, "tickSpacing")
            + encode_address(str(traits["hooks"]), "hooks")
        )
    )


def infinity_pool_key(use: PoolUse) -> PoolKey:
    """Return the key of an Infinity pool. The pool's address is that of its pool manager."""
    traits = use.pool.api_extra_data()
    return PoolKey(
        bytes.fromhex(
            encode_address(str(traits["token0"]), "token0")
            + encode_address(str(traits["token1"]), "token1")
            + encode_address(str(traits["hooks"]), "hooks")
            + encode_address(use.pool.address, "poolManager")
            + encode_uint(int(traits["fee"]), _FEE_BITS, "fee")
            + encode_uint(int(str(traits["parameters"]), 16), 256, "parameters")
        )
    )


def fee_data(fee_ppm: int) -> Fee:
    """Return a fee as extra data. Raises `InvalidInput` if the fee needs more bits than the contract has for it."""
    if fee_ppm < 0 or fee_ppm >> _FEE_BITS:
        raise invalid_field("fee", f"{fee_ppm} does not fit uint{_FEE_BITS}")
    return Fee(fee_ppm)


def tick_spacing_data(spacing: int) -> TickSpacing:
    """Return a tick spacing as extra data. Raises `InvalidInput` if the spacing needs more bits than the contract has
    for it."""
    if not -_INT16_LIMIT <= spacing < _INT16_LIMIT:
        raise invalid_field("tickSpacing", f"{spacing} does not fit int16")
    return TickSpacing(spacing)


class Event(Protocol):
    """The fields of a log that identify the subject of an event."""

    @property
    def address(self) -> str: ...
    @property
    def topics(self) -> tuple[str, ...]: ...
    @property
    def data(self) -> bytes: ...


class PoolConstants(Protocol):
    """A record of the data about a pool that never changes, stored as text.

    Every field has a default that means "not known": the reader then reads it from the pool, or rejects the pool.
    """

    def _asdict(self) -> dict[str, Any]: ...


class TickConstants(NamedTuple):
    """The constants of a concentrated pool with its own contract."""

    tick_spacing: int = 0


class InfinityConstants(NamedTuple):
    """The ID of a PancakeSwap Infinity pool, and its key without the tokens and a constant fee.

    A pool that trades the native token lists it in its wrapped form. `parameters` contains the tick spacing or the bin
    step.
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
    """The constants of a pair whose fee is stored in its factory.

    `likely_factory` is the only factory that the network names for the protocol.
    """

    factory: str = ""
    likely_factory: str = ""


class KeyOfEvent(NamedTuple):
    """Finds the key of the pool that an event is about.

    `bloom_items` returns, for a pool's key and address, the items that the event adds to a block's Bloom filter besides
    its first topic; empty if they do not identify the pool.
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
"""The first indexed value: the ID of a pool in a contract that has many."""
address_in_first_topic: Final = KeyOfEvent(
    lambda log: f"0x{log.topics[1][-40:]}", lambda key, _: (f"0x{key[2:]:0>64}",)
)
"""The last 20 bytes of the first indexed value."""


class SwapAmounts(NamedTuple):
    """The sold and bought amounts of a swap, by the token's position in the pool or its address, in base units.

    `state_after` are fields of the pool's state as in a market file. `fee_ppm` is the total fee of the swap, None if
    the event does not contain it. `problem` is the reason why the amounts do not belong to a single swap of an exact
    input. `names_output` means that the caller chooses the output, and so may take less than the contract allows.
    `fee_in` is the fee in the input, if a part of this fee may not go to the same place as the rest.
    """

    sold: int | str
    bought: int | str
    amount_in: int
    amount_out: int
    state_after: Mapping[str, object] = MappingProxyType({})
    fee_ppm: int | None = None
    problem: str = ""
    names_output: bool = False
    fee_in: int = 0


class SwapPart(NamedTuple):
    """The amounts of a swap's input and output, in base units, in an event for one part of the swap; 0 if the event has
    no amounts."""

    amount_in: int = 0
    amount_out: int = 0


PartDecoder = Callable[[Event, str], SwapPart]
"""Returns the part of the swap in the pool with a key.

Raises `InvalidInput` or `IndexError` if it belongs to another pool.
"""


SwapDecoder = Callable[[Event], SwapAmounts]
"""Returns the amounts in a swap's event. Raises `InvalidInput` or `IndexError` for other events."""


def announces(log: Event, pool: str) -> SwapPart:
    """Return a `SwapPart` without amounts, for an event that each swap emits once."""
    del log, pool
    return SwapPart()


def read_words(log: Event, count: int, name: str = "Swap") -> tuple[int, ...]:
    """Return the first `count` words of the event's data. Raises `InvalidInput` if there are fewer."""
    return decode_words(log.data, count, name, invalid_field)


def read_address(word: int, name: str = "Swap") -> str:
    """Return the address in a word. Raises `InvalidInput` if the number is too large for one."""
    return to_address(word, name)


def two_sided(in0: int, in1: int, out0: int, out1: int) -> SwapAmounts:
    """Return the swap's amounts, given the inputs and outputs of both tokens."""
    forward = in0 > 0
    is_plain = bool(in0) != bool(in1) and bool(out0) != bool(out1) and bool(in0) == bool(out1)
    problem = "" if is_plain else "it moves a token both ways, as a flash swap does"
    return SwapAmounts(
        *((0, 1, in0, out1) if forward else (1, 0, in1, out0)),
        problem=problem,
    )


def of_signs(amount0: int, amount1: int) -> SwapAmounts:
    """Return the swap's amounts, given signed amounts: an amount that the pool receives is positive."""
    return two_sided(max(amount0, 0), max(amount1, 0), max(-amount0, 0), max(-amount1, 0))._replace(
        problem="" if amount0 * amount1 < 0 else "it pays nothing for what it takes, or takes nothing"
    )


def addresses_in_topics(log: Event, first: int) -> tuple[str, str]:
    """Return the sold and the bought token from two topics. Raises `IndexError` if the event has fewer."""
    return read_address(int(log.topics[first], 16)), read_address(int(log.topics[first + 1], 16))


class FamilyRow(NamedTuple):
    """A family of pools.

    `fields` are the fields of its state in a market file, for `docs/pools.md`. If several kinds of contracts have pools
    of the family, and the protocol's definition does not name the kind, `kind_of_protocol` and `kind_of_pool` return
    it.
    """

    fields: tuple[str, ...]
    router: RouterEncoding = RouterEncoding()
    kind_of_protocol: Callable[[ProtocolInfo, Network], str] | None = None
    kind_of_pool: Callable[[Pool], str] | None = None


class KindRow(NamedTuple):
    """How the pools of one kind of contract are found, read and followed.

    `families` are the pool families that a contract of the kind can have. `roles` are the roles of the contracts that
    create or register them, in the deployments of the network definitions. `list_functions` are pairs of functions of
    such a contract, for the length of its list of pools and for one entry; at least one pair must work. `created` are
    the events that announce a pool. `events` are the events that signal a change of a pool's state; without any, pools
    are read at every block. `swaps` are the events of swaps. Events are written as their signatures, Starknet events as
    their names.

    The reader is the module of the folder that is named after the kind, or `reader`, followed by "_reader". It has

    * `load(ref)`, which reads a pool;
    * `read_list(factory)` if a factory returns its whole list at once: reads the addresses of its pools;
    * `read_constants(factory, address)` if a factory lists pools of the kind or finds them by their tokens: reads a
      reference of a pool;
    * `read_created(factory, log, wrapped_native)` if events announce pools: reads a reference of a new pool;
    * `complete_ref(ref, pool)`, optional: completes a reference with data from the known pool's state.
    """

    families: tuple[str, ...]
    events: Mapping[str, KeyOfEvent] = MappingProxyType({})
    swaps: Mapping[str, SwapDecoder] = MappingProxyType({})
    roles: tuple[str, ...] = ("factory", "factory_2")
    list_functions: tuple[tuple[str, str], ...] = ()
    created: tuple[str, ...] = ()
    reader: str = ""
    has_constant_fee: bool = False
    """Whether the fee is in the contract's code, so that only the catalogue has it."""
    is_sampled: bool = False
    """Whether the protocol's own quotes are read: a store keeps only the data about such a pool that never change."""
    is_in_vault: bool = False
    """Whether its events come from a vault at another address than the pool's."""
    has_whole_list: bool = False
    """Whether the reader reads a factory's list of pools as a whole."""
    network_kind: Kind = Kind.EVM
    is_keyed_by_id: bool = False
    """Whether one contract holds all pools, which are distinguished by their IDs."""
    constants: type[PoolConstants] | None = None
    """The record of the data about a pool, besides its tokens and fee, that never change."""
    constants_of: Callable[[Pool, Network], PoolConstants] | None = None
    """Returns the constants that the network's definition adds for a known pool."""
    is_pool_itself: bool = False
    """Whether the contracts in the deployments are the pools themselves, which no list or event announces."""
    unannounced: str = ""
    """The causes that change a pool's swaps without an event, for kinds without `events`."""
    needs_lens: bool = False
    """Whether another contract reads its pools: the role "lens" in the deployment, the field `lens` in `constants`."""
    has_event_per_bin: bool = False
    """Whether a swap emits one event per bin, directly one after another."""
    parts: Mapping[str, PartDecoder] = MappingProxyType({})
    """The events of a swap that come before its own event, each at most once and in any order."""
    harmless: tuple[str, ...] = ()
    """Events of the pool, or of contracts that it shares with others, that do not change its swaps by themselves."""
    add_fee: Callable[[Pool, SwapAmounts], SwapAmounts] | None = None
    """Adds the fee to the input, for events that omit it; None if none do."""

    def key_of_swap(self, signature: str) -> KeyOfEvent:
        """Return how the event of a swap identifies its pool."""
        return self.events.get(signature, key_of_emitter)


PAIR_LISTS: Final = (("allPairsLength()", "allPairs(uint256)"), ("allPoolsLength()", "allPools(uint256)"))
"""The functions of a factory of pairs that list them."""
