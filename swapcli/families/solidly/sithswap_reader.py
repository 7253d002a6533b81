"""Read SithSwap on Starknet: Solidly's pairs in Cairo, stable and volatile, each with its own fee."""

from __future__ import annotations

from typing import Final

from swapcli.core.errors import InvalidPoolState
from swapcli.core.model.pool import Pool
from swapcli.core.model.units import PPM
from swapcli.families.reading.build_pool import build_pool_with_fee, fee_in_wad
from swapcli.families.reading.call_encoding import invalid_response
from swapcli.families.reading.factory_contract import MAX_LISTED_POOLS, Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.starknet_calls import (
    read_felts,
    read_u256,
    starknet_call,
    to_starknet_address,
)
from swapcli.families.solidly.solidly_stable import SolidlyStable
from swapcli.families.uniswap.constant_product import SOLIDLY, ConstantProduct

_LENGTH: Final = "allPairsLength"
_ENTRY: Final = "allPairs"
_TOKENS: Final = "getTokens"
_STABLE: Final = "getStable"
_RESERVES: Final = ("getReserve0", "getReserve1")
_FEES: Final = ("getFee0", "getFee1")


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pool in one round of calls. A pair whose fee depends on the sold token is rejected."""
    answers = yield [starknet_call(ref.address, name) for name in (*_RESERVES, *_FEES)]
    reserves = [read_u256(answer, name) for answer, name in zip(answers, _RESERVES, strict=False)]
    fees = [read_felts(answer, 1, name)[0] for answer, name in zip(answers[2:], _FEES, strict=True)]
    if fees[0] != fees[1]:
        raise InvalidPoolState("fee_ppm", "a fee that depends on the sold token is not supported")
    state: dict[str, object] = {"reserves": reserves}
    if ref.family == ConstantProduct.family:
        state["variant"] = SOLIDLY
    return build_pool_with_fee(ref, fee_in_wad(fees[0], PPM, _FEES[0]), state)


def read_list(factory: Factory) -> BatchRead[tuple[str, ...]]:
    """Read the addresses of all pairs in two rounds of calls. The first entry of the list is empty and is dropped."""
    (answer,) = yield [starknet_call(factory.address, _LENGTH)]
    (count,) = read_felts(answer, 1, _LENGTH)
    if count > MAX_LISTED_POOLS:
        raise invalid_response(_LENGTH, f"an absurd number of pairs, {count}")
    answers = yield [starknet_call(factory.address, _ENTRY, number) for number in range(count)]
    pairs = (read_felts(answer, 1, _ENTRY)[0] for answer in answers)
    return tuple(to_starknet_address(pair, _ENTRY) for pair in pairs if pair)


def read_constants(factory: Factory, address: str) -> BatchRead[PoolRef]:
    """Read the constants of a pair in one round of calls."""
    tokens, stable = yield [starknet_call(address, name) for name in (_TOKENS, _STABLE)]
    first, second = (to_starknet_address(felt, _TOKENS) for felt in read_felts(tokens, 2, _TOKENS))
    family = SolidlyStable.family if read_felts(stable, 1, _STABLE)[0] else ConstantProduct.family
    return factory.new_ref(address, (first, second), family)
