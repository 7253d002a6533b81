"""Send many JSON-RPC requests over one connection in few exchanges, with retries.

All requests are read-only, so every request can be repeated. `refusals` decides what a refusal means, and whether
another attempt, a smaller request or another node may succeed. Requests keep to the node's known limits per batch and
per second.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from swapcli.core.errors import InvalidUpstreamResponse, Unreachable, UpstreamError, UpstreamRejected, UpstreamTimeout
from swapcli.core.records import NamedTuple
from swapcli.state.backoff import backoff_s
from swapcli.state.connect_failure import explain_redirect
from swapcli.state.rpc.node_limits import MAX_BATCH_REQUESTS, NodeLimits
from swapcli.state.rpc.refusals import (
    READ_CHARACTERS,
    TREATMENTS,
    Attempt,
    Refusal,
    classify_error,
    classify_status,
    is_known_transient,
    names_batch,
    refusal_of,
    refused,
    requested_pause_s,
)
from swapcli.state.rpc.rpc_connection import OK, TOO_LARGE, RpcConnection, RpcResponse

_FIRST_PAUSE_S: Final = 0.25  # pause after a failure; each further one doubles it
_LONGEST_PAUSE_S: Final = 10.0  # also if a node requests a longer one
_ADAPTING_REQUESTS: Final = 8
"""Requests of an exchange: if this many are too many, the next exchange has half of them, which counts as progress."""
_DIVISIBLE_ATTEMPTS: Final = 2
"""Attempts at a request that the caller can make smaller: that is more likely to help than a third attempt."""
_CALM_TIMEOUTS: Final = 3
"""After this many timeouts' time without a wait, a node is given time to catch up again."""
_SUSPECT_ATTEMPTS: Final = 3
"""Attempts at a batch without a JSON-RPC response: the third is a single request, which shows whether the node does not
accept such batches or is down."""
_MAX_BYTES: Final = 2**20  # bytes of a batch; chosen
_SHOWN_CHARACTERS: Final = 160  # characters of a node's message; chosen
_MARKUP: Final = re.compile(r"<(script|style)\b.*?(</\1>|$)|<[^>]*>|[<>{}]", re.IGNORECASE | re.DOTALL)
_TITLE: Final = re.compile(r"<title[^>]*>([^<]*)</title>", re.IGNORECASE)
_MAX_NESTED_ERRORS: Final = 64  # a bound against hostile input; chosen
_WORD_KEYS: Final = ("error", "message", "detail", "details", "reason", "title", "msg")
"""The keys under which responses that are JSON, but not JSON-RPC, keep their error message."""


class RpcRequest(NamedTuple):
    """A JSON-RPC method with its parameters. A null result is retried unless `may_be_null`.

    Errors from the node are raised, with two exceptions. A revert is the result of its call. If the request
    `is_optional`, any error is its result. If the request `is_divisible` and too large for the node, the caller splits
    it before anything else is tried.
    """

    method: str
    params: Sequence[object]
    may_be_null: bool = False
    is_optional: bool = False
    is_divisible: bool = False


class RpcError(NamedTuple):
    """A JSON-RPC error object. `data` is the revert data in hex, if the node provides it. `pause_s` is the pause that
    the node requests, 0 for none."""

    code: int
    message: str
    data: str = ""
    pause_s: float = 0.0


class NullResult(InvalidUpstreamResponse):
    """A result that is still null after all retries, for a request that must have a result."""


RpcResult = object
"""The result of a request: a JSON value, or an `RpcError`."""

MAX_TIMEOUTS: Final = 2

_MISSING: Final = object()
"""Marks a missing result."""


class ConsistencyCheck(NamedTuple):
    """A request at the end of each exchange, whose result validates the results before it.

    `failure` returns an error if the result contradicts the other results. If the result is null, the node may not have
    the block yet, so the whole exchange is retried.
    """

    request: RpcRequest
    failure: Callable[[RpcResult], UpstreamError | None]


