"""Make the golden vectors with starknet-py: random calls of `swap` and `approve`, edge values first, and their felts.

    python make_vectors.py > ../vectors.json       (see README.md in this folder)

A felt is hex here, an amount too: a JSON number would be rounded by a program that knows only doubles.
"""

from __future__ import annotations

import json
import random
import sys
from importlib import import_module
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any

SEED = 20_260_124
CALLS = 240
U128, U256, PRIME = 2**128, 2**256, 2**251 + 17 * 2**192 + 1
AMOUNTS = (1, 2, U128 - 1, U128, U128 + 1, 2**255, U256 - U128, U256 - 1)
ADDRESSES = (1, 2**128, 2**160, 2**251 - 257, 2**251 - 1)
EXTRAS: tuple[tuple[int, ...], ...] = (
    (),
    (0,),
    (100,),
    (3_000,),
    (PRIME - 1,),
    (1, 2, 3),
    (0, PRIME - 1, 2**128, 10_000),
)
RATES = (1, 400_000, 666_666, 999_999, 1_000_000)
PROTOCOLS = (0, 1, 2, 8, 18, 2**32 - 1)


def main() -> None:
    chance = random.Random(SEED)
    functions = abi_functions()
    swaps = [call(chance, edge) for edge in product(AMOUNTS, ADDRESSES)]
    swaps += [call(chance, None) for _ in range(CALLS - len(swaps))]
    approvals = [{"spender": hex(spender), "amount": hex(amount)} for amount, spender in product(AMOUNTS, ADDRESSES)]
    document = {
        "made_with": {"starknet-py": version("starknet-py")},
        "selectors": {name: hex(selector(name)) for name in ("swap", "approve")},
        "swap": [case | {"felts": serialised(functions["swap"], swap_arguments(case))} for case in swaps],
        "approve": [case | {"felts": serialised(functions["approve"], as_numbers(case))} for case in approvals],
    }
    sys.stdout.write(json.dumps(document, separators=(",", ":")).replace('{"route"', '\n{"route"') + "\n")


def call(chance: random.Random, edge: tuple[int, int] | None) -> dict[str, Any]:
    amount, place = edge or (amount_of(chance), address_of(chance))
    route = {
        "token_in": hex(place),
        "token_out": hex(address_of(chance)),
        "amount_in": hex(amount),
        "min_received": hex(chance.choice((0, amount, amount_of(chance)))),
        "destination": hex(address_of(chance)),
    }
    return {"route": route, "swap_parameters": [swap(chance) for _ in range(chance.randint(1, 8))]}


def swap(chance: random.Random) -> dict[str, Any]:
    return {
        "token_in": hex(address_of(chance)),
        "token_out": hex(address_of(chance)),
        "rate": hex(chance.choice((chance.randint(1, 1_000_000), *RATES))),
        "protocol_id": hex(chance.choice((chance.randint(1, 18), *PROTOCOLS))),
        "pool_address": hex(address_of(chance)),
        "extra_data": [hex(felt) for felt in chance.choice(EXTRAS)],
    }


def amount_of(chance: random.Random) -> int:
    return chance.choice((chance.randrange(1, 2 ** chance.randint(1, 256)), *AMOUNTS))


def address_of(chance: random.Random) -> int:
    """Mostly short ones: they are as good as long ones, and the file stays small."""
    if chance.random() < 0.7:
        return chance.randrange(1, 2**24)
    return chance.choice((chance.randrange(1, 2**251), *ADDRESSES))


def swap_arguments(case: dict[str, Any]) -> dict[str, Any]:
    return {
        "route": as_numbers(case["route"]),
        "swap_parameters": [as_numbers(swap) for swap in case["swap_parameters"]],
    }


def as_numbers(members: dict[str, Any]) -> dict[str, Any]:
    return {
        name: [int(felt, 16) for felt in value] if isinstance(value, list) else int(value, 16)
        for name, value in members.items()
    }


def abi_functions() -> dict[str, Any]:
    abi = json.loads((Path(__file__).parent / "abi.json").read_text())
    parsed = import_module("starknet_py.abi.v2").AbiParser(abi).parse()
    factory = import_module("starknet_py.serialization.factory")
    functions = parsed.interfaces["router::IRouter"].items
    return {name: factory.serializer_for_function_v1(function) for name, function in functions.items()}


def serialised(function: Any, arguments: dict[str, Any]) -> list[str]:
    return [hex(felt) for felt in function.serialize(**arguments)]


def selector(name: str) -> int:
    return int(import_module("starknet_py.hash.selector").get_selector_from_name(name))


if __name__ == "__main__":
    main()
