"""Router calls on EVM networks, and the transactions that contain them. Pure: nothing here uses a node."""

from swapcli.payload.evm.fibrous_calldata import (
    Permit,
    decode_call,
    decode_permit_call,
    encode_call,
    encode_permit_call,
)
from swapcli.payload.evm.integrator import IntegratorShares, decode_integrator_data, encode_integrator_data
from swapcli.payload.evm.router_params import build_call
from swapcli.payload.evm.transactions import build_approval, build_transaction, build_transactions

PUBLIC = (
    "abi_functions", "decoding", "extra_data", "fibrous_calldata", "permit", "permit2_allowance", "published_functions",
    "router", "simulation", "token_powers", "transactions", "typed_data", "unsigned_transaction", "wrapped_native",
)  # fmt: skip

__all__ = [
    "IntegratorShares",
    "Permit",
    "build_approval",
    "build_call",
    "build_transaction",
    "build_transactions",
    "decode_call",
    "decode_integrator_data",
    "decode_permit_call",
    "encode_call",
    "encode_integrator_data",
    "encode_permit_call",
]
