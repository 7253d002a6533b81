"""A JSON line per request, with nothing in it that a client would not want to be kept; and one where a market can no
longer be kept fresh, or settings were read again.

No query, body, key, address or user agent is written, and of the path only the pattern that it matched.
"""

from __future__ import annotations

import json
import re
import secrets
import traceback
from threading import Lock
from typing import Literal, NamedTuple

from swapcli.api.timestamps import format_iso_utc
from swapcli.encoding.url import is_loopback_address
from swapcli.errors import SwapcliError
from swapcli.service.log_writer import LogStream

REQUEST_ID_HEADER = "X-Request-Id"

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"})
_OTHER = "other"

ClientClass = Literal["loopback", "other"]


class AccessRecord(NamedTuple):
    """A request as it is logged. `path` is the pattern of its endpoint, None where there is none; `status` None where
    the client left before the answer."""

    request_id: str
    method: str
    path: str | None
    network: str | None
    status: int | None
    duration_s: float
    client: ClientClass


class AccessLog:
    """Writes to a stream that does not block, such as a `LogWriter`. One that is closed or full loses lines, not
    requests; `dropped` counts them."""

    def __init__(self, stream: LogStream) -> None:
        self._stream, self._lock = stream, Lock()
        self.dropped = 0

    def write(self, record: AccessRecord, now_s: float) -> None:
        """Writes the line of a request that ended `now_s` (Unix)."""
        self._write_line(
            {
                "time": format_iso_utc(int(now_s * 1000)),
                "request_id": record.request_id,
                "method": record.method if record.method in _METHODS else _OTHER,
                "path": record.path or _OTHER,
                "network": record.network,
                "status": record.status,
                "duration_ms": round(record.duration_s * 1000, 3),
                "client": record.client,
            }
        )

    def log_defect(self, request_id: str, error: BaseException, now_s: float) -> None:
        """Writes where a defect showed in answering a request."""
        self._write_line(
            {"time": format_iso_utc(int(now_s * 1000)), "request_id": request_id, **_describe_defect(error)}
        )

    def log_follower_state(self, network: str, error: Exception | None, now_s: float) -> None:
        """Writes that a network's market can no longer be kept fresh, and why; without an error, that it can again."""
        told: dict[str, object] = {"keeping": "failing" if error else "well"}
        if error:
            told |= {"message": error.message} if isinstance(error, SwapcliError) else _describe_defect(error)
        self._write_line({"time": format_iso_utc(int(now_s * 1000)), "network": network, **told})

    def log_reload(self, error: SwapcliError | None, now_s: float) -> None:
        """Write that the settings were read again; with an error, that the old ones stay in force, and why."""
        told: dict[str, object] = {"reload": "failed" if error else "done"}
        if error:
            told["message"] = error.message
        self._write_line({"time": format_iso_utc(int(now_s * 1000)), **told})

    def _write_line(self, fields: dict[str, object]) -> None:
        with self._lock:
            try:
                self._stream.write(json.dumps(fields, separators=(",", ":")) + "\n")
                self._stream.flush()
            except (OSError, ValueError):
                self.dropped += 1


def _describe_defect(error: BaseException) -> dict[str, object]:
    """The kind of error and the lines that it came through. Its message and the values are left out, since they may
    hold what a client sent."""
    where = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(error.__traceback__)]
    return {"defect": type(error).__qualname__, "where": where}


def choose_request_id(requested: str | None) -> str:
    """The id by which a request is found: the client's where it is well-formed, else a new one."""
    return requested if requested is not None and _REQUEST_ID.fullmatch(requested) else secrets.token_hex(8)


def classify_client(address: str | None) -> ClientClass:
    """Where a client is, as far as the log tells."""
    return "loopback" if is_loopback_address(address) else "other"
