"""Decide what a node's refusal means and what to do about it. This is the only policy for retries, limits, spares and
load sharing.

A response is classified by its body before its HTTP status, by codes before words, and, if neither is known, by the
request. Lists of words are never complete, so two rules apply. First, a read that is rejected (not reverted) at a block
that the node itself has returned may succeed soon, or on another node. Second, a rejected range of blocks counts as too
wide until proven otherwise. A request without a result goes to the next node, unless it can be made smaller or its data
has been pruned.

The codes come from EIP-1474, EIP-4444, OP stack's proxyd, the documentation of providers, and Starknet's JSON-RPC
specification; the words are those sent in 2026 by geth, erigon, nethermind, reth, besu, bor, Monad, HyperEVM and
providers' proxies.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from swapcli.core.errors import InvalidUpstreamResponse, Unreachable, UpstreamError, UpstreamRejected, UpstreamTimeout
from swapcli.core.records import NamedTuple


class Refusal(StrEnum):
    """The kinds of refusals. The value appears in an error's details."""

    RESULT = "result"
    """A contract reverted, which is the result of the call."""
    TOO_LARGE = "too large"
    """Too many requests in a batch, blocks in a range, or bytes in a request or its response."""
    TRANSIENT = "transient"
    """The node is behind, busy or without a backend, or it lacks the state of a block that it has named."""
    RATE = "rate"
    """Too many requests within some time, or an exhausted quota."""
    TIMEOUT = "timeout"
    """The node took too long."""
    NOT_SERVED = "not served"
    """The node does not support the method, or not for this client."""
    GONE = "gone"
    """The node has removed the history of these blocks."""
    EDGE = "edge"
    """A server in front of the node responded instead of it, or nothing did."""
    OTHER = "other"
    """A refusal of an unknown kind."""


class Treatment(NamedTuple):
    """How to react to a refusal.

    `is_repeated`: the same node gets the request again after a pause. `is_repeated_before_next`: that happens even if
    there is another node. `may_shrink`: a smaller request may succeed on this node. `goes_on`: the next node gets the
    same request. `for_good`: this node never gets a request of that kind again.
    """

    is_repeated: bool = False
    is_repeated_before_next: bool = False
    may_shrink: bool = False
    goes_on: bool = True
    for_good: bool = False


TREATMENTS: Final[Mapping[Refusal, Treatment]] = MappingProxyType(
    {
        Refusal.RESULT: Treatment(goes_on=False),
        Refusal.TOO_LARGE: Treatment(may_shrink=True),
        Refusal.TRANSIENT: Treatment(is_repeated=True, is_repeated_before_next=True, may_shrink=True),
        Refusal.RATE: Treatment(is_repeated=True, is_repeated_before_next=True),
        Refusal.TIMEOUT: Treatment(is_repeated=True, may_shrink=True),
        Refusal.NOT_SERVED: Treatment(for_good=True),
        Refusal.GONE: Treatment(goes_on=False),
        Refusal.EDGE: Treatment(is_repeated=True),
        Refusal.OTHER: Treatment(may_shrink=True),
    }
)


class Attempt(NamedTuple):
    """A rejected request: its method, whether its caller can request less, and the number of requests in the exchange.

    `method` is empty for a refusal of a whole batch.
    """

    method: str = ""
    is_divisible: bool = False
    batch_requests: int = 1


LOG_METHODS: Final = frozenset({"eth_getLogs", "starknet_getEvents"})
_CALL: Final = "eth_call"
_STARKNET_CALLS: Final = frozenset({"starknet_call", "starknet_getClassHashAt"})
_BLOCK_READS: Final = frozenset({"eth_getBlockByNumber", "starknet_getBlockWithTxHashes"})
_STATE_READS: Final = (
    _STARKNET_CALLS
    | _BLOCK_READS
    | {_CALL, "eth_getBalance", "eth_getCode", "eth_getStorageAt", "eth_getTransactionCount"}
)
"""Methods that read at a block. Ours only use blocks that the node has named before."""

