"""The application on the metrics port, which serves only `GET /metrics`.

It requires no key and has no rate limit. The operator's network decides who can reach the port.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from swapcli.core.records import NamedTuple
from swapcli.faces.service.endpoint_table import METRICS, canonical_path
from swapcli.faces.service.error_responses import method_error, status_error
from swapcli.faces.service.metrics import CONTENT_TYPE, Metrics
from swapcli.faces.service.refusal_reasons import OnRefusal
from swapcli.faces.service.request_io import get_rejection, send_body, send_json

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

MAX_METRICS_CONNECTIONS = 32
"""Maximum number of connections to the metrics port: a few scrapers, and people who look at the metrics."""

_NO_PATH = status_error(404, "this port only serves metrics")
_NO_METHOD = method_error(["GET"])


class MetricsPort(NamedTuple):
    """A listening socket for metrics, the application that serves them, the function that counts refusals, and the
    maximum number of connections."""

    listener: socket.socket
    app: ASGIApp
    on_refusal: OnRefusal
    max_connections: int = MAX_METRICS_CONNECTIONS


class MetricsApp:
    """The application that renders the metrics of a service."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """Send the metrics. Bodies are not read, because none has a meaning here."""
        malformed = get_rejection(scope)
        if malformed is not None:
            return await send_json(scope, send, malformed)
        if canonical_path(scope["path"]) != METRICS:
            return await send_json(scope, send, _NO_PATH)
        if scope["method"] not in ("GET", "HEAD"):
            return await send_json(scope, send, _NO_METHOD)
        return await send_body(send, 200, CONTENT_TYPE.encode(), self._metrics.render())
