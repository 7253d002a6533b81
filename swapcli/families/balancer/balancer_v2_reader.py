"""Read weighted, stable and composable pools of Balancer V2: balances from the vault, everything else from the pools.

A swap first refreshes each expired cached rate, but until then the pool still returns the old one. So an expired rate
is read from its provider.

If a composable pool's own token is traded, it is among the tokens of the pool's reference. Older references have only
the other tokens.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, TypeVar

from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool
from swapcli.core.model.units import WAD
from swapcli.core.records import NamedTuple
from swapcli.families.balancer.balancer_pool_token import VERSIONS
from swapcli.families.balancer.balancer_stable_math import AMP_PRECISION
from swapcli.families.balancer.balancer_v3_reader import ECLP_PARAMETERS, read_eclp_parameters
from swapcli.families.balancer.rows import BalancerV2Constants
from swapcli.families.reading.block_time import BLOCK_TIME
from swapcli.families.reading.build_pool import build_pool, build_pool_with_fee
from swapcli.families.reading.call_encoding import (
    encode_call,
    invalid_response,
    read_address,
    read_list,
    read_text,
    read_word,
    read_words,
    to_address,
)
from swapcli.families.reading.calls import ContractCall, Log, ReturnData
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead, with_prefetch
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reserves import to_18_decimals
from swapcli.families.swap_fees import FEE_PER_PPM

T = TypeVar("T")

_POOL_TOKENS: Final = "getPoolTokens(bytes32)"
_WEIGHTS: Final = "getNormalizedWeights()"
_WEIGHT_UPDATE: Final = "getGradualWeightUpdateParams()"
_FEE: Final = "getSwapFeePercentage()"
_PAUSED: Final = "getPausedState()"
_RECOVERY: Final = "inRecoveryMode()"
_SINCE_VERSION_2: Final = "getLastPostJoinExitInvariant()"
_AMP: Final = "getAmplificationParameter()"
_SCALING: Final = "getScalingFactors()"
_PROVIDERS: Final = "getRateProviders()"
_OWN_TOKEN: Final = "getBptIndex()"
_JOIN_EXIT_DATA: Final = "getLastJoinExitData()"
_VERSION: Final = "version()"
_SUPPLY: Final = "totalSupply()"
_PROTOCOL_FEE: Final = "getProtocolFeePercentageCache(uint256)"
_IS_EXEMPT: Final = "isTokenExemptFromYieldProtocolFee(address)"
_SWAP_FEE_TYPE: Final = 0
_YIELD_FEE_TYPE: Final = 2
"""The numbers in `ProtocolFeeType`."""
_RATE: Final = "getRate()"
_TIMESTAMP: Final = "getCurrentBlockTimestamp()"
_CACHE: Final = "getTokenRateCache(address)"
_META_CACHE: Final = "getPriceRateCache(address)"
_CACHE_WORDS: Final = {_CACHE: 4, _META_CACHE: 3}
"""The numbers of words: the rate is the first word, its expiry the last; the second of four is the rate at the last
join."""
_USUAL_VAULT: Final = "0xba12222222228d8ba445958a75a0704d566bf2c8"
"""The vault's address on every network (npm @balancer-labs/v2-deployments, task 20210418-vault)."""
_ECLP_PROVIDERS: Final = ("rateProvider0()", "rateProvider1()")
_STABLE: Final = (_AMP, _FEE, _PAUSED, _SCALING)
_FUNCTIONS: Final = {
    "weighted": ((_WEIGHTS, _FEE, _PAUSED), (_SINCE_VERSION_2,)),
    "balancer_v2_stable": (_STABLE, (_RECOVERY, _PROVIDERS)),
    "balancer_v2_eclp": ((ECLP_PARAMETERS, _FEE, _PAUSED, *_ECLP_PROVIDERS), ()),
    "balancer_v2_composable": ((*_STABLE, _RECOVERY, _PROVIDERS, _OWN_TOKEN), ()),
}
"""For each family, the functions that every pool has, and those that only some pools have."""
_UNNAMED_VERSION: Final = 1
"""The only version of composable pools without that function."""
_NUMBERED: Final = re.compile(r'"version": ?([0-9]{1,9})\b')


