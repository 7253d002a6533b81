"""Run a service in this process or in several, until it is stopped."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from swapcli.core.records import NamedTuple
from swapcli.faces.garbage_collection import enable_garbage_collection
from swapcli.faces.service.access_log import AccessLog
from swapcli.faces.service.access_policy import PolicyReloader
from swapcli.faces.service.app import open_metrics_port
from swapcli.faces.service.listeners import READY, Listeners, notify_manager, open_listeners
from swapcli.faces.service.log_writer import log_stream
from swapcli.faces.service.market_followers import FollowerThreads
from swapcli.faces.service.server import ServerLimits, serve
from swapcli.faces.service.service_sources import (
    ReadyService,
    ServicePolicy,
    ServiceSources,
    open_app,
    open_service_sources,
    read_policy,
)

if TYPE_CHECKING:
    from swapcli.quoting.openers.choose_source import SourceChooser

OnReady = Callable[[ReadyService, Callable[[str], object]], None]
"""Receives the service once it accepts connections, and a function that writes log lines."""


class ServiceSetup(NamedTuple):
    """The user's setup for a service: the opener of its sources, and the path of its API key file."""

    sources: SourceChooser
    keys_file: Path

    def policy(self) -> ServicePolicy:
        """Read the policy. Raises `ConfigError` if the API key file is invalid."""
        return read_policy(self.sources.markets.setup.settings, self.keys_file)


class ServiceRun(NamedTuple):
    """A service to run on `networks`, by default on all networks. `read_again` reads the setup again on SIGHUP.

    The service exits after `max_requests`, if that is set, and when `is_terminal_gone` returns True.
    """

    setup: ServiceSetup
    networks: Sequence[str]
    read_again: Callable[[], ServiceSetup]
    on_ready: OnReady
    is_terminal_gone: Callable[[], bool] | None
    max_requests: int | None = None

    def read_policy(self) -> ServicePolicy:
        """Read the policy again. Raises the same errors as `read_again` and `ServiceSetup.policy`."""
        return self.read_again().policy()

    def announce(self, sources: ServiceSources, listeners: Listeners, log: Callable[[str], object]) -> None:
        """Announce that the service accepts connections."""
        url, lines = listeners.url, tuple(sources.describe(listeners.url))
        ready = ReadyService(url, os.getpid(), sources.names, sources.modelled, listeners.metrics_url, lines)
        self.on_ready(ready, log)
        notify_manager(READY)


def run_service(run: ServiceRun, log: Callable[[str], object]) -> int:
    """Run a service with the number of workers in its settings, and return the exit status. `log` writes a line before
    the access log is open.

    With `max_requests` there is one process, which counts the requests. Raises the same errors as
    `open_service_sources`, `read_policy`, `open_listeners` and `serve_by_workers`.
    """
    sources = open_service_sources(run.setup.sources, run.networks, log)
    policy = run.setup.policy()
    listeners = open_listeners(policy.settings, log)
    policy = policy._replace(settings=listeners.describe_in(policy.settings))
    with closing(listeners):
        if policy.settings.workers > 1 and run.max_requests is None:
            from swapcli.faces.service.worker_processes import serve_by_workers

            announce = partial(run.announce, sources, listeners, log)
            return serve_by_workers(sources, policy, listeners, announce, run.read_policy, run.is_terminal_gone)
        return _serve_here(run, sources, policy, listeners)


def _serve_here(run: ServiceRun, sources: ServiceSources, policy: ServicePolicy, listeners: Listeners) -> int:
    settings, timeout_s = policy.settings, run.setup.sources.markets.setup.settings.live_timeout_s
    enable_garbage_collection()
    with log_stream(sys.stderr) as stream:
        access_log = AccessLog(stream)
        with FollowerThreads(sources.followed, sources.registry, access_log) as followers, ExitStack() as stack:
            for node in sources.nodes.values():
                stack.callback(node.close)
            service = open_app(sources, policy, access_log, followers)
            return serve(
                service,
                listeners.service,
                ServerLimits(run.max_requests, settings.max_connections, settings.keep_alive_s),
                on_ready=lambda: run.announce(sources, listeners, lambda line: stream.write(line + "\n")),
                # With a maximum number of requests, none should be spent while the first state is read.
                is_prepared=partial(followers.are_settled, timeout_s) if run.max_requests else None,
                on_hangup=PolicyReloader(service.policy, run.read_policy, access_log, sources.registry.clock),
                is_terminal_gone=run.is_terminal_gone,
                metrics=None if listeners.metrics is None else open_metrics_port(service, listeners.metrics),
                on_refusal=service.metrics.record_refusal,
            )