_REVERTED_CODE: Final = 3  # geth: "execution reverted"
_STARKNET_RESULTS: Final = frozenset({20, 21, 40})
"""From Starknet's JSON-RPC specification: no such contract, no such entry point, an error in the contract."""
_LIMIT_EXCEEDED_CODE: Final = -32_005
"""From EIP-1474. For `eth_getLogs`, nodes also use it if there are too many events."""

_CODES: Final[Mapping[int, Refusal]] = MappingProxyType(
    {
        # EIP-1474 and the JSON-RPC specification
        -32_601: Refusal.NOT_SERVED,  # method not found
        -32_004: Refusal.NOT_SERVED,  # method not supported
        # EIP-4444, and a provider's code for the same
        4_444: Refusal.GONE,
        -32_701: Refusal.GONE,
        # proxyd of the OP stack, proxyd/errors.go: -32010 to -32021
        -32_010: Refusal.TRANSIENT,  # backend offline
        -32_011: Refusal.TRANSIENT,  # no backends available for method, no backend is currently healthy
        -32_012: Refusal.RATE,  # backend is over capacity
        -32_013: Refusal.TRANSIENT,  # backend returned an invalid response
        -32_014: Refusal.TOO_LARGE,  # too many RPC calls in batch request
        -32_016: Refusal.RATE,  # over rate limit
        -32_017: Refusal.RATE,  # sender is over rate limit
        -32_018: Refusal.TRANSIENT,  # backend is currently not healthy to serve traffic
        -32_019: Refusal.TRANSIENT,  # block is out of range
        -32_020: Refusal.TOO_LARGE,  # backend response too large
        -32_021: Refusal.TOO_LARGE,  # request body too large
        # providers
        -32_007: Refusal.RATE,  # QuickNode: requests per second
        -32_029: Refusal.RATE,  # Ankr and others
        -32_090: Refusal.RATE,  # public nodes of BNB Chain and Polygon
        -32_052: Refusal.NOT_SERVED,  # Ankr: the key is not allowed to access the method
        -32_614: Refusal.TOO_LARGE,  # QuickNode: eth_getLogs is limited to a range
        # drpc
        12: Refusal.TRANSIENT,  # can't route your request to suitable provider
        15: Refusal.RATE,
        19: Refusal.TRANSIENT,  # temporary internal error
        30: Refusal.TIMEOUT,  # request timeout on the free tier
        31: Refusal.TOO_LARGE,  # batch of more than 3 requests
        35: Refusal.TOO_LARGE,  # ranges over 10000 blocks
    }
)
_STARKNET_CODES: Final[Mapping[int, Refusal]] = MappingProxyType(
    {
        24: Refusal.TRANSIENT,  # block not found
        31: Refusal.TOO_LARGE,  # page size too big
        32: Refusal.TRANSIENT,  # there are no blocks
        38: Refusal.TRANSIENT,  # failed to fetch pending transactions
        -32_601: Refusal.NOT_SERVED,
    }
)

_STATUSES: Final[Mapping[int, Refusal]] = MappingProxyType(
    {
        408: Refusal.TIMEOUT, 413: Refusal.TOO_LARGE, 414: Refusal.TOO_LARGE, 425: Refusal.TRANSIENT,
        429: Refusal.RATE, 500: Refusal.TRANSIENT, 501: Refusal.NOT_SERVED, 502: Refusal.TRANSIENT,
        503: Refusal.TRANSIENT, 504: Refusal.TIMEOUT,
    }
)  # fmt: skip
_BATCH_STATUSES: Final = frozenset({400, 404, 405, 406, 415, 422, 501})
"""HTTP statuses of responses without JSON-RPC which, for a batch, mean that it is too large or that batches are not
supported."""

_Words = re.Pattern[str]


def _words(*patterns: str) -> _Words:
    return re.compile("|".join(patterns), re.IGNORECASE)


