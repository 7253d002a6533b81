"""Responses of a small healthy node."""

from __future__ import annotations

from typing import Any

from swapcli.families.reading.calls import ContractCall
from tests.chain.node.server import CHAIN_ID, Refused

NUMBER = 1_000
ECHO, REVERTING, OUT_OF_GAS = (f"0x{digit * 40}" for digit in "123")
TOPIC = "0x" + "ab" * 32


def block_json(number: int) -> dict[str, str]:
    own, parent = f"0x{number:064x}", f"0x{number - 1:064x}"
    return {"number": hex(number), "hash": own, "parentHash": parent, "timestamp": hex(9), "baseFeePerGas": "0x5"}


def log_json(block: int, position: int) -> dict[str, object]:
    return {
        "address": ECHO,
        "topics": [TOPIC],
        "data": "0x1234",
        "blockNumber": hex(block),
        "logIndex": hex(position),
    }


def answer(request: dict[str, Any]) -> object:
    method, params = request["method"], request["params"]
    if method == "eth_call":
        assert params[1] == hex(NUMBER)
        if params[0]["to"] == REVERTING:
            raise Refused(3, "execution reverted: no")
        if params[0]["to"] == OUT_OF_GAS:
            raise Refused(-32000, "out of gas")
        return params[0]["data"]
    if method == "eth_getBlockByNumber":
        number = NUMBER if params[0] == "latest" else int(params[0], 16)
        return block_json(number) if number <= NUMBER else None
    if method == "eth_getLogs":
        return [log_json(6, 1), log_json(5, 4), log_json(6, 0)]
    return {"eth_chainId": hex(CHAIN_ID), "eth_gasPrice": "0x7"}[method]


def echo_calls(count: int) -> list[ContractCall]:
    return [ContractCall(ECHO, k.to_bytes(4)) for k in range(count)]
