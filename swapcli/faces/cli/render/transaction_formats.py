"""Transactions in the formats of other tools: `cast`, a Safe, a shell, wallets, web3.py and viem."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias

from swapcli import InvalidOption, Network, PreparedRoute, PreparedSwap, QuoteFigures
from swapcli.core.encoding.json_text import to_json
from swapcli.core.records import NamedTuple
from swapcli.payload.decode import shell_grammar as grammar
from swapcli.payload.transactions_to_send import RenderedTransaction

if TYPE_CHECKING:
    from swapcli.quoting.planning.recorded_payload import RecordedFigures, RecordedPayload


_Payload: TypeAlias = "PreparedSwap | PreparedRoute | RecordedPayload"


def format_transactions(output_format: str, prepared: _Payload) -> str:
    """Return the transactions of a swap in the format `output_format`.

    On Starknet, `web3` is a single transaction of the account. Raises `InvalidOption` if the account's nonce and fees
    are unknown, and for other formats.
    """
    transactions, network = prepared.built.transactions(), prepared.network
    if any(each.request is None for each in transactions):
        return _as_invoke(output_format, prepared)
    if output_format in _DOCUMENTS:
        return _DOCUMENTS[output_format](prepared)
    return _FORMATS[output_format](_PayloadParts(transactions, network, prepared.figures))


_AS_REQUESTS: Final = "web3"
"""The format whose objects libraries accept as requests."""


class _PayloadParts(NamedTuple):
    """The transactions of a swap in the order in which to send them, and the figures of its quote."""

    transactions: Sequence[RenderedTransaction]
    network: Network
    figures: QuoteFigures | RecordedFigures


def _as_invoke(output_format: str, prepared: _Payload) -> str:
    """Return a Starknet account's transaction as one JSON object, as nodes and libraries accept it."""
    checked, name = prepared.built.checked, prepared.network.name
    if output_format != _AS_REQUESTS:
        raise InvalidOption(
            f"--format {output_format} is for EVM networks only",
            hint=f"use --json for calls on {name}, or --format {_AS_REQUESTS} --from ACCOUNT for the transaction",
        )
    if checked is None or checked.invoke is None:
        raise InvalidOption(
            f"--format {output_format} needs the account on {name}, so that a node can supply its nonce and the fee",
            hint="add --from ACCOUNT, or use --json for the calls",
        )
    return to_json(checked.invoke.document())


def _as_cast(parts: _PayloadParts) -> str:
    """Return one `cast send` line per transaction; cast takes the node and the key from its own variables and
    options."""
    return "\n".join(shlex.join(_cast_words(each, parts.network)) for each in parts.transactions)


def _cast_words(transaction: RenderedTransaction, network: Network) -> Iterator[str]:
    request = transaction.request or {}
    yield from (
        *grammar.CAST_COMMAND,
        grammar.CHAIN_OPTION,
        str(network.chain_id),
        grammar.VALUE_OPTION,
        transaction.value,
    )
    for field, option in grammar.CAST_OPTIONS.items():
        if field in request:
            yield from (option, str(_integer(request[field]) if field != "from" else request[field]))
    if "accessList" in request:
        yield from (grammar.ACCESS_LIST_OPTION, to_json(request["accessList"]))
    yield from (transaction.to, str(transaction.calldata))


def _integer(quantity: object) -> int:
    return quantity if isinstance(quantity, int) else int(str(quantity), 0)


def _as_safe(prepared: _Payload) -> str:
    """Return a file for Safe's Transaction Builder; its batch approves and swaps in one transaction."""
    return to_json(prepared.safe_batch(), indent=2)


def _as_wallet_calls(prepared: _Payload) -> str:
    """Return a request for `wallet_sendCalls`, on one line."""
    return to_json(prepared.wallet_calls())


def _as_shell(parts: _PayloadParts) -> str:
    """Return assignments for `eval` in any POSIX shell."""
    return "\n".join(f"{name}={shlex.quote(value)}" for name, value in _shell_variables(parts))


def _shell_variables(parts: _PayloadParts) -> Iterator[tuple[str, str]]:
    *approvals, swap = parts.transactions
    yield grammar.NETWORK, parts.network.name
    yield grammar.CHAIN_ID, str(parts.network.chain_id)
    yield grammar.TO, swap.to
    yield grammar.VALUE, swap.value
    yield grammar.CALLDATA, str(swap.calldata)
    yield grammar.MIN_RECEIVED, str(parts.figures.min_received)
    yield grammar.EXPIRES_AT, str(parts.figures.expires_at_s)
    yield grammar.WARNINGS, " ".join(warning.code for warning in parts.figures.warnings)
    yield grammar.APPROVALS, str(len(approvals))
    for number, approval in enumerate(approvals, start=1):
        yield grammar.approval_variable(number, "TO"), approval.to
        yield grammar.approval_variable(number, "CALLDATA"), str(approval.calldata)


def _as_requests(parts: _PayloadParts) -> str:
    """Return one JSON object per line, as web3.py, viem and ethers accept a transaction."""
    return "\n".join(to_json(each.request) for each in parts.transactions)


_FORMATS: Final[Mapping[str, Callable[[_PayloadParts], str]]] = MappingProxyType(
    {"cast": _as_cast, "sh": _as_shell, _AS_REQUESTS: _as_requests}
)
_DOCUMENTS: Final[Mapping[str, Callable[[_Payload], str]]] = MappingProxyType(
    {"safe": _as_safe, "wallet-calls": _as_wallet_calls}
)
