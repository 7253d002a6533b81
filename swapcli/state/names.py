"""Resolve ENS names and Basenames to addresses.

web3 normalizes names (ENSIP-15), hashes them and encodes the calls, which go to one block of the node. Names with
off-chain records (CCIP-Read, ERC-3668) are rejected, because their gateway could return anything that the name's owner
signs, and would learn who pays whom. Importing this module takes about two seconds.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any, Final, cast

import ens
from ens.abis import PUBLIC_RESOLVER_2_EXTENDED
from ens.exceptions import ENSValidationError, InvalidName
from ens.utils import dns_encode_name
from eth_typing import ChecksumAddress
from eth_utils.address import to_checksum_address
from web3.exceptions import BadFunctionCallOutput, ContractLogicError, StaleBlockchain, Web3ValueError
from web3.providers.base import JSONBaseProvider
from web3.types import RPCEndpoint, RPCResponse

from swapcli.core.encoding.text import printable
from swapcli.core.errors import InvalidAddress, InvalidUpstreamResponse
from swapcli.core.model.network import Kind
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.networks.address import is_native, parse_address
from swapcli.core.networks.name_services import NameService
from swapcli.core.records import NamedTuple
from swapcli.families.reading.calls import ContractCall
from swapcli.state.rpc.node import ChainHead
from swapcli.state.rpc.rpc_node import RpcNode

_ETHEREUM: Final = 1  # chain id
_EVM_COIN_TYPES: Final = 0x8000_0000
"""ENSIP-11: the coin type of an EVM network is this number with the bits of its chain id."""
_OFFCHAIN_LOOKUP: Final = bytes.fromhex("556f1830")
"""The selector of the error `OffchainLookup` of ERC-3668."""
_ADDRESS: Final = re.compile(r"0x([0-9a-f]{40}|[0-9a-f]{64})")
_EMOJI_STYLE: Final = "\ufe0f"
_JOINER: Final = "\u200d"
_KEYCAP: Final = "\u20e3"
_INVISIBLE_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"})


class ResolvedName(NamedTuple):
    """A normalized name and its canonical address.

    `is_of_ethereum` means that the name has no address for the requested network, so `address` is its address on
    Ethereum.
    """

    name: str
    address: str
    service: NameService
    is_of_ethereum: bool = False


def normalize_name(name: str) -> str:
    """Return the name in the normalized form of ENSIP-15. Raises `InvalidAddress` for names that could deceive
    users."""
    for at, character in enumerate(name):
        if _is_invisible(name, at):
            raise _invalid_name(name, f"it has an invisible character, U+{ord(character):04X}")
    try:
        normalized = str(ens.ENS.nameprep(name))
        dns_encode_name(normalized)  # rejects parts that are too long
    except (InvalidName, ENSValidationError) as error:
        raise _invalid_name(name, _describe_rule(str(error))) from None
    if any(_ADDRESS.fullmatch(label) for label in normalized.split(".")):
        raise _invalid_name(name, "part of it looks like an address")
    return normalized


def resolve_name(node: RpcNode, service: NameService, name: str, chain_id: int) -> ResolvedName:
    """Resolve a name to its address on `chain_id`, at the latest block. `node` belongs to the naming service's chain.

    Raises `InvalidAddress` if the name is invalid or has no address, and `UpstreamError` if the node fails.
    """
    normalized = normalize_name(name)
    provider = _NodeProvider(node, node.read_head(), service.chain_id)
    try:
        resolver = _Resolver(provider, service)
        coin_types = [] if chain_id == _ETHEREUM else [_EVM_COIN_TYPES | chain_id]
        for coin_type in (*coin_types, None):
            found = resolver.read_address(normalized, coin_type)
            if provider.is_off_chain:
                raise _invalid_name(name, "its records are off the chain (CCIP-Read), and swapcli contacts no gateways")
            if found is not None:
                address = _parse_record(name, found)
                return ResolvedName(normalized, address, service, bool(coin_types) and coin_type is None)
    except StaleBlockchain:
        raise InvalidUpstreamResponse(
            f"{node.redacted_url} is days behind, so names may have changed since",
            hint="set a different node",
        ) from None
    except (BadFunctionCallOutput, Web3ValueError, OverflowError):
        raise InvalidUpstreamResponse(
            f"{node.redacted_url} returned something other than a name's record", hint="set a different node"
        ) from None
    raise _invalid_name(name, f"{service.title} has no address for it")


class _Resolver:
    """Reads records of names with web3, through ENS's own resolver or each name's resolver in the service's
    registry."""

    def __init__(self, provider: _NodeProvider, service: NameService) -> None:
        registry = to_checksum_address(service.registry) if service.registry else None
        self._client = ens.ENS(provider, addr=cast(ChecksumAddress, registry))
        self._has_registry = registry is not None

    def read_address(self, name: str, coin_type: int | None) -> str | bytes | None:
        """Return the record for a coin type, or for Ethereum; None if there is none."""
        if not self._has_registry:
            try:
                return cast("str | None", self._client.address(name, coin_type))
            except ValueError as error:
                raise _invalid_name(name, "its record is not an address") from error
        node = self._client.namehash(name)
        resolver = self._client.ens.functions.resolver(node).call()
        if int(resolver, 16) == 0:
            return None
        contract = self._client.w3.eth.contract(address=resolver, abi=PUBLIC_RESOLVER_2_EXTENDED)
        parameters: tuple[Any, ...] = (node,) if coin_type is None else (node, coin_type)
        signature = "addr(bytes32)" if coin_type is None else "addr(bytes32,uint256)"
        try:
            found = contract.get_function_by_signature(signature)(*parameters).call()
        except (ContractLogicError, BadFunctionCallOutput):
            return None
        return cast("str | bytes", found) or None


class _NodeProvider(JSONBaseProvider):
    """Sends web3's calls to a node, all at one block. `is_off_chain` is set once a contract has requested a gateway."""

    global_ccip_read_enabled = False

    def __init__(self, node: RpcNode, head: ChainHead, chain_id: int) -> None:
        super().__init__()
        self._node, self._block, self._chain_id = node, head.block, chain_id
        self.is_off_chain = False

    def make_request(self, method: RPCEndpoint, params: Any) -> RPCResponse:
        """Answer a web3 request, at the fixed block."""
        response: dict[str, Any] = {"jsonrpc": "2.0", "id": 1}
        if method == "eth_getBlockByNumber":
            block = self._block
            fields = {"number": hex(block.number), "hash": block.hash, "timestamp": hex(block.timestamp)}
            return cast(RPCResponse, response | {"result": fields})
        if method == "eth_chainId":
            return cast(RPCResponse, response | {"result": hex(self._chain_id)})
        if method != "eth_call":
            raise NotImplementedError(method)
        call = ContractCall(params[0]["to"].lower(), bytes.fromhex(params[0]["data"][2:]))
        result = self._node.try_call(call, self._block)
        if result.succeeded:
            return cast(RPCResponse, response | {"result": f"0x{result.data.hex()}"})
        self.is_off_chain |= result.data.startswith(_OFFCHAIN_LOOKUP)
        error = {"code": 3, "message": "execution reverted", "data": f"0x{result.data.hex()}"}
        return cast(RPCResponse, response | {"error": error})


