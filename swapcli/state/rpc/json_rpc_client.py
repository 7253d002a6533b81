"""JSON-RPC over one connection: many requests in few exchanges, with retries.

All requests only read, so every request can be repeated. Transient failures (no connection, a timeout, too many
requests, a node behind a load balancer that lacks a block) are retried a few times after a pause; permanent rejections
are raised at once. Requests keep to the limits that the node has shown: so many in a batch, so many a second.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from swapcli.backoff import backoff_s
from swapcli.errors import InvalidUpstreamResponse, Unreachable, UpstreamError, UpstreamRejected, UpstreamTimeout
from swapcli.records import NamedTuple
from swapcli.state.rpc.node_limits import NodeLimits
from swapcli.state.rpc.rpc_connection import RpcConnection, RpcResponse

_FIRST_PAUSE_S: Final = 0.25
_LONGEST_PAUSE_S: Final = 10.0
_ADAPTING_REQUESTS: Final = 8
"""Requests of an exchange: if this many are too many, the next exchange has half of them, which is progress."""
_MAX_BYTES: Final = 2**20
_TRANSIENT_STATUSES: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_PERHAPS_TOO_LARGE: Final = frozenset({400, 413, 422})
_READ_CHARACTERS: Final = 1_000
_SHOWN_CHARACTERS: Final = 160
_REVERTED_CODE: Final = 3
_CALL: Final = "eth_call"
_STARKNET_CALLS: Final = frozenset({"starknet_call", "starknet_getClassHashAt"})
_STARKNET_REVERTS: Final = frozenset({20, 21, 40})
"""Of Starknet's JSON-RPC specification: no such contract, no such entry point, an error in the contract."""
_TOO_MANY_STATUS: Final = 429
_LIMIT_EXCEEDED_CODE: Final = -32_005
"""Of EIP-1474. For `eth_getLogs`, nodes also use it if there are too many events."""
_LOG_METHODS: Final = frozenset({"eth_getLogs", "starknet_getEvents"})
# Nodes agree on the code for a revert, though not all of them give it, and on nothing else.
_REVERTED: Final = re.compile(
    r"revert|opcode|out ?of ?gas|stack ?(under|over)flow|(bad|invalid) ?jump|\bEVM\b", re.IGNORECASE
)
_RATE_LIMITED: Final = re.compile(
    r"(rate|request).?limit|rate exceeded|compute units|too many requests|throttl|exceeded its capacity", re.IGNORECASE
)
_TRANSIENT: Final = re.compile(
    r"temporar|busy|overload|try again|unavailable|internal( server)? error|header not found|header for hash not found"
    r"|unknown block|block not found|(cannot|could not) find block|BlockOutOfRange",
    re.IGNORECASE,
)


class RpcRequest(NamedTuple):
    """A method with its JSON parameters. A null result is retried unless `may_be_null`.

    Errors of the node are raised, except that a call's revert is a result, and so is any error of a request that
    `is_optional`, since the caller can do without it.
    """

    method: str
    params: Sequence[object]
    may_be_null: bool = False
    is_optional: bool = False


class RpcError(NamedTuple):
    """An error object of JSON-RPC. `data` is what the contract returned with a revert, in hex if the node says so."""

    code: int
    message: str
    data: str = ""

    @property
    def is_revert(self) -> bool:
        """Whether the contract reverted, rather than the node rejecting the request."""
        return self.code == _REVERTED_CODE or bool(_REVERTED.search(self.message))

    def is_result_of(self, method: str) -> bool:
        """Whether it is the result of a call that the contract did not answer."""
        if method in _STARKNET_CALLS:
            return self.code in _STARKNET_REVERTS
        return method == _CALL and self.is_revert

    @property
    def is_transient(self) -> bool:
        """Whether a retry may succeed."""
        return self.is_rate_limit or (not self.is_revert and bool(_TRANSIENT.search(self.message)))

    @property
    def is_rate_limit(self) -> bool:
        """Whether the node rejects the request because there were too many."""
        is_limit = self.code == _TOO_MANY_STATUS or bool(_RATE_LIMITED.search(self.message))
        return is_limit and not self.is_revert


class TooManyRequests(UpstreamRejected):
    """The node rejects requests because there were too many; a smaller request would not help."""


class NullResult(InvalidUpstreamResponse):
    """A null result after all retries, for a request that must have a result."""


RpcResult = object
"""The result of a request: a JSON value, or an `RpcError`."""

MAX_TIMEOUTS: Final = 2

_MISSING: Final = object()
"""Marks a missing result."""


class ConsistencyCheck(NamedTuple):
    """A request at the end of each exchange that validates the results before it.

    `failure` returns the error if its result contradicts them. If its result is null, the node may not have the block
    yet: the whole exchange is retried.
    """

    request: RpcRequest
    failure: Callable[[RpcResult], UpstreamError | None]