_REVERTED: Final = _words(
    r"revert", r"opcode", r"out ?of ?gas", r"stack ?(under|over)flow", r"(bad|invalid) ?(jump|instruction)",
    r"\bEVM\b", r"\bVM (execution|exception)",
)  # fmt: skip
"""For a revert, nodes that give a code agree on this one; otherwise they agree on nothing."""
_TOO_WIDE: Final = _words(
    r"(block|range|result|response|log|event|query)s?\b.{0,60}\b(limit|exceed|max|too (large|many|wide|big|long))",
    r"\b(limit|exceed|max|too (large|many|wide|big|long))\w*\b.{0,60}\b(block|range|result|response|log|event)s?\b",
    r"\brange", r"more than [\d,]+ (results|logs|events|blocks)", r"narrow|smaller|(reduce|shrink|split) (the|your)",
)  # fmt: skip
"""Words about a range of blocks that is too wide."""
_AHEAD: Final = _words(
    r"(beyond|after|above|greater than|higher than|exceeds?).{0,20}\b(head|latest|current|tip|finalized)\b",
    r"\b(head|tip) (block )?not (found|available)",
)
"""Words about a range of blocks whose end the node does not have yet."""
_TOO_LARGE: Final = _words(
    r"(entity|body|content|payload|request|response|message|calldata)( size)? (is )?too (large|big|long)|size exceed",
    r"\bbatch", r"restricted json.?rpc", r"too large|too big", r"multiple (calls|requests) (are )?not",
    r"exceeds? (the )?(block|rpc|call)? ?gas (limit|cap)", r"array (of requests )?(is )?not",
)  # fmt: skip
_PRUNED: Final = _words(
    r"prun", r"history (is )?(unavailable|expired)", r"old(er)? (data|blocks?) (is |are )?not available"
)
_RATE: Final = _words(
    r"(rate|request|call|quota|usage|capacity|credit|throughput)s?.{0,12}(limit|exceed|exhaust)",
    r"(exceed|reached|over|hit)\w*( \w+){0,3} (rate|quota|capacity|credits?|rps|requests|calls)",
    r"limit of \d+ (calls|requests)", r"compute units", r"too many (concurrent |connections|requests|calls)",
    r"throttl", r"\b(rps|cups)\b", r"per.?second", r"slow down", r"(daily|monthly) (limit|request)",
    r"rate.?limit", r"limited? exceeded",
)  # fmt: skip
_TIMEOUT: Final = _words(
    r"time(d)?[ -]?out", r"deadline exceeded", r"took too long", r"(context|request|query|call) (was )?cancell?ed",
    r"execution aborted",
)  # fmt: skip
_INVALID: Final = _words(
    r"too many arguments", r"invalid (argument|params|parameter|type)", r"missing value for", r"cannot unmarshal"
)
"""Words about parameters that the node does not know, such as state overrides: repeating the request does not help."""
_NOT_SERVED: Final = _words(
    r"(method|function|rpc|module|namespace|api).{0,60}"
    r"(not (be )?(support|found|exist|avail|allow|enabl|whitelist|implement|served)|does(n't| not) exist"
    r"|unsupported|unavailable|disabled|forbidden|restricted|unknown|deprecated)",
    r"(unsupported|unknown|invalid|restricted|disabled|deprecated) (rpc )?method",
    r"discontinued|decommission|shut ?down|sunset|retired",
    r"unauthori[sz]ed|not authori[sz]ed|authenticat|api.?key|forbidden|access denied|permission|project id",
    r"(upgrade|paid|your|free|archive|current)( \w+)? (plan|tier|subscription)", r"payment|billing",
)  # fmt: skip
_TRANSIENT: Final = _words(
    r"temporar", r"busy|overload|capacity", r"try again|retry", r"unavailable|not (yet )?available",
    r"internal( server)? error|internal json.?rpc error",
    r"not (be )?found", r"(unknown|missing|no such) (block|header|trie|state|ancestor)", r"missing trie node",
    r"(no|without)( \w+)? (backend|upstream|node|provider)s?", r"(un|not )health|backend|upstream|suitable provider",
    r"out ?of ?range", r"invalid block (height|number)", r"historical state", r"sync(ing|ed)",
    r"state (is )?(missing|not|histories)", r"behind", r"(cannot|could not|can't|couldn't) (find|get|load|query)",
    r"connection (refused|reset|closed)|bad gateway|no response|\bEOF\b",
)  # fmt: skip

