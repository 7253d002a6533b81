"""Transactions in the forms that other tools take: `cast`, a Safe, a shell, web3.py and viem."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from swapcli.core.encoding.json_text import to_json
from swapcli.core.errors import InvalidOption
from swapcli.core.model.network import Network
from swapcli.core.model.quote_figures import QuoteFigures
from swapcli.core.records import NamedTuple
from swapcli.payload.transactions_to_send import RenderedTransaction

SAFE_FILE_VERSION = "1.0"
"""Version of the file format of Safe's Transaction Builder."""

_CAST_OPTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "from": "--from",
        "nonce": "--nonce",
        "gas": "--gas-limit",
        "maxFeePerGas": "--gas-price",
        "maxPriorityFeePerGas": "--priority-gas-price",
    }
)
"""Options of `cast send` by field of a transaction; each sets its field exactly."""


class PayloadParts(NamedTuple):
    """The transactions of a swap in the order to send them, and the figures of its quote."""

    transactions: Sequence[RenderedTransaction]
    network: Network
    figures: QuoteFigures


def format_transactions(output_format: str, parts: PayloadParts) -> str:
    """Return the transactions as `output_format` has them. Raises `InvalidOption` on Starknet."""
    if any(each.request is None for each in parts.transactions):
        raise InvalidOption(
            f"--format {output_format} is for EVM networks", hint=f"--json has the calls of {parts.network.name}"
        )
    return _FORMATS[output_format](parts)


def _as_cast(parts: PayloadParts) -> str:
    """Return one `cast send` line per transaction; it takes the node and the key from its own variables and options."""
    return "\n".join(shlex.join(_cast_words(each, parts.network)) for each in parts.transactions)


def _cast_words(transaction: RenderedTransaction, network: Network) -> Iterator[str]:
    request = transaction.request or {}
    yield from ("cast", "send", "--chain", str(network.chain_id), "--value", transaction.value)
    for field, option in _CAST_OPTIONS.items():
        if field in request:
            yield from (option, str(_integer(request[field]) if field != "from" else request[field]))
    if "accessList" in request:
        yield from ("--access-list", to_json(request["accessList"]))
    yield from (transaction.to, str(transaction.calldata))


def _integer(quantity: object) -> int:
    return quantity if isinstance(quantity, int) else int(str(quantity), 0)


def _as_safe(parts: PayloadParts) -> str:
    """Return a file for Safe's Transaction Builder; its batch approves and swaps in one transaction."""
    entries = [
        {
            "to": each.to,
            "value": each.value,
            "data": each.calldata,
            "contractMethod": None,
            "contractInputsValues": None,
        }
        for each in parts.transactions
    ]
    meta = {"name": f"Swap on {parts.network.name}", "description": "Built by swapcli", "createdFromSafeAddress": ""}
    return to_json(
        {
            "version": SAFE_FILE_VERSION,
            "chainId": str(parts.network.chain_id),
            "createdAt": parts.figures.quoted_at_s * 1000,
            "meta": meta,
            "transactions": entries,
        },
        indent=2,
    )


def _as_shell(parts: PayloadParts) -> str:
    """Return assignments for `eval` in any POSIX shell."""
    return "\n".join(f"{name}={shlex.quote(value)}" for name, value in _shell_variables(parts))


def _shell_variables(parts: PayloadParts) -> Iterator[tuple[str, str]]:
    *approvals, swap = parts.transactions
    yield "SWAP_NETWORK", parts.network.name
    yield "SWAP_CHAIN_ID", str(parts.network.chain_id)
    yield "SWAP_TO", swap.to
    yield "SWAP_VALUE", swap.value
    yield "SWAP_CALLDATA", str(swap.calldata)
    yield "SWAP_MIN_RECEIVED", str(parts.figures.min_received)
    yield "SWAP_EXPIRES_AT", str(parts.figures.expires_at_s)
    yield "SWAP_WARNINGS", " ".join(warning.code for warning in parts.figures.warnings)
    yield "SWAP_APPROVALS", str(len(approvals))
    for number, approval in enumerate(approvals, start=1):
        yield f"SWAP_APPROVAL_{number}_TO", approval.to
        yield f"SWAP_APPROVAL_{number}_CALLDATA", str(approval.calldata)


def _as_requests(parts: PayloadParts) -> str:
    """Return one JSON object a line, as web3.py, viem and ethers take a transaction."""
    return "\n".join(to_json(each.request) for each in parts.transactions)


_FORMATS: Final[Mapping[str, Callable[[PayloadParts], str]]] = MappingProxyType(
    {"cast": _as_cast, "safe": _as_safe, "sh": _as_shell, "web3": _as_requests}
)
