"""The file for Safe's Transaction Builder, with which a Safe approves and swaps in one transaction.

Source: github safe-global/safe-wallet-monorepo, folder apps/tx-builder/src: typings/models.ts has the types,
store/transactionLibraryContext.tsx reads a file, utils.ts encodes a method, lib/checksum.ts has the checksum. A
transaction with `data` is shown as "Custom hex data", and its method is omitted; one without `data` is shown with its
method and inputs, from which the data is encoded. A file without the right checksum is shown with a warning.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from swapcli.core.encoding.abi import WORD, to_address, to_signed
from swapcli.core.encoding.abi_arguments import AbiValue
from swapcli.core.encoding.keccak import keccak256
from swapcli.core.model.network import Kind
from swapcli.core.networks.address import display_address
from swapcli.core.records import NamedTuple
from swapcli.payload.evm.abi_functions import NamedArgument
from swapcli.payload.evm.published_functions import NamedCall, read_named_call
from swapcli.payload.handoff.wallet_calls import sender_of
from swapcli.payload.transactions_to_send import RenderedTransaction

if TYPE_CHECKING:
    from swapcli.interface.handoff_types import ContractInputJson, SafeBatchJson, SafeTransactionJson

FILE_VERSION: Final = "1.0"
"""The version of the Transaction Builder's file format."""


class BatchTexts(NamedTuple):
    """The name and description of a batch in the Transaction Builder."""

    name: str
    description: str


def safe_batch_document(
    transactions: Sequence[RenderedTransaction], chain_id: int, created_ms: int, texts: BatchTexts
) -> SafeBatchJson:
    """Return the content of the file. It names the Safe if the sender is known."""
    document: SafeBatchJson = {
        "version": FILE_VERSION,
        "chainId": str(chain_id),
        "createdAt": created_ms,
        "meta": {
            "name": texts.name,
            "description": texts.description,
            "createdFromSafeAddress": sender_of(transactions) or "",
            "createdFromOwnerAddress": "",
        },
        "transactions": [_transaction(each) for each in transactions],
    }
    document["meta"]["checksum"] = checksum(document)
    return document


def checksum(document: Mapping[str, Any]) -> str:
    """Return the checksum for a file without one: the Keccak-256 hash of its text, without the name."""
    nameless = {**document, "meta": {**document["meta"], "name": None}}
    return f"0x{keccak256(_serialized(nameless).encode()).hex()}"


def _serialized(value: object) -> str:
    """Return the text that the Transaction Builder hashes: for an object, its sorted keys, then its values."""
    if isinstance(value, list):
        return f"[{','.join(map(_serialized, value))}]"
    if isinstance(value, Mapping):
        keys = sorted(value)
        return f"{{{_json(keys)}{''.join(f'{_serialized(value[key])},' for key in keys)}}}"
    return _json(value)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _transaction(transaction: RenderedTransaction) -> SafeTransactionJson:
    calldata = str(transaction.calldata)
    call = read_named_call(calldata)
    if call is None:
        return {
            "to": transaction.to,
            "value": transaction.value,
            "data": calldata,
            "contractMethod": None,
            "contractInputsValues": None,
        }
    return {
        "to": transaction.to,
        "value": transaction.value,
        "data": None,
        "contractMethod": {
            "inputs": [_input(each) for each in call.function.inputs],
            "name": call.function.name,
            "payable": call.is_payable,
        },
        "contractInputsValues": _input_values(call),
    }


def _input(argument: NamedArgument) -> ContractInputJson:
    found: ContractInputJson = {
        "internalType": argument.type,
        "name": argument.name,
        "type": argument.type,
    }
    if argument.components:
        found["components"] = [_input(each) for each in argument.components]
    return found


def _input_values(call: NamedCall) -> dict[str, str]:
    values = zip(call.function.inputs, call.values, strict=True)
    return {argument.name: _value_text(argument, value) for argument, value in values}


def _value_text(argument: NamedArgument, value: AbiValue) -> str:
    shown = _shown(argument, value)
    return shown if isinstance(shown, str) else _json(shown)


def _shown(argument: NamedArgument, value: AbiValue) -> Any:
    """Return a value in the form that the Transaction Builder accepts: text, or lists of text for tuples and arrays."""
    kind = argument.type
    if isinstance(value, bytes):
        return f"0x{value.hex()}"
    if isinstance(value, int):
        return _shown_word(kind, value)
    if isinstance(value, str):
        return value
    if kind.endswith("[]"):
        entry = argument._replace(type=kind.removesuffix("[]"))
        return [_shown(entry, each) for each in value]
    return [_shown(part, each) for part, each in zip(argument.components, value, strict=True)]


def _shown_word(kind: str, word: int) -> str:
    if kind == "address":
        return display_address(to_address(word, kind), Kind.EVM)
    if kind.startswith("bytes"):
        return f"0x{word:0{2 * WORD}x}"
    return str(to_signed(word) if kind.startswith("int") else word)
