"""Routes as calls of the router on Starknet: felts, Cairo's serialisation, approvals, batches. Pure."""

from __future__ import annotations

from swapcli.starknet.account_calls import StarknetCall, approval, calls, transaction
from swapcli.starknet.batch import Pair, batch_calldata, check_batch
from swapcli.starknet.cairo_serde import deserialise_call, serialise_call
from swapcli.starknet.felts import from_felt_text, to_felt_text
from swapcli.starknet.router_call import build_call

__all__ = [
    "Pair",
    "StarknetCall",
    "approval",
    "batch_calldata",
    "build_call",
    "calls",
    "check_batch",
    "deserialise_call",
    "from_felt_text",
    "serialise_call",
    "to_felt_text",
    "transaction",
]
