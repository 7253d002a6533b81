"""Read Curve's StableSwap-NG pools, and plain pools from the previous factory, which lack some functions.

`version()` distinguishes the two, and `ma_exp_time()` shows which plain pools have a price oracle. A pool of another
version may round differently, so it is skipped. Plain pools with rates from oracles are skipped too, because this
family was not compared with their contracts. So are pools of the native coin, which a swap would have to pay with the
transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from swapcli.core.model.pool import Pool
from swapcli.core.model.units import WAD
from swapcli.families.curve.curve_meta import CurveMeta
from swapcli.families.curve.rows import MetapoolConstants
from swapcli.families.curve.stableswap import NG, PLAIN, PLAIN_EMA
from swapcli.families.curve.stableswap_math import A_PRECISION, FEE_DENOMINATOR
from swapcli.families.identity_checks import MAX_TOKENS
from swapcli.families.reading.build_pool import build_pool_with_fee, fee_in_wad
from swapcli.families.reading.call_encoding import (
    NATIVE_CURRENCY,
    encode_call,
    invalid_response,
    read_address,
    read_list,
    read_text,
    read_word,
)
from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reserves import MAX_DECIMALS, to_18_decimals
from swapcli.families.swap_fees import FEE_PER_PPM, write_swap_fee

_COIN = "coins(uint256)"
_IS_META = "is_meta(address)"
_BALANCE = "balances(uint256)"
_RATES = "stored_rates()"
_FEE = "fee()"
_BASE_POOL = "BASE_POOL()"
_VERSION = "version()"
_SUPPLY = "totalSupply()"
_NG_VERSION = "v7.0.0"
"""The version of StableSwap-NG, and thus of the metapools and base pools whose deposits and withdrawals are known."""
_PLAIN_VARIANTS = {("v5.0.0", False): PLAIN, ("v5.0.0", True): PLAIN_EMA, ("v6.0.0", True): PLAIN_EMA}
"""The variants of plain pools from the previous factory, by version and whether they have a price oracle."""
_ORACLE_TIME = "ma_exp_time()"
_RATE_ORACLE = "oracle(uint256)"
_META_COINS = 2  # coins of a metapool: its own, and the liquidity token of its base pool
_NAMES = ("A()", _FEE)
_NEWER_NAMES = ("A_precise()", "future_A()", "offpeg_fee_multiplier()", _RATES)
"""Functions that some older pools lack."""
_RATES_AT = len(_NAMES) + _NEWER_NAMES.index(_RATES)


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pool in one round of calls, or in two if it is a metapool with an unknown base pool."""
    if ref.family == CurveMeta.family:
        return (yield from _load_meta(ref))
    version, oracle_time, rate_oracle, *answers = yield [
        *(ContractCall(ref.address, encode_call(name), may_revert=True) for name in (_VERSION, _ORACLE_TIME)),
        ContractCall(ref.address, encode_call(_RATE_ORACLE, 0), may_revert=True),
        *_state_calls(ref.address, len(ref.tokens)),
    ]
    variant = _variant(version, oracle_time, has_rates=bool(rate_oracle or answers[_RATES_AT]))
    state = _parse_state(answers, ref.decimals) | {"variant": variant}
    return build_pool_with_fee(ref, _fee_wad(answers), state)


def _load_meta(ref: PoolRef) -> BatchRead[Pool]:
    base = ref.constants_as(MetapoolConstants).base_pool
    if not base:
        (answer,) = yield [ContractCall(ref.address, encode_call(_BASE_POOL))]
        base = read_address(answer, _BASE_POOL)
    own_calls, base_calls = _state_calls(ref.address, _META_COINS), _state_calls(base, len(ref.tokens) - _META_COINS)
    supply, *answers = yield [ContractCall(base, encode_call(_SUPPLY)), *own_calls, *base_calls]
    own_answers, base_answers = answers[: len(own_calls)], answers[len(own_calls) :]
    own = _parse_state(own_answers, ref.decimals[:1])
    state: dict[str, object] = {
        **own,
        "base_pool": base,
        "lp_supply": read_word(supply, _SUPPLY),
        "base": {
            **_base_fee(base_answers),
            **_parse_state(base_answers, ref.decimals[_META_COINS:]),
        },
    }
    return build_pool_with_fee(ref, _fee_wad(own_answers), state)


def _state_calls(address: str, coin_count: int) -> list[ContractCall]:
    return [
        *(ContractCall(address, encode_call(name)) for name in _NAMES),
        *(ContractCall(address, encode_call(name), may_revert=True) for name in _NEWER_NAMES),
        *(ContractCall(address, encode_call(_BALANCE, k)) for k in range(coin_count)),
    ]


def _fee_wad(answers: Sequence[ReturnData]) -> int:
    return fee_in_wad(read_word(answers[1], _FEE), FEE_DENOMINATOR, _FEE)


def _base_fee(answers: Sequence[ReturnData]) -> dict[str, object]:
    """Return the fee in the form of a base pool's state."""
    fee_wad = _fee_wad(answers)
    fee_ppm = fee_wad // FEE_PER_PPM
    return {"fee_ppm": fee_ppm, **write_swap_fee(fee_wad, fee_ppm)}


