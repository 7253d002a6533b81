"""The `FAMILIES` and `KINDS` rows for Ekubo's pools, on Starknet and on EVM networks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from swapcli.core.encoding.abi import WORD
from swapcli.core.model.network import Kind
from swapcli.core.records import NamedTuple
from swapcli.families.row import Event, FamilyRow, KeyOfEvent, KindRow


class EkuboConstants(NamedTuple):
    """The ID of a pool, and its key without the tokens. `extension` is empty if the pool has none."""

    pool_id: str = ""
    tick_spacing: int = 0
    fee_x128: int = 0
    extension: str = ""


class EkuboEvmConstants(NamedTuple):
    """The ID of an EVM pool, its key without the tokens, and the contract that reads its ticks.

    `config` is the PoolConfig, 32 bytes in hex. `is_native` means that token0 is the native token.
    """

    lens: str = ""
    pool_id: str = ""
    config: str = ""
    is_native: bool = False


def _hash_of_key(log: Event) -> str:
    from swapcli.core.networks.pool_addresses import hash_ekubo_key

    return hash_ekubo_key(log.data[WORD : 6 * WORD])


ekubo_key_in_data: Final = KeyOfEvent(_hash_of_key, is_in_topic=False)
"""The ID of a pool: the hash of the PoolKey, which follows the locker in the data of its events."""

_STARKNET_FIELDS: Final = (
    *("pool_id", "fee_x128", "tick_spacing", "extension", "sqrt_ratio", "tick", "liquidity", "ticks"),
)

FAMILIES: Final[Mapping[str, FamilyRow]] = {
    "ekubo": FamilyRow(_STARKNET_FIELDS),
    "ekubo_evm": FamilyRow(
        ("pool_id", "fee_x64", "tick_spacing", "extension", "sqrt_ratio", "tick", "liquidity", "ticks")
    ),
    "ekubo_twamm": FamilyRow((*_STARKNET_FIELDS, "sale_rates", "executed_at", "timestamp", "rate_changes")),
}

KINDS: Final[Mapping[str, KindRow]] = {
    "ekubo": KindRow(
        ("ekubo", "ekubo_twamm"),
        dict.fromkeys(("Swapped", "PositionUpdated"), ekubo_key_in_data),
        roles=("core",),
        created=("PoolInitialized",),
        is_in_vault=True,
        is_keyed_by_id=True,
        network_kind=Kind.STARKNET,
        constants=EkuboConstants,
    ),
    "ekubo_evm": KindRow(
        ("ekubo_evm",),
        roles=("core",),
        created=("PoolInitialized(bytes32,(address,address,bytes32),int32,uint96)",),
        is_keyed_by_id=True,
        constants=EkuboEvmConstants,
        needs_lens=True,
        unannounced="swaps, whose logs have no topic to ask for",
    ),
}