_REQUESTED_PAUSE: Final = re.compile(
    r"(?:retry|try again|back.?off|wait)\D{0,24}?(\d+(?:\.\d+)?) ?(ms|millisecond|s|min|m)?\b", re.IGNORECASE
)
_MAX_PAUSE_S: Final = 86_400.0
"""A longer pause than a day is not a pause."""
READ_CHARACTERS: Final = 1_000
"""Characters of a message to read: the rest adds nothing, and regular expressions need not see it."""


def classify_error(code: int, message: str, attempt: Attempt) -> Refusal:
    """Return the kind of refusal that a JSON-RPC error object represents in response to `attempt`.

    >>> classify_error(-32_602, "Block requested not found.", Attempt("eth_call"))
    <Refusal.TRANSIENT: 'transient'>
    """
    message = message[:READ_CHARACTERS]
    if not attempt.method:
        return _classify_batch_error(code, message, attempt)
    if is_result(attempt.method, code, message):
        return Refusal.RESULT
    is_range = attempt.method in LOG_METHODS
    known = _known_code(code, attempt.method)
    if code == _LIMIT_EXCEEDED_CODE and known is None:
        known = None if is_range else Refusal.RATE
    if known is None:
        known = _classify_range_words(message) if is_range else _classify_words(message)
    if is_range and known in (None, Refusal.OTHER):
        known = Refusal.TOO_LARGE if attempt.is_divisible else Refusal.OTHER
    if known is Refusal.GONE and attempt.method in _STATE_READS and attempt.method not in _BLOCK_READS:
        return Refusal.TRANSIENT  # the node has named the block, so its state cannot be gone
    return known or (Refusal.TRANSIENT if attempt.method in _STATE_READS else Refusal.OTHER)


def classify_status(status: int, words: str, attempt: Attempt) -> Refusal:
    """Return the kind of refusal that a response without JSON-RPC represents, judging by its HTTP status and the words
    in its body."""
    words = words[:READ_CHARACTERS]
    known = _STATUSES.get(status)
    if known is not None and known is not Refusal.NOT_SERVED:
        return known
    is_batch = attempt.batch_requests > 1
    if is_batch and (status in _BATCH_STATUSES or (status != 200 and _TOO_LARGE.search(words))):
        return Refusal.TOO_LARGE
    if words and _RATE.search(words):
        return Refusal.RATE
    if status in (400, 422):
        return Refusal.OTHER
    if 400 <= status < 500 or status == 501 or (words and _NOT_SERVED.search(words)):
        return Refusal.NOT_SERVED
    return Refusal.EDGE


def is_result(method: str, code: int, message: str) -> bool:
    """Return whether an error is the result of a call, because the contract itself failed."""
    if method in _STARKNET_CALLS:
        return code in _STARKNET_RESULTS
    if method != _CALL:
        return False
    return code == _REVERTED_CODE or bool(_REVERTED.search(message) and not _TIMEOUT.search(message))


def is_known_transient(code: int) -> bool:
    """Return whether the code alone shows that a request may succeed later, whatever the request is."""
    return _CODES.get(code) in (Refusal.TRANSIENT, Refusal.RATE)


def names_batch(code: int, message: str) -> bool:
    """Return whether an error for one request in a batch applies to the whole batch."""
    return code in (31, -32_014) or "batch" in message[:READ_CHARACTERS].lower()


def requested_pause_s(message: str, data: object = None) -> float:
    """Return the pause in seconds that an error requests; 0 if it requests none.

    Infura returns the pause in `data`, as `{"rate": {"backoff_seconds": 30}}`. Others write "retry in 10s" in the
    message.
    """
    rate = data.get("rate") if isinstance(data, dict) else None
    seconds: object = rate.get("backoff_seconds") if isinstance(rate, dict) else None
    if isinstance(seconds, int | float) and 0 <= seconds < _MAX_PAUSE_S:
        return float(seconds)
    found = _REQUESTED_PAUSE.search(message[:READ_CHARACTERS])
    if found is None or len(found[1]) > 6:
        return 0.0
    unit = (found[2] or "s").lower()
    return float(found[1]) * (0.001 if unit.startswith("mill") or unit == "ms" else 60.0 if unit[0] == "m" else 1.0)