def _parse_record(name: str, found: str | bytes) -> str:
    """Return the canonical address in a record. Raises `InvalidAddress` for anything else, and if it is not a
    wallet's."""
    text = found if isinstance(found, str) else f"0x{found.hex()}"
    try:
        address = parse_address(text, Kind.EVM)
    except InvalidAddress:
        raise _invalid_name(name, "its record is not an address") from None
    if address == ZERO_ADDRESS or is_native(address):
        raise _invalid_name(name, "its record is the zero address, where funds are lost")
    return address


def _is_invisible(name: str, at: int) -> bool:
    """Return whether a character is invisible and not part of an emoji. ENSIP-15 would ignore some of these."""
    character = name[at]
    if character == _EMOJI_STYLE:
        return not (at and (not name[at - 1].isascii() or name[at + 1 : at + 2] == _KEYCAP))
    return character != _JOINER and unicodedata.category(character) in _INVISIBLE_CATEGORIES


def _describe_rule(problem: str) -> str:
    """Describe in plain words which ENSIP-15 rule a name breaks."""
    if "multiple groups" in problem:
        return "it mixes characters of several scripts"
    if "confusable" in problem:
        return "its characters look like a different script"
    if "Invalid character" in problem:
        return "it has a character that is not allowed in names"
    return "it is not a valid name (ENSIP-15)"


def _invalid_name(name: str, problem: str) -> InvalidAddress:
    return InvalidAddress(
        f"{printable(name)} is rejected: {problem}", hint="check the name, or give the address", details={"name": name}
    )
