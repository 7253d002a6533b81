"""JSON-RPC over a line: many requests in few exchanges, repeated where that can help.

All that is asked is reading, so everything may be asked again. What is passing (no connection, no answer in time, too
many requests, a node behind a balancer that has not seen a block yet) is tried again after a pause, a few times in
all; what the node refuses for good is said at once. Where batches are too large for it, they become smaller.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from swapcli.chain.http import Line, Reply
from swapcli.errors import Unreachable, UpstreamError, UpstreamNonsense, UpstreamRefused, UpstreamTimeout

_FIRST_PAUSE_S: Final = 0.25
_LONGEST_PAUSE_S: Final = 10.0
_MOST_REQUESTS: Final = 200
_MOST_BYTES: Final = 2**20
_PASSING_STATUSES: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_PERHAPS_TOO_LARGE: Final = frozenset({400, 413, 422})
_SHOWN_CHARACTERS: Final = 160
_REVERTED_CODE: Final = 3
# Nodes agree on the code for a revert, though not all of them give it, and on nothing else.
_REVERTED: Final = re.compile(
    r"revert|opcode|out ?of ?gas|stack ?(under|over)flow|(bad|invalid) ?jump|\bEVM\b", re.IGNORECASE
)
_PASSING: Final = re.compile(
    r"(rate|request).?limit|too many requests|throttl|temporar|busy|overload|try again|header not found"
    r"|unknown block|block not found|BlockOutOfRange",
    re.IGNORECASE,
)


class Request(NamedTuple):
    """A method with its parameters, JSON-ready."""

    method: str
    params: Sequence[object]


class Refusal(NamedTuple):
    """An error object of JSON-RPC."""

    code: int
    message: str

    @property
    def is_revert(self) -> bool:
        """Is it the contract that refuses, not the node?"""
        return self.code == _REVERTED_CODE or bool(_REVERTED.search(self.message))

    @property
    def is_passing(self) -> bool:
        """May it go away by itself?"""
        return not self.is_revert and bool(_PASSING.search(self.message))


Result = object
"""What a request gave: JSON, or a `Refusal`."""


class JsonRpc:
    """Asks over `line`. At most `attempts` times, each of `timeout_s`; `pause` waits the seconds between them.

    `round_trips` counts exchanges.
    """

    def __init__(self, line: Line, timeout_s: float, attempts: int, pause: Callable[[float], object]) -> None:
        self._line, self._timeout_s, self._attempts, self._pause = line, timeout_s, attempts, pause
        self._most_requests = _MOST_REQUESTS
        self.round_trips = 0

    def ask(self, requests: Sequence[Request]) -> list[Result]:
        """The result of each request, a `Refusal` only for a call that reverts. Raises `UpstreamError`."""
        results: dict[int, Result] = {}
        failure: UpstreamError | None = None
        for attempt in range(self._attempts):
            wait_s = min(_FIRST_PAUSE_S * 2**attempt, _LONGEST_PAUSE_S)
            try:
                self._fill(requests, results)
            except _PassingError as error:
                failure, wait_s = error.failure, max(wait_s, min(error.wait_s, _LONGEST_PAUSE_S))
            else:
                return [results[k] for k in range(len(requests))]
            if attempt + 1 < self._attempts:
                self._pause(wait_s)
        assert failure is not None
        raise failure

    def _fill(self, requests: Sequence[Request], results: dict[int, Result]) -> None:
        """Asks for what is missing in `results`. Raises `_PassingError` where some of it still is."""
        bodies = {k: _body(k, request) for k, request in enumerate(requests) if k not in results}
        while portion := self._portion(bodies, results):
            told = self._exchange(portion)
            if told is None:
                self._most_requests = max(len(portion) // 2, 1)
                continue
            for k, result in told.items():
                if k in portion:
                    results[k] = self._accepted(requests[k], result)
            if not portion.keys() <= told.keys():
                raise _PassingError(UpstreamNonsense(f"{self._line.shown} left requests unanswered"))

    def _portion(self, bodies: dict[int, bytes], results: dict[int, Result]) -> dict[int, bytes]:
        """As many as fit one exchange, at least one while any is left."""
        portion: dict[int, bytes] = {}
        size = 0
        for k, body in bodies.items():
            if k in results:
                continue
            if portion and (len(portion) >= self._most_requests or size + len(body) > _MOST_BYTES):
                break
            portion[k] = body
            size += len(body)
        return portion

    def _exchange(self, portion: dict[int, bytes]) -> dict[int, Result] | None:
        """What was answered; None where the node does not take so much at once. Raises `UpstreamError` too."""
        (first, alone), *others = portion.items()
        body = b"[" + b",".join(portion.values()) + b"]" if others else alone
        content = self._content(self._posted(body), bool(others))
        if isinstance(content, list):
            return dict(self._results(content))
        if content is None:
            return None
        ((_, result),) = self._results([content])
        if not others:
            return {first: result}
        if isinstance(result, Refusal) and result.is_passing:
            raise _PassingError(self._refused(result))
        return None

    def _posted(self, body: bytes) -> Reply:
        self.round_trips += 1
        try:
            reply = self._line.post(body, self._timeout_s)
        except (Unreachable, UpstreamTimeout, UpstreamNonsense) as error:
            raise _PassingError(error) from None
        if reply.status in _PASSING_STATUSES:
            raise _PassingError(self._bad_status(reply, "try again later, or set another node"), reply.retry_after_s)
        return reply

    def _content(self, reply: Reply, may_be_less: bool) -> object:
        """A list or an object; None for what is too much at once."""
        if may_be_less and reply.status in _PERHAPS_TOO_LARGE:
            return None
        try:
            content: object = json.loads(reply.body)
        except (ValueError, RecursionError):
            content = None
        if isinstance(content, dict | list):
            return content
        if reply.status != 200:
            raise self._bad_status(reply, "check the address of the node")
        raise self._not_rpc()

    def _results(self, entries: Sequence[object]) -> Iterator[tuple[int, Result]]:
        for entry in entries:
            if not isinstance(entry, dict):
                raise self._not_rpc()
            number, error = entry.get("id"), entry.get("error")
            if isinstance(error, dict):
                code = error.get("code")
                result: Result = Refusal(code if type(code) is int else 0, str(error.get("message")))
            elif "result" in entry:
                result = entry["result"]
            else:
                raise self._not_rpc()
            yield number if type(number) is int else -1, result

    def _accepted(self, request: Request, result: Result) -> Result:
        if isinstance(result, Refusal) and not (request.method == "eth_call" and result.is_revert):
            failure = self._refused(result)
            raise _PassingError(failure) if result.is_passing else failure
        return result

    def _refused(self, refusal: Refusal) -> UpstreamRefused:
        # A node's own words may repeat the address that it was asked at.
        words = " ".join(re.sub(r"\S*://\S*", "", refusal.message[:1_000]).split())[:_SHOWN_CHARACTERS]
        kept = "".join(letter for letter in words if letter.isprintable())
        return UpstreamRefused(
            f"{self._line.shown} refused: {kept or 'it gives no reason'}", details={"code": refusal.code}
        )

    def _bad_status(self, reply: Reply, hint: str) -> UpstreamRefused:
        return UpstreamRefused(f"{self._line.shown} answered with status {reply.status}", hint=hint)

    def _not_rpc(self) -> _PassingError:
        return _PassingError(UpstreamNonsense(f"{self._line.shown} answered with what is not JSON-RPC"))


class _PassingError(Exception):
    """What may go away by itself; `failure` is raised where it does not."""

    def __init__(self, failure: UpstreamError, wait_s: float = 0.0) -> None:
        super().__init__(failure.message)
        self.failure, self.wait_s = failure, wait_s


def _body(number: int, request: Request) -> bytes:
    entry = {"jsonrpc": "2.0", "id": number, "method": request.method, "params": list(request.params)}
    return json.dumps(entry, separators=(",", ":")).encode()
