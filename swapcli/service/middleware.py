"""What every request passes through: the journal on the outside, then CORS, then the gate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from starlette.middleware.cors import CORSMiddleware

from swapcli.api.state_headers import STATE_HEADER, WARNINGS_HEADER
from swapcli.engine.clock import Clock
from swapcli.errors import Cancelled, RateLimited, SwapcliError, Unauthorized
from swapcli.service.access_log import REQUEST_ID_HEADER, AccessLog, AccessRecord, choose_request_id, classify_client
from swapcli.service.access_policy import AccessPolicy
from swapcli.service.endpoint_table import LIVE, METRICS, READY
from swapcli.service.error_responses import error_response, status_error
from swapcli.service.limits import RateLimitState, RequestClass
from swapcli.service.metrics import Metrics
from swapcli.service.refusal_pacing import RejectionPacer
from swapcli.service.request_context import (
    BodyTooLarge,
    BodyTooSlow,
    ClientDisconnected,
    RequestContext,
    begin_request,
    get_context,
    get_header,
    get_rejection,
    send_json,
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


class AccessLogMiddleware:
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
        started_s = self._clock.monotonic_s()
        address = self._policy.rules.proxies.client_address(_peer(scope), scope["headers"])
        context = begin_request(scope, choose_request_id(get_header(scope, _ID_HEADER)), address)
        try:
            await self._app(scope, receive, _recording_status(send, context))
        except Exception as error:
            await self._defect(error, context, _recording_status(send, context))
        finally:
            self._write(scope, context, self._clock.monotonic_s() - started_s)
        return None

    async def _defect(self, error: Exception, context: RequestContext, send: Send) -> None:
        self._metrics.record_defect()
        if self._log:
            self._log.log_defect(context.request_id, error, self._clock.now_s())
        if context.status is not None:
            raise error
        await send_json(send, status_error(500, "internal error", request_id=context.request_id))

    def _write(self, scope: Scope, context: RequestContext, duration_s: float) -> None:
        if context.status is not None:
            self._metrics.record_request(context.pattern, context.network, context.status, duration_s)
        if self._log is None:
            return
        access = AccessRecord(
            request_id=context.request_id,
            method=scope["method"],
            path=context.pattern,
            network=context.network,
            status=context.status,
            duration_s=duration_s,
            client=classify_client(context.address),
        )
        self._log.write(access, self._clock.now_s())


class CorsMiddleware:
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


class AuthMiddleware:
    """Admits requests with a good key or none that stay within their limit, and answers all errors of admission.

    Health pages do not mind a foreign `Authorization`: whoever probes may send credentials of their own.
    """

    def __init__(
        self, app: ASGIApp, clock: Clock, policy: AccessPolicy, metrics: Metrics, pacer: RejectionPacer
    ) -> None:
        self._app = app
        self._clock = clock
        self._policy = policy
        self._metrics = metrics
        self._pacer = pacer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Paths below are in lower case."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        malformed = get_rejection(scope)
        if malformed is not None:
            return await send_json(send, malformed)
        context = get_context(scope)
        scope["path"] = context.path.lower() if context.path.isascii() else context.path
        purpose = classify_request(scope["path"])
        given = _api_key(scope)
        context.api_key = self._policy.rules.keys.find(given) if given else None
        key_id = context.api_key.id if context.api_key else None
        allowance = self._policy.limiter.acquire(context.address, key_id, purpose, self._clock.monotonic_s())
        send = _with_headers(send, _rate_limit_headers(allowance))
        try:
            is_known = (
                not given
                or context.api_key is not None
                or (purpose is RequestClass.HEALTH and not _has_key_header(scope))
            )
            await self._check(allowance, is_known=is_known)
            await self._app(scope, receive, send)
        except BodyTooLarge:
            await send_json(send, status_error(413, "the body is larger than 1 MiB", _CLOSE))
        except BodyTooSlow:
            await send_json(send, status_error(408, "the body did not arrive in time", _CLOSE))
        except SwapcliError as error:
            await _send_error(error, send)
        except ClientDisconnected:
            return None
        return None

    async def _check(self, allowance: RateLimitState | None, *, is_known: bool) -> None:
        try:
            if allowance is not None:
                allowance.check()
        except RateLimited:
            self._metrics.record_rate_limited()
            await self._pacer.wait()
            raise
        if not is_known:
            raise Unauthorized("the API key is not known, or was revoked")


async def _send_error(error: SwapcliError, send: Send) -> None:
    """Answers an error; to a client that has left there is nothing to say."""
    if isinstance(error, Cancelled):
        return
    reply = error_response(error)
    if reply is None:
        raise error
    await send_json(send, reply)


def _api_key(scope: Scope) -> str | None:
    """The API key that came with a request. Other kinds of authorization are none of ours."""
    given = get_header(scope, b"x-api-key")
    if given:
        return given
    scheme, _, credentials = (get_header(scope, b"authorization") or "").partition(" ")
    return credentials.strip() or None if scheme.lower() == "bearer" else None


def _has_key_header(scope: Scope) -> bool:
    """Return whether a request has the header that is for keys of this service alone."""
    return bool(get_header(scope, b"x-api-key"))


def _peer(scope: Scope) -> str | None:
    client = scope.get("client")
    return client[0] if client else None


def classify_request(path: str) -> RequestClass:
    return RequestClass.HEALTH if path.endswith("/healthcheck") or path in _HEALTH_PATHS else RequestClass.WORK


def _rate_limit_headers(allowance: RateLimitState | None) -> list[tuple[bytes, bytes]]:
    """All but `Retry-After`, which the refusal itself carries."""
    told = allowance.headers() if allowance else []
    return [(name.lower().encode(), value.encode()) for name, value in told if name != "Retry-After"]


def _with_headers(send: Send, headers: Sequence[tuple[bytes, bytes]]) -> Send:
    """Sends with further headers."""
    if not headers:
        return send

    async def send_more(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], *headers]
        await send(message)

    return send_more


def _recording_status(send: Send, context: RequestContext) -> Send:
    """Sends with the id of the request, and notes the status."""

    async def send_noting(message: Message) -> None:
        if message["type"] == "http.response.start":
            context.status = message["status"]
            message["headers"] = [*message["headers"], (_ID_HEADER, context.request_id.encode())]
        await send(message)

    return send_noting
