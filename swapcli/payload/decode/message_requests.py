"""Find the message to sign in a document: a wallet request, typed data, or a library's arguments."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from swapcli.core.encoding.strict_json import parse_json
from swapcli.core.errors import InvalidInput
from swapcli.core.records import NamedTuple

_SIGNS: Final = re.compile(r"sign|permission|authori[sz]|delegat|^personal_", re.IGNORECASE)
_SENDS: Final = re.compile(r"transaction|sendcalls", re.IGNORECASE)
_TYPED_METHODS: Final = (
    "eth_signTypedData", "eth_signTypedData_v3", "eth_signTypedData_v4", "wallet_signTypedData",
)  # fmt: skip
_MESSAGE_KEYS: Final = ("message", "values", "value")
"""The names that EIP-712, Uniswap's SDKs and ethers use, in this order."""
_TYPED_KEYS: Final = {"types", "primaryType", "domain", "account", *_MESSAGE_KEYS}


class MessageRequest(NamedTuple):
    """A message to sign. `typed` is its typed data, None without any; `method` is empty unless a wallet was requested
    to sign it.

    `account` is the account that signs, and `chain_id` the chain of the request, both as written.
    """

    method: str = ""
    typed: Mapping[str, object] | None = None
    account: object = None
    chain_id: object = None
    problem: str = ""

    @property
    def message(self) -> object:
        """The values of the message."""
        typed = self.typed or {}
        return next((typed[key] for key in _MESSAGE_KEYS if key in typed), None)


def find_message(document: Mapping[str, object]) -> MessageRequest | None:
    """Return the message to sign in a document, or None if it has none."""
    params = document.get("params")
    if isinstance(params, Mapping) and isinstance(params.get("request"), Mapping):  # of a WalletConnect session
        found = find_message(params["request"])
        return None if found is None else found._replace(chain_id=params.get("chainId", found.chain_id))
    method = document.get("method", document.get("type"))
    if isinstance(method, str) and "params" in document and _SIGNS.search(method) and not _SENDS.search(method):
        return _from_request(method, params)
    if "primaryType" in document or ("domain" in document and not _TYPED_KEYS.isdisjoint(document.keys() - {"domain"})):
        return _from_typed(document)
    return None


def _from_request(method: str, params: object) -> MessageRequest:
    if method not in _TYPED_METHODS:
        entries = params if isinstance(params, list) else []
        account = next((each for each in entries if _is_account(each)), None)
        return MessageRequest(method, account=account)
    entries = params if isinstance(params, list) else [params]
    accounts = [each for each in entries if _is_account(each)]
    contents = [each for each in entries if not _is_account(each)]
    if len(contents) != 1 or len(accounts) > 1:
        return MessageRequest(method, problem="params: expected an account and typed data")
    account = accounts[0] if accounts else None
    try:
        (content,) = contents
        parsed = parse_json(content.encode(errors="replace"), "the typed data") if isinstance(content, str) else content
    except InvalidInput as error:
        return MessageRequest(method, account=account, problem=error.message)
    if not isinstance(parsed, Mapping):
        return MessageRequest(method, account=account, problem="the message has no domain, which names its contract")
    return _from_typed(parsed)._replace(method=method, account=account)


def _from_typed(document: Mapping[str, object]) -> MessageRequest:
    messages = [key for key in _MESSAGE_KEYS if key in document]
    others = sorted(document.keys() - _TYPED_KEYS)
    problem = ""
    if others:
        problem = f"the document has more than the message: {_listed(others)}"
    elif len(messages) != 1:
        problem = "the document has no message" if not messages else f"the message is given twice: {_listed(messages)}"
    account = document.get("account")
    if isinstance(account, Mapping):
        account = account.get("address")
    return MessageRequest(typed=document, account=account, problem=problem)


def _is_account(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"\s*0[xX][0-9a-fA-F]{1,64}\s*", value) is not None


def _listed(names: Sequence[str]) -> str:
    return ", ".join(name[:40] for name in names[:4])
