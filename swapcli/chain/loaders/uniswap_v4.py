"""Uniswap V4 pools whose hooks leave swap amounts alone, from the storage of the pool manager.

The manager has a mapping from pool id to a struct, whose fields are at fixed offsets from a hash of the id.
`extsload` returns any words of its storage, so each read is one call and needs no other contract.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from swapcli.chain.call_encoding import encode_list_call, invalid_response, read_list, read_words, to_address
from swapcli.chain.factory import Factory
from swapcli.chain.loaders.build_pool import build_pool
from swapcli.chain.loaders.tick_bitmap import PriceState, guess_tick_calls, read_around_price
from swapcli.chain.loaders.uniswap_v3 import complete_ref as complete_ref_of_v3
from swapcli.chain.lockstep_reads import BatchRead, with_prefetch
from swapcli.chain.node import ContractCall, Log, ReturnData
from swapcli.chain.pool_ref import PoolRef
from swapcli.encoding.abi import encode_word, to_signed
from swapcli.errors import InvalidPoolState
from swapcli.model.order import ZERO_ADDRESS
from swapcli.model.pool import Pool
from swapcli.networks.address import keccak256
from swapcli.networks.pool_addresses import v4_pool_id
from swapcli.pools.concentrated import Concentrated
from swapcli.pools.protocol_fees import DYNAMIC_FEE
from swapcli.pools.v4_hooks import check_hooks

_EXTSLOAD: Final = "extsload(bytes32[])"
_POOLS_SLOT: Final = 6
_LIQUIDITY_OFFSET: Final = 3
_TICKS_OFFSET: Final = 4
_BITMAP_OFFSET: Final = 5
_WRAP: Final = 1 << 256


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pool in three rounds; one if price and ticks are close to the known ones.

    The key must hash to the pool's id, since a swap names the pool by its key.
    """
    check_hooks(ref.hooks, has_dynamic_fee=ref.has_dynamic_fee)
    if _id_of_key(ref) != ref.pool_id:
        raise InvalidPoolState("pool_id", "not the hash of the pool's key")
    source = _InManager(ref)
    read = read_around_price(source, ref.tick_spacing, ref.last_tick)
    position, state = yield from with_prefetch(read, guess_tick_calls(source, ref))
    if not ref.has_dynamic_fee and position.fee_ppm != ref.fee_ppm:
        raise InvalidPoolState("fee_ppm", f"expected the {ref.fee_ppm} of its key, not {position.fee_ppm}")
    traits = {
        "pool_id": ref.pool_id,
        "hooks": ref.hooks,
        "native": ref.native,
        "dynamic_fee": ref.has_dynamic_fee,
        "protocol_fees_ppm": position.protocol_fees_ppm,
    }
    return build_pool(ref, position.fee_ppm, {**state, **traits})


def _id_of_key(ref: PoolRef) -> str:
    currency0 = ZERO_ADDRESS if ref.native else ref.tokens[0]
    fee = DYNAMIC_FEE if ref.has_dynamic_fee else ref.fee_ppm
    return v4_pool_id(currency0, ref.tokens[1], fee, ref.tick_spacing, ref.hooks)


def read_created(factory: Factory, log: Log, wrapped_native: str | None) -> BatchRead[PoolRef]:
    """Decode the event of a pool's creation, without a call. Refuse hooks that may change the amounts of a swap."""
    yield from ()
    ref = ref_of_initialize(factory, log, wrapped_native)
    check_hooks(ref.hooks, has_dynamic_fee=ref.has_dynamic_fee)
    return ref


def ref_of_initialize(factory: Factory, log: Log, wrapped_native: str | None) -> PoolRef:
    """Return a Uniswap V4 pool with any hook, as its only event that names its key describes it."""
    if len(log.topics) < 4:
        raise invalid_response(factory.address, "an event of another kind")
    first, second = (to_address(int(topic, 16), "currency") for topic in log.topics[2:4])
    fee, spacing, hooks_word, _, tick = read_words(log.data, 5, "Initialize")
    hooks = to_address(hooks_word, "hooks")
    protocol = factory.protocols_by_hook.get(hooks)
    native = first == ZERO_ADDRESS
    if native:
        if wrapped_native is None:
            raise invalid_response("currency0", "the network has no wrapped form of the native token")
        first = wrapped_native
    is_dynamic = fee == DYNAMIC_FEE
    ref = factory.new_ref(factory.address, (first, second), protocol=protocol)
    return ref._replace(
        fee_ppm=0 if is_dynamic else fee,
        tick_spacing=to_signed(spacing),
        pool_id=log.topics[1],
        native=native,
        last_tick=to_signed(tick),
        hooks=hooks,
        has_dynamic_fee=is_dynamic,
    )