class JsonRpcClient:
    """Sends requests over `connection`.

    Gives up after `attempts` consecutive exchanges without a result, each of at most `timeout_s`. `pause` sleeps
    between attempts. The client keeps to `limits`, and updates them with what it learns.

    `round_trips` counts exchanges; `date` is the `Date` header of the last response.
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
        self.date = ""
        self._waited_s, self._waited_at_s = 0.0, 0.0

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
        has_next: bool = False,
    ) -> list[RpcResult]:
        """Return the result of each request: an `RpcError` for a call that reverts, or for an optional request that
        fails.

        Gives up after `max_timeouts` consecutive timeouts, and sooner if there is a next node (`has_next`). Raises
        `UpstreamError`, whose `refusal` gives the kind of refusal.
        """
        progress = _Progress()
        failures = 0
        while True:
            before = len(progress.results)
            try:
                self._fill(requests, progress, check)
            except _Refused as error:
                if not error.is_adapting:
                    failures = failures + 1 if len(progress.results) == before else 1
                if error.is_suspect and progress.is_answering:
                    self.limits.batch_requests.reject(error.batch_requests, now_s=self.limits.now_s)
                    error.is_adapting = True
                elif error.is_suspect:
                    progress.suspect()
                if error.late_requests > 1:
                    progress.max_requests = error.late_requests // 2
                if failures >= self._max_attempts(error, requests, max_timeouts, has_next=has_next):
                    raise error.failure from None
                wait_s = max(backoff_s(max(failures, 1), _FIRST_PAUSE_S, _LONGEST_PAUSE_S), error.wait_s)
                if error.is_behind and not self._may_wait(wait_s):
                    raise error.failure from None
            else:
                return [progress.results[k] for k in range(len(requests))]
            self.limits.pause(min(wait_s, _LONGEST_PAUSE_S), self._pause)

    def _may_wait(self, wait_s: float) -> bool:
        """Return whether to wait for a node to catch up: for at most half a timeout in total; the total is reset after
        a while.

        A node with only old blocks never catches up, and callers repeat their reads at other blocks.
        """
        now_s = self.limits.now_s
        if now_s - self._waited_at_s > _CALM_TIMEOUTS * self._timeout_s:
            self._waited_s = 0.0
        self._waited_s, self._waited_at_s = self._waited_s + wait_s, now_s
        return self._waited_s <= self._timeout_s / 2

    def _max_attempts(
        self, error: _Refused, requests: Sequence[RpcRequest], max_timeouts: int, *, has_next: bool
    ) -> int:
        """Return the number of consecutive failures after which to give up on this node."""
        treatment = TREATMENTS[error.kind]
        if error.is_adapting:
            return self._attempts + 1
        if not treatment.is_repeated or (has_next and not treatment.is_repeated_before_next):
            return 1
        attempts = self._attempts
        if isinstance(error.failure, UpstreamTimeout):  # a third attempt at this price is not worth it
            return min(attempts, max_timeouts)
        if error.is_of_one_request and any(request.is_divisible for request in requests):
            attempts = {Refusal.TIMEOUT: 1, Refusal.TRANSIENT: _DIVISIBLE_ATTEMPTS}.get(error.kind, attempts)
        attempts = min(attempts, self._attempts)
        return max(attempts, _SUSPECT_ATTEMPTS) if error.is_suspect and not has_next else attempts

    def _fill(self, requests: Sequence[RpcRequest], progress: _Progress, check: ConsistencyCheck | None) -> None:
        """Request the missing results. Raises `_Refused` if some remain missing."""
        bodies = {k: _body(k, request) for k, request in enumerate(requests) if k not in progress.results}
        closing = {len(requests): _body(len(requests), check.request)} if check and requests else {}
        while batch := self._next_batch(bodies, progress, len(closing)):
            checks = closing if self._max_requests(progress) > 1 else {}
            count = len(batch | checks)
            with self._learned_rate(count):
                response = self._exchange(batch | checks)
                if response is None:
                    self.limits.batch_requests.reject(count, now_s=self.limits.now_s)
                    continue
                if progress.is_suspicious:
                    progress.is_suspicious, progress.is_answering = False, True
                self.limits.batch_requests.accept(count, now_s=self.limits.now_s)
                if check and checks:
                    self._verify(check, response.get(len(requests), _MISSING))
                progress.is_unverified |= bool(closing) and not checks
                found = {k: (requests[k], response.get(k, _MISSING)) for k in batch}
                self._store_results(found, progress.results, count)
        if check and progress.is_unverified:
            with self._learned_rate(len(closing)):
                response = self._exchange(closing) or {}
                self._verify(check, response.get(len(requests), _MISSING))

    @contextmanager
    def _learned_rate(self, count: int) -> Iterator[None]:
        """Note whether the node accepts an exchange of `count` requests at the current rate."""
        try:
            yield
        except _Refused as error:
            if error.kind is Refusal.RATE:
                error.is_adapting = self.limits.reject_rate() and count >= _ADAPTING_REQUESTS
            raise
        self.limits.accept_rate()

    def _max_requests(self, progress: _Progress) -> int:
        return 1 if progress.is_suspicious else min(self.limits.max_requests, progress.max_requests)

    def _next_batch(self, bodies: dict[int, bytes], progress: _Progress, reserved: int) -> dict[int, bytes]:
        """Return as many requests as fit into one exchange with `reserved` others, at least one while any are left."""
        batch: dict[int, bytes] = {}
        size = 0
        max_requests = self._max_requests(progress)
        for k, body in bodies.items():
            if k in progress.results:
                continue
            if batch and (len(batch) + reserved >= max_requests or size + len(body) > _MAX_BYTES):
                break
            batch[k] = body
            size += len(body)
        return batch

    def _verify(self, check: ConsistencyCheck, result: RpcResult) -> None:
        """Raise the error if the check contradicts the other results."""
        objection = check.failure(self._accepted(check.request, result, 1))
        if objection and result is None:  # the node lacks a block it has named: it, or another node, is behind
            error = _Refused(refused(objection, Refusal.TRANSIENT))
            error.is_behind = True
            raise error
        if objection:
            raise objection

    def _store_results(
        self, response: Mapping[int, tuple[RpcRequest, RpcResult]], results: dict[int, RpcResult], count: int
    ) -> None:
        """Store the accepted results. If others were refused, then raise the `_Refused` that is least worth
        retrying."""
        most_permanent: _Refused | None = None
        for k, (request, result) in response.items():
            try:
                results[k] = self._accepted(request, result, count)
            except _Refused as error:
                if most_permanent is None or error.permanence > most_permanent.permanence:
                    most_permanent = error
        if most_permanent:
            raise most_permanent

    def _exchange(self, batch: dict[int, bytes]) -> dict[int, RpcResult] | None:
        """Return the results by id; None if the batch is too large for the node. Raises `_Refused`."""
        (first, alone), *others = batch.items()
        body = b"[" + b",".join(batch.values()) + b"]" if others else alone
        reply = self._post(body, len(batch))
        content = reply.content
        if isinstance(content, list):
            results = dict(self._results(content))
            if not content or results.keys() & batch.keys() or not _error_of(content[0]):
                return results
            content = content[0]  # an error for the whole batch, in a list
        error = _error_of(content)
        if not others and (error or (isinstance(content, dict) and "result" in content)):
            return {first: error or self._result(content)}
        if error:
            kind = classify_error(error.code, error.message, Attempt(batch_requests=len(batch)))
            if kind is Refusal.TOO_LARGE:
                return None
            raise _Refused(refused(self._rejection(error), kind), error.pause_s or reply.retry_after_s)
        if isinstance(content, dict) and "result" in content:
            return None
        self._check_reply(reply, len(batch))
        return None

    def _post(self, body: bytes, count: int) -> RpcResponse:
        self.limits.pause_before(count, self._pause, _LONGEST_PAUSE_S)
        self.round_trips += 1
        try:
            response = self._connection.exchange(body, self._timeout_s)
            self.date = response.date
            return response
        except UpstreamError as error:
            if count > 1 and error.refusal == Refusal.TOO_LARGE:
                return RpcResponse(TOO_LARGE, None)
            is_suspect = count > 1 and type(error) in (Unreachable, InvalidUpstreamResponse) and not error.refusal
            refusal = _Refused(error, batch_requests=count if is_suspect else 1)
            refusal.late_requests = count if isinstance(error, UpstreamTimeout) else 0
            raise refusal from None

    def _check_reply(self, reply: RpcResponse, count: int) -> None:
        """Raise `_Refused` for a response without JSON-RPC, unless it means that a batch is too large."""
        words = _words_of(reply)
        kind = classify_status(reply.status, words, Attempt(batch_requests=count))
        if kind is Refusal.TOO_LARGE and count > 1:
            return
        shown = self._shown(words)
        url = self._connection.redacted_url
        failure: UpstreamError
        if reply.location:
            problem, hint, target = explain_redirect(url, reply.location)
            failure = UpstreamRejected(problem, hint=hint, details={"status": reply.status, "location": target})
            kind = Refusal.NOT_SERVED
        elif reply.status != OK:
            hint = "try again later, or set a different node"
            is_lasting = TREATMENTS[kind].for_good or kind is Refusal.OTHER
            failure = UpstreamRejected(
                f"{url} responded with status {reply.status}" + (f": {shown}" if shown else ""),
                hint="check the node's URL" if is_lasting else hint,
            )
        elif isinstance(reply.content, dict) and shown:
            failure = UpstreamRejected(f"{url} rejected the request: {shown}", hint="set a different node")
        else:
            failure = self._not_rpc(shown)
        is_suspect = count > 1 and reply.status >= 500
        raise _Refused(refused(failure, kind), reply.retry_after_s, batch_requests=count if is_suspect else 1)

    def _results(self, entries: Sequence[object]) -> Iterator[tuple[int, RpcResult]]:
        for entry in entries:
            yield _id_of(entry), _error_of(entry) or self._result(entry)

    def _result(self, entry: object) -> RpcResult:
        if not isinstance(entry, dict) or "result" not in entry:
            raise _Refused(self._not_rpc())
        return entry["result"]

    def _accepted(self, request: RpcRequest, result: RpcResult, count: int) -> RpcResult:
        url = self._connection.redacted_url
        if result is _MISSING:
            missing = InvalidUpstreamResponse(f"{url} did not respond to all requests")
            raise _Refused(refused(missing, Refusal.TRANSIENT))
        if result is None and not request.may_be_null:  # as returned by nodes that do not have the block yet
            nothing = NullResult(f"{url} returned nothing for {request.method}")
            error = _Refused(refused(nothing, Refusal.TRANSIENT))
            error.is_behind = True
            raise error
        if not isinstance(result, RpcError):
            return result
        kind = classify_error(result.code, result.message, Attempt(request.method, request.is_divisible, count))
        if kind is Refusal.RESULT:
            return result
        if request.is_optional and kind is not Refusal.RATE and not is_known_transient(result.code):
            return RpcError(result.code, self._reason(result))
        error = _Refused(refused(self._rejection(result, request.method), kind), result.pause_s)
        if kind is Refusal.TOO_LARGE and count > 1 and names_batch(result.code, result.message):
            self.limits.batch_requests.reject(count, now_s=self.limits.now_s)
            error.is_adapting = True
        raise error

    def _rejection(self, refusal: RpcError, method: str = "") -> UpstreamRejected:
        details: dict[str, object] = {"code": refusal.code}
        return UpstreamRejected(
            f"{self._connection.redacted_url} rejected {method or 'the requests'}: {self._reason(refusal)}",
            details=details | {"method": method} if method else details,
        )

    def _reason(self, refusal: RpcError) -> str:
        """Return the node's message, short and without credentials."""
        return self._shown(refusal.message) or "it gives no reason"

    def _shown(self, words: str) -> str:
        return self._connection.redact(words[:READ_CHARACTERS])[:_SHOWN_CHARACTERS].rstrip()

    def _not_rpc(self, shown: str = "") -> UpstreamError:
        problem = f"{self._connection.redacted_url} responded with something other than JSON-RPC"
        return InvalidUpstreamResponse(problem + (f": {shown}" if shown else ""), hint="check the node's URL")