def refused(error: UpstreamError, kind: Refusal) -> UpstreamError:
    """Return the error, with its kind of refusal set to `kind`."""
    error.refusal = kind.value
    return error


def refusal_of(error: UpstreamError) -> Refusal | None:
    """Return the kind of refusal in an error; None if the error is not a refusal, for example a reorganization."""
    if error.refusal:
        return Refusal(error.refusal)
    if isinstance(error, UpstreamTimeout):
        return Refusal.TIMEOUT
    if isinstance(error, Unreachable):
        return Refusal.EDGE
    if isinstance(error, UpstreamRejected):
        return Refusal.OTHER
    return Refusal.EDGE if type(error) is InvalidUpstreamResponse else None


def may_shrink(error: UpstreamError) -> bool:
    """Return whether the node may accept a smaller request."""
    is_refusal = isinstance(error, UpstreamRejected | UpstreamTimeout) or bool(error.refusal)
    kind = refusal_of(error) if is_refusal else None
    return kind is not None and TREATMENTS[kind].may_shrink


def is_clearly_too_much(error: UpstreamError) -> bool:
    """Return whether a refusal shows that the request is too large, so that smaller ones will succeed."""
    return refusal_of(error) in (Refusal.TOO_LARGE, Refusal.TIMEOUT) and not isinstance(error, UpstreamTimeout)


def _known_code(code: int, method: str) -> Refusal | None:
    if method.startswith("starknet_"):
        return _STARKNET_CODES.get(code)
    known = _CODES.get(code)
    return _STATUSES.get(code) if known is None else known


def _classify_batch_error(code: int, message: str, attempt: Attempt) -> Refusal:
    """Return what a single error for a whole batch means: an unknown one rejects the batch itself."""
    known = _CODES.get(code) or _STATUSES.get(code)
    if known is None and code == _LIMIT_EXCEEDED_CODE:
        known = Refusal.RATE
    if known in (None, Refusal.NOT_SERVED, Refusal.GONE):
        if _TOO_LARGE.search(message):
            return Refusal.TOO_LARGE
        known = next((kind for kind, words in _BATCH_WORDS if words.search(message)), None)
    if attempt.batch_requests > 1 and known is None:
        return Refusal.TOO_LARGE
    return known or Refusal.OTHER


def _classify_range_words(message: str) -> Refusal | None:
    return next((kind for kind, words in _RANGE_WORDS if words.search(message)), None)


def _classify_words(message: str) -> Refusal | None:
    return next((kind for kind, words in _READ_WORDS if words.search(message)), None)


_BATCH_WORDS: Final = ((Refusal.RATE, _RATE), (Refusal.TIMEOUT, _TIMEOUT), (Refusal.TRANSIENT, _TRANSIENT))
_RANGE_WORDS: Final = (
    (Refusal.TIMEOUT, _TIMEOUT),
    (Refusal.GONE, _PRUNED),
    (Refusal.TRANSIENT, _AHEAD),
    (Refusal.TOO_LARGE, _TOO_WIDE),
    (Refusal.RATE, _RATE),
    (Refusal.NOT_SERVED, _NOT_SERVED),
    (Refusal.TOO_LARGE, _TOO_LARGE),
    (Refusal.TRANSIENT, _TRANSIENT),
)
_READ_WORDS: Final = (
    (Refusal.TIMEOUT, _TIMEOUT),
    (Refusal.TOO_LARGE, _TOO_LARGE),
    (Refusal.RATE, _RATE),
    (Refusal.NOT_SERVED, _NOT_SERVED),
    (Refusal.GONE, _PRUNED),
    (Refusal.TRANSIENT, _TRANSIENT),
    (Refusal.OTHER, _INVALID),
)
