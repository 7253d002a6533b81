"""Read pools of Balancer V3: balances, rates, fees and hooks from the vault, everything else from the pool.

A pool's `version()` names its kind. The vault returns the balances from which a swap would start, with due yield fees
already deducted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from swapcli.core.encoding.abi import WORD, to_signed
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool
from swapcli.core.records import NamedTuple
from swapcli.families.balancer.balancer_stable_math import AMP_PRECISION
from swapcli.families.balancer.boosted_shares import (
    buffer_calls,
    complete_ref,
    pool_tokens,
    read_shares,
    share_calls,
    traded_tokens,
    vault_of,
    with_vault,
)
from swapcli.families.balancer.rows import BalancerV3Constants
from swapcli.families.reading.build_pool import build_pool
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
from swapcli.families.swap_fees import FEE_PER_PPM

__all__ = ["complete_ref", "load", "read_created"]

_VAULT: Final = "getVault()"
_POOL_DATA: Final = "getPoolData(address)"
_POOL_CONFIG: Final = "getPoolConfig(address)"
_HOOKS_CONFIG: Final = "getHooksConfig(address)"
_POOL_TOKENS: Final = "getPoolTokens(address)"
_MIN_TRADE: Final = "getMinimumTradeAmount()"
_VAULT_PAUSED: Final = "isVaultPaused()"
_VERSION: Final = "version()"
_AMP: Final = "getAmplificationParameter()"
_WEIGHTS: Final = "getNormalizedWeights()"
_FLOORS: Final = "getMinTokenBalances()"
ECLP_PARAMETERS: Final = "getECLPParams()"
_2CLP_PARAMETERS: Final = "getGyro2CLPPoolImmutableData()"
_VIRTUAL_BALANCES: Final = "computeCurrentVirtualBalances()"
_SWAPS_OPEN: Final = "isSwapEnabled()"
_PROJECT: Final = "getProjectToken()"
_BOUGHT_ONLY: Final = "isProjectTokenSwapInBlocked()"
_VIRTUAL_RESERVE: Final = "getReserveTokenVirtualBalance()"
_PROJECT_PRICE: Final = "getProjectTokenRate()"
_QUANTAMM_DATA: Final = "getQuantAMMWeightedPoolImmutableData()"
_SURGE_FEE: Final = "getMaxSurgeFeePercentage(address)"
_SURGE_THRESHOLD: Final = "getSurgeThresholdPercentage(address)"
_OF_SOME_VERSIONS: Final = (_FLOORS, _VIRTUAL_RESERVE)
_USUAL_VAULT: Final = "0xba1333333333a1ba1108e8412f11850a5c319ba9"
"""The vault's address on every network (github balancer/balancer-deployments, task 20241204-v3-vault)."""
_SURGE_HOOK: Final = ("StableSurgeHook", 2)
"""The name and first version of the hook whose fee `balancer_v3_stable_surge` computes."""


class HooksConfig(NamedTuple):
    """The hooks that a swap in a pool calls, in the order of the vault's `HooksConfig`."""

    adjusts_amounts: bool
    sets_fee: bool
    runs_before_swap: bool
    runs_after_swap: bool
    contract: str


class VaultPool(NamedTuple):
    """The vault's data about a pool: its fee, the state fields that all of the vault's pools have, and the pool's
    hooks."""

    fee_ppm: int
    state: dict[str, object]
    hooks: HooksConfig


FieldDecoder = Callable[[PoolRef, VaultPool, Sequence[ReturnData]], dict[str, object]]
"""Returns the fields of a family from the results of its functions."""


def _no_calls(ref: PoolRef) -> list[ContractCall]:
    del ref
    return []


class FamilyTraits(NamedTuple):
    """How the pools of a family are read: the pool's functions, other calls, and how to decode their results."""

    functions: tuple[str, ...]
    decode: FieldDecoder
    has_surge_hook: bool = False
    is_own_hook: bool = False
    """Whether pools may be called as their own hooks, which check the same things as `decode`."""
    further_calls: Callable[[PoolRef], list[ContractCall]] = _no_calls


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pool in one round of calls. It takes one more if its vault is not the usual one, and one more with a surge
    hook."""
    if vault_of(ref):
        return (yield from _load_at_vault(ref))
    return (yield from with_prefetch(_find_vault(ref), _first_calls(with_vault(ref, _USUAL_VAULT))))


def _find_vault(ref: PoolRef) -> BatchRead[Pool]:
    (found,) = yield [ContractCall(ref.address, encode_call(_VAULT))]
    return (yield from _load_at_vault(with_vault(ref, read_address(found, _VAULT))))


def _first_calls(ref: PoolRef) -> list[ContractCall]:
    """Return the calls that read a pool, apart from its hook's data."""
    by_pool = (_POOL_DATA, _POOL_CONFIG, _HOOKS_CONFIG)
    return [
        *(ContractCall(vault_of(ref), encode_call(name, ref.address)) for name in by_pool),
        *(ContractCall(vault_of(ref), encode_call(name)) for name in (_MIN_TRADE, _VAULT_PAUSED)),
        *(
            ContractCall(ref.address, encode_call(name), may_revert=name in _OF_SOME_VERSIONS)
            for name in FAMILIES[ref.family].functions
        ),
        *FAMILIES[ref.family].further_calls(ref),
    ]


