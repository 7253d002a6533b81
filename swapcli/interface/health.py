"""Health responses in both API versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swapcli.core.records import NamedTuple
from swapcli.interface.fields import Fields, plain
from swapcli.interface.route import parse_meta, render_meta

if TYPE_CHECKING:
    from swapcli.interface.json_types import HealthV1Json, HealthV2Json

HEALTHY, UNHEALTHY = 200, 503
"""HTTP statuses, which are repeated in the documents."""


class HealthResponse(NamedTuple):
    """A service's reported health; `status` 200 means healthy. `timestamp_ms` (Unix) only exists in V2."""

    status: int
    message: str
    timestamp_ms: int | None = None


def render_health_v1(status: int, message: str) -> HealthV1Json:
    """Render V1 health. The published API misspells the field as `staus`."""
    return {"staus": status, "message": message}


def render_health_v2(status: int, message: str, timestamp_ms: int) -> HealthV2Json:
    """Render V2 health."""
    return {"status": status, "message": message, "meta": render_meta(timestamp_ms)}


def parse_health(document: object) -> HealthResponse:
    """Parse a health response in either version; V1 also accepts the spelling `status`."""
    fields = Fields(document)
    return HealthResponse(
        status=fields.json_integer("staus" if fields.has("staus") else "status", 0, 999),
        message=plain(fields.text("message")),
        timestamp_ms=parse_meta(fields) if fields.has("meta") else None,
    )