class _Progress:
    """The results so far, by the index of their request, and whether the check of some of them is outstanding.

    After a batch has failed twice without JSON-RPC, `is_suspicious` makes the next request a single one. If that
    succeeds, the node `is_answering`, so a batch that then fails is too large. `max_requests` is the size of the next
    batch, after one that was too late.
    """

    def __init__(self) -> None:
        self.results: dict[int, RpcResult] = {}
        self.is_unverified = False
        self.max_requests = MAX_BATCH_REQUESTS
        self.is_suspicious = self.is_answering = False
        self._suspects = 0

    def suspect(self) -> None:
        """Note that a batch failed without JSON-RPC."""
        self._suspects += 1
        self.is_suspicious = self._suspects >= 2


class _Refused(Exception):
    """A refusal. If no other attempt succeeds, `failure` is raised; another attempt waits for at least `wait_s`.

    `batch_requests` is above 1 if the batch size may be the unstated reason. `is_adapting` is true if the next attempt
    is smaller than the rejected one, and so makes progress. `late_requests` is the size of an exchange that took too
    long. `is_behind` is true if the node lacks a block that it has named before.
    """

    def __init__(self, failure: UpstreamError, wait_s: float = 0.0, *, batch_requests: int = 1) -> None:
        super().__init__(failure.message)
        self.failure, self.wait_s = failure, wait_s
        self.is_adapting = self.is_behind = False
        self.kind = refusal_of(failure) or Refusal.OTHER
        self.batch_requests, self.late_requests = batch_requests, 0

    @property
    def is_of_one_request(self) -> bool:
        """Whether the node returned it as an error object for one request."""
        return "method" in self.failure.details

    @property
    def is_suspect(self) -> bool:
        """Whether the batch size may be the reason."""
        return self.batch_requests > 1

    @property
    def permanence(self) -> int:
        """The permanence; if one response has several refusals, the highest is used."""
        if self.kind is Refusal.RATE:
            return 1
        return 0 if TREATMENTS[self.kind].is_repeated or self.is_adapting else 2


