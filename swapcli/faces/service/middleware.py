"""The middleware for every request, from the outermost to the innermost: access log, CORS, authentication and rate
limits."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from starlette.middleware.cors import CORSMiddleware

from swapcli.core.errors import Cancelled, SwapcliError
from swapcli.faces.service.access_log import (
    REQUEST_ID_HEADER,
    AccessLog,
    AccessRecord,
    choose_request_id,
    classify_client,
    known_method,
)
from swapcli.faces.service.access_policy import EXPIRY_HEADER, AccessPolicy
from swapcli.faces.service.endpoint_table import OPEN_PATHS, canonical_path, classify_path
from swapcli.faces.service.error_responses import error_response, status_error
from swapcli.faces.service.metrics import Metrics
from swapcli.faces.service.rate_limits import RateLimitState, RejectionPacer, RequestClass
from swapcli.faces.service.refusal_reasons import RefusalReason
from swapcli.faces.service.request_io import (
    BodyTooLarge,
    BodyTooSlow,
    ClientDisconnected,
    RequestContext,
    begin_request,
    get_context,
    get_counted_refusal,
    get_header,
    get_rejection,
    send_json,
)
from swapcli.faces.service.unnamed_proxy import UnnamedProxyWatch
from swapcli.interface.state_headers import STATE_HEADER, WARNINGS_HEADER, WITNESSES_HEADER
from swapcli.state.clock import Clock
from swapcli.state.tracing import current_trace, parse_traceparent

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from swapcli.faces.service.trace_export import Tracer

_CLOSE = (("Connection", "close"),)
_CORS_REQUEST_HEADERS = (
    "X-API-Key",
    "Authorization",
    "Content-Type",
    "Last-Event-ID",
    "traceparent",
    "tracestate",
    REQUEST_ID_HEADER,
)
_CORS_RESPONSE_HEADERS = (
    "RateLimit-Limit",
    "RateLimit-Remaining",
    "RateLimit-Reset",
    "Retry-After",
    REQUEST_ID_HEADER,
    STATE_HEADER,
    WARNINGS_HEADER,
    WITNESSES_HEADER,
    EXPIRY_HEADER,
)
_NOT_CHARGED = (429, 503)
"""Statuses of requests that do not count towards a quota."""
_BODY_TOO_LARGE = status_error(413, "the body is larger than 1 MiB", _CLOSE, hint="send a single order or route")
_BODY_TOO_SLOW = status_error(408, "the body did not arrive in time", _CLOSE, hint="send the whole body at once")
_ID_HEADER = REQUEST_ID_HEADER.lower().encode()


class AccessLogMiddleware:
    """Middleware that assigns request ids and logs how each request ended. A defect becomes an error 500 without
    details."""

    def __init__(
        self,
        app: ASGIApp,
        clock: Clock,
        log: AccessLog | None,
        metrics: Metrics,
        policy: AccessPolicy,
        proxy_watch: UnnamedProxyWatch,
        tracer: Tracer | None = None,
    ) -> None:
        self._app = app
        self._clock = clock
        self._log = log
        self._metrics = metrics
        self._policy = policy
        self._proxy_watch = proxy_watch
        self._tracer = tracer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and log it."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        started_s = self._clock.monotonic_s()
        peer, headers = _peer(scope), scope["headers"]
        address = self._policy.rules.proxies.client_address(peer, headers)
        context = begin_request(scope, choose_request_id(get_header(scope, _ID_HEADER)), address, self._clock)
        context.forwarded = self._proxy_watch.queue_client(peer, headers, self._clock.now_s())
        parents = [value.decode("latin-1") for name, value in headers if name == b"traceparent"]
        trace = parse_traceparent(parents) if parents else None
        context.trace = trace if self._tracer is None else self._tracer.begin(trace)
        # Without a trace as well, because a pipelined request starts with the context of the previous one.
        current_trace.set(context.trace)
        try:
            await self._app(scope, receive, _record_status(send, context))
        except Exception as error:
            await self._report_defect(error, scope, _record_status(send, context))
        finally:
            self._log_request(scope, context, self._clock.monotonic_s() - started_s)
        return None

    async def _report_defect(self, error: Exception, scope: Scope, send: Send) -> None:
        context = get_context(scope)
        self._metrics.record_defect()
        if self._log:
            self._log.log_defect(context.request_id, error, self._clock.now_s())
        if context.status is not None:
            raise error
        await send_json(scope, send, status_error(500, "internal error", request_id=context.request_id))

    def _log_request(self, scope: Scope, context: RequestContext, duration_s: float) -> None:
        if context.status is not None:
            self._metrics.record_request(context.pattern, context.network, context.status, duration_s)
        if context.refusal is not None:
            self._metrics.record_refusal(context.refusal)
        refusal, key_id = context.refusal or get_counted_refusal(scope), context.api_key and context.api_key.id
        if key_id is not None:
            self._metrics.record_key(key_id, context.status, refusal)
            self._policy.usage.record(key_id, refusal, context.cpu_s, self._clock.now_s())
        if self._log is None and self._tracer is None:
            return
        record = AccessRecord(
            request_id=context.request_id,
            method=known_method(scope["method"]),
            path=context.pattern,
            network=context.network,
            status=context.status,
            duration_s=duration_s,
            client=classify_client(context.address),
            key=key_id,
            reason=refusal or context.error_code,
            cpu_s=context.cpu_s,
            advice=context.advice,
            trace=context.trace,
        )
        if self._log is not None:
            self._log.write(record, self._clock.now_s())
        if self._tracer is not None:
            self._tracer.end(record)


class CorsMiddleware:
    """Middleware that lets web pages from the origins in the policy call the service."""

    def __init__(self, app: ASGIApp, policy: AccessPolicy) -> None:
        self._app = app
        self._policy = policy
        self._origins: tuple[str, ...] = ()
        self._handler = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to preflight requests, and add headers to all other responses."""
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
            expose_headers=_CORS_RESPONSE_HEADERS,
        )


