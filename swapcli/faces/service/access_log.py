"""The access log: one line of JSON for each request, for each change in how a market is followed, for each reload, and
for each process that ends.

A line never contains a query, body, address, user agent or key. It has only the key's id and the path pattern that
matched.
"""

from __future__ import annotations

import json
import re
import secrets
import traceback
from collections.abc import Mapping
from threading import Lock
from typing import Literal

from swapcli.core.encoding.url import is_loopback_address
from swapcli.core.errors import SwapcliError
from swapcli.core.model.state_source import StateSource
from swapcli.core.records import NamedTuple
from swapcli.faces.service.log_writer import LogStream
from swapcli.interface.timestamps import format_iso_utc
from swapcli.state.tracing import Trace

REQUEST_ID_HEADER = "X-Request-Id"

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"})
_OTHER = "other"
_encode = json.JSONEncoder(separators=(",", ":")).encode

ClientClass = Literal["loopback", "other"]
Level = Literal["info", "warning", "error"]


class AccessRecord(NamedTuple):
    """A request as logged.

    `path` is the endpoint's path pattern, or None if none matched. `status` is None if the client disconnected early.
    `key` is the id of the API key. `reason` is the limit that rejected the request, or the code of its error. `cpu_s`
    is the processor time of its searches. `advice` says why the service had no quotes, and what the operator can do.
    `trace` is the request's trace context.
    """

    request_id: str
    method: str
    path: str | None
    network: str | None
    status: int | None
    duration_s: float
    client: ClientClass
    key: str | None = None
    reason: str | None = None
    cpu_s: float = 0.0
    advice: str | None = None
    trace: Trace | None = None


