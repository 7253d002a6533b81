"""Read Maverick V2 pools: the ticks around the active one, each with one call, and the fees of both directions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from swapcli.core.encoding.abi import to_signed
from swapcli.core.errors import InvalidPoolState
from swapcli.core.model.pool import Pool
from swapcli.core.model.units import WAD
from swapcli.families.maverick.maverick_v2 import ALL_KINDS, MaverickV2, fee_ppm_of
from swapcli.families.maverick.rows import MaverickConstants
from swapcli.families.reading.build_pool import build_pool
from swapcli.families.reading.call_encoding import encode_call, invalid_response, read_signed, read_word, read_words
from swapcli.families.reading.calls import ContractCall
from swapcli.families.reading.factory_contract import MAX_LISTED_POOLS, Factory
from swapcli.families.reading.lockstep_reads import BatchRead, with_prefetch
from swapcli.families.reading.pool_ref import LastTicks, PoolRef
from swapcli.families.reading.views import address_views, decode_addresses, read_views, view, words

REACH: Final = 2_000
"""The range read on either side, in hundredths of a percent of the price, within the limits on the number of ticks."""
MIN_TICKS, MAX_TICKS = 8, 64
"""The number of ticks on either side. A swap beyond them is rejected as if the pool had no more liquidity."""
_STATE: Final = "getState()"
"""Both reserves, three numbers of the average, active tick, lock, number of bins, the protocol's share of the fees."""
_STATE_WORDS: Final = 9
_ACTIVE, _IS_LOCKED, _PROTOCOL_FEE = 5, 6, 8
_FEE: Final = "fee(bool)"
_SCALES: Final = ("tokenAScale()", "tokenBScale()")
_TICK: Final = "getTick(int32)"
_TOKENS: Final = ("tokenA()", "tokenB()")
_COUNT: Final = "poolCount()"
_LOOKUP: Final = "lookup(uint256,uint256)"
_POOLS_PER_CALL: Final = 500
"""The number of list entries that one call may return."""


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pool in two rounds of calls, or in one if its active tick is the same as in the last read."""
    key = ref.constants_as(MaverickConstants)
    if not key.tick_spacing:
        raise invalid_response(ref.address, "its tick spacing is unknown")
    guesses = _tick_calls(ref.address, _ticks_around(ref.last_ticks.tick, key.tick_spacing)) if ref.last_ticks else []
    return (yield from with_prefetch(_load(ref, key), guesses))


def _load(ref: PoolRef, key: MaverickConstants) -> BatchRead[Pool]:
    pool = ref.address
    values = yield from read_views(
        view("state", pool, _STATE, decode=words(_STATE_WORDS)),
        *(view(f"fee_{sells_a}", pool, _FEE, sells_a) for sells_a in (True, False)),
        *(view(name, pool, name) for name in _SCALES),
    )
    state = values["state"]
    if state[_IS_LOCKED]:
        raise invalid_response(_STATE, "the pool is locked")
    for name, decimals in zip(_SCALES, ref.decimals, strict=True):
        if values[name] * 10**decimals != WAD:
            raise InvalidPoolState("decimals", f"{name} does not match {decimals} decimals")
    active = to_signed(state[_ACTIVE])
    numbers = _ticks_around(active, key.tick_spacing)
    answers = yield _tick_calls(pool, numbers)
    ticks = [[number, *read_words(each, 2, _TICK)] for number, each in zip(numbers, answers, strict=True)]
    fees = [values["fee_True"], values["fee_False"]]
    fields: dict[str, object] = {
        "tick_spacing": key.tick_spacing,
        "fees": fees,
        "protocol_fee_per_mille": state[_PROTOCOL_FEE],
        "kinds": key.kinds,
        "active_tick": active,
        "ticks": [each for each in ticks if each[1] or each[2]],
    }
    return build_pool(ref, fee_ppm_of(fees[0]), fields)


def read_list(factory: Factory) -> BatchRead[tuple[str, ...]]:
    """Read the addresses of all pools that are open to everyone, in two rounds of calls."""
    (count,) = yield [ContractCall(factory.address, encode_call(_COUNT))]
    total = min(read_word(count, _COUNT), MAX_LISTED_POOLS)
    starts = range(0, total, _POOLS_PER_CALL)
    answers = yield [
        ContractCall(factory.address, encode_call(_LOOKUP, start, min(start + _POOLS_PER_CALL, total)))
        for start in starts
    ]
    return tuple(pool for answer in answers for pool in decode_addresses(answer, _LOOKUP))


def read_constants(factory: Factory, address: str) -> BatchRead[PoolRef]:
    """Read the tokens, the tick spacing and the bin kinds of a pool in one round of calls."""
    values = yield from read_views(
        *address_views(address, _TOKENS),
        view("spacing", address, "tickSpacing()", decode=read_signed),
        view("kinds", address, "kinds()"),
    )
    *tokens, spacing, kinds = values.values()
    return factory.new_ref(address, tuple(tokens))._replace(constants=MaverickConstants(spacing, kinds & ALL_KINDS))


def complete_ref(ref: PoolRef, pool: Pool) -> PoolRef:
    """Return `ref` with the constants and the active tick of a known pool."""
    assert isinstance(pool, MaverickV2)
    constants = MaverickConstants(pool.tick_spacing, pool.kinds)
    return ref._replace(fee_ppm=0, constants=constants, last_read=LastTicks(pool.active_tick))


def _ticks_around(active: int, spacing: int) -> range:
    reach = min(max(REACH // spacing, MIN_TICKS), MAX_TICKS)
    return range(active - reach, active + reach + 1)


def _tick_calls(pool: str, ticks: Sequence[int]) -> list[ContractCall]:
    return [ContractCall(pool, encode_call(_TICK, tick)) for tick in ticks]
