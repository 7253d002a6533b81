"""Find a transaction in the objects that wallets, nodes and services wrap around it: one row per kind of object."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from swapcli.core.errors import InvalidInput
from swapcli.core.records import NamedTuple
from swapcli.payload.decode.given_transaction import HINT
from swapcli.payload.decode.transaction_fields import CALLDATA_NAMES, Chains, find_chains, named, normalized

JsonPath: TypeAlias = tuple[str | int, ...]
"""The keys and positions that lead to a value."""

LIST_NAMES: Final = ("transactions", "calls")
RAW_NAMES: Final = ("raw", "rawtransaction", "signedtransaction", "serializedtransaction")
"""The names for the bytes of a transaction as text."""

_REQUEST_NAMES: Final = ("method", "type")
"""The names of a request; get-starknet uses the second one."""
_REQUESTS: Final = frozenset(
    {
        "eth_sendTransaction", "eth_signTransaction", "wallet_sendTransaction", "wallet_sendCalls",
        "wallet_addInvokeTransaction", "starknet_addInvokeTransaction", "eth_sendRawTransaction",
        "eth_sendRawTransactionSync",
    }
)  # fmt: skip
"""Methods that pass a transaction to a wallet or a node."""
_MEMBERS: Final = (
    "transactionrequest", "transaction", "tx", "txn", "swaptx", "swaptransaction", "unsignedtransaction",
    "populatedtransaction", "invoketransaction", "swap", "data", "result", "response",
)  # fmt: skip
"""The members of a service's response that may be or contain a transaction."""
_MAX_LEVELS: Final = 6  # a bound against hostile input; chosen


class Opened(NamedTuple):
    """The content of a document's envelopes.

    `content` is the transaction, a list of transactions, or text; `path` leads to it. `openings` has the path of each
    envelope, with the key that was followed. `is_sent` means that a wallet would sign the content unchanged.
    """

    content: object
    path: JsonPath
    openings: Mapping[JsonPath, str]
    chains: Chains
    is_sent: bool


class _Envelope(NamedTuple):
    """The location of a transaction in one kind of object; `find` returns its path, empty for other objects.

    `is_outermost` means that the object is an envelope even if it has calldata itself.
    """

    find: Callable[[Mapping[str, object]], JsonPath]
    is_sent: bool = False
    is_outermost: bool = False


def open_envelopes(document: Mapping[str, object], path: JsonPath = ()) -> Opened:
    """Follow the envelopes of a document to its transaction. Raises `InvalidInput` for an empty envelope."""
    content: object = document
    openings: dict[JsonPath, str] = {}
    chains, is_sent = Chains(), False
    for _ in range(_MAX_LEVELS):
        if not isinstance(content, Mapping):
            break
        found = _find(content)
        if found is None:
            break
        steps, envelope = found
        chains |= find_chains(content, "")
        is_sent |= envelope.is_sent
        for step in steps:
            if isinstance(content, Mapping):
                openings[path] = str(step)
                chains |= find_chains(content, "")
            content, path = content[step], (*path, step)  # type: ignore[index]
    return Opened(content, path, openings, chains, is_sent)


def has_calldata(document: Mapping[str, object]) -> bool:
    """Return whether an object has calldata or felts directly, rather than a nested object under such a name."""
    return any(not isinstance(value, Mapping) for _, value in named(document, CALLDATA_NAMES))


def _find(document: Mapping[str, object]) -> tuple[JsonPath, _Envelope] | None:
    is_own = has_calldata(document) or any(True for _ in named(document, LIST_NAMES))
    for envelope in _ENVELOPES:
        if (envelope.is_outermost or not is_own) and (path := envelope.find(document)):
            return path, envelope
    return None


# --- the rows


def _request(document: Mapping[str, object]) -> JsonPath:
    """Find the only parameter of a request to a wallet or node."""
    methods = [document.get(name) for name in _REQUEST_NAMES]
    if "params" not in document or not any(isinstance(each, str) and each in _REQUESTS for each in methods):
        return ()
    params = document["params"]
    if isinstance(params, Mapping):
        return ("params",)
    if not isinstance(params, list) or len(params) != 1:
        raise InvalidInput("params: expected a list with one transaction", details={"field": "params"})
    return ("params", 0)


def _nested_request(document: Mapping[str, object]) -> JsonPath:
    """Find the request that WalletConnect passes on, next to its chain."""
    params = document.get("params")
    outer: JsonPath = ("params",) if isinstance(params, Mapping) else ()
    inner = params.get("request") if isinstance(params, Mapping) else document.get("request")
    return (*outer, "request") if isinstance(inner, Mapping) and "method" in inner else ()


def _answer(document: Mapping[str, object]) -> JsonPath:
    """Find the result in a node's response."""
    if "jsonrpc" not in document:
        return ()
    if document.get("error") is not None:
        raise InvalidInput("this is an error from a node, not a transaction", hint=HINT)
    if "result" not in document and document.get("method") is not None:
        return ()
    if document.get("result") is None:
        raise InvalidInput(
            "the node's response has no transaction", hint="check its hash and network: the node does not have it"
        )
    return ("result",)


def _raw(document: Mapping[str, object]) -> JsonPath:
    """Find the bytes of a transaction as text."""
    return next(((name,) for name, value in named(document, RAW_NAMES) if isinstance(value, str)), ())


def _member(wanted: str) -> Callable[[Mapping[str, object]], JsonPath]:
    def find(document: Mapping[str, object]) -> JsonPath:
        for name, value in document.items():
            if normalized(name) == wanted and _leads_on(value):
                return (name,)
        return ()

    return find


def _leads_on(value: object) -> bool:
    """Return whether a member is a transaction, a list of them, or another envelope."""
    if isinstance(value, list):
        return len(value) > 0 and all(isinstance(each, Mapping) and has_calldata(each) for each in value)
    return isinstance(value, Mapping) and (
        has_calldata(value) or any(True for _ in named(value, LIST_NAMES)) or _find(value) is not None
    )


_ENVELOPES: Final[Sequence[_Envelope]] = (
    _Envelope(_request, is_sent=True, is_outermost=True),
    _Envelope(_nested_request, is_outermost=True),
    _Envelope(_answer, is_outermost=True),
    _Envelope(_raw, is_sent=True),
    *(_Envelope(_member(name)) for name in _MEMBERS),
)
