"""Run a service in this process or in several, until it is stopped."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial

from swapcli.core.records import NamedTuple
from swapcli.faces.garbage_collection import enable_garbage_collection
from swapcli.faces.service.access_log import AccessLog
from swapcli.faces.service.access_policy import PolicyReloader
from swapcli.faces.service.app import get_metrics, get_policy, open_metrics_port
from swapcli.faces.service.log_writer import log_stream
from swapcli.faces.service.market_followers import FollowerThreads
from swapcli.faces.service.server import bind, metrics_url, serve
from swapcli.faces.service.service_sources import METRICS_PORT, ServicePolicy, ServiceSources, open_app

OnReady = Callable[[str, str | None, Callable[[str], object]], None]
"""Receives the URL of the service, that of its metrics if they have a separate port, and a writer of log lines."""


class ServiceRun(NamedTuple):
    """How to run a service. `read_policy` reads the policy again on SIGHUP.

    It exits after `max_requests`, if any, and when `is_terminal_gone`. `live_timeout_s` is the time that the first
    state may take before a limited number of requests is served.
    """

    sources: ServiceSources
    policy: ServicePolicy
    read_policy: Callable[[], ServicePolicy]
    on_ready: OnReady
    is_terminal_gone: Callable[[], bool] | None
    live_timeout_s: float
    max_requests: int | None = None


def run_service(run: ServiceRun, log: Callable[[str], object]) -> int:
    """Run a service in the workers of its settings; `log` writes a line without a log. Return the exit status.

    With a number of requests there is one process, which counts them.
    """
    policy, sources = run.policy, run.sources
    settings = policy.settings
    if settings.workers > 1 and run.max_requests is None:
        from swapcli.faces.service.worker_processes import serve_by_workers

        return serve_by_workers(
            sources,
            policy,
            lambda url, metrics: run.on_ready(url, metrics, log),
            run.read_policy,
            run.is_terminal_gone,
        )
    enable_garbage_collection()
    with log_stream(sys.stderr) as stream:
        access_log = AccessLog(stream)
        with FollowerThreads(sources.followed, sources.registry, access_log) as followers, ExitStack() as stack:
            for node in sources.nodes.values():
                stack.callback(node.close)
            service = open_app(sources, policy, access_log, followers)
            metrics = url_of_metrics = None
            if settings.metrics_port is not None:
                listener = stack.enter_context(bind(settings.host, settings.metrics_port, METRICS_PORT))
                metrics, url_of_metrics = open_metrics_port(service, listener), metrics_url(listener)
            return serve(
                service,
                host=settings.host,
                port=settings.port,
                on_ready=lambda url: run.on_ready(url, url_of_metrics, lambda line: stream.write(line + "\n")),
                # With a limit of requests, none should be spent while the first state is read.
                is_prepared=partial(followers.are_settled, run.live_timeout_s) if run.max_requests else None,
                on_hangup=PolicyReloader(get_policy(service), run.read_policy, access_log, sources.registry.clock),
                is_terminal_gone=run.is_terminal_gone,
                max_requests=run.max_requests,
                max_connections=settings.max_connections,
                keep_alive_s=settings.keep_alive_s,
                metrics=metrics,
                on_refusal=get_metrics(service).record_refusal,
            )