class _Rate(NamedTuple):
    """The rate that a swap would use, and the rate at the last join or exit of a composable pool."""

    current: int
    old: int


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pool in one round of calls.

    One more round is needed if the ID is unknown or the vault is not the usual one, and one more if there are rate
    providers.
    """
    constants = ref.constants_as(BalancerV2Constants)
    if constants.vault and constants.pool_id:
        return (yield from _load_at_vault(ref))
    likely_calls = _first_calls(_with_vault(ref, _USUAL_VAULT, constants.pool_id)) if constants.pool_id else ()
    return (yield from with_prefetch(_find_vault(ref), likely_calls))


def _find_vault(ref: PoolRef) -> BatchRead[Pool]:
    first, second = yield [ContractCall(ref.address, encode_call(name)) for name in ("getPoolId()", "getVault()")]
    pool_id, vault = f"0x{read_word(first, 'getPoolId()'):064x}", read_address(second, "getVault()")
    return (yield from _load_at_vault(_with_vault(ref, vault, pool_id)))


def _load_at_vault(ref: PoolRef) -> BatchRead[Pool]:
    answers = yield _first_calls(ref)
    return (yield from _READERS[ref.family](ref, answers))


def _first_calls(ref: PoolRef) -> list[ContractCall]:
    """Return the calls that read a pool of the family, apart from its rates."""
    required, optional = _FUNCTIONS[ref.family]
    own_calls = _pool_token_calls(ref) if ref.address in ref.tokens else []
    return [
        ContractCall(ref.constants_as(BalancerV2Constants).vault, encode_call(_POOL_TOKENS, ref.pool_id)),
        *(ContractCall(ref.address, encode_call(name)) for name in required),
        *(ContractCall(ref.address, encode_call(name), may_revert=True) for name in optional),
        *own_calls,
    ]


def _pool_token_calls(ref: PoolRef) -> list[ContractCall]:
    """Return the calls for the state that matters only for swaps with the pool's own token."""
    others = [token for token in ref.tokens if token != ref.address]
    return [
        ContractCall(ref.address, encode_call(_VERSION), may_revert=True),
        ContractCall(ref.address, encode_call(_SUPPLY)),
        ContractCall(ref.address, encode_call(_JOIN_EXIT_DATA)),
        *(ContractCall(ref.address, encode_call(_PROTOCOL_FEE, each)) for each in (_SWAP_FEE_TYPE, _YIELD_FEE_TYPE)),
        *(ContractCall(ref.address, encode_call(_IS_EXEMPT, token)) for token in others),
    ]


def complete_ref(ref: PoolRef, pool: Pool) -> PoolRef:
    """Return `ref` with the pool's ID, if the pool's state has one."""
    return _with_vault(ref, "", getattr(pool, "pool_id", ""))


def _with_vault(ref: PoolRef, vault: str, pool_id: str) -> PoolRef:
    return ref._replace(constants=BalancerV2Constants(vault, pool_id))


def _read_weighted(ref: PoolRef, answers: Sequence[ReturnData]) -> BatchRead[Pool]:
    yield from ()
    pool_tokens, weights, fee, paused, later = answers
    _check_not_paused(paused)
    if _read_tokens(pool_tokens) != ref.tokens:
        raise invalid_response(_POOL_TOKENS, "the pool has different tokens")
    state: dict[str, object] = {
        "reserves": read_list(pool_tokens, _POOL_TOKENS, 1),
        "weights": read_list(weights, _WEIGHTS),
        "pool_id": ref.pool_id,
    }
    if later is None:
        # Contracts of the first version lack this function, and round some powers differently.
        state["version"] = 1
    return build_pool_with_fee(ref, read_word(fee, _FEE), state)


