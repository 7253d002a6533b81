"""The contract's code and its one call, `simulate`, as bytes."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from enum import IntEnum
from functools import lru_cache
from typing import Final

from swapcli.encoding.abi import WORD, AbiReader, encode_address, encode_bytes, encode_uint, parse_hex
from swapcli.evm.transactions import build_approvals
from swapcli.model.order import ZERO_ADDRESS
from swapcli.model.swap_type import SwapType
from swapcli.model.transaction import Approval, Transaction, UnsignedTransaction
from swapcli.records import NamedTuple

SIMULATE: Final = "a4445c7c"
"""`simulate((address,address,address,uint256,bytes,(address,bytes)[]))`."""

_SWAP_WORDS: Final = 6
_PREPARATION_WORDS: Final = 2
_RUN_WORDS: Final = 5
_TRANSACTION_GAS: Final = 21_000
_ZERO_BYTE_GAS: Final = 4
_BYTE_GAS: Final = 16
# A call that carries value costs 9,000 and gives 2,300 of it to the callee; a transaction carries it for nothing.
_VALUE_GAS: Final = 6_700
# What a first look at a token and one word of its storage costs beyond a second: the contract has looked before.
_FIRST_LOOK_GAS: Final = 2_500 + 2_000


class SimulationStatus(IntEnum):
    """What came of it."""

    DONE = 0
    NO_ROUTER = 1
    NOT_APPROVED = 2
    REVERTED = 3


class SimulatedCall(NamedTuple):
    """A swap to be simulated. `token_in` and `token_out` are the zero address where they are the native currency."""

    router: str
    token_in: str
    token_out: str
    recipient: str
    amount_in: int
    value_wei: int
    calldata: bytes
    approvals: tuple[Approval, ...] = ()
    permitted: tuple[Approval, ...] = ()

    @classmethod
    def from_payload(cls, payload: UnsignedTransaction) -> SimulatedCall:
        """What a payload does."""
        route = payload.call.route
        return cls(
            router=payload.to,
            token_in=ZERO_ADDRESS if route.swap_type is SwapType.NATIVE_TO_TOKEN else route.token_in,
            token_out=ZERO_ADDRESS if route.swap_type is SwapType.TOKEN_TO_NATIVE else route.token_out,
            recipient=route.recipient,
            amount_in=route.amount_in,
            value_wei=payload.value,
            calldata=parse_hex(payload.calldata, "calldata"),
            approvals=payload.approvals,
            permitted=payload.permitted,
        )


class SimulationRun(NamedTuple):
    """What a simulation showed. `received` is by how much the receiver's balance grew, negative where it fell.

    `gas_used` is about what the whole transaction would use before refunds, which are a fifth of it at most.
    `return_data` is what the call that failed returned, else the router's.
    """

    status: SimulationStatus
    received: int
    gas_used: int
    return_data: bytes


def runtime_code(own: str) -> bytes:
    """The contract's code for a sender whose own code is at the address `own`, zero for none."""
    return _compiled() + bytes.fromhex(own[2:])


def encode_simulate(swap: SimulatedCall, allowances: Sequence[int] = ()) -> bytes:
    """Return the calldata of `simulate`, which first makes the approvals that are missing beyond `allowances`.

    Contracts refuse the signature of a sender who has the simulation's code: approvals stand in for what it permits.

    Raises `InvalidInput` for a value that does not fit.
    """
    calldata = encode_bytes(swap.calldata)
    words = (
        f"{WORD:064x}",
        encode_address(swap.router, "router"),
        encode_address(swap.token_out, "bought"),
        encode_address(swap.recipient, "receiver"),
        encode_uint(swap.value_wei, 256, "value"),
        f"{_SWAP_WORDS * WORD:064x}",
        f"{_SWAP_WORDS * WORD + len(calldata) // 2:064x}",
        calldata,
        _encode_preparations([*build_approvals(swap.approvals, allowances), *build_approvals(swap.permitted)]),
    )
    return bytes.fromhex(SIMULATE + "".join(words))


def _encode_preparations(transactions: Sequence[Transaction]) -> str:
    """Encode the array: the length, the offset of each entry after the length, and the entries."""
    entries = [
        encode_address(each.to, "to")
        + f"{_PREPARATION_WORDS * WORD:064x}"
        + encode_bytes(parse_hex(each.calldata, "calldata"))
        for each in transactions
    ]
    offsets, position = [], len(entries) * WORD
    for entry in entries:
        offsets.append(f"{position:064x}")
        position += len(entry) // 2
    return f"{len(entries):064x}{''.join(offsets)}{''.join(entries)}"


def decode_run(answer: bytes, swap: SimulatedCall, allowances: Sequence[int] = ()) -> SimulationRun:
    """Decode what `simulate` returned for a swap and its `allowances`. Raises `InvalidInput` for anything else."""
    reader = AbiReader(answer)
    outcome = SimulationStatus(reader.uint(2, "outcome"))
    found, left, gas = reader.uint(256, "found"), reader.uint(256, "left"), reader.uint(64, "gas")
    reader.offset(_RUN_WORDS * WORD, "output")
    output = reader.content("output")
    reader.end("answer")
    return SimulationRun(outcome, left - found, _transaction_gas(gas, swap, allowances), output)


def _transaction_gas(call_gas: int, swap: SimulatedCall, allowances: Sequence[int]) -> int:
    """Return the gas of a transaction that does what the call did.

    The contract has looked at the balance of the bought token and at each allowance that it has granted.
    """
    granted = sum(have < each.amount for each, have in zip(swap.approvals, allowances, strict=False))
    zeros = swap.calldata.count(0)
    carried = zeros * _ZERO_BYTE_GAS + (len(swap.calldata) - zeros) * _BYTE_GAS
    looks = _FIRST_LOOK_GAS * (granted + len(swap.permitted) + (swap.token_out != ZERO_ADDRESS))
    return max(0, _TRANSACTION_GAS + carried + call_gas + looks - (_VALUE_GAS if swap.value_wei else 0))


@lru_cache
def _compiled() -> bytes:
    with open(os.path.join(os.path.dirname(__file__), "artifact.json"), encoding="utf-8") as file:
        return parse_hex(json.load(file)["runtime"], "runtime")