class AccessLog:
    """A log that writes to a stream that does not block, such as `log_stream`.

    If the stream is closed or full, lines are lost, but no requests are. `dropped` counts the lost lines. Each line has
    a level and, if the service has several processes, the name of the `process` that writes it.
    """

    def __init__(self, stream: LogStream, process: str | None = None) -> None:
        self._stream, self._lock, self._process = stream, Lock(), process
        self.dropped = 0

    def write(self, record: AccessRecord, now_s: float) -> None:
        """Write the line of a request that ended at `now_s` (Unix). Status 400 and above are warnings, 500 and above
        errors."""
        fields = {
            "request_id": record.request_id,
            "method": record.method,
            "path": record.path or _OTHER,
            "network": record.network,
            "status": record.status,
            "duration_ms": round(record.duration_s * 1000, 3),
            "client": record.client,
            "key": record.key,
        }
        if record.reason is not None:
            fields["reason"] = record.reason
        if record.advice is not None:
            fields["message"] = record.advice
        if record.cpu_s:
            fields["cpu_ms"] = round(record.cpu_s * 1000, 3)
        if record.trace is not None:
            fields |= {"trace_id": record.trace.trace_id, "span_id": record.trace.span_id}
        status = record.status or 0
        self._write_line(now_s, "error" if status >= 500 else "warning" if status >= 400 else "info", fields)

    def log_defect(self, request_id: str, error: BaseException, now_s: float) -> None:
        """Write where a defect occurred during a request."""
        self._write_line(now_s, "error", {"request_id": request_id, **_describe_defect(error)})

    def log_follower_state(self, network: str, error: Exception | None, now_s: float) -> None:
        """Log that updating a network's market fails, and why. If `error` is None, log that it works again."""
        fields: dict[str, object] = {"network": network, "market_updates": "failing" if error else "recovered"}
        if error:
            fields |= {"message": error.message} if isinstance(error, SwapcliError) else _describe_defect(error)
        self._write_line(now_s, "error" if error else "info", fields)

    def log_store_state(self, network: str, error: SwapcliError | None, now_s: float) -> None:
        """Log that a network's store cannot be written and is kept in memory. If `error` is None, log that it is on
        disk again."""
        fields = {"store": "in memory", "message": error.message} if error else {"store": "on disk"}
        self._write_line(now_s, "error" if error else "info", {"network": network, **fields})

    def log_first_state(self, network: str, state: StateSource, now_s: float) -> None:
        """Log that a network is now quoted on state from a node, rather than on its initial state."""
        fields = {"network": network, "state": state.provenance, "block": state.block, "source": state.description}
        self._write_line(now_s, "info", fields)

    def log_follow_mode(self, network: str, problem: str | None, now_s: float) -> None:
        """Log why a network's node does not announce new blocks. If `problem` is None, log that it does again."""
        fields = {"network": network, "following": "polling" if problem else "subscription"}
        self._write_line(now_s, "warning" if problem else "info", fields | ({"message": problem} if problem else {}))

    def log_stuck_search(self, count: int, now_s: float, *, is_alive: bool) -> None:
        """Log that a search was stuck and its thread was replaced, the number of stuck searches so far, and whether the
        process is still fit to run."""
        self._write_line(now_s, "error", {"search": "stuck", "stuck_searches": count, "live": is_alive})

    def log_shared_state(self, error: SwapcliError | None, now_s: float) -> None:
        """Log that the shared state's server fails, and why. If `error` is None, log that it works again."""
        self._log_part("shared_state", error.message if error else None, now_s)

    def log_trace_export(self, problem: str | None, now_s: float) -> None:
        """Log why traces are not exported. If `problem` is None, log that they are exported again."""
        self._log_part("trace_export", problem, now_s)

    def log_reload(self, error: SwapcliError | None, now_s: float) -> None:
        """Log that the settings were reloaded. If there is an `error`, log instead why the old settings stay in
        force."""
        fields: dict[str, object] = {"reload": "failed" if error else "done"}
        if error:
            fields["message"] = error.message
        self._write_line(now_s, "error" if error else "info", fields)

    def log_key_file(self, problem: str | None, now_s: float) -> None:
        """Log a problem with the API key file. If `problem` is None, log that the file is valid again."""
        fields = {"key_file": "damaged", "message": f"key file: {problem}"} if problem else {"key_file": "valid"}
        self._write_line(now_s, "warning" if problem else "info", fields)

    def log_usage(self, problem: str | None, now_s: float) -> None:
        """Log why the usage of keys cannot be stored. If `problem` is None, log that it is stored again."""
        self._log_part("key_usage", problem, now_s)

    def log_unnamed_proxy(self, now_s: float) -> None:
        """Log that a proxy on this machine forwards requests, but is not listed as trusted."""
        message = (
            "a proxy on this machine forwards requests, but service.trusted_proxies does not list it: its clients "
            "have no separate limits"
        )
        self._write_line(now_s, "warning", {"proxy": "unnamed", "message": message})

    def log_process(self, name: str, problem: str, now_s: float) -> None:
        """Log that a process of the service has ended or could not be started, and that another one replaces it."""
        self._write_line(now_s, "error", {"process": name, "message": problem})

    def _log_part(self, part: str, problem: str | None, now_s: float) -> None:
        """Log that a part of the service fails, and why; without a problem, that it works again."""
        fields = {part: "failing", "message": problem} if problem else {part: "recovered"}
        self._write_line(now_s, "error" if problem else "info", fields)

    def _write_line(self, now_s: float, level: Level, fields: Mapping[str, object]) -> None:
        line = {"time": format_iso_utc(int(now_s * 1000)), "level": level, **fields}
        if self._process is not None:
            line["process"] = self._process
        with self._lock:
            try:
                self._stream.write(_encode(line) + "\n")
            except (OSError, ValueError):
                self.dropped += 1


def _describe_defect(error: BaseException) -> dict[str, object]:
    """Return the class of an error and its traceback, without message and values: they may contain client data."""
    where = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(error.__traceback__)]
    return {"defect": type(error).__qualname__, "where": where}


def choose_request_id(requested: str | None) -> str:
    """Return the request id: the one sent by the client if it is well-formed, otherwise a new one."""
    return requested if requested is not None and _REQUEST_ID.fullmatch(requested) else secrets.token_hex(8)


def known_method(method: str) -> str:
    """Return the method if it is a standard one, otherwise a placeholder for methods that a client made up."""
    return method if method in _METHODS else _OTHER


def classify_client(address: str | None) -> ClientClass:
    """Return the class of the client's address. The log has only this class, never the address."""
    return "loopback" if is_loopback_address(address) else "other"
