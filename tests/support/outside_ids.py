"""Ids, addresses and topics from third-party libraries, so that expected values never come from the code under test.

Keys are encoded by eth_abi and hashed by pycryptodome. `tests/core/networks/test_pool_ids.py` compares these ids with
those of compiled Solidity, and with published ones. Tests import from here what `tests/test_expectations.py` forbids
them to import from swapcli.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from Crypto.Hash import keccak
from eth_abi.abi import encode

from swapcli.core.model.network import Deployment
from swapcli.core.model.order import ZERO_ADDRESS

INFINITY_KEY: Final = ("address", "address", "address", "address", "uint24", "bytes32")
V4_KEY: Final = ("address", "address", "uint24", "int24", "address")
EKUBO_KEY: Final = ("address", "address", "bytes32")
BOOK_KEY: Final = ("address", "uint64", "address", "uint24", "address", "uint24")
_STARKNET_BITS: Final = 250


def keccak256(message: bytes) -> bytes:
    """Return the Keccak-256 hash of a message."""
    return bytes(keccak.new(digest_bits=256, data=message).digest())


def topic_of(event: str) -> str:
    """Return the first topic of an event: from its signature, or on Starknet from its name."""
    digest = keccak256(event.encode())
    number = int.from_bytes(digest)
    return f"0x{number if '(' in event else number % (1 << _STARKNET_BITS):064x}"


def infinity_id(currency0: str, currency1: str, hooks: str, manager: str, fee_ppm: int, parameters: int) -> str:
    """Return the id of a PancakeSwap Infinity pool."""
    return _hash(INFINITY_KEY, (currency0, currency1, hooks, manager, fee_ppm, parameters.to_bytes(32)))


def v4_id(currency0: str, currency1: str, fee_ppm: int, tick_spacing: int, hooks: str = ZERO_ADDRESS) -> str:
    """Return the id of a Uniswap V4 pool, whose currencies are given in either order."""
    return _hash(V4_KEY, (*sorted((currency0, currency1)), fee_ppm, tick_spacing, hooks))


def ekubo_evm_id(token0: str, token1: str, config: str) -> str:
    """Return the id of a pool of Ekubo's EVM contracts."""
    return _hash(EKUBO_KEY, (token0, token1, bytes.fromhex(config[2:])))


def ekubo_id(token0: str, token1: str, fee_x128: int, tick_spacing: int, extension: str) -> str:
    """Return swapcli's id of a Starknet Ekubo pool: the hash with its highest bit set."""
    felts = (int(token0, 16), int(token1, 16), fee_x128, tick_spacing, int(extension, 16))
    return f"0x{int(_hash(['uint256'] * 5, felts), 16) | 1 << 255:064x}"


def book_id(base: str, unit_size: int, quote: str, maker_policy: int, hooks: str, taker_policy: int) -> str:
    """Return the id of a Clober V2 book, which has 192 bits, as a word."""
    digest = _hash(BOOK_KEY, (base, unit_size, quote, maker_policy, hooks, taker_policy))
    return f"0x{int(digest, 16) % (1 << 192):064x}"


def created_address(deployer: str, salt: bytes, init_code_hash: str) -> str:
    """Return the address of a contract that `deployer` creates by CREATE2 (EIP-1014)."""
    content = b"\xff" + bytes.fromhex(deployer[2:]) + salt + bytes.fromhex(init_code_hash[2:])
    return f"0x{keccak256(content)[12:].hex()}"


def possible_pools(deployment: Deployment | None, token_a: str, token_b: str, tier: int) -> set[str]:
    """Return the addresses that a deployment can give the pool of two tokens.

    These are its V4 pool manager, and the addresses for each way of salting CREATE2: Uniswap V2, Solidly (volatile and
    stable), and Uniswap V3 with its fee or tick spacing.
    """
    if deployment is None:
        return set()
    managers = {deployment.addresses["pool_manager"]} if "pool_manager" in deployment.addresses else set()
    deployer = deployment.addresses.get("pool_deployer") or deployment.addresses.get("factory")
    if deployer is None or deployment.init_code_hash is None:
        return managers
    pair = sorted((token_a, token_b))
    packed = bytes.fromhex("".join(token[2:] for token in pair))
    salts = [packed, packed + b"\0", packed + b"\1", encode(["address", "address", "uint24"], [*pair, tier])]
    return managers | {created_address(deployer, keccak256(salt), deployment.init_code_hash) for salt in salts}


def _hash(types: Sequence[str], values: Sequence[object]) -> str:
    return f"0x{keccak256(encode(types, values)).hex()}"
