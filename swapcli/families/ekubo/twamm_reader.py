"""Read Ekubo's TWAMM: the pool as the core stores it, the sale rates, and the times at which orders begin or end.

A call to the extension finds the next such time within a span. So the span since its last execution is searched from
several starts at once. Both contracts can be upgraded: a pool is skipped unless their classes are known.
"""

from __future__ import annotations

from typing import Final

from swapcli.core.model.pool import Pool
from swapcli.families.ekubo.core_calls import (
    DELTA,
    LIQUIDITY,
    EkuboPoolCalls,
    Gap,
    MarkSearch,
    read_price,
    read_version,
)
from swapcli.families.ekubo.ekubo import fee_ppm_of
from swapcli.families.ekubo.ekubo_twamm import MAX_USABLE_TICK
from swapcli.families.reading.build_pool import build_pool
from swapcli.families.reading.call_encoding import invalid_response
from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.starknet_calls import (
    block_time_call,
    class_hash_call,
    join_signed,
    read_felts,
    starknet_call,
)

TWAMM_EXTENSION: Final = "0x043e4f09c32d13d43a880e85f69f7de93ceda62d6cf2581a582c6db635548fdc"
_CLASSES: Final = (
    0x0131E8A1B84559246F3743584740446C28F7FD885D5859D63D2883D1002D80BA,
    0x07F60FE1D7E48BB51695F675DE0475325D2D131A81FC87144023AE437FCFAC32,
)
"""The extension's, from Ekubo's governance proposal of 2026 to upgrade its contracts to v5.0.3."""
_RATES: Final = "get_sale_rate_and_last_virtual_order_time"
_NEXT_TIME: Final = "next_initialized_time"
_CHANGE: Final = "get_sale_rate_delta"
_PLACES: Final = 8
"""The number of starts of the search. The extension executes with each swap, so usually few times are left to find."""


def read_twamm(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pool in two rounds, or more if orders have begun or ended since the last execution."""
    key, extension = EkuboPoolCalls(ref), _Extension(ref)
    core_class, price, liquidity, own_class, at_end, rates, time = yield [
        *key.state_calls(),
        class_hash_call(TWAMM_EXTENSION),
        *key.delta_calls([-MAX_USABLE_TICK]),
        extension.call(_RATES),
        block_time_call(),
    ]
    version = read_version(core_class, ref.address)
    if read_felts(own_class, 1, "the class of the extension")[0] not in _CLASSES:
        raise invalid_response(TWAMM_EXTENSION, "the contract was upgraded to an unknown class")
    sqrt_ratio, tick = read_price(price)
    whole = join_signed(read_felts(at_end, 2, DELTA), DELTA)
    rate0, rate1, executed_at = read_felts(rates, 3, _RATES)
    (timestamp,) = read_felts(time, 1, "the time of the block")
    changes = yield from extension.find_changes(Gap(executed_at, timestamp))
    state: dict[str, object] = {
        "pool_id": ref.pool_id,
        "fee_x128": key.fee_x128,
        "tick_spacing": key.tick_spacing,
        "extension": key.extension,
        "version": version,
        "sqrt_ratio": sqrt_ratio,
        "tick": tick,
        "liquidity": read_felts(liquidity, 1, LIQUIDITY)[0],
        "ticks": [[-MAX_USABLE_TICK, whole], [MAX_USABLE_TICK, -whole]] if whole else [],
        "sale_rates": [rate0, rate1],
        "executed_at": executed_at,
        "timestamp": timestamp,
        "rate_changes": changes,
    }
    return build_pool(ref, fee_ppm_of(key.fee_x128), state)


class _Extension:
    """The calls to the extension for one pool."""

    def __init__(self, ref: PoolRef) -> None:
        self._felts = (*(int(token, 16) for token in ref.tokens), EkuboPoolCalls(ref).fee_x128)

    def call(self, function: str, *felts: int) -> ContractCall:
        """Return a call with the pool's key and additional felts."""
        return starknet_call(TWAMM_EXTENSION, function, *self._felts, *felts)

    def find_changes(self, span: Gap) -> BatchRead[list[list[int]]]:
        """Read the times at which sale rates change, ascending, each with the changes of both rates."""
        search = MarkSearch(lambda *times: self.call(_NEXT_TIME, *times), _read_next, _PLACES, _NEXT_TIME, "times")
        ordered = yield from search.find(search.split([span] if span.start < span.end else []))
        answers = (yield [self.call(_CHANGE, time) for time in ordered]) if ordered else []
        felts = [read_felts(answer, 4, _CHANGE) for answer in answers]
        return [
            [time, join_signed(each[:2], _CHANGE), join_signed(each[2:], _CHANGE)]
            for time, each in zip(ordered, felts, strict=True)
        ]


def _read_next(gap: Gap, answer: ReturnData) -> tuple[int, bool]:
    time, is_initialized = read_felts(answer, 2, _NEXT_TIME)
    if not gap.start < time <= gap.end:
        raise invalid_response(_NEXT_TIME, f"the time {time}, which is not from {gap.start} to {gap.end}")
    return time, bool(is_initialized)
