"""Calls of the router on Starknet: felts, Cairo's serialisation, approvals. Pure."""

from __future__ import annotations

from swapcli.starknet.account_calls import build_account_calls, build_approval, build_transaction
from swapcli.starknet.cairo_serde import deserialise_call, serialise_call
from swapcli.starknet.felts import from_felt_text, to_felt_text
from swapcli.starknet.router_params import build_call

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