def _load_at_vault(ref: PoolRef) -> BatchRead[Pool]:
    traits = FAMILIES[ref.family]
    data, config, hooks, minimum, paused, *answers = yield _first_calls(ref)
    if read_word(paused, _VAULT_PAUSED):
        raise invalid_response(_VAULT_PAUSED, "the vault is paused")
    pool = _read_vault_pool(ref, data, config, hooks)
    if not traits.has_surge_hook and not (traits.is_own_hook and _is_own_hook(ref.address, pool.hooks)):
        _check_no_hooks(pool.hooks)
    pool.state["min_trade_amount"] = read_word(minimum, _MIN_TRADE)
    surge = (yield from _read_surge(ref, pool.hooks)) if traits.has_surge_hook else {}
    return build_pool(ref, pool.fee_ppm, pool.state | traits.decode(ref, pool, answers) | surge)


def read_created(factory: Factory, log: Log, wrapped_native: str | None) -> BatchRead[PoolRef]:
    """Read the kind and tokens of a pool that was registered with the vault, in one round of calls. A stable pool takes
    two."""
    del wrapped_native
    if len(log.topics) < 3:
        raise invalid_response(factory.address, "an event of a different kind")
    address = to_address(int(log.topics[1], 16), "PoolRegistered")
    tokens, version, hooks = yield [
        ContractCall(factory.address, encode_call(_POOL_TOKENS, address)),
        ContractCall(address, encode_call(_VERSION)),
        ContractCall(factory.address, encode_call(_HOOKS_CONFIG, address)),
    ]
    name, _ = read_version(version)
    family = _FAMILY_BY_NAME.get(name)
    if family is None:
        raise invalid_response(address, f'pools of the kind "{name}" are not supported')
    config = _read_hooks(hooks)
    if family == "balancer_v3_stable" and config.sets_fee:
        family = "balancer_v3_stable_surge"
    traits = FAMILIES[family]
    if not traits.has_surge_hook and not (traits.is_own_hook and _is_own_hook(address, config)):
        _check_no_hooks(config)
    addresses = tuple(to_address(each, _POOL_TOKENS) for each in read_list(tokens, _POOL_TOKENS))
    if family == "balancer_v3_stable" and factory.protocol_of("balancer_v3_boosted"):
        traded = traded_tokens(addresses, (yield buffer_calls(factory.address, addresses)))
        if traded != addresses:
            ref = factory.new_ref(address, traded, "balancer_v3_boosted")
            return ref._replace(constants=BalancerV3Constants(factory.address, addresses))
    return with_vault(factory.new_ref(address, addresses, family), factory.address)


def read_version(answer: ReturnData) -> tuple[str, int]:
    """Return the name and version from the JSON text that Balancer's contracts return from `version()`."""
    try:
        document = json.loads(read_text(answer, _VERSION))
        return str(document["name"]), int(document["version"])
    except (ValueError, KeyError, TypeError):
        raise invalid_response(_VERSION, "the contract reports no Balancer version") from None