def _id_of(entry: object) -> int:
    """Return the id of a response, -1 if it has none; some proxies turn ids into text or floats."""
    number = entry.get("id") if isinstance(entry, dict) else None
    if type(number) is float and number.is_integer():
        return int(number)
    if isinstance(number, str) and number.isascii() and number.isdigit() and len(number) < 10:
        return int(number)
    return number if type(number) is int else -1


def _error_of(entry: object) -> RpcError | None:
    """Return the error object of a response; None if there is none. Some proxies send it without its envelope."""
    if not isinstance(entry, dict):
        return None
    error = entry.get("error")
    if error is None and "result" not in entry and type(entry.get("code")) is int:
        error = entry
    if not isinstance(error, dict):
        return None
    code, message, data = error.get("code"), error.get("message"), error.get("data")
    if isinstance(code, str) and re.fullmatch(r"-?[0-9]{1,9}", code):
        code = int(code)
    text = message if isinstance(message, str) else "" if message is None else str(message)
    if isinstance(data, dict) and (reason := _execution_error(data)):
        text = f"{text}: {reason}"
    return RpcError(
        code if type(code) is int else 0, text, data if isinstance(data, str) else "", requested_pause_s(text, data)
    )


def _execution_error(data: Mapping[str, object]) -> str:
    """Return why a Starknet transaction fails: the innermost nested error of its calls; empty if absent."""
    reason = data.get("execution_error")
    for _ in range(_MAX_NESTED_ERRORS):
        if not isinstance(reason, dict):
            break
        reason = reason.get("error")
    return reason if isinstance(reason, str) else ""


def _words_of(reply: RpcResponse) -> str:
    """Return the message of a response that is not JSON-RPC: from its JSON, its page title, or its text."""
    content = reply.content
    if isinstance(content, list):
        content = content[0] if content else None
    for _ in range(2):
        if isinstance(content, dict):
            content = next((found for key in _WORD_KEYS if (found := content.get(key))), None)
    if isinstance(content, str):
        return _MARKUP.sub(" ", content[:READ_CHARACTERS])
    title = _TITLE.search(reply.text)
    return " ".join((title[1] if title else _MARKUP.sub(" ", reply.text)).split())[:READ_CHARACTERS]


def _body(number: int, request: RpcRequest) -> bytes:
    entry = {"jsonrpc": "2.0", "id": number, "method": request.method, "params": list(request.params)}
    return json.dumps(entry, separators=(",", ":")).encode()
