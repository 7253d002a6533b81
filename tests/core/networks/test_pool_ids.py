"""Ids of pools that share a contract, against compiled Solidity, published ids and recorded creations."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.networks.pool_addresses import (
    clober_book_id,
    ekubo_evm_pool_id,
    ekubo_pool_id,
    hash_ekubo_key,
    infinity_pool_id,
    v4_pool_id,
)
from swapcli.testing.evm import Chain, Contract
from tests.contracts.evm import compile_solidity
from tests.support import outside_ids

KEYS: Final = 2_000
CREATIONS: Final = json.loads((Path(__file__).parents[2] / "recorded" / "creations.json").read_text())


@pytest.fixture(scope="module")
def published_keys() -> Contract:
    return Chain().deploy(compile_solidity("pool_keys.sol")["PoolKeys"])


def _address(random: Random) -> str:
    return ZERO_ADDRESS if random.random() < 0.05 else f"0x{random.randbytes(20).hex()}"


def _pair(random: Random) -> tuple[str, str]:
    first, second = sorted((_address(random), f"0x{random.randbytes(20).hex()}"))
    return first, second


def _infinity_key(random: Random) -> tuple[Any, ...]:
    fee = random.choice([0x800000, random.randrange(1_000_001)])
    return (*_pair(random), _address(random), _address(random), fee, random.getrandbits(random.choice([40, 256])))


def _v4_key(random: Random) -> tuple[Any, ...]:
    return (*_pair(random), random.randrange(1 << 24), random.randrange(1, 1 << 15), _address(random))


def _ekubo_key(random: Random) -> tuple[Any, ...]:
    return (*_pair(random), f"0x{random.randbytes(32).hex()}")


def _book_key(random: Random) -> tuple[Any, ...]:
    maker, taker = random.randrange(1 << 24), random.randrange(1 << 24)
    return (_address(random), random.randrange(1 << 64), _address(random), maker, _address(random), taker)


def _as_words(key: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a key as Solidity takes it: the last field of Infinity's and of Ekubo's is a word."""
    *rest, last = key
    if len(key) == 3:
        return (*rest, bytes.fromhex(last[2:]))
    return (*rest, last.to_bytes(32)) if len(key) == 6 and str(key[3]).startswith("0x") else key


IDS: Final[Sequence[tuple[str, Callable[[Random], Any], Callable[..., str], Callable[..., str]]]] = (
    ("infinityId", _infinity_key, infinity_pool_id, outside_ids.infinity_id),
    ("v4Id", _v4_key, v4_pool_id, outside_ids.v4_id),
    ("ekuboId", _ekubo_key, ekubo_evm_pool_id, outside_ids.ekubo_evm_id),
    ("bookId", _book_key, clober_book_id, outside_ids.book_id),
)


@pytest.mark.parametrize(("function", "draw", "own", "outside"), IDS, ids=[row[0] for row in IDS])
def test_ids_of_random_keys_are_those_of_solidity(
    published_keys: Contract,
    function: str,
    draw: Callable[[Random], Any],
    own: Callable[..., str],
    outside: Callable[..., str],
) -> None:
    random = Random(f"{function} of swapcli")
    keys = [draw(random) for _ in range(KEYS)]
    (answers,) = published_keys.call(function, [_as_words(key) for key in keys])
    expected = [f"0x{each if isinstance(each, int) else int.from_bytes(each):064x}" for each in answers]
    assert len(set(expected)) == KEYS
    assert [own(*key) for key in keys] == expected
    assert [outside(*key) for key in keys] == expected


def test_infinity_ids_are_those_of_pancakeswaps_own_tests() -> None:
    # pancakeswap/pancake-frontend packages/v4-sdk/src/poolKey.test.ts: a bin key, and a CL key with a beforeSwap hook.
    keys = {
        10 << 16: "0xed39e13743a8db9e0fab025534f857fc13f5af4aace6d3deb9907b0bb9af7063",
        10 << 16 | 1 << 6: "0x0f2e9d5df51e26258038163179bbedcf8f4318a4a456e61934f3aab1a504db58",
    }
    for parameters, expected in keys.items():
        found = infinity_pool_id(ZERO_ADDRESS, ZERO_ADDRESS, ZERO_ADDRESS, ZERO_ADDRESS, 3000, parameters)
        assert found == expected


@pytest.mark.parametrize("creation", CREATIONS, ids=lambda each: f"{each['network']} {each['id'][:10]}")
def test_recorded_creations_have_the_derived_ids(creation: dict[str, Any]) -> None:
    hooks = creation.get("hooks", ZERO_ADDRESS)
    fee = creation.get("fee_ppm", 0)
    first, second, *_ = creation["tokens"]
    if creation["kind"].startswith("infinity"):
        pool_id = infinity_pool_id(first, second, hooks, creation["contract"], fee, creation["spacing"] << 16)
        assert pool_id == creation["id"]
    elif creation["kind"] == "ekubo_evm":
        assert ekubo_evm_pool_id(first, second, creation["config"]) == creation["id"]
    elif creation["kind"] == "uniswap_v4":
        assert v4_pool_id(first, second, fee, creation["spacing"], hooks) == creation["id"]


def test_an_ekubo_id_on_starknet_is_never_an_address() -> None:
    random = Random("Ekubo on Starknet")
    for _ in range(50):
        token0, token1, extension = (hex(random.randrange(1, 1 << 251)) for _ in range(3))
        fee, spacing = random.getrandbits(128), random.randrange(1, 1 << 19)
        expected = outside_ids.ekubo_id(token0, token1, fee, spacing, extension)
        assert ekubo_pool_id(token0, token1, fee, spacing, extension) == expected
        assert int(expected, 16) >> 255 == 1
    words = bytes(range(160))
    assert int(hash_ekubo_key(words), 16) == int.from_bytes(outside_ids.keccak256(words)) | 1 << 255