def _read_vault_pool(ref: PoolRef, data: ReturnData, config: ReturnData, hooks: ReturnData) -> VaultPool:
    *_, static_fee, aggregate_fee, _, _, _, is_registered, is_initialized, is_paused, in_recovery = read_words(
        config, 13, _POOL_CONFIG
    )
    if not (is_registered and is_initialized):
        raise invalid_response(_POOL_CONFIG, "the pool is not initialized")
    if is_paused or in_recovery:
        raise invalid_response(_POOL_CONFIG, "the pool is paused" if is_paused else "the pool is in recovery mode")
    struct = data[WORD:] if data else data
    tokens = tuple(to_address(each, _POOL_DATA) for each in read_list(struct, _POOL_DATA, 1))
    if tokens != pool_tokens(ref):
        raise invalid_response(_POOL_DATA, "the pool has different tokens")
    state: dict[str, object] = {
        "reserves": read_list(struct, _POOL_DATA, 3),
        "rates": read_list(struct, _POOL_DATA, 5),
        "swap_fee": static_fee,
        "aggregate_swap_fee": aggregate_fee,
        "changes_without_events": any(_rate_providers(struct, len(tokens))),
    }
    return VaultPool(static_fee // FEE_PER_PPM, state, _read_hooks(hooks))


def _rate_providers(struct: ReturnData, count: int) -> list[bool]:
    """Return, for each token, whether it has a rate provider. `tokenInfo` is a list of (type, provider, pays fees)."""
    words = read_words(struct, 3, _POOL_DATA)
    position = words[2] + WORD
    listed = struct[position:] if struct else struct
    infos = read_words(listed, 3 * count, _POOL_DATA)
    return [provider != 0 for provider in infos[1::3]]


def _read_hooks(answer: ReturnData) -> HooksConfig:
    words = read_words(answer, 11, _HOOKS_CONFIG)
    adjusts, sets_fee, before, after = (bool(words[k]) for k in (0, 3, 4, 5))
    return HooksConfig(adjusts, sets_fee, before, after, to_address(words[10], _HOOKS_CONFIG))


def _is_own_hook(address: str, hooks: HooksConfig) -> bool:
    """Return whether the pool itself is the hook and is called at most before a swap, to check that swaps are open."""
    return hooks.contract == address and not (hooks.adjusts_amounts or hooks.sets_fee or hooks.runs_after_swap)


def _check_no_hooks(hooks: HooksConfig) -> None:
    """Raise `InvalidUpstreamResponse` if the pool has a hook that affects its swaps."""
    if hooks.contract != ZERO_ADDRESS and any(hooks[:4]):
        raise invalid_response("hooks", f"swaps call the hook {hooks.contract}, which is not supported")


def _weighted_fields(ref: PoolRef, pool: VaultPool, results: Sequence[ReturnData]) -> dict[str, object]:
    del ref, pool
    weights, floors = results
    fields: dict[str, object] = {"weights": read_list(weights, _WEIGHTS)}
    if floors is not None:  # the first version does not have it
        fields["floors"] = read_list(floors, _FLOORS)
    return fields


def _stable_fields(ref: PoolRef, pool: VaultPool, results: Sequence[ReturnData]) -> dict[str, object]:
    """Return the amplification at the block, and whether the pool's version limits its imbalance."""
    del ref
    amp, version = results
    value, is_updating, precision = read_words(amp, 3, _AMP)
    if precision != AMP_PRECISION:
        raise invalid_response(_AMP, f"a precision of {precision} instead of {AMP_PRECISION}")
    return {
        "amp": value,
        "limits_imbalance": read_version(version)[1] >= 3,
        "changes_without_events": bool(pool.state["changes_without_events"] or is_updating),
    }


def _read_surge(ref: PoolRef, hook: HooksConfig) -> BatchRead[dict[str, object]]:
    """Read the fields of a surge hook."""
    if hook.adjusts_amounts or hook.runs_before_swap or hook.runs_after_swap or not hook.sets_fee:
        raise invalid_response("hooks", f"the hook {hook.contract} is not the surge hook")
    max_fee, threshold, version = yield [
        ContractCall(hook.contract, encode_call(_SURGE_FEE, ref.address)),
        ContractCall(hook.contract, encode_call(_SURGE_THRESHOLD, ref.address)),
        ContractCall(hook.contract, encode_call(_VERSION)),
    ]
    name, number = read_version(version)
    if (name, number) < _SURGE_HOOK or name != _SURGE_HOOK[0]:
        raise invalid_response("hooks", f"version {number} of the hook {name} is not supported")
    return {
        "max_surge_fee": read_word(max_fee, _SURGE_FEE),
        "surge_threshold": read_word(threshold, _SURGE_THRESHOLD),
        "changes_without_events": True,  # the hook emits changes of its fee from its own address
    }


def read_eclp_parameters(answer: ReturnData) -> dict[str, object]:
    """Decode the fields of `EclpParameters`."""
    words = [to_signed(word) for word in read_words(answer, 14, ECLP_PARAMETERS)]
    numbers, points, derived = words[:5], words[5:9], words[9:]
    return {
        **dict(zip(("alpha", "beta", "c", "s", "lambda"), numbers, strict=True)),
        "tau_alpha": points[:2],
        "tau_beta": points[2:],
        **dict(zip(("u", "v", "w", "z", "d_sq"), derived, strict=True)),
    }


def _two_clp_fields(ref: PoolRef, pool: VaultPool, results: Sequence[ReturnData]) -> dict[str, object]:
    del ref, pool
    struct = results[0] and results[0][WORD:]
    _, _, sqrt_alpha, sqrt_beta = read_words(struct, 4, _2CLP_PARAMETERS)
    return {"sqrt_alpha": sqrt_alpha, "sqrt_beta": sqrt_beta}


def _lbp_fields(ref: PoolRef, pool: VaultPool, results: Sequence[ReturnData]) -> dict[str, object]:
    """Return the weights at the block, and the sale's rules."""
    weights, floors, is_open, project, bought_only, virtual = results
    return _weighted_fields(ref, pool, (weights, floors)) | {
        "project": _sold_token(ref, is_open, project),
        "virtual_reserve": read_words(virtual, 2, _VIRTUAL_RESERVE)[1] if virtual else 0,
        "is_project_bought_only": bool(read_word(bought_only, _BOUGHT_ONLY)),
        "changes_without_events": True,  # weights move with time
    }


def _fixed_lbp_fields(ref: PoolRef, pool: VaultPool, results: Sequence[ReturnData]) -> dict[str, object]:
    del pool
    is_open, project, price = results
    return {"project": _sold_token(ref, is_open, project), "project_price": read_word(price, _PROJECT_PRICE)}


def _sold_token(ref: PoolRef, is_open: ReturnData, project: ReturnData) -> int:
    """Return the position of the token that a sale sells.

    Raises `InvalidUpstreamResponse` outside the time of the sale.
    """
    if not read_word(is_open, _SWAPS_OPEN):
        raise invalid_response(_SWAPS_OPEN, "the sale has not started or is over")
    token = read_address(project, _PROJECT)
    if token not in ref.tokens:
        raise invalid_response(_PROJECT, "the sold token is not in the pool")
    return ref.tokens.index(token)


def _quantamm_fields(ref: PoolRef, pool: VaultPool, results: Sequence[ReturnData]) -> dict[str, object]:
    """Return the weights at the block, and the largest trade, which is the last word of the pool's constants."""
    del ref, pool
    weights, data = results
    *_, ratio = read_words(data and data[WORD:], 9, _QUANTAMM_DATA)
    return {"weights": read_list(weights, _WEIGHTS), "max_trade_ratio": ratio}


FAMILIES: Final[Mapping[str, FamilyTraits]] = {
    "balancer_v3_weighted": FamilyTraits((_WEIGHTS, _FLOORS), _weighted_fields),
    "balancer_v3_stable": FamilyTraits((_AMP, _VERSION), _stable_fields),
    "balancer_v3_stable_surge": FamilyTraits((_AMP, _VERSION), _stable_fields, has_surge_hook=True),
    "balancer_v3_boosted": FamilyTraits(
        (_AMP, _VERSION),
        lambda ref, pool, results: _stable_fields(ref, pool, results[:2]) | read_shares(ref, results[2:]),
        further_calls=share_calls,
    ),
    "balancer_v3_eclp": FamilyTraits((ECLP_PARAMETERS,), lambda _, __, results: read_eclp_parameters(results[0])),
    "balancer_v3_2clp": FamilyTraits((_2CLP_PARAMETERS,), _two_clp_fields),
    "balancer_v3_reclamm": FamilyTraits(
        (_VIRTUAL_BALANCES,),
        lambda _, __, results: {"virtual_balances": read_words(results[0], 2, _VIRTUAL_BALANCES)},
    ),
    "balancer_v3_lbp": FamilyTraits(
        (_WEIGHTS, _FLOORS, _SWAPS_OPEN, _PROJECT, _BOUGHT_ONLY, _VIRTUAL_RESERVE), _lbp_fields, is_own_hook=True
    ),
    "balancer_v3_fixed_lbp": FamilyTraits((_SWAPS_OPEN, _PROJECT, _PROJECT_PRICE), _fixed_lbp_fields, is_own_hook=True),
    "balancer_v3_quantamm": FamilyTraits((_WEIGHTS, _QUANTAMM_DATA), _quantamm_fields),
}
"""The families of the vault's pools. To add one, add a row here and its name below."""

_FAMILY_BY_NAME: Final[Mapping[str, str]] = {
    "WeightedPool": "balancer_v3_weighted",
    "StablePool": "balancer_v3_stable",
    "StableSurgePool": "balancer_v3_stable_surge",
    "GyroECLPPool": "balancer_v3_eclp",
    "Gyro2CLPPool": "balancer_v3_2clp",
    "ReClammPool": "balancer_v3_reclamm",
    "LBPool": "balancer_v3_lbp",
    "FixedPriceLBPool": "balancer_v3_fixed_lbp",
    "QuantAMMWeightedPool": "balancer_v3_quantamm",
}
"""The families by the name in the pool's `version()`."""
