"""What every request passes through: the journal on the outside, then CORS, then the gate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from starlette.middleware.cors import CORSMiddleware

from swapcli.api.state_headers import STATE_HEADER, WARNINGS_HEADER
from swapcli.engine.clock import Clock
from swapcli.errors import Cancelled, RateLimited, SwapcliError, Unauthorized
from swapcli.service.access_log import REQUEST_ID_HEADER, Access, AccessLog, client_class, request_id
from swapcli.service.access_policy import AccessPolicy
from swapcli.service.endpoint_table import LIVE, METRICS, READY
from swapcli.service.error_responses import refusal, reply_to
from swapcli.service.limits import Allowance, Purpose
from swapcli.service.metrics import Metrics
from swapcli.service.refusal_pacing import RefusalPacer
from swapcli.service.request_context import (
    BodyTooLarge,
    BodyTooSlow,
    ClientLeft,
    Visit,
    begin_visit,
    header,
    refusal_of,
    send_reply,
    visit_of,
)

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_CLOSE = (("Connection", "close"),)
_HEALTH_PATHS = (LIVE, READY, METRICS)
_CORS_REQUEST_HEADERS = ("X-API-Key", "Authorization", "Content-Type", REQUEST_ID_HEADER)
_CORS_ANSWER_HEADERS = (
    "RateLimit-Limit",
    "RateLimit-Remaining",
    "RateLimit-Reset",
    "Retry-After",
    REQUEST_ID_HEADER,
    STATE_HEADER,
    WARNINGS_HEADER,
)
_ID_HEADER = REQUEST_ID_HEADER.lower().encode()


class Journal:
    """Gives each request its id, and writes down how it ended. A defect becomes an answer that says nothing of it."""

    def __init__(
        self, app: ASGIApp, clock: Clock, log: AccessLog | None, metrics: Metrics, policy: AccessPolicy
    ) -> None:
        self._app = app
        self._clock = clock
        self._log = log
        self._metrics = metrics
        self._policy = policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Lets the layers below answer."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        started_s = self._clock.timer_s()
        address = self._policy.rules.proxies.client_address(_peer(scope), scope["headers"])
        visit = begin_visit(scope, request_id(header(scope, _ID_HEADER)), address)
        try:
            await self._app(scope, receive, _noting(send, visit))
        except Exception as error:
            await self._defect(error, visit, _noting(send, visit))
        finally:
            self._write(scope, visit, self._clock.timer_s() - started_s)
        return None

    async def _defect(self, error: Exception, visit: Visit, send: Send) -> None:
        self._metrics.defective()
        if self._log:
            self._log.defect(visit.request_id, error, self._clock.now_s())
        if visit.status is not None:
            raise error
        await send_reply(send, refusal(500, "internal error", request_id=visit.request_id))

    def _write(self, scope: Scope, visit: Visit, duration_s: float) -> None:
        if visit.status is not None:
            self._metrics.requested(visit.pattern, visit.network, visit.status, duration_s)
        if self._log is None:
            return
        access = Access(
            request_id=visit.request_id,
            method=scope["method"],
            path=visit.pattern,
            network=visit.network,
            status=visit.status,
            duration_s=duration_s,
            client=client_class(visit.address),
        )
        self._log.write(access, self._clock.now_s())


class Cors:
    """Lets the scripts of other web sites call the service, where the policy names them."""

    def __init__(self, app: ASGIApp, policy: AccessPolicy) -> None:
        self._app = app
        self._policy = policy
        self._origins: tuple[str, ...] = ()
        self._handler = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer preflight requests, and add headers to all other answers."""
        origins = self._policy.rules.cors_origins
        if origins != self._origins:
            self._origins, self._handler = origins, self._handler_for(origins)
        await self._handler(scope, receive, send)

    def _handler_for(self, origins: tuple[str, ...]) -> ASGIApp:
        if not origins:
            return self._app
        return CORSMiddleware(
            self._app,
            allow_origins=origins,
            allow_methods=("GET", "POST"),
            allow_headers=_CORS_REQUEST_HEADERS,
            expose_headers=_CORS_ANSWER_HEADERS,
        )


