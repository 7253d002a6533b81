"""Curve's StableSwap pools with StableSwap-NG's functions; older pools lack some, which then have default values.

The family's maths are StableSwap-NG's: pools from before it may differ from them by a unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from swapcli.chain.call_encoding import encode_call, invalid_response, read_address, read_list, read_word
from swapcli.chain.factory import Factory
from swapcli.chain.loaders.build_pool import build_pool, fee_in_ppm
from swapcli.chain.lockstep_reads import BatchRead
from swapcli.chain.node import ContractCall, ReturnData
from swapcli.chain.pool_ref import PoolRef
from swapcli.model.pool import Pool
from swapcli.pools.identity_checks import MAX_TOKENS
from swapcli.pools.reserves import MAX_DECIMALS, to_18_decimals

_COIN = "coins(uint256)"
_IS_META = "is_meta(address)"
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
        **_amp(read_word(amp, "A()"), precise, goal),
        "reserves": [read_word(each, _BALANCE) for each in balances_read],
        "rates": _rates(ref, rates),
    }
    if multiplier:
        state["offpeg_fee_multiplier"] = read_word(multiplier, "offpeg_fee_multiplier()")
    return build_pool(ref, fee_in_ppm(read_word(fee, "fee()"), _FEE_DENOMINATOR, "fee()"), state)


def read_constants(factory: Factory, address: str) -> BatchRead[PoolRef]:
    """Read the coins of a factory's pool in one round."""
    is_meta, *coins = yield [
        ContractCall(factory.address, encode_call(_IS_META, address), may_revert=True),
        *(ContractCall(address, encode_call(_COIN, k), may_revert=True) for k in range(MAX_TOKENS)),
    ]
    if is_meta and read_word(is_meta, _IS_META):
        raise invalid_response(address, "a metapool")
    found = tuple(takewhile(bool, coins))
    if len(found) < 2:
        raise invalid_response(_COIN, "the pool has no list of its coins")
    return factory.new_ref(address, tuple(read_address(coin, _COIN) for coin in found))


def _amp(amp: int, precise: ReturnData, goal: ReturnData) -> dict[str, object]:
    """Return the amplification at the block's time. Raises `InvalidUpstreamResponse` for a contradiction."""
    if not precise:
        return {"amp": amp}
    now = read_word(precise, "A_precise()")
    if now // _A_PRECISION != amp:
        raise invalid_response("A()", f"{amp} does not fit A_precise(), {now}")
    is_ramping = bool(goal) and read_word(goal, "future_A()") != now
    return {"amp": amp, "amp_hundredths": now % _A_PRECISION, "is_ramping": is_ramping}


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
