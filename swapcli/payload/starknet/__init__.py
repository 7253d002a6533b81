"""Router calls on Starknet: felts, Cairo's serialisation, approvals. Pure: nothing here uses a node."""

from __future__ import annotations

from swapcli.payload.starknet.account_calls import build_account_calls, build_approval, build_transaction
from swapcli.payload.starknet.felts import from_felt_text, to_felt_text
from swapcli.payload.starknet.router_params import build_call
from swapcli.payload.starknet.swap_call_felts import deserialise_call, serialise_call

PUBLIC = (
    "account_calls",
    "account_transactions",
    "decode_felts",
    "invoke_transaction",
    "router_params",
    "swap_call_felts",
)

__all__ = [
    "build_account_calls",
    "build_approval",
    "build_call",
    "build_transaction",
    "deserialise_call",
    "from_felt_text",
    "serialise_call",
    "to_felt_text",
]
