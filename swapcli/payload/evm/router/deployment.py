"""The transaction that deploys a router on a network.

The contract's constructor takes (address wrapped, address pool_manager, uint256 kinds, uint256 more_kinds): the
network's data that the router needs, which cannot be changed later. The last two are a table with four bits for each
protocol ID, the lowest ID in the lowest bits, which determine how the router calls the protocol's pools.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from swapcli.core.encoding.abi import encode_address, encode_uint
from swapcli.core.errors import ConfigError
from swapcli.core.model.network import WRAPPER_PROTOCOL, Network, ProtocolInfo
from swapcli.core.model.network import Kind as NetworkKind
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.records import NamedTuple
from swapcli.families import family_row, is_family
from swapcli.families.row import RouterPoolKind

PROTOCOL_IDS: Final = 128
"""The limit of protocol IDs: the contract's table has room for the IDs below it."""

_IDS_A_WORD: Final = 64  # 64 kinds of 4 bits
_BITS_AN_ID: Final = 4  # 16 kinds of protocols
_POOL_MANAGER: Final = "pool_manager"


class Artifact(NamedTuple):
    """The compiled contract.

    `compiler` is solc's version, `settings` are its input settings, `abi` is its ABI output, and `bytecode` is the
    creation code in hex with 0x, without the constructor's arguments.
    """

    compiler: str
    settings: Mapping[str, object]
    abi: tuple[Mapping[str, object], ...]
    bytecode: str


class RouterDeployment(NamedTuple):
    """A transaction without a receiver, ready to sign: `calldata` is hex with 0x, `value` in wei of the native
    token."""

    chain_id: int
    calldata: str
    value: int = 0


@lru_cache
def read_artifact() -> Artifact:
    """Read the compiled contract."""
    with open(os.path.join(os.path.dirname(__file__), "artifact.json"), encoding="utf-8") as file:
        document = json.load(file)
    return Artifact(document["compiler"], document["settings"], tuple(document["abi"]), document["bytecode"])


def build_deployment(network: Network) -> RouterDeployment:
    """Return the transaction that deploys a router for `network`, with its currently known protocols.

    Raises `ConfigError` if the contract does not support the network, if the network lacks its wrapped native token or
    the address of Uniswap V4's pool manager, or if it has protocol IDs beyond the contract's table.
    """
    if network.kind is not NetworkKind.EVM:
        raise ConfigError(f"{network.name} does not run EVM contracts")
    if network.wrapped_native is None:
        raise _unset(network, "wrapped_native", "its wrapped native token is unknown")
    kinds = pool_kinds_by_protocol(network)
    words = (_table(kinds, first) for first in range(0, PROTOCOL_IDS, _IDS_A_WORD))
    arguments = (
        encode_address(network.wrapped_native.address, "wrapped_native"),
        encode_address(_pool_manager(network), _POOL_MANAGER),
        *(encode_uint(word, 256, "kinds") for word in words),
    )
    return RouterDeployment(network.chain_id, read_artifact().bytecode + "".join(arguments))


def pool_kinds_by_protocol(network: Network) -> Mapping[int, RouterPoolKind]:
    """Return how the router calls the pools of each protocol, by protocol ID. Raises `ConfigError`."""
    kinds = {WRAPPER_PROTOCOL.id: RouterPoolKind.WRAPPER}
    for protocol in network.protocols:
        kind = pool_kind(protocol)
        if kind is None:
            continue
        if not 0 <= protocol.id < PROTOCOL_IDS:
            problem = f"{protocol.amm_name} has the id {protocol.id}, above {PROTOCOL_IDS - 1}"
            raise _unset(network, "protocols", problem)
        if kinds.setdefault(protocol.id, kind) is not kind:
            raise _unset(
                network, "protocols", f"{protocol.amm_name} has the id {protocol.id}, which is reserved for wrapping"
            )
    return kinds


def pool_kind(protocol: ProtocolInfo) -> RouterPoolKind | None:
    """Return how the router calls the pools of a protocol, or None if it cannot call them."""
    family = protocol.family
    return family_row(family).router.kind_of(protocol.contracts) if family and is_family(family) else None


def _table(kinds: Mapping[int, RouterPoolKind], first: int) -> int:
    ids = range(first, first + _IDS_A_WORD)
    return sum(kinds[each] << _BITS_AN_ID * (each - first) for each in ids if each in kinds)


def _pool_manager(network: Network) -> str:
    """Return Uniswap V4's pool manager; the zero address if the network has no such protocol."""
    protocols = {each.amm_name for each in network.protocols if pool_kind(each) is RouterPoolKind.SINGLETON}
    homes = [each for each in network.deployments if protocols.intersection(each.protocols)]
    known = {name for each in homes if _POOL_MANAGER in each.addresses for name in each.protocols}
    addresses = {each.addresses[_POOL_MANAGER] for each in homes if _POOL_MANAGER in each.addresses}
    if protocols - known:
        raise _unset(network, "deployments", f"the {_POOL_MANAGER} of {min(protocols - known)} is unknown")
    if len(addresses) > 1:
        raise _unset(
            network, "deployments", f"there are {len(addresses)} of {_POOL_MANAGER}, but the router supports one"
        )
    return addresses.pop() if addresses else ZERO_ADDRESS


def _unset(network: Network, key: str, problem: str) -> ConfigError:
    path = f"networks.{network.name}.{key}"
    return ConfigError(f"no router for {network.name}: {problem}", hint=f"see {path}", details={"key": path})
