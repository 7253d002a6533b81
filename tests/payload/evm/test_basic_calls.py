"""Calls of pools by Settler's BASIC: their selectors and arguments are those of the contracts' signatures."""

from __future__ import annotations

from typing import Any

import pytest
from eth_abi.abi import encode

from swapcli.core.model.pool import Pool
from swapcli.payload.evm.basic_calls import AMOUNT_AT, BASIC_FAMILIES, BasicSwap
from swapcli.testing.recorded_swaps import replay_recorded_swaps
from tests.families.recorded import vectors_file
from tests.support.outside_ids import keccak256

SETTLER, AMOUNT, LATEST = "0x" + "5e" * 20, 12_345, 2**256 - 1
SIGNATURES = {
    "gmx_vault": ("swap", "(address,address,address)"),
    "iziswap": ("swapAmount", "((bytes,address,uint128,uint256,uint256))"),
    "kuru": ("anyToAnySwap", "(address[],bool[],bool[],address,address,uint256,uint256)"),
    "clober_v2": (
        "spend",
        "((uint192,uint256,uint256,uint256,bytes)[],address[],"
        "(address,uint256,(uint256,uint8,bytes32,bytes32))[],uint64)",
    ),
    "smardex": ("swapExactTokensForTokens", "(uint256,uint256,address[],address,uint256)"),
}


def expected_arguments(pool: Pool, sold: str, bought: str) -> tuple[Any, ...]:
    """Return what each contract must get, with the sold amount in its place."""
    if pool.family == "kuru":
        return [pool.address], [sold != pool.tokens[0]], [False], sold, bought, AMOUNT, 0
    if pool.family == "clober_v2":
        return [(int(pool.key, 16), 0, AMOUNT, 0, b"")], [sold, bought], [], 2**64 - 1
    if pool.family == "gmx_vault":
        return sold, bought, SETTLER
    if pool.family == "iziswap":
        path = bytes.fromhex(sold[2:]) + pool.fee_ppm.to_bytes(3) + bytes.fromhex(bought[2:])
        return ((path, SETTLER, AMOUNT, 0, LATEST),)
    return AMOUNT, 0, (sold, bought), SETTLER, LATEST


@pytest.mark.parametrize("name", SIGNATURES)
def test_calls_have_the_arguments_of_the_contracts(name: str) -> None:
    pool = next(replay_recorded_swaps(vectors_file(name))).pool
    function, types = SIGNATURES[name]
    for sold, bought in (pool.tokens[:2], pool.tokens[1::-1]):
        call = BASIC_FAMILIES[name].call(BasicSwap(pool, sold, bought, SETTLER, sold == pool.tokens[0]))
        data = bytearray.fromhex(call)
        assert data[:4] == keccak256(f"{function}{types}".encode())[:4]
        amount_at = AMOUNT_AT[call[:8]]
        if amount_at is not None:
            assert data[amount_at : amount_at + 32] == bytes(32)
            data[amount_at : amount_at + 32] = AMOUNT.to_bytes(32)
        assert data[4:] == encode(_parameters(types), expected_arguments(pool, sold, bought))


def _parameters(types: str) -> list[str]:
    """Return the types in the outer parentheses."""
    parts, depth = [""], 0
    for character in types[1:-1]:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return parts