def complete_ref(ref: PoolRef, pool: Pool) -> PoolRef:
    """Return a reference with the key of a known pool and its last ticks."""
    assert isinstance(pool, Concentrated)
    ticks = pool.tick_list
    return complete_ref_of_v3(ref, pool)._replace(
        fee_ppm=0 if ticks.has_dynamic_fee else pool.fee_ppm,
        pool_id=ticks.pool_id or "",
        native=ticks.is_native,
        hooks=ticks.hooks,
        has_dynamic_fee=ticks.has_dynamic_fee,
    )


class _InManager:
    """A pool in the manager's storage."""

    def __init__(self, ref: PoolRef) -> None:
        self._manager = ref.address
        self._slot = pool_slot(ref.pool_id)

    def position_calls(self) -> Sequence[ContractCall]:
        return [extsload_call(self._manager, [self._slot, self._slot + _LIQUIDITY_OFFSET])]

    def read_position(self, answers: Sequence[ReturnData]) -> PriceState:
        """Decode `slot0`, where price and tick precede the protocol's fees (12 bits each) and the LP fee (24)."""
        slot0, liquidity = read_extsload(answers[0], 2)
        price, tick = price_and_tick(slot0)
        protocol_fees_ppm = (slot0 >> 184 & 0xFFF, slot0 >> 196 & 0xFFF)
        return PriceState(price, tick, liquidity % (1 << 128), slot0 >> 208 & 0xFFFFFF, protocol_fees_ppm)

    def word_calls(self, words: Sequence[int]) -> Sequence[ContractCall]:
        return [extsload_call(self._manager, [_hashed(number, self._slot + _BITMAP_OFFSET) for number in words])]

    def read_words(self, words: Sequence[int], answers: Sequence[ReturnData]) -> list[int]:
        return list(read_extsload(answers[0], len(words)))

    def tick_calls(self, ticks: Sequence[int]) -> Sequence[ContractCall]:
        return [extsload_call(self._manager, [_hashed(tick, self._slot + _TICKS_OFFSET) for tick in ticks])]

    def read_nets(self, ticks: Sequence[int], answers: Sequence[ReturnData]) -> list[int]:
        """Return the upper half of each tick's first word; the lower half is its gross liquidity."""
        return [to_signed(each) >> 128 for each in read_extsload(answers[0], len(ticks))]


def pool_slot(pool_id: str) -> int:
    """Return the storage slot of a pool's first word, its `slot0`."""
    return _hashed(int(pool_id, 16), _POOLS_SLOT)


def extsload_call(manager: str, slots: Sequence[int]) -> ContractCall:
    """Return the call that reads words of the manager's storage."""
    return ContractCall(manager, encode_list_call(_EXTSLOAD, slots))


def read_extsload(answer: ReturnData, count: int) -> tuple[int, ...]:
    """Return the words that `extsload_call` requested. Raises `InvalidUpstreamResponse`."""
    words = read_list(answer, _EXTSLOAD)
    if len(words) != count:
        raise invalid_response(_EXTSLOAD, f"{len(words)} words instead of {count}")
    return words


def price_and_tick(slot0: int) -> tuple[int, int]:
    """Return the square-root price in Q64.96 (the lowest 160 bits, 0 for no pool) and the tick (the next 24)."""
    return slot0 % (1 << 160), _narrow(slot0 >> 160, 24)


def _hashed(key: int, slot: int) -> int:
    """Return the slot of the entry `key` of a mapping at `slot`."""
    return int.from_bytes(keccak256(encode_word(key) + encode_word(slot % _WRAP)))


def _narrow(value: int, bits: int) -> int:
    value %= 1 << bits
    return value - (1 << bits) if value >> bits - 1 else value
