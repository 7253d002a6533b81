"""Export the spans of requests to an OpenTelemetry collector, configured with the standard OTEL_* variables.

While a request runs, its spans are only times. The SDK receives them when the request ends. This module is imported
only if a collector is set. The SDK is part of the extra `otel`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from threading import Thread
from typing import TYPE_CHECKING, Any, Final

from swapcli import __version__
from swapcli.core.encoding.url import origin_of, split_url
from swapcli.faces.service.access_log import AccessRecord
from swapcli.state.tracing import Trace

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.export import SpanExportResult
    from opentelemetry.trace import Span

CLOSE_S: Final = 2.0
"""Time for exporting the last spans when the service stops."""
_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_STATUS: Final = "http.response.status_code"

OnProblem = Callable[[str | None], object]
"""Called with the reason why spans are lost, and with None when they are exported again."""


def open_tracer(environ: Mapping[str, str], on_problem: OnProblem) -> Tracer | None:
    """Return the exporter of this process's spans, or None if the environment names no collector, or one that cannot be
    used.

    Call this after a fork, because it starts a thread.
    """
    endpoint = next((environ[name] for name in _ENDPOINTS if environ.get(name)), None)
    exporters = environ.get("OTEL_TRACES_EXPORTER") or "otlp"
    if endpoint is None or exporters != "otlp" or environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return None
    try:
        return Tracer(origin_of(split_url(endpoint)), on_problem)
    except ModuleNotFoundError:
        on_problem("a trace collector is set, but its package is missing: pip install '.[otel]'")
    except Exception as error:  # the SDK does not show which errors a wrong variable raises
        on_problem(f"the OTEL_* variables cannot be used for traces ({type(error).__name__})")
    return None


class Tracer:
    """The exporter of one span per request and one per part of a request, through a thread with a bounded queue."""

    def __init__(self, collector: str, on_problem: OnProblem) -> None:
        from opentelemetry.context import Context
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import OTELResourceDetector, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        # It logs each failed batch with the collector's URL; `_ReportingExporter` reports only changes.
        logging.getLogger("opentelemetry").setLevel(logging.CRITICAL + 1)
        resource = Resource.create({"service.name": "swapcli", "service.version": __version__})
        self._provider = TracerProvider(
            resource=resource.merge(OTELResourceDetector().detect()), shutdown_on_exit=False
        )
        exporter: Any = _ReportingExporter(OTLPSpanExporter(), collector, on_problem)
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("swapcli", __version__)
        self._root = Context()

    def begin(self, caller: Trace | None) -> Trace:
        """Return the trace for a new request: the caller's trace, or a new one if there is none."""
        from opentelemetry.trace import NonRecordingSpan, SpanContext, SpanKind, TraceFlags, set_span_in_context

        parent = self._root
        if caller is not None:
            flags = TraceFlags(int(caller.flags, 16))
            remote = SpanContext(int(caller.trace_id, 16), int(caller.parent_id, 16), True, flags)
            parent = set_span_in_context(NonRecordingSpan(remote), parent)
        span = self._tracer.start_span("request", parent, SpanKind.SERVER)
        return _ExportedTrace(span, caller.parent_id if caller else "")

    def end(self, record: AccessRecord) -> None:
        """Export the spans of a finished request."""
        from opentelemetry.trace import Status, StatusCode, set_span_in_context

        trace = record.trace
        if not isinstance(trace, _ExportedTrace) or trace.spans is None:
            return
        span, context, failed = trace.span, set_span_in_context(trace.span), Status(StatusCode.ERROR)
        known = {"swapcli.key": record.key, "swapcli.network": record.network, _STATUS: record.status}
        common = {name: value for name, value in known.items() if value is not None}
        for each in trace.spans:
            part = self._tracer.start_span(each.name, context, attributes=common, start_time=each.start_ns)
            if each.is_failed:
                part.set_status(failed)
            part.end(each.end_ns)
        details = {"http.request.method": record.method, "http.route": record.path, "error.type": record.reason}
        span.update_name(f"{record.method} {record.path or 'other'}")
        span.set_attributes(common | {name: value for name, value in details.items() if value is not None})
        if record.status is not None and record.status >= 500:
            span.set_status(failed)
        span.end()

    def close(self) -> None:
        """Export the last spans. This takes at most `CLOSE_S`, because the collector may be down."""
        closing = Thread(target=self._provider.shutdown, name="trace export", daemon=True)
        closing.start()
        closing.join(CLOSE_S)


class _ExportedTrace(Trace):
    """A trace with the SDK's span. Its parts are kept if it is sampled."""

    __slots__ = ("span",)

    def __init__(self, span: Span, parent_id: str) -> None:
        ids = span.get_span_context()
        super().__init__(f"{ids.trace_id:032x}", parent_id, f"{ids.trace_flags:02x}")
        self.span, self.span_id = span, f"{ids.span_id:016x}"
        self.spans = [] if span.is_recording() else None


class _ReportingExporter:
    """An exporter that reports when it begins to fail, and when it works again."""

    def __init__(self, exporter: Any, collector: str, on_problem: OnProblem) -> None:
        self._exporter, self._collector, self._on_problem = exporter, collector, on_problem
        self._is_failing = False
        self.shutdown, self.force_flush = exporter.shutdown, exporter.force_flush

    def export(self, spans: list[ReadableSpan]) -> SpanExportResult:
        """Export spans, for as long as the exporter tries."""
        result: SpanExportResult = self._exporter.export(spans)
        is_failing = result.name != "SUCCESS"
        if is_failing != self._is_failing:
            self._is_failing = is_failing
            problem = f"the collector at {self._collector} accepts no spans; they are dropped until it does"
            self._on_problem(problem if is_failing else None)
        return result