class JsonRpcClient:
    """Sends requests over `connection`.

    Gives up after `attempts` exchanges in a row without a result, each of at most `timeout_s`; `pause` sleeps for the
    given seconds between them. It keeps to `limits`, and learns them.

    `round_trips` counts exchanges.
    """

    def __init__(
        self,
        connection: RpcConnection,
        timeout_s: float,
        attempts: int,
        pause: Callable[[float], object],
        limits: NodeLimits | None = None,
    ) -> None:
        self._connection, self._timeout_s, self._attempts, self._pause = connection, timeout_s, attempts, pause
        self.limits = limits or NodeLimits()
        self.round_trips = 0

    @property
    def redacted_url(self) -> str:
        """The URL without credentials, for messages."""
        return self._connection.redacted_url

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def send(
        self,
        requests: Sequence[RpcRequest],
        check: ConsistencyCheck | None = None,
        *,
        max_timeouts: int = MAX_TIMEOUTS,
    ) -> list[RpcResult]:
        """Return the result of each request: an `RpcError` for a call that reverts or an optional request.

        Gives up after `max_timeouts` timeouts in a row. Raises `UpstreamError`.
        """
        progress = _Progress({})
        failures = 0
        while True:
            before = len(progress.results)
            try:
                self._fill(requests, progress, check)
            except _TransientError as error:
                if not error.is_adapting:
                    failures = failures + 1 if len(progress.results) == before else 1
                # A second timeout takes the whole time again; a third attempt is not worth it.
                max_attempts = max_timeouts if isinstance(error.failure, UpstreamTimeout) else self._attempts
                if failures >= min(max_attempts, self._attempts):
                    raise error.failure from None
                wait_s = max(backoff_s(max(failures, 1), _FIRST_PAUSE_S, _LONGEST_PAUSE_S), error.wait_s)
            else:
                return [progress.results[k] for k in range(len(requests))]
            self.limits.pause(min(wait_s, _LONGEST_PAUSE_S), self._pause)

    def _fill(self, requests: Sequence[RpcRequest], progress: _Progress, check: ConsistencyCheck | None) -> None:
        """Request the results that are missing. Raises `_TransientError` if some remain missing."""
        bodies = {k: _body(k, request) for k, request in enumerate(requests) if k not in progress.results}
        closing = {len(requests): _body(len(requests), check.request)} if check and requests else {}
        while batch := self._next_batch(bodies, progress.results, len(closing)):
            checks = closing if self.limits.max_requests > 1 else {}
            with self._learned_rate(len(batch | checks)):
                response = self._exchange(batch | checks)
                if response is None:
                    self.limits.batch_requests.reject(len(batch | checks), now_s=self.limits.now_s)
                    continue
                self.limits.batch_requests.accept(len(batch | checks), now_s=self.limits.now_s)
                if check and checks:
                    self._verify(check, response.get(len(requests), _MISSING))
                progress.is_unverified |= bool(closing) and not checks
                self._store_results({k: (requests[k], response.get(k, _MISSING)) for k in batch}, progress.results)
        if check and progress.is_unverified:
            with self._learned_rate(len(closing)):
                response = self._exchange(closing) or {}
                self._verify(check, response.get(len(requests), _MISSING))

    @contextmanager
    def _learned_rate(self, count: int) -> Iterator[None]:
        """Take note whether the node takes an exchange of `count` requests at the present rate."""
        try:
            yield
        except _TransientError as error:
            if isinstance(error.failure, TooManyRequests):
                error.is_adapting = self.limits.reject_rate() and count >= _ADAPTING_REQUESTS
            raise
        self.limits.accept_rate()

    def _next_batch(self, bodies: dict[int, bytes], results: dict[int, RpcResult], reserved: int) -> dict[int, bytes]:
        """Return as many requests as fit one exchange with `reserved` others, at least one while any is left."""
        batch: dict[int, bytes] = {}
        size = 0
        for k, body in bodies.items():
            if k in results:
                continue
            if batch and (len(batch) + reserved >= self.limits.max_requests or size + len(body) > _MAX_BYTES):
                break
            batch[k] = body
            size += len(body)
        return batch

    def _verify(self, check: ConsistencyCheck, result: RpcResult) -> None:
        """Raise the error if the check contradicts the other results."""
        objection = check.failure(self._accepted(check.request, result))
        if objection:
            raise _TransientError(objection) if result is None else objection

    def _store_results(
        self, response: Mapping[int, tuple[RpcRequest, RpcResult]], results: dict[int, RpcResult]
    ) -> None:
        """Store the accepted results. Then raise `_TransientError` if any result is missing or transient."""
        transient: _TransientError | None = None
        for k, (request, result) in response.items():
            try:
                results[k] = self._accepted(request, result)
            except _TransientError as error:
                if transient is None or not isinstance(transient.failure, TooManyRequests):
                    transient = error
        if transient:
            raise transient

    def _exchange(self, batch: dict[int, bytes]) -> dict[int, RpcResult] | None:
        """Return the results by id; None if the batch is too large for the node. Raises `UpstreamError`."""
        (first, alone), *others = batch.items()
        body = b"[" + b",".join(batch.values()) + b"]" if others else alone
        content = self._content(self._post(body, len(batch)), bool(others))
        if isinstance(content, list):
            return dict(self._results(content))
        if content is None:
            return None
        ((_, result),) = self._results([content])
        if not others:
            return {first: result}
        if isinstance(result, RpcError) and result.is_transient:
            raise _TransientError(self._rejection(result, is_rate_limit=result.is_rate_limit))
        return None

    def _post(self, body: bytes, count: int) -> RpcResponse:
        self.limits.pause_before(count, self._pause, _LONGEST_PAUSE_S)
        self.round_trips += 1
        try:
            reply = self._connection.exchange(body, self._timeout_s)
        except (Unreachable, UpstreamTimeout, InvalidUpstreamResponse) as error:
            raise _TransientError(error) from None
        if reply.status in _TRANSIENT_STATUSES:
            raise _TransientError(self._bad_status(reply, "try again later, or set another node"), reply.retry_after_s)
        return reply

    def _content(self, reply: RpcResponse, may_be_less: bool) -> object:
        """Return the list or object; None if the batch is too large for the node."""
        content = reply.content
        if may_be_less and reply.status in _PERHAPS_TOO_LARGE and not isinstance(content, list):
            return None
        if isinstance(content, dict | list):
            return content
        if reply.status != 200:
            raise self._bad_status(reply, "check the address of the node")
        raise self._not_rpc()

    def _results(self, entries: Sequence[object]) -> Iterator[tuple[int, RpcResult]]:
        for entry in entries:
            if not isinstance(entry, dict):
                raise self._not_rpc()
            number, error = entry.get("id"), entry.get("error")
            if isinstance(error, dict):
                code = error.get("code")
                data = error.get("data")
                result: RpcResult = RpcError(
                    code if type(code) is int else 0, str(error.get("message")), data if isinstance(data, str) else ""
                )
            elif "result" in entry:
                result = entry["result"]
            else:
                raise self._not_rpc()
            yield number if type(number) is int else -1, result

    def _accepted(self, request: RpcRequest, result: RpcResult) -> RpcResult:
        if result is _MISSING:
            raise _TransientError(InvalidUpstreamResponse(f"{self._connection.redacted_url} left requests unanswered"))
        if result is None and not request.may_be_null:  # as from nodes that do not have the block yet
            raise _TransientError(NullResult(f"{self._connection.redacted_url} answered {request.method} with nothing"))
        if isinstance(result, RpcError) and request.is_optional and not result.is_rate_limit:
            return RpcError(result.code, self._reason(result))
        if isinstance(result, RpcError) and not result.is_result_of(request.method):
            is_limit = result.code == _LIMIT_EXCEEDED_CODE and request.method not in _LOG_METHODS
            failure = self._rejection(result, is_rate_limit=is_limit or result.is_rate_limit)
            raise _TransientError(failure) if is_limit or result.is_transient else failure
        return result

    def _rejection(self, refusal: RpcError, *, is_rate_limit: bool) -> UpstreamRejected:
        kind = TooManyRequests if is_rate_limit else UpstreamRejected
        return kind(f"{self._connection.redacted_url} refused: {self._reason(refusal)}", details={"code": refusal.code})

    def _reason(self, refusal: RpcError) -> str:
        """Return the node's message, short and without credentials."""
        reason = self._connection.redact(refusal.message[:_READ_CHARACTERS])[:_SHOWN_CHARACTERS]
        return reason or "it gives no reason"

    def _bad_status(self, reply: RpcResponse, hint: str) -> UpstreamRejected:
        kind = TooManyRequests if reply.status == _TOO_MANY_STATUS else UpstreamRejected
        return kind(f"{self._connection.redacted_url} answered with status {reply.status}", hint=hint)

    def _not_rpc(self) -> _TransientError:
        return _TransientError(
            InvalidUpstreamResponse(f"{self._connection.redacted_url} answered with what is not JSON-RPC")
        )


class _Progress:
    """The results so far, by the index of their request, and whether the check of some of them is outstanding."""

    def __init__(self, results: dict[int, RpcResult]) -> None:
        self.results, self.is_unverified = results, False


class _TransientError(Exception):
    """An error that a retry may resolve; `failure` is raised if it does not.

    `is_adapting` is whether the retry is smaller than the rejected exchange, so that it makes progress.
    """

    def __init__(self, failure: UpstreamError, wait_s: float = 0.0) -> None:
        super().__init__(failure.message)
        self.failure, self.wait_s, self.is_adapting = failure, wait_s, False


def _body(number: int, request: RpcRequest) -> bytes:
    entry = {"jsonrpc": "2.0", "id": number, "method": request.method, "params": list(request.params)}
    return json.dumps(entry, separators=(",", ":")).encode()