class AuthMiddleware:
    """Middleware that rejects requests beyond their rate limit, with an invalid key, or without a key if one is
    required.

    On health pages, a foreign `Authorization` header is ignored, because probes may send their own credentials.
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
        """Check the request and pass it on, with its path in lower case and with single slashes."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        malformed = get_rejection(scope)
        if malformed is not None:
            return await send_json(scope, send, malformed)
        context = get_context(scope)
        context.path = canonical_path(context.path)
        scope["path"] = context.path.lower() if context.path.isascii() else context.path
        request_class = classify_path(scope["path"])
        key = _api_key(scope)
        context.api_key = self._policy.rules.keys.find(key) if key else None
        if context.api_key and key:
            context.is_key_valid = partial(self._is_valid, key, scope["path"])
        else:
            context.is_key_valid = self._needs_no_key
        api_key = context.api_key
        plan_error = api_key and self._policy.check_plan(api_key, request_class, scope["path"])
        now_s = self._clock.monotonic_s()
        limit_state = await self._policy.acquire(
            context.address, api_key, request_class, now_s, is_charged=plan_error is None
        )
        send = _with_headers(send, [*_rate_limit_headers(limit_state), *self._policy.expiry_headers(api_key)])
        try:
            await self._check_limit(limit_state)
            is_foreign = request_class is RequestClass.HEALTH and not _has_key_header(scope)
            is_key_sent = key is not None and not is_foreign
            is_open = scope["path"] in OPEN_PATHS
            key_error = self._policy.check_key(api_key, is_key_sent=is_key_sent, is_open=is_open) or plan_error
            if key_error is not None:
                raise key_error
            await self._app(scope, receive, send)
        except BodyTooLarge:
            context.refusal = RefusalReason.BODY_SIZE
            await send_json(scope, send, _BODY_TOO_LARGE)
        except BodyTooSlow:
            context.refusal = RefusalReason.BODY_TIMEOUT
            await send_json(scope, send, _BODY_TOO_SLOW)
        except SwapcliError as error:
            await _send_error(error, scope, send)
        except ClientDisconnected:
            if get_counted_refusal(scope) is RefusalReason.BODY_EVICTED:
                context.status = 503
            return None
        finally:
            if limit_state is not None and limit_state.charged and context.status in _NOT_CHARGED:
                self._policy.give_back(limit_state.charged)
        return None

    def _is_valid(self, key: str, path: str) -> bool:
        found = self._policy.rules.keys.find(key)
        return found is not None and self._policy.check_plan(found, RequestClass.WORK, path) is None

    def _needs_no_key(self) -> bool:
        return not self._policy.rules.requires_key

    async def _check_limit(self, limit_state: RateLimitState | None) -> None:
        if limit_state is not None and (error := limit_state.find_error(self._clock.now_s())) is not None:
            await self._pacer.wait()
            raise error


async def _send_error(error: SwapcliError, scope: Scope, send: Send) -> None:
    """Send an error. A client that has disconnected gets nothing."""
    if isinstance(error, Cancelled):
        return
    reply = error_response(error)
    if reply is None:
        raise error
    get_context(scope).set_error(error)
    await send_json(scope, send, reply)


def _api_key(scope: Scope) -> str | None:
    """Return the API key of a request; None for other kinds of authorization."""
    key = get_header(scope, b"x-api-key")
    if key:
        return key
    scheme, _, credentials = (get_header(scope, b"authorization") or "").partition(" ")
    return credentials.strip() or None if scheme.lower() == "bearer" else None


def _has_key_header(scope: Scope) -> bool:
    """Return whether a request has the header that only this service uses."""
    return bool(get_header(scope, b"x-api-key"))


def _peer(scope: Scope) -> str | None:
    client = scope.get("client")
    return client[0] if client else None


def _rate_limit_headers(limit_state: RateLimitState | None) -> list[tuple[bytes, bytes]]:
    headers = limit_state.headers() if limit_state else []
    return [(name.lower().encode(), value.encode()) for name, value in headers]


def _with_headers(send: Send, headers: Sequence[tuple[bytes, bytes]]) -> Send:
    """Return a `send` that adds headers."""
    if not headers:
        return send

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], *headers]
        await send(message)

    return send_with_headers


def _record_status(send: Send, context: RequestContext) -> Send:
    """Return a `send` that adds the request id and records the status."""

    async def send_recording(message: Message) -> None:
        if message["type"] == "http.response.start":
            context.status = message["status"]
            message["headers"] = [*message["headers"], (_ID_HEADER, context.request_id.encode())]
        await send(message)

    return send_recording
