"""Read Liquidity Book pairs, versions 2.1 and 2.2: the fee parameters, and the bins around the active one.

The state is valid at the block's time, on which the fee depends.
"""

from __future__ import annotations

from typing import Final

from swapcli.core.model.pool import Pool
from swapcli.families.bins.bin_math import MAX_ID
from swapcli.families.bins.liquidity_book import LiquidityBook
from swapcli.families.bins.volatility_fee import FeeParameters, Volatility, fee_parameters_state
from swapcli.families.reading.block_time import time_view
from swapcli.families.reading.build_pool import build_pool
from swapcli.families.reading.call_encoding import encode_call, invalid_response, read_words
from swapcli.families.reading.calls import ContractCall
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead, with_prefetch
from swapcli.families.reading.pool_ref import LastBins, PoolRef
from swapcli.families.reading.views import optional_view, read_addresses, read_views, view, words

REACH: Final = 50
"""The number of bins read on either side of the active one.

A swap that would leave them is rejected as if the pool had no more liquidity. At a step of 20 basis points, they cover
10% either way.
"""
_ACTIVE_ID: Final = "getActiveId()"
_HOOKS: Final = "getLBHooksParameters()"
_BIN: Final = "getBin(uint24)"
_TOKENS: Final = ("getTokenX()", "getTokenY()")
_SWAP_HOOKS: Final = 0b11 << 160
"""The beforeSwap and afterSwap flags of version 2.2."""


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pair in two rounds of calls, or in one if the active bin is the same as in the last read."""
    guesses = _bin_calls(ref.address, ref.last_bins.active_id) if ref.last_bins else []
    return (yield from with_prefetch(_load(ref), guesses))


def _load(ref: PoolRef) -> BatchRead[Pool]:
    pair = ref.address
    state = yield from read_views(
        view("active_id", pair, _ACTIVE_ID),
        view("bin_step", pair, "getBinStep()"),
        view("fees", pair, "getStaticFeeParameters()", decode=words(len(FeeParameters._fields))),
        view("variable", pair, "getVariableFeeParameters()", decode=words(len(Volatility._fields))),
        optional_view("hooks", pair, _HOOKS),
        time_view("on which the fee depends"),
    )
    if (state["hooks"] or 0) & _SWAP_HOOKS:
        raise invalid_response(_HOOKS, "a hook is called on every swap")
    active_id, parameters = state["active_id"], FeeParameters(*state["fees"])
    if not 0 < active_id <= MAX_ID:
        raise invalid_response(_ACTIVE_ID, f"{active_id} is not a bin")
    answers = yield _bin_calls(pair, active_id)
    amounts = [read_words(answer, 2, _BIN) for answer in answers]
    state |= {
        "bins": [[bin_id, *row] for bin_id, row in zip(_ids_around(active_id), amounts, strict=True) if any(row)],
        "fee_parameters": fee_parameters_state(parameters),
        "volatility": Volatility(*state["variable"])._asdict(),
    }
    return build_pool(ref, parameters.base_fee_ppm(state["bin_step"]), state)


def read_constants(factory: Factory, address: str) -> BatchRead[PoolRef]:
    """Read the tokens of a pair in one round of calls."""
    return factory.new_ref(address, (yield from read_addresses(address, _TOKENS)))


def complete_ref(ref: PoolRef, pool: Pool) -> PoolRef:
    """Return `ref` with the active bin of a known pair."""
    assert isinstance(pool, LiquidityBook)
    return ref._replace(last_read=LastBins(pool.active_id))


def _bin_calls(pair: str, active_id: int) -> list[ContractCall]:
    return [ContractCall(pair, encode_call(_BIN, bin_id)) for bin_id in _ids_around(active_id)]


def _ids_around(active_id: int) -> range:
    return range(max(active_id - REACH, 0), min(active_id + REACH, MAX_ID) + 1)
