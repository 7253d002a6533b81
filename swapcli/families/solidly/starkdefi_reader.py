"""Read StarkDefi on Starknet: Solidly's pairs in Cairo, stable and volatile, with a fee set by the factory."""

from __future__ import annotations

from functools import partial
from typing import Final

from swapcli.core.errors import InvalidPoolState
from swapcli.core.model.pool import Pool
from swapcli.core.model.units import BPS
from swapcli.families.reading.build_pool import build_pool_with_fee, fee_in_wad
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.starknet_calls import (
    join_u256,
    read_felt_address,
    read_felt_list,
    read_felts,
    starknet_call,
    to_starknet_address,
)
from swapcli.families.row import FactoryConstants
from swapcli.families.solidly.factory_fee_pairs import read_with_factory
from swapcli.families.solidly.solidly_stable import SolidlyStable
from swapcli.families.uniswap.constant_product import SOLIDLY, ConstantProduct

_LIST: Final = "all_pairs"
_SNAPSHOT: Final = "snapshot"
_SNAPSHOT_FELTS: Final = 11
"""Two tokens, then their units and the reserves as pairs of felts, then whether the pair is stable."""
_RESERVES_AT: Final = 6  # position of the first reserve
_MAX_STABLE_TOKENS: Final = 8_000_000
"""The maximum in whole tokens: the contract cubes reserves with 18 decimals in 256 bits, which overflows at 33 to 48
million; a quarter leaves room for the sold amount. Otherwise its amounts were equal to Solidly's in 10,000 random
swaps."""
_FACTORY: Final = "factory"
_FEE: Final = "get_fee"


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pool in one round of calls, or in two if its factory is not the one that the network names."""
    factory_call = starknet_call(ref.address, _FACTORY)
    return (
        yield from read_with_factory(
            ref, factory_call, partial(read_felt_address, function=_FACTORY), partial(_read, ref)
        )
    )


def _read(ref: PoolRef, factory: str) -> BatchRead[Pool]:
    snapshot, fee = yield [starknet_call(ref.address, _SNAPSHOT), starknet_call(factory, _FEE, int(ref.address, 16))]
    felts = read_felts(snapshot, _SNAPSHOT_FELTS, _SNAPSHOT)
    reserves = [join_u256(felts[at : at + 2], _SNAPSHOT) for at in (_RESERVES_AT, _RESERVES_AT + 2)]
    state: dict[str, object] = {"reserves": reserves}
    if ref.family == ConstantProduct.family:
        state["variant"] = SOLIDLY
    elif any(reserve > _MAX_STABLE_TOKENS * 10**places for reserve, places in zip(reserves, ref.decimals, strict=True)):
        raise InvalidPoolState("reserves", "so large that the contract's arithmetic may overflow")
    return build_pool_with_fee(ref, fee_in_wad(read_felts(fee, 1, _FEE)[0], BPS, _FEE), state)


def read_list(factory: Factory) -> BatchRead[tuple[str, ...]]:
    """Read the addresses of all pairs in one round; their number comes first."""
    (answer,) = yield [starknet_call(factory.address, _LIST)]
    return tuple(to_starknet_address(felt, _LIST) for felt in read_felt_list(answer, _LIST, 1))


def read_constants(factory: Factory, address: str) -> BatchRead[PoolRef]:
    """Read the constants of a pair in one round of calls."""
    (answer,) = yield [starknet_call(address, _SNAPSHOT)]
    felts = read_felts(answer, _SNAPSHOT_FELTS, _SNAPSHOT)
    first, second = (to_starknet_address(felt, _SNAPSHOT) for felt in felts[:2])
    family = SolidlyStable.family if felts[_SNAPSHOT_FELTS - 1] else ConstantProduct.family
    return factory.new_ref(address, (first, second), family)._replace(constants=FactoryConstants(factory.address))
