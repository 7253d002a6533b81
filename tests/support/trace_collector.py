"""A trace collector on loopback, which reads the messages that OpenTelemetry's exporter sends over HTTP."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Collector:
    """The spans received so far, as dictionaries, each with the attributes of its resource."""

    def __init__(self) -> None:
        self.spans: list[dict[str, Any]] = []
        self.url = ""

    def receive(self, content: bytes) -> None:
        message = ExportTraceServiceRequest.FromString(content)
        for group in message.resource_spans:
            resource = _attributes(group.resource.attributes)
            for scope in group.scope_spans:
                self.spans += [
                    {
                        "name": each.name,
                        "trace_id": each.trace_id.hex(),
                        "span_id": each.span_id.hex(),
                        "parent_id": each.parent_span_id.hex(),
                        "start_ns": each.start_time_unix_nano,
                        "end_ns": each.end_time_unix_nano,
                        "is_failed": each.status.code == each.status.STATUS_CODE_ERROR,
                        "attributes": _attributes(each.attributes),
                        "resource": resource,
                    }
                    for each in scope.spans
                ]


@contextmanager
def run_collector() -> Iterator[Collector]:
    """Run a collector on a free port."""
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            assert self.path == "/v1/traces"
            collector.receive(gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        collector.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield collector
        finally:
            server.shutdown()
            thread.join()


def _attributes(pairs: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in pairs}
