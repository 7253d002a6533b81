"""Pairs of Liquidity Book, versions 2.1 and 2.2: the fee's parameters, and the bins around the active one.

The state is that of the block's time, on which the fee depends.
"""

from __future__ import annotations

from typing import Final

from swapcli.core.model.pool import Pool
from swapcli.families.bins.bin_math import MAX_ID
from swapcli.families.bins.liquidity_book import LiquidityBook
from swapcli.families.bins.volatility_fee import FeeParameters, Volatility, fee_parameters_state
from swapcli.families.reading.block_time import BLOCK_TIME
from swapcli.families.reading.build_pool import build_pool
from swapcli.families.reading.call_encoding import encode_call, invalid_response, read_address, read_word, read_words
from swapcli.families.reading.calls import ContractCall
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead, with_prefetch
from swapcli.families.reading.pool_ref import LastBins, PoolRef

REACH: Final = 50
"""Bins to either side of the active one that are read. A swap that would leave them is refused as if the pool had no
more liquidity. At a step of 20 basis points they are 10% either way."""
_TIME: Final = "getCurrentBlockTimestamp()"
_ACTIVE_ID: Final = "getActiveId()"
_BIN_STEP: Final = "getBinStep()"
_STATIC: Final = "getStaticFeeParameters()"
_VARIABLE: Final = "getVariableFeeParameters()"
_HOOKS: Final = "getLBHooksParameters()"
_BIN: Final = "getBin(uint24)"
_TOKENS: Final = ("getTokenX()", "getTokenY()")
_SWAP_HOOKS: Final = 0b11 << 160
"""The flags beforeSwap and afterSwap of version 2.2."""


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pair in two rounds; one if the active bin is that of the last read."""
    guesses = _bin_calls(ref.address, ref.last_bins.active_id) if ref.last_bins else []
    return (yield from with_prefetch(_load(ref), guesses))


def _load(ref: PoolRef) -> BatchRead[Pool]:
    active, step, static, variable, hooks, time = yield [
        *(ContractCall(ref.address, encode_call(name)) for name in (_ACTIVE_ID, _BIN_STEP, _STATIC, _VARIABLE)),
        ContractCall(ref.address, encode_call(_HOOKS), may_revert=True),
        BLOCK_TIME,
    ]
    if hooks and read_word(hooks, _HOOKS) & _SWAP_HOOKS:
        raise invalid_response(_HOOKS, "a hook is called at every swap")
    if not time:
        raise invalid_response(_TIME, "the block's time cannot be read, on which the fee depends")
    active_id, bin_step = read_word(active, _ACTIVE_ID), read_word(step, _BIN_STEP)
    if not 0 < active_id <= MAX_ID:
        raise invalid_response(_ACTIVE_ID, f"{active_id} is not a bin")
    answers = yield _bin_calls(ref.address, active_id)
    amounts = [read_words(answer, 2, _BIN) for answer in answers]
    parameters = FeeParameters(*read_words(static, len(FeeParameters._fields), _STATIC))
    state: dict[str, object] = {
        "active_id": active_id,
        "bin_step": bin_step,
        "bins": [[bin_id, *row] for bin_id, row in zip(_ids_around(active_id), amounts, strict=True) if any(row)],
        "fee_parameters": fee_parameters_state(parameters),
        "volatility": Volatility(*read_words(variable, len(Volatility._fields), _VARIABLE))._asdict(),
        "timestamp": read_word(time, _TIME),
    }
    return build_pool(ref, parameters.base_fee_ppm(bin_step), state)


def read_constants(factory: Factory, address: str) -> BatchRead[PoolRef]:
    """Read the tokens of a pair in one round."""
    answers = yield [ContractCall(address, encode_call(name)) for name in _TOKENS]
    token_x, token_y = (read_address(answer, name) for answer, name in zip(answers, _TOKENS, strict=True))
    return factory.new_ref(address, (token_x, token_y))


def complete_ref(ref: PoolRef, pool: Pool) -> PoolRef:
    """Return a reference with the active bin of a known pair."""
    assert isinstance(pool, LiquidityBook)
    return ref._replace(last_read=LastBins(pool.active_id))


def _bin_calls(pair: str, active_id: int) -> list[ContractCall]:
    return [ContractCall(pair, encode_call(_BIN, bin_id)) for bin_id in _ids_around(active_id)]


def _ids_around(active_id: int) -> range:
    return range(max(active_id - REACH, 0), min(active_id + REACH, MAX_ID) + 1)
