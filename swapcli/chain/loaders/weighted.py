"""Balancer V2's weighted pools: balances from the vault, weights and fee from the pool."""

from __future__ import annotations

from swapcli.chain.call_encoding import (
    encode_call,
    invalid_response,
    read_address,
    read_list,
    read_word,
    to_address,
)
from swapcli.chain.factory import Factory
from swapcli.chain.loaders.build_pool import build_pool, fee_in_ppm
from swapcli.chain.lockstep_reads import BatchRead
from swapcli.chain.node import ContractCall, Log
from swapcli.chain.pool_ref import PoolRef
from swapcli.model.pool import Pool

_POOL_TOKENS = "getPoolTokens(bytes32)"
_WEIGHTS = "getNormalizedWeights()"
_WEIGHT_UPDATE = "getGradualWeightUpdateParams()"
_FEE = "getSwapFeePercentage()"
_PAUSED = "getPausedState()"
_SINCE_VERSION_2 = "getLastPostJoinExitInvariant()"
_ONE = 10**18


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pool in one round; two if vault and pool id are not known."""
    pool_id, vault = ref.pool_id, ref.factory
    if not (pool_id and vault):
        first, second = yield [ContractCall(ref.address, encode_call(name)) for name in ("getPoolId()", "getVault()")]
        pool_id, vault = f"0x{read_word(first, 'getPoolId()'):064x}", read_address(second, "getVault()")
    names = (_WEIGHTS, _FEE, _PAUSED, _SINCE_VERSION_2)
    pool_tokens, weights, fee, paused, later = yield [
        ContractCall(vault, encode_call(_POOL_TOKENS, pool_id)),
        *(ContractCall(ref.address, encode_call(name), may_revert=name == _SINCE_VERSION_2) for name in names),
    ]
    if read_word(paused, _PAUSED):
        raise invalid_response(_PAUSED, "the pool is paused")
    if [to_address(each, _POOL_TOKENS) for each in read_list(pool_tokens, _POOL_TOKENS)] != list(ref.tokens):
        raise invalid_response(_POOL_TOKENS, "the pool holds other tokens")
    state: dict[str, object] = {
        "reserves": read_list(pool_tokens, _POOL_TOKENS, 1),
        "weights": read_list(weights, _WEIGHTS),
        "pool_id": pool_id,
    }
    if later is None:
        # Contracts of the first version lack this function, and round some powers differently.
        state["version"] = 1
    return build_pool(ref, fee_in_ppm(read_word(fee, _FEE), _ONE, _FEE), state)


def read_created(factory: Factory, log: Log, wrapped_native: str | None) -> BatchRead[PoolRef]:
    """Read a weighted pool in one round. The vault registers all kinds; only pools with constant weights answer so."""
    del wrapped_native
    if len(log.topics) < 3:
        raise invalid_response(factory.address, "an event of another kind")
    pool_id, address = log.topics[1], to_address(int(log.topics[2], 16), "PoolRegistered")
    pool_tokens, weights, weight_update = yield [
        ContractCall(factory.address, encode_call(_POOL_TOKENS, pool_id)),
        ContractCall(address, encode_call(_WEIGHTS)),
        ContractCall(address, encode_call(_WEIGHT_UPDATE)),
    ]
    if not weights or weight_update:
        raise invalid_response(address, "its weights change" if weights else "no weighted pool")
    tokens = tuple(to_address(each, _POOL_TOKENS) for each in read_list(pool_tokens, _POOL_TOKENS))
    if len(read_list(weights, _WEIGHTS)) != len(tokens):
        raise invalid_response(address, "no weighted pool")
    return factory.new_ref(address, tokens)._replace(pool_id=pool_id, factory=factory.address)