def _parse_state(answers: Sequence[ReturnData], decimals: Sequence[int]) -> dict[str, object]:
    """Return the state without the fee. A metapool has one more balance and rate than `decimals`, for its liquidity
    token.

    The rate of a liquidity token is omitted, because it follows from the base pool.
    """
    amp, _, precise, goal, multiplier, rates, *balances = answers
    state: dict[str, object] = {
        **_amp(read_word(amp, "A()"), precise, goal),
        "reserves": [read_word(each, _BALANCE) for each in balances],
        "rates": _rates(rates, decimals, len(balances)),
    }
    if multiplier:
        state["offpeg_fee_multiplier"] = read_word(multiplier, "offpeg_fee_multiplier()")
    return state


def read_constants(factory: Factory, address: str) -> BatchRead[PoolRef]:
    """Read the coins of a factory's pool in one round of calls, or in two if it is a metapool."""
    is_meta, base, version, *coins = yield [
        ContractCall(factory.address, encode_call(_IS_META, address), may_revert=True),
        ContractCall(address, encode_call(_BASE_POOL), may_revert=True),
        ContractCall(address, encode_call(_VERSION), may_revert=True),
        *_coin_calls(address),
    ]
    tokens = _coins(coins)
    if not (base or (is_meta and read_word(is_meta, _IS_META))):
        return factory.new_ref(address, tokens)
    _check_version(version, "metapool")
    base_pool = read_address(base, _BASE_POOL)
    base_version, *base_coins = yield [
        ContractCall(base_pool, encode_call(_VERSION), may_revert=True),
        *_coin_calls(base_pool),
    ]
    _check_version(base_version, "base pool")
    if tokens[1:] != (base_pool,):
        raise invalid_response(address, "its second coin is not its base pool's liquidity token")
    ref = factory.new_ref(address, (*tokens, *_coins(base_coins)), CurveMeta.family)
    return ref._replace(constants=MetapoolConstants(base_pool))


def complete_ref(ref: PoolRef, pool: Pool) -> PoolRef:
    """Return `ref` with the address of the base pool, if the pool is a metapool."""
    return ref._replace(constants=MetapoolConstants(pool.base.pool.address)) if isinstance(pool, CurveMeta) else ref


def _coin_calls(address: str) -> list[ContractCall]:
    return [ContractCall(address, encode_call(_COIN, k), may_revert=True) for k in range(MAX_TOKENS)]


def _coins(answers: Sequence[ReturnData]) -> tuple[str, ...]:
    found = tuple(read_address(coin, _COIN) for coin in takewhile(bool, answers))
    if len(found) < 2:
        raise invalid_response(_COIN, "the pool has no list of its coins")
    if NATIVE_CURRENCY in found:
        raise invalid_response(_COIN, "pools with the native coin are not supported")
    return found


def _variant(version: ReturnData, oracle_time: ReturnData, *, has_rates: bool) -> str:
    """Return the variant of the family. Raises `InvalidUpstreamResponse` for a pool with unknown maths."""
    known = read_text(version, _VERSION) if version else "none"
    if known == _NG_VERSION:
        return NG
    variant = _PLAIN_VARIANTS.get((known, bool(oracle_time)))
    if variant is None:
        oracle = "with" if oracle_time else "without"
        raise invalid_response(_VERSION, f"a pool of version {known} {oracle} {_ORACLE_TIME} is not supported")
    if has_rates:
        raise invalid_response(_VERSION, f"a pool of version {known} with rates from oracles is not supported")
    if oracle_time and not read_word(oracle_time, _ORACLE_TIME):
        raise invalid_response(_ORACLE_TIME, "is zero, so that swaps revert")
    return variant


def _check_version(version: ReturnData, role: str) -> None:
    """Reject metapools and base pools whose deposit and withdrawal fees differ from those of StableSwap-NG."""
    known = read_text(version, _VERSION) if version else "none"
    if known != _NG_VERSION:
        raise invalid_response(_VERSION, f"a {role} of version {known}, only {_NG_VERSION} is supported")


def _amp(amp: int, precise: ReturnData, goal: ReturnData) -> dict[str, object]:
    """Return the amplification at the block's time.

    Raises `InvalidUpstreamResponse` if the values contradict each other.
    """
    if not precise:
        return {"amp": amp}
    now = read_word(precise, "A_precise()")
    if now // A_PRECISION != amp:
        raise invalid_response("A()", f"{amp} does not fit A_precise(), {now}")
    is_ramping = bool(goal) and read_word(goal, "future_A()") != now
    return {"amp": amp, "amp_hundredths": now % A_PRECISION, "is_ramping": is_ramping}


def _rates(answer: ReturnData, decimals: Sequence[int], count: int) -> Sequence[int]:
    """Return the rates without the scaling to 18 decimals, which the contract's rates include."""
    if not answer or max(decimals) > MAX_DECIMALS:
        return [WAD] * len(decimals)
    rates = read_list(answer, _RATES)
    if len(rates) != count:
        raise invalid_response(_RATES, f"{len(rates)} rates for {count} coins")
    plain = [divmod(rate, to_18_decimals(places)) for rate, places in zip(rates, decimals, strict=False)]
    if any(rest for _, rest in plain):
        raise invalid_response(_RATES, "a rate is finer than its coin's decimals allow")
    return [rate for rate, _ in plain]
