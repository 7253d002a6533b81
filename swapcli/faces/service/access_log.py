"""The access log: a JSON line for each request, for changes of a market follower's state, for reloads, and for ended
processes.

It contains no query, body, key, address or user agent, and of the path only the pattern that it matched.
"""

from __future__ import annotations

import json
import re
import secrets
import traceback
from threading import Lock
from typing import Literal

from swapcli.core.encoding.url import is_loopback_address
from swapcli.core.errors import SwapcliError
from swapcli.core.model.state_source import StateSource
from swapcli.core.records import NamedTuple
from swapcli.faces.service.log_writer import LogStream
from swapcli.interface.timestamps import format_iso_utc

REQUEST_ID_HEADER = "X-Request-Id"

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"})
_OTHER = "other"
_encode = json.JSONEncoder(separators=(",", ":")).encode

ClientClass = Literal["loopback", "other"]


class AccessRecord(NamedTuple):
    """A request as it is logged.

    `path` is the pattern of its endpoint, None if none matched; `status` is None if the client disconnected early.
    """

    request_id: str
    method: str
    path: str | None
    network: str | None
    status: int | None
    duration_s: float
    client: ClientClass


class AccessLog:
    """Writes to a stream that does not block, such as a `LogWriter`.

    If the stream is closed or full, lines are lost, but no requests; `dropped` counts them. Each line has the name of
    the `process` that writes it, if the service has several.
    """

    def __init__(self, stream: LogStream, process: str | None = None) -> None:
        self._stream, self._lock, self._process = stream, Lock(), process
        self.dropped = 0

    def write(self, record: AccessRecord, now_s: float) -> None:
        """Write the line of a request that ended at `now_s` (Unix)."""
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
        """Write where a defect occurred during a request."""
        self._write_line(
            {"time": format_iso_utc(int(now_s * 1000)), "request_id": request_id, **_describe_defect(error)}
        )

    def log_follower_state(self, network: str, error: Exception | None, now_s: float) -> None:
        """Write that updates of a network's market fail, and why; without an error, that they work again."""
        fields: dict[str, object] = {"market_updates": "failing" if error else "recovered"}
        if error:
            fields |= {"message": error.message} if isinstance(error, SwapcliError) else _describe_defect(error)
        self._write_line({"time": format_iso_utc(int(now_s * 1000)), "network": network, **fields})

    def log_first_state(self, network: str, state: StateSource, now_s: float) -> None:
        """Write that a network is now quoted on the state of a node, and no longer on that of the start."""
        fields = {"network": network, "state": state.provenance, "block": state.block, "source": state.description}
        self._write_line({"time": format_iso_utc(int(now_s * 1000)), **fields})

    def log_follow_mode(self, network: str, problem: str | None, now_s: float) -> None:
        """Write why a network's node does not announce new blocks; without a reason, that it does again."""
        fields = {"following": "polling" if problem else "subscription"} | ({"message": problem} if problem else {})
        self._write_line({"time": format_iso_utc(int(now_s * 1000)), "network": network, **fields})

    def log_stuck_search(self, count: int, now_s: float, *, is_alive: bool) -> None:
        """Write that a search was stuck and another thread has taken its place, the how manieth it was, and whether
        the process is still worth running."""
        fields = {"search": "stuck", "stuck_searches": count, "live": is_alive}
        self._write_line({"time": format_iso_utc(int(now_s * 1000)), **fields})

    def log_shared_state(self, error: SwapcliError | None, now_s: float) -> None:
        """Write that the server of shared state fails, and why; without an error, that it works again."""
        fields = {"shared_state": "failing", "message": error.message} if error else {"shared_state": "recovered"}
        self._write_line({"time": format_iso_utc(int(now_s * 1000)), **fields})

    def log_reload(self, error: SwapcliError | None, now_s: float) -> None:
        """Write that the settings were reloaded; with an error, that the old ones stay in force, and why."""
        fields: dict[str, object] = {"reload": "failed" if error else "done"}
        if error:
            fields["message"] = error.message
        self._write_line({"time": format_iso_utc(int(now_s * 1000)), **fields})

    def log_unnamed_proxy(self, now_s: float) -> None:
        """Write that a proxy on this machine is not among the trusted ones."""
        message = (
            "a proxy on this machine passes requests on, but service.trusted_proxies does not name it: its clients are"
            " not limited one by one"
        )
        self._write_line({"time": format_iso_utc(int(now_s * 1000)), "proxy": "unnamed", "message": message})

    def log_process(self, name: str, problem: str, now_s: float) -> None:
        """Write that a process of the service has ended, or could not be started; another one replaces it."""
        self._write_line({"time": format_iso_utc(int(now_s * 1000)), "process": name, "message": problem})

    def _write_line(self, fields: dict[str, object]) -> None:
        if self._process is not None:
            fields |= {"process": self._process}
        with self._lock:
            try:
                self._stream.write(_encode(fields) + "\n")
                self._stream.flush()
            except (OSError, ValueError):
                self.dropped += 1


def _describe_defect(error: BaseException) -> dict[str, object]:
    """Return the class of an error and its traceback, without message and values: they may contain client data."""
    where = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(error.__traceback__)]
    return {"defect": type(error).__qualname__, "where": where}


def choose_request_id(requested: str | None) -> str:
    """Return the request id: the client's if it is well-formed, else a new one."""
    return requested if requested is not None and _REQUEST_ID.fullmatch(requested) else secrets.token_hex(8)


def classify_client(address: str | None) -> ClientClass:
    """Return the class of the client's address, which is all of it that the log contains."""
    return "loopback" if is_loopback_address(address) else "other"
