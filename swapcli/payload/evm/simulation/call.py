"""The contract's code and the calldata of its only call, `simulate`."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from enum import IntEnum
from functools import lru_cache
from typing import Final

from swapcli.core.encoding.abi import (
    WORD,
    AbiReader,
    Dynamic,
    encode_address,
    encode_bytes,
    encode_fields,
    encode_list,
    encode_uint,
    parse_hex,
)
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.router_execution import TRANSACTION_GAS
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import Approval, Transaction, UnsignedTransaction
from swapcli.core.records import NamedTuple
from swapcli.payload.evm.transactions import build_approvals

SIMULATE: Final = "a4445c7c"
"""`simulate((address,address,address,uint256,bytes,(address,bytes)[]))`."""

_RUN_WORDS: Final = 5
_ZERO_BYTE_GAS: Final = 4  # of calldata
_BYTE_GAS: Final = 16  # of calldata (EIP-2028)
# A call with a value costs 9,000 and gives 2,300 of it to the callee; in a transaction, the value is free.
_VALUE_GAS: Final = 6_700
# The extra cost of the first access to a token and to one word of its storage: the contract has already accessed them.
_FIRST_LOOK_GAS: Final = 2_500 + 2_000


class SimulationStatus(IntEnum):
    """The outcome of a simulation."""

    DONE = 0
    NO_ROUTER = 1
    NOT_APPROVED = 2
    REVERTED = 3


class SimulatedCall(NamedTuple):
    """A swap to simulate. `token_in` and `token_out` are the zero address for native currency."""

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
        """Return the swap that a payload makes."""
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
    """The result of a simulation. `received` is the change of the receiver's balance, negative if it fell.

    `gas_used` is approximately the gas of the whole transaction before refunds, which are at most a fifth of it.
    `return_data` is the failed call's return data, or otherwise the router's.
    """

    status: SimulationStatus
    received: int
    gas_used: int
    return_data: bytes


def runtime_code(own: str) -> bytes:
    """Return the contract's code for a sender whose own code is at the address `own` (zero for none)."""
    return _compiled() + bytes.fromhex(own[2:])


def encode_simulate(swap: SimulatedCall, allowances: Sequence[int] = ()) -> bytes:
    """Return the calldata of `simulate`, which first makes the approvals missing from `allowances`.

    Contracts reject the signature of a sender that has the simulation's code, so approvals replace it.

    Raises `InvalidInput` for a value out of range.
    """
    return bytes.fromhex(SIMULATE + encode_fields(Dynamic(encode_swap(swap, allowances))))


def encode_swap(swap: SimulatedCall, allowances: Sequence[int] = ()) -> str:
    """Return the words of the contract's `Swap`, with approvals made as in `encode_simulate`."""
    approvals = [*build_approvals(swap.approvals, allowances), *build_approvals(swap.permitted)]
    return encode_fields(
        encode_address(swap.router, "router"),
        encode_address(swap.token_out, "bought"),
        encode_address(swap.recipient, "receiver"),
        encode_uint(swap.value_wei, 256, "value"),
        Dynamic(encode_bytes(swap.calldata)),
        encode_list([Dynamic(encode_preparation(each)) for each in approvals]),
    )


def encode_preparation(transaction: Transaction) -> str:
    """Return the words of the contract's `Preparation`."""
    content = encode_bytes(parse_hex(transaction.calldata, "calldata"))
    return encode_fields(encode_address(transaction.to, "to"), Dynamic(content))


def decode_run(answer: bytes, swap: SimulatedCall, allowances: Sequence[int] = ()) -> SimulationRun:
    """Decode the result of `simulate` for a swap and its `allowances`. Raises `InvalidInput` for anything else."""
    reader = AbiReader(answer)
    run, _ = read_run(reader, swap, allowances, _RUN_WORDS)
    reader.end("answer")
    return run


def read_run(
    reader: AbiReader, swap: SimulatedCall, allowances: Sequence[int], head_words: int
) -> tuple[SimulationRun, int]:
    """Return the run at the start of a result whose head has `head_words` words, and the sixth word (0 if there is
    none)."""
    outcome = SimulationStatus(reader.uint(2, "outcome"))
    found, left, gas = reader.uint(256, "found"), reader.uint(256, "left"), reader.uint(64, "gas")
    reader.offset(head_words * WORD, "output")
    sixth = reader.uint(64, "sixth") if head_words > _RUN_WORDS else 0
    output = reader.content("output")
    return SimulationRun(outcome, left - found, _transaction_gas(gas, swap, allowances), output), sixth


def _transaction_gas(call_gas: int, swap: SimulatedCall, allowances: Sequence[int]) -> int:
    """Return the gas of a transaction that does the same as the call.

    The contract has accessed the balance of the bought token and each allowance that it granted.
    """
    granted = sum(have < each.amount for each, have in zip(swap.approvals, allowances, strict=False))
    zeros = swap.calldata.count(0)
    carried = zeros * _ZERO_BYTE_GAS + (len(swap.calldata) - zeros) * _BYTE_GAS
    looks = _FIRST_LOOK_GAS * (granted + len(swap.permitted) + (swap.token_out != ZERO_ADDRESS))
    return max(0, TRANSACTION_GAS + carried + call_gas + looks - (_VALUE_GAS if swap.value_wei else 0))


@lru_cache
def _compiled() -> bytes:
    with open(os.path.join(os.path.dirname(__file__), "artifact.json"), encoding="utf-8") as file:
        return parse_hex(json.load(file)["runtime"], "runtime")
