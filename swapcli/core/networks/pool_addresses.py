"""Compute a protocol's pool addresses and IDs from the tokens, the tier and a deployment."""

from __future__ import annotations

from swapcli.core.encoding.keccak import keccak256
from swapcli.core.model.contract_kind import ContractKind
from swapcli.core.model.network import Deployment, Network, ProtocolInfo
from swapcli.core.model.order import ZERO_ADDRESS

_CONCENTRATED = "concentrated"
_SOLIDLY_STABLE = "solidly_stable"


def pool_address(network: Network, amm_name: str, token_a: str, token_b: str, tier: int = 0) -> str | None:
    """Return the CREATE2 address of a protocol's pool for two tokens; None if the catalogue lacks a fact that the
    address needs.

    `tier` is the fee in ppm, or the tick spacing if that distinguishes pools (Slipstream); other protocols ignore it.
    Uniswap V4 keeps all pools in one contract: its pool manager.
    """
    protocol = network.protocol(amm_name)
    deployment = deployment_of(network, amm_name)
    if protocol is None or deployment is None:
        return None
    if ContractKind.UNISWAP_V4 in protocol.contracts:
        return deployment.addresses.get("pool_manager")
    deployer = deployment.addresses.get("pool_deployer") or deployment.addresses.get("factory")
    if deployer is None or deployment.init_code_hash is None:
        return None
    if protocol.family == _CONCENTRATED:
        # Algebra, which has no `extra_keys`, hashes only the tokens; none of its deployments has a known init code
        # hash.
        if not protocol.extra_keys:
            return None
        return v3_pool_address(deployer, token_a, token_b, tier, deployment.init_code_hash)
    if is_solidly(network, amm_name):
        return solidly_pair_address(deployer, token_a, token_b, is_solidly_stable(protocol), deployment.init_code_hash)
    return v2_pair_address(deployer, token_a, token_b, deployment.init_code_hash)


def deployment_of(network: Network, amm_name: str) -> Deployment | None:
    """Return the contracts of a protocol, if the catalogue has them."""
    return next((deployment for deployment in network.deployments if amm_name in deployment.protocols), None)


def is_solidly(network: Network, amm_name: str) -> bool:
    """Return whether a protocol descends from Solidly: it shares a deployment with a protocol of stable pairs."""
    deployments = (deployment for deployment in network.deployments if amm_name in deployment.protocols)
    names = {name for deployment in deployments for name in deployment.protocols}
    return any(protocol.amm_name in names and is_solidly_stable(protocol) for protocol in network.protocols)


def is_solidly_stable(protocol: ProtocolInfo) -> bool:
    """Return whether a protocol's pools are the stable pairs of a Solidly fork."""
    return protocol.family == _SOLIDLY_STABLE


def create2_address(deployer: str, salt: bytes, init_code_hash: str) -> str:
    """Return the address at which `deployer` creates a contract with CREATE2 (EIP-1014).

    `salt` is 32 bytes, `init_code_hash` 32 bytes in hex.
    """
    digest = keccak256(b"\xff" + _raw(deployer) + salt + _raw(init_code_hash))
    return "0x" + digest[12:].hex()


def v2_pair_address(deployer: str, token_a: str, token_b: str, init_code_hash: str) -> str:
    """Return the address of the pair for two tokens in Uniswap V2 and its forks."""
    token0, token1 = sorted((token_a, token_b))
    return create2_address(deployer, keccak256(_raw(token0) + _raw(token1)), init_code_hash)


def solidly_pair_address(deployer: str, token_a: str, token_b: str, stable: bool, init_code_hash: str) -> str:
    """Return the address of the stable or volatile pair for two tokens in Solidly and its forks."""
    token0, token1 = sorted((token_a, token_b))
    return create2_address(deployer, keccak256(_raw(token0) + _raw(token1) + bytes([stable])), init_code_hash)


def v3_pool_address(deployer: str, token_a: str, token_b: str, tier: int, init_code_hash: str) -> str:
    """Return the address of a pool for two tokens in Uniswap V3 and its forks.

    `tier` is the fee in ppm, in Slipstream the tick spacing.
    """
    token0, token1 = sorted((token_a, token_b))
    return create2_address(deployer, keccak256(_word(token0) + _word(token1) + tier.to_bytes(32)), init_code_hash)


def v4_pool_id(token_a: str, token_b: str, fee_ppm: int, tick_spacing: int, hooks: str = ZERO_ADDRESS) -> str:
    """Return the ID of a Uniswap V4 pool (32 bytes in hex): the hash of its PoolKey.

    The zero address is the native token; `fee_ppm` is 0x800000 for a dynamic fee.
    """
    token0, token1 = sorted((token_a, token_b))
    numbers = fee_ppm.to_bytes(32) + tick_spacing.to_bytes(32)
    return "0x" + keccak256(_word(token0) + _word(token1) + numbers + _word(hooks)).hex()


def ekubo_pool_id(token0: str, token1: str, fee_x128: int, tick_spacing: int, extension: str) -> str:
    """Return swapcli's id of an Ekubo pool on Starknet."""
    numbers = fee_x128.to_bytes(32) + tick_spacing.to_bytes(32)
    return hash_ekubo_key(_felt_word(token0) + _felt_word(token1) + numbers + _felt_word(extension))


def ekubo_evm_pool_id(token0: str, token1: str, config: str) -> str:
    """Return the ID of a pool in Ekubo's EVM contracts (32 bytes in hex): the hash of its PoolKey.

    The zero address is the native token.
    """
    return "0x" + keccak256(_word(token0) + _word(token1) + _raw(config)).hex()


def hash_ekubo_key(words: bytes) -> str:
    """Return the ID of an Ekubo pool on Starknet from the five felts of its PoolKey, each as 32 bytes.

    Ekubo's core has no pool ids. The returned ID is swapcli's own: the Keccak-256 hash with the highest bit set, which
    no Starknet address has. The ids of EVM contracts are plain hashes.
    """
    first, *rest = keccak256(words)
    return f"0x{bytes((first | 0x80, *rest)).hex()}"


def _felt_word(felt: str) -> bytes:
    return int(felt, 16).to_bytes(32)


def infinity_pool_id(
    currency0: str, currency1: str, hooks: str, pool_manager: str, fee_ppm: int, parameters: int
) -> str:
    """Return the ID of a PancakeSwap Infinity pool (32 bytes in hex): the hash of its PoolKey.

    The zero address is the native token; `fee_ppm` is 0x800000 for a dynamic fee.
    """
    addresses = _word(currency0) + _word(currency1) + _word(hooks) + _word(pool_manager)
    return "0x" + keccak256(addresses + fee_ppm.to_bytes(32) + parameters.to_bytes(32)).hex()


def clober_book_id(base: str, unit_size: int, quote: str, maker_policy: int, hooks: str, taker_policy: int) -> str:
    """Return the ID of a Clober V2 book, as 32 bytes in hex: the lowest 192 bits of the hash of its key."""
    unit, maker, taker = (each.to_bytes(32) for each in (unit_size, maker_policy, taker_policy))
    digest = keccak256(_word(base) + unit + _word(quote) + maker + _word(hooks) + taker)
    return f"0x{digest[8:].hex():0>64}"


def _raw(hex_text: str) -> bytes:
    return bytes.fromhex(hex_text[2:])


def _word(address: str) -> bytes:
    return _raw(address).rjust(32, b"\0")
