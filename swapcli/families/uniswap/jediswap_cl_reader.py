"""Read JediSwap V2 on Starknet: Uniswap V3 in Cairo, whose contracts do not expose their tick bitmap.

So the ticks around the price are read one by one, and the table of ticks is closed at both ends, as in `tick_bitmap`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from swapcli.core.model.pool import Pool
from swapcli.families.reading.build_pool import build_pool
from swapcli.families.reading.call_encoding import invalid_response
from swapcli.families.reading.calls import ContractCall, Log, ReturnData
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead, with_prefetch
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.starknet_calls import (
    join_signed,
    read_felt_address,
    read_felts,
    read_u256,
    signed_felts,
    starknet_call,
    to_starknet_address,
)
from swapcli.families.reading.tick_bitmap import close_between
from swapcli.families.row import TickConstants
from swapcli.families.tick_math import MAX_TICK
from swapcli.families.uniswap.uniswap_v3_reader import complete_ref

__all__ = ["complete_ref", "load", "read_created"]

REACH: Final = 120
"""The number of tick spacings read on either side of the price: at a spacing of 60, the price can double."""
_POSITION: Final = ("get_sqrt_price_X96", "get_tick", "get_liquidity", "get_fee", "get_tick_spacing")
_TICK: Final = "get_tick_info"
_CREATED_FELTS: Final = 5  # felts of the event's data
_GET_POOL: Final = "get_pool"
_SPACING_OF: Final = "fee_amount_tick_spacing"


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pool in two rounds of calls, or in one if the price has not moved far."""
    last, spacing = ref.last_ticks, ref.constants_as(TickConstants).tick_spacing
    expected = _tick_calls(ref.address, last.tick, spacing) if last else ()
    return (yield from with_prefetch(_read(ref), expected))


def _read(ref: PoolRef) -> BatchRead[Pool]:
    price, tick_felts, liquidity_felt, fee, spacing_felt = yield [
        starknet_call(ref.address, name) for name in _POSITION
    ]
    tick = join_signed(read_felts(tick_felts, 2, _POSITION[1]), _POSITION[1])
    (liquidity,) = read_felts(liquidity_felt, 1, _POSITION[2])
    spacing = max(read_felts(spacing_felt, 1, _POSITION[4])[0], 1)
    multiples = _ticks_around(tick, spacing)
    answers = yield _tick_calls(ref.address, tick, spacing)
    nets = {
        each: net for each, answer in zip(multiples, answers, strict=True) if (net := _read_net(answer)) is not None
    }
    low = multiples[0] if multiples[0] - spacing >= -MAX_TICK else None
    high = multiples[-1] if multiples[-1] + spacing <= MAX_TICK else None
    table = close_between(nets, tick, liquidity, low, high)
    state = {
        "sqrt_price_x96": read_u256(price, _POSITION[0]),
        "tick": tick,
        "liquidity": liquidity,
        "tick_spacing": spacing,
        "ticks": [[each, table[each]] for each in sorted(table)],
    }
    return build_pool(ref, read_felts(fee, 1, _POSITION[3])[0], state)


def read_created(factory: Factory, log: Log, wrapped_native: str | None) -> BatchRead[PoolRef]:
    """Decode a pool creation event: tokens, fee, tick spacing and address. This takes no call."""
    yield from ()
    del wrapped_native
    felts = read_felts(log.data, _CREATED_FELTS, "PoolCreated")
    first, second, address = (to_starknet_address(felts[at], "PoolCreated") for at in (0, 1, 4))
    ref = factory.new_ref(address, (first, second))
    return ref._replace(fee_ppm=felts[2], constants=TickConstants(felts[3]))


def read_fees(factory: Factory, candidates: Sequence[int]) -> BatchRead[Sequence[int]]:
    """Read which of the `candidates` (fees in ppm) the factory has enabled, in one round of calls."""
    answers = yield [starknet_call(factory.address, _SPACING_OF, fee) for fee in candidates]
    return [fee for fee, answer in zip(candidates, answers, strict=True) if answer and any(answer)]


def find_by_tokens(factory: Factory, pair: tuple[str, str], fees_ppm: Sequence[int]) -> BatchRead[Sequence[PoolRef]]:
    """Read the pools of two tokens, at most one per fee, in two rounds of calls, or in one if there are none."""
    tokens = [int(token, 16) for token in pair]
    answers = yield [starknet_call(factory.address, _GET_POOL, *tokens, fee) for fee in fees_ppm]
    refs = [
        factory.new_ref(address, pair)._replace(fee_ppm=fee)
        for fee, answer in zip(fees_ppm, answers, strict=True)
        if answer and int(address := read_felt_address(answer, _GET_POOL), 16)
    ]
    if not refs:
        return ()
    spacings = yield [starknet_call(ref.address, _POSITION[4]) for ref in refs]
    return [
        ref._replace(constants=TickConstants(read_felts(spacing, 1, _POSITION[4])[0]))
        for ref, spacing in zip(refs, spacings, strict=True)
    ]


def _ticks_around(tick: int, spacing: int) -> range:
    """Return the multiples of the spacing around a tick."""
    if abs(tick) > MAX_TICK:
        raise invalid_response(_POSITION[1], f"the tick {tick}")
    own, limit = tick // spacing, MAX_TICK // spacing
    first, last = max(own - REACH, -limit), min(own + REACH + 1, limit)
    return range(first * spacing, last * spacing + 1, spacing)


def _tick_calls(pool: str, tick: int, spacing: int) -> Sequence[ContractCall]:
    return [starknet_call(pool, _TICK, *signed_felts(each)) for each in _ticks_around(tick, max(spacing, 1))]


def _read_net(answer: ReturnData) -> int | None:
    """Return the net liquidity of a tick, or None if it is not initialised."""
    gross, *net = read_felts(answer, 3, _TICK)
    return join_signed(tuple(net), _TICK) if gross else None