class Gate:
    """Admits requests with a good key or none that stay within their limit, and answers all errors of admission.

    Health pages do not mind a foreign `Authorization`: whoever probes may send credentials of their own.
    """

    def __init__(self, app: ASGIApp, clock: Clock, policy: AccessPolicy, metrics: Metrics, pacer: RefusalPacer) -> None:
        self._app = app
        self._clock = clock
        self._policy = policy
        self._metrics = metrics
        self._pacer = pacer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Paths below are in lower case."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        malformed = refusal_of(scope)
        if malformed is not None:
            return await send_reply(send, malformed)
        visit = visit_of(scope)
        scope["path"] = visit.path.lower() if visit.path.isascii() else visit.path
        purpose = _purpose(scope["path"])
        given = _key(scope)
        visit.key = self._policy.rules.keys.find(given) if given else None
        key_id = visit.key.id if visit.key else None
        allowance = self._policy.limiter.take(visit.address, key_id, purpose, self._clock.timer_s())
        send = _with(send, _headers(allowance))
        try:
            is_known = not given or visit.key is not None or (purpose is Purpose.HEALTH and not _names_key(scope))
            await self._check(allowance, is_known=is_known)
            await self._app(scope, receive, send)
        except BodyTooLarge:
            await send_reply(send, refusal(413, "the body is larger than 1 MiB", _CLOSE))
        except BodyTooSlow:
            await send_reply(send, refusal(408, "the body did not arrive in time", _CLOSE))
        except SwapcliError as error:
            await _tell(error, send)
        except ClientLeft:
            return None
        return None

    async def _check(self, allowance: Allowance | None, *, is_known: bool) -> None:
        try:
            if allowance is not None:
                allowance.check()
        except RateLimited:
            self._metrics.rate_limited()
            await self._pacer.wait()
            raise
        if not is_known:
            raise Unauthorized("the API key is not known, or was revoked")


async def _tell(error: SwapcliError, send: Send) -> None:
    """Answers an error; to a client that has left there is nothing to say."""
    if isinstance(error, Cancelled):
        return
    reply = reply_to(error)
    if reply is None:
        raise error
    await send_reply(send, reply)


def _key(scope: Scope) -> str | None:
    """The API key that came with a request. Other kinds of authorization are none of ours."""
    given = header(scope, b"x-api-key")
    if given:
        return given
    scheme, _, credentials = (header(scope, b"authorization") or "").partition(" ")
    return credentials.strip() or None if scheme.lower() == "bearer" else None


def _names_key(scope: Scope) -> bool:
    """Return whether a request has the header that is for keys of this service alone."""
    return bool(header(scope, b"x-api-key"))


def _peer(scope: Scope) -> str | None:
    client = scope.get("client")
    return client[0] if client else None


def _purpose(path: str) -> Purpose:
    return Purpose.HEALTH if path.endswith("/healthcheck") or path in _HEALTH_PATHS else Purpose.WORK


def _headers(allowance: Allowance | None) -> list[tuple[bytes, bytes]]:
    """All but `Retry-After`, which the refusal itself carries."""
    told = allowance.headers() if allowance else []
    return [(name.lower().encode(), value.encode()) for name, value in told if name != "Retry-After"]


def _with(send: Send, headers: Sequence[tuple[bytes, bytes]]) -> Send:
    """Sends with further headers."""
    if not headers:
        return send

    async def send_more(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], *headers]
        await send(message)

    return send_more


def _noting(send: Send, visit: Visit) -> Send:
    """Sends with the id of the request, and notes the status."""

    async def send_noting(message: Message) -> None:
        if message["type"] == "http.response.start":
            visit.status = message["status"]
            message["headers"] = [*message["headers"], (_ID_HEADER, visit.request_id.encode())]
        await send(message)

    return send_noting
