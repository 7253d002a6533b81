"""Curve's StableSwap pools with StableSwap-NG's functions; older pools lack some, which then have default values.

The family's maths are StableSwap-NG's: pools from before it may differ from them by a unit.
"""

from __future__ import annotations

from collections.abc import Sequence

from swapcli.chain.call_encoding import encode_call, invalid_response, read_list, read_word
from swapcli.chain.loaders.build_pool import build_pool, fee_in_ppm
from swapcli.chain.lockstep_reads import BatchRead
from swapcli.chain.node import ContractCall, ReturnData
from swapcli.chain.pool_ref import PoolRef
from swapcli.model.pool import Pool
from swapcli.pools.reserves import MAX_DECIMALS, to_18_decimals

_BALANCE = "balances(uint256)"
_RATES = "stored_rates()"
_NAMES = ("A()", "fee()")
_NEWER_NAMES = ("A_precise()", "future_A()", "offpeg_fee_multiplier()", _RATES)
"""Functions that some older pools lack."""
_FEE_DENOMINATOR = 10**10
_A_PRECISION = 100
_WAD = 10**18


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pool in one round."""
    newer = [ContractCall(ref.address, encode_call(name), may_revert=True) for name in _NEWER_NAMES]
    balances = [ContractCall(ref.address, encode_call(_BALANCE, k)) for k in range(len(ref.tokens))]
    amp, fee, precise, goal, multiplier, rates, *balances_read = yield [
        *(ContractCall(ref.address, encode_call(name)) for name in _NAMES),
        *newer,
        *balances,
    ]
    state: dict[str, object] = {
        "amp": _constant_amp(read_word(amp, "A()"), precise, goal),
        "reserves": [read_word(each, _BALANCE) for each in balances_read],
        "rates": _rates(ref, rates),
    }
    if multiplier:
        state["offpeg_fee_multiplier"] = read_word(multiplier, "offpeg_fee_multiplier()")
    return build_pool(ref, fee_in_ppm(read_word(fee, "fee()"), _FEE_DENOMINATOR, "fee()"), state)


def _constant_amp(amp: int, precise: ReturnData, goal: ReturnData) -> int:
    """Return the amplification. Raises `InvalidUpstreamResponse` during a ramp, when it changes every second."""
    if not precise:
        return amp
    now = read_word(precise, "A_precise()")
    if now != amp * _A_PRECISION or (goal and read_word(goal, "future_A()") != now):
        raise invalid_response("A()", "the amplification is changing")
    return amp


def _rates(ref: PoolRef, answer: ReturnData) -> Sequence[int]:
    """Return the rates without the scaling to 18 decimals that the contract's rates include."""
    if not answer or max(ref.decimals) > MAX_DECIMALS:
        return [_WAD] * len(ref.tokens)
    rates = read_list(answer, _RATES)
    if len(rates) != len(ref.tokens):
        raise invalid_response(_RATES, f"{len(rates)} rates for {len(ref.tokens)} coins")
    plain = [divmod(rate, to_18_decimals(places)) for rate, places in zip(rates, ref.decimals, strict=True)]
    if any(rest for _, rest in plain):
        raise invalid_response(_RATES, "a rate is finer than its coin's decimals allow")
    return [rate for rate, _ in plain]