def _read_stable(ref: PoolRef, answers: Sequence[ReturnData]) -> BatchRead[Pool]:
    pool_tokens, amp, fee, paused, scaling, recovery, providers, *further = answers
    _check_not_paused(paused)
    if recovery is not None and read_word(recovery, _RECOVERY):
        raise invalid_response(_RECOVERY, "the pool is in recovery mode")
    if scaling is None:
        raise invalid_response(_SCALING, "stable pools of the first version are not supported")
    is_composable, is_own_traded = ref.family == "balancer_v2_composable", ref.address in ref.tokens
    left_out = read_word(further[0], _OWN_TOKEN) if is_composable and not is_own_traded else None
    if _without(_read_tokens(pool_tokens), left_out) != ref.tokens:
        raise invalid_response(_POOL_TOKENS, "the pool has different tokens")
    value, is_updating, precision = read_words(amp, 3, _AMP)
    if precision != AMP_PRECISION:
        raise invalid_response(_AMP, f"a precision of {precision} instead of {AMP_PRECISION}")
    listed = [] if providers is None else [to_address(each, _PROVIDERS) for each in read_list(providers, _PROVIDERS)]
    used = _without(tuple(listed), left_out) if listed else (ZERO_ADDRESS,) * len(ref.tokens)
    shown = _without(read_list(scaling, _SCALING), left_out)
    rates = yield from _read_rates(ref, used, [_rate_of(ref, k, factor) for k, factor in enumerate(shown)])
    swap_fee = read_word(fee, _FEE)
    state: dict[str, object] = {
        "reserves": _without(read_list(pool_tokens, _POOL_TOKENS, 1), left_out),
        "rates": [rate.current for rate in rates],
        "amp": value,
        "swap_fee": swap_fee,
        "is_metastable": bool(listed) and not is_composable,
        "pool_id": ref.pool_id,
        "changes_without_events": bool(is_updating) or any(each != ZERO_ADDRESS for each in used),
    }
    if is_own_traded:
        state |= _read_pool_token(further[1:])
        state["old_rates"] = [rate.old for token, rate in zip(ref.tokens, rates, strict=True) if token != ref.address]
    return build_pool(ref, swap_fee // FEE_PER_PPM, state)


def _read_pool_token(answers: Sequence[ReturnData]) -> dict[str, object]:
    """Return the fields of the state that come from the calls of `_pool_token_calls`."""
    version, supply, last, swap_fee, yield_fee, *exempt = answers
    last_amp, last_invariant = read_words(last, 2, _JOIN_EXIT_DATA)
    return {
        "version": _read_version(version),
        "total_supply": read_word(supply, _SUPPLY),
        "last_amp": last_amp,
        "last_invariant": last_invariant,
        "protocol_swap_fee": read_word(swap_fee, _PROTOCOL_FEE),
        "protocol_yield_fee": read_word(yield_fee, _PROTOCOL_FEE),
        "yield_fee_exempt": [read_word(each, _IS_EXEMPT) for each in exempt],
    }


def _read_version(answer: ReturnData) -> int | None:
    """Return the version of a composable pool, or None if it is unknown.

    The contract returns it in a JSON object, such as
    {"name":"ComposableStablePool","version":5,"deployment":"20230711-..."}.
    """
    if answer is None:
        return _UNNAMED_VERSION
    found = _NUMBERED.search(read_text(answer, _VERSION))
    return int(found[1]) if found and int(found[1]) in VERSIONS else None


def _read_eclp(ref: PoolRef, answers: Sequence[ReturnData]) -> BatchRead[Pool]:
    pool_tokens, parameters, fee, paused, *listed = answers
    _check_not_paused(paused)
    if _read_tokens(pool_tokens) != ref.tokens:
        raise invalid_response(_POOL_TOKENS, "the pool has different tokens")
    providers = [read_address(answer, name) for answer, name in zip(listed, _ECLP_PROVIDERS, strict=True)]
    used = [k for k, provider in enumerate(providers) if provider != ZERO_ADDRESS]
    rates = [WAD] * len(ref.tokens)
    if used:
        provided = yield [ContractCall(providers[k], encode_call(_RATE)) for k in used]
        for k, answer in zip(used, provided, strict=True):
            rates[k] = read_word(answer, _RATE)
    swap_fee = read_word(fee, _FEE)
    state: dict[str, object] = {
        "reserves": read_list(pool_tokens, _POOL_TOKENS, 1),
        "rates": rates,
        "swap_fee": swap_fee,
        "pool_id": ref.pool_id,
        "changes_without_events": bool(used),
    }
    return build_pool(ref, swap_fee // FEE_PER_PPM, state | read_eclp_parameters(parameters))


def _read_rates(ref: PoolRef, providers: Sequence[str], shown: Sequence[int]) -> BatchRead[list[_Rate]]:
    """Return the rates that a swap would use; `shown` are the rates that the pool currently returns."""
    rates = [_Rate(each, each) for each in shown]
    cached = [k for k, provider in enumerate(providers) if provider != ZERO_ADDRESS]
    if not cached:
        return rates
    function = _CACHE if ref.family == "balancer_v2_composable" else _META_CACHE
    timestamp, *answers = yield [
        BLOCK_TIME._replace(may_revert=False),
        *(ContractCall(ref.address, encode_call(function, ref.tokens[k])) for k in cached),
        *(ContractCall(providers[k], encode_call(_RATE)) for k in cached),
    ]
    now = read_word(timestamp, _TIMESTAMP)
    for k, cache, provided in zip(cached, answers, answers[len(cached) :], strict=False):
        rate, old, *_, expires = read_words(cache, _CACHE_WORDS[function], function)
        rates[k] = _Rate(read_word(provided, _RATE) if now > expires else rate, old)
    return rates


def _rate_of(ref: PoolRef, k: int, scaling_factor: int) -> int:
    """Return the rate contained in a scaling factor."""
    rate, rest = divmod(scaling_factor, to_18_decimals(ref.decimals[k]))
    if rest:
        raise invalid_response(_SCALING, f"{scaling_factor} does not fit a token of {ref.decimals[k]} decimals")
    return rate


def _without(values: tuple[T, ...], position: int | None) -> tuple[T, ...]:
    """Return the values without the one at a position."""
    return values if position is None else (*values[:position], *values[position + 1 :])


def _check_not_paused(paused: ReturnData) -> None:
    if read_word(paused, _PAUSED):
        raise invalid_response(_PAUSED, "the pool is paused")


def _read_tokens(pool_tokens: ReturnData) -> tuple[str, ...]:
    return tuple(to_address(each, _POOL_TOKENS) for each in read_list(pool_tokens, _POOL_TOKENS))


def read_created(factory: Factory, log: Log, wrapped_native: str | None) -> BatchRead[PoolRef]:
    """Read the kind and the tokens of a pool that was registered with the vault, in one round of calls, or in two if
    the pool is stable.

    Weighted pools are supported only if their weights are constant.
    """
    del wrapped_native
    if len(log.topics) < 3:
        raise invalid_response(factory.address, "an event of a different kind")
    pool_id, address = log.topics[1], to_address(int(log.topics[2], 16), "PoolRegistered")
    pool_tokens, weights, weight_update, amp, eclp = yield [
        ContractCall(factory.address, encode_call(_POOL_TOKENS, pool_id)),
        *(ContractCall(address, encode_call(name)) for name in (_WEIGHTS, _WEIGHT_UPDATE, _AMP, ECLP_PARAMETERS)),
    ]
    if not (weights or amp or eclp):
        raise invalid_response(address, "neither a weighted nor a stable pool, nor an E-CLP")
    tokens, family = _read_tokens(pool_tokens), "weighted"
    if eclp:
        family = "balancer_v2_eclp"
    elif weights:
        if weight_update:
            raise invalid_response(address, "its weights change")
        if len(read_list(weights, _WEIGHTS)) != len(tokens):
            raise invalid_response(address, "not a weighted pool")
    else:
        names = _OWN_TOKEN, _JOIN_EXIT_DATA, _VERSION
        own, data, version = yield [ContractCall(address, encode_call(name)) for name in names]
        if own and not data:
            raise invalid_response(address, "pools with their own token from before 2022-08 are not supported")
        family = "balancer_v2_composable" if own else "balancer_v2_stable"
        if own and _read_version(version) is None:
            tokens = _without(tokens, read_word(own, _OWN_TOKEN))
    return _with_vault(factory.new_ref(address, tokens, family), factory.address, pool_id)


_READERS: Final = {
    "weighted": _read_weighted,
    "balancer_v2_stable": _read_stable,
    "balancer_v2_composable": _read_stable,
    "balancer_v2_eclp": _read_eclp,
}
