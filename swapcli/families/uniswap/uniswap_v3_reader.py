"""Read Uniswap V3, PancakeSwap V3, Slipstream and compatible contracts.

The fee is read with the state. Slipstream's fee moves for ten minutes after a price change, without an event. Its
contract is recognized by `slot0`, which lacks the protocol's fee.
"""

from __future__ import annotations

from collections.abc import Sequence

from swapcli.core.encoding.abi import WORD, to_signed
from swapcli.core.model.pool import Pool
from swapcli.families.reading.build_pool import build_pool
from swapcli.families.reading.call_encoding import (
    encode_call,
    invalid_response,
    read_signed,
    read_word,
    read_words,
    to_address,
)
from swapcli.families.reading.calls import ContractCall, Log, ReturnData
from swapcli.families.reading.contract_kinds import topic_of
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import LastTicks, PoolRef
from swapcli.families.reading.tick_bitmap import PriceState, read_near_last
from swapcli.families.reading.views import address_views, read_views, view
from swapcli.families.row import TickConstants
from swapcli.families.uniswap.concentrated import Concentrated

_POSITION = ("slot0()", "liquidity()", "fee()")
_SPACING = "tickSpacing()"
_SLIPSTREAM_SLOT0_WORDS = 6
"""The number of words in Slipstream's `slot0`; Uniswap's and PancakeSwap's have 7."""
_BITMAP = "tickBitmap(int16)"
_TICKS = "ticks(int24)"
_CREATED = "PoolCreated(address,address,uint24,int24,address)"
_CREATED_BY_SPACING = "PoolCreated(address,address,int24,address)"
"""Slipstream's event: its pools for two tokens differ in the spacing, and the fee may change."""


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pool in three rounds of calls, or in one if price and ticks are close to the known ones. An unknown tick
    spacing takes one more."""
    return (yield from load_from(ref, PoolContract(ref.address)))


def load_from(ref: PoolRef, source: PoolContract) -> BatchRead[Pool]:
    """Read a pool from a contract that equals Uniswap V3's except for the location of the fee."""
    spacing = ref.constants_as(TickConstants).tick_spacing
    if not spacing:
        (answer,) = yield [ContractCall(ref.address, encode_call(_SPACING))]
        spacing = read_spacing(answer)
    position, state = yield from read_near_last(source, spacing, ref.last_ticks)
    return build_pool(ref, position.fee_ppm, state)


def read_constants(factory: Factory, address: str) -> BatchRead[PoolRef]:
    """Read the tokens and the tick spacing of a pool in one round of calls. Its fee comes from the factory
    reference."""
    values = yield from read_views(*address_views(address), view(_SPACING, address, _SPACING, decode=read_signed))
    *tokens, spacing = values.values()
    return factory.new_ref(address, tuple(tokens))._replace(fee_ppm=factory.fee_ppm, constants=TickConstants(spacing))


def read_created(factory: Factory, log: Log, wrapped_native: str | None) -> BatchRead[PoolRef]:
    """Decode a pool creation event, which takes no call."""
    yield from ()
    del wrapped_native
    if len(log.topics) < 4:
        raise invalid_response(factory.address, "an event of a different kind")
    first, second, tier = (int(topic, 16) for topic in log.topics[1:4])
    tokens = (to_address(first, "token0"), to_address(second, "token1"))
    if log.topics[0] == topic_of(_CREATED):
        spacing, pool = read_words(log.data, 2, _CREATED)
        ref = factory.new_ref(to_address(pool, _CREATED), tokens)
        return ref._replace(fee_ppm=tier, constants=TickConstants(to_signed(spacing)))
    pool = read_word(log.data, _CREATED_BY_SPACING)
    ref = factory.new_ref(to_address(pool, _CREATED_BY_SPACING), tokens)
    return ref._replace(constants=TickConstants(to_signed(tier)))


def complete_ref(ref: PoolRef, pool: Pool) -> PoolRef:
    """Return `ref` with the tick spacing, the tick and the listed ticks of a known pool."""
    assert isinstance(pool, Concentrated)
    return ref._replace(constants=TickConstants(pool.tick_list.tick_spacing), last_read=last_ticks_of(pool))


def last_ticks_of(pool: Concentrated) -> LastTicks:
    """Return a pool's tick and ticks in the form of a last read."""
    return LastTicks(pool.tick, tuple(pool.tick_list.ticks))


def read_spacing(answer: ReturnData) -> int:
    """Return the tick spacing. A spacing of 0 becomes 1 to avoid a division by zero; the state with it is rejected
    later."""
    return max(read_word(answer, _SPACING), 1)


def read_nets(ticks: Sequence[int], answers: Sequence[ReturnData]) -> list[int]:
    """Return the net liquidity of each tick: the second word that `ticks` returns."""
    return [to_signed(read_words(answer, 2, f"ticks({tick})")[1]) for tick, answer in zip(ticks, answers, strict=True)]


def tick_calls(pool: str, ticks: Sequence[int]) -> list[ContractCall]:
    """Return the calls whose results `read_nets` decodes."""
    return [ContractCall(pool, encode_call(_TICKS, tick)) for tick in ticks]


class PoolContract:
    """The calls to a pool with its own contract, and the decoding of their results."""

    def __init__(self, address: str) -> None:
        self.address = address

    def position_calls(self) -> Sequence[ContractCall]:
        return [ContractCall(self.address, encode_call(name)) for name in _POSITION]

    def read_position(self, answers: Sequence[ReturnData]) -> PriceState:
        slot0, liquidity, fee = answers
        price, tick = read_words(slot0, 2, _POSITION[0])
        return PriceState(
            price,
            to_signed(tick),
            read_word(liquidity, _POSITION[1]),
            read_word(fee, _POSITION[2]),
            has_dynamic_fee=len(slot0 or b"") == _SLIPSTREAM_SLOT0_WORDS * WORD,
        )

    def word_calls(self, words: Sequence[int]) -> Sequence[ContractCall]:
        return [ContractCall(self.address, encode_call(_BITMAP, number)) for number in words]

    def read_words(self, words: Sequence[int], answers: Sequence[ReturnData]) -> list[int]:
        return [read_word(answer, f"tickBitmap({n})") for n, answer in zip(words, answers, strict=True)]

    def tick_calls(self, ticks: Sequence[int]) -> Sequence[ContractCall]:
        return tick_calls(self.address, ticks)

    def read_nets(self, ticks: Sequence[int], answers: Sequence[ReturnData]) -> list[int]:
        return read_nets(ticks, answers)
