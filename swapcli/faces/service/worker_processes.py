"""`swapcli serve --workers N`: a parent that opens the markets and the socket, and the processes that it forks.

Markets are opened before the first fork, so that the processes share their memory. Nothing that a thread or a
connection belongs to is opened in the parent. If markets follow a node, one more process writes their stores.
"""

from __future__ import annotations

import gc
import os
import socket
import sys
from collections.abc import Callable
from contextlib import nullcontext, suppress
from functools import partial

from swapcli.core.errors import InvalidOption, MarketUnavailable, SwapcliError
from swapcli.faces.garbage_collection import enable_garbage_collection
from swapcli.faces.service.access_log import AccessLog
from swapcli.faces.service.access_policy import PolicyReloader
from swapcli.faces.service.app import get_metrics, get_policy, open_metrics_port
from swapcli.faces.service.log_writer import UnqueuedLog, log_stream
from swapcli.faces.service.market_followers import FollowerThreads
from swapcli.faces.service.parent_channel import ParentChannel
from swapcli.faces.service.server import BACKLOG, allow_open_files, base_url, bind, metrics_url, serve_as_worker
from swapcli.faces.service.service_sources import (
    METRICS_PORT,
    ServicePolicy,
    ServiceSources,
    open_app,
    open_shared_state,
)
from swapcli.faces.service.shared_pool_stores import SharedStores
from swapcli.faces.service.supervisor import ProcessPlan, Supervisor
from swapcli.faces.service.worker_group import GroupMember, WorkerGroup, share_of
from swapcli.quoting.config.settings import ServiceSettings
from swapcli.quoting.followers.feed_follower import FollowedFeed

_WRITER = "the writer of stores"


def serve_by_workers(
    sources: ServiceSources,
    policy: ServicePolicy,
    on_ready: Callable[[str, str | None], None],
    read_policy: Callable[[], ServicePolicy],
    is_terminal_gone: Callable[[], bool] | None,
) -> int:
    """Serve with the number of workers that the settings name, until stopped; return 0.

    Raises `InvalidOption` if the system cannot fork or the address cannot be bound, and `UnhealthyError` if a worker
    ends early again and again.
    """
    if not hasattr(os, "fork"):
        raise InvalidOption("--workers needs a system that can fork processes", hint="leave it out")
    workers = policy.settings.workers
    unqueued_log = AccessLog(UnqueuedLog(sys.stderr))

    def log_process(name: str, problem: str) -> None:
        unqueued_log.log_process(name, problem, sources.registry.clock.now_s())

    processes = _Processes(sources, policy, read_policy)
    listener, metrics_listener, stores = processes.listener, processes.metrics_listener, processes.stores
    url = base_url(listener)
    url_of_metrics = metrics_url(metrics_listener) if metrics_listener is not None else None
    open_shared_state(sources, unqueued_log)  # raises here if its package is missing, and loads it once
    _open_markets(sources)
    listener.listen(BACKLOG)
    if metrics_listener is not None:
        metrics_listener.listen(BACKLOG)
    plans = [ProcessPlan(_worker_name(slot), partial(processes.run_worker, slot)) for slot in range(workers)]
    with listener, metrics_listener or nullcontext(), stores:
        if stores.has_writer:
            plans.append(ProcessPlan(_WRITER, processes.run_writer))
        processes.group = WorkerGroup(workers, helpers=len(plans) - workers)
        supervisor = Supervisor(
            plans,
            processes.group,
            on_ready=lambda: on_ready(url, url_of_metrics),
            on_reload=processes.reload,
            on_problem=log_process,
            on_stop=processes.close_listeners,
            is_terminal_gone=is_terminal_gone,
        )
        supervisor.run()
    return 0


class _Processes:
    """The forked processes, and the sockets and stores that the parent opens for them."""

    group: WorkerGroup

    def __init__(
        self, sources: ServiceSources, policy: ServicePolicy, read_policy: Callable[[], ServicePolicy]
    ) -> None:
        self._sources, self._policy, self._read_policy = sources, policy, read_policy
        self._workers = policy.settings.workers
        self.listener, self.metrics_listener = _bind(policy.settings)
        _allow_pipes(self._workers, len(sources.followed))
        self.stores = SharedStores(sources.followed, self._workers)

    def reload(self) -> None:
        """Read the settings again for processes forked later. Those that run read them themselves, and log problems."""
        with suppress(SwapcliError, OSError):
            self._policy = self._read_policy()

    def close_listeners(self) -> None:
        """Close the sockets in this process."""
        self.listener.close()
        if self.metrics_listener is not None:
            self.metrics_listener.close()

    def run_writer(self, parent: ParentChannel) -> int:
        """Write the stores of followed markets, until stopped; return the exit status."""
        enable_garbage_collection()
        self.close_listeners()
        registry = self._sources.registry
        with log_stream(sys.stderr, is_shared=True) as stream:
            member = GroupMember(self.group, slot=self._workers)
            return self.stores.write(registry.networks, member, parent, AccessLog(stream, _WRITER), registry.clock)

    def run_worker(self, slot: int, parent: ParentChannel) -> int:
        """Serve, until stopped; return the exit status."""
        enable_garbage_collection()
        self.stores.announcements.close_others(slot)
        member, registry = GroupMember(self.group, slot), self._sources.registry
        with (
            log_stream(sys.stderr, is_shared=True) as stream,
            FollowerThreads(
                self.stores.followed_by(slot),
                registry,
                log := AccessLog(stream, _worker_name(slot)),
                self.stores.announcements,
            ) as followers,
        ):
            service = open_app(self._sources, self._policy, log, followers, member)
            metrics = self.metrics_listener
            return serve_as_worker(
                service,
                self.listener,
                member,
                parent,
                on_hangup=PolicyReloader(get_policy(service), self._read_policy, log, registry.clock),
                publish=get_metrics(service).publish,
                max_connections=share_of(self._policy.settings.max_connections, member),
                keep_alive_s=self._policy.settings.keep_alive_s,
                on_refusal=get_metrics(service).record_refusal,
                metrics=open_metrics_port(service, metrics) if metrics is not None else None,
            )


def _bind(settings: ServiceSettings) -> tuple[socket.socket, socket.socket | None]:
    """Return the socket of the service, and that of its metrics if they have a port of their own."""
    listener = bind(settings.host, settings.port)
    if settings.metrics_port is None:
        return listener, None
    try:
        return listener, bind(settings.host, settings.metrics_port, METRICS_PORT)
    except InvalidOption:
        listener.close()
        raise


def _worker_name(slot: int) -> str:
    return f"worker {slot + 1}"


def _allow_pipes(workers: int, networks: int) -> None:
    """Allow the files that the parent opens: a pipe for each worker and followed network, and a socket for each worker.

    Raises `InvalidOption` if the system does not allow as many.
    """
    needed = workers * (2 * networks + 1)
    allowed = allow_open_files(needed)
    if allowed < needed:
        raise InvalidOption(
            f"{workers} workers that follow {networks} networks need {needed:,} open files, but the system allows only"
            f" {max(0, allowed):,} of them",
            hint="run fewer workers, or raise the limit with ulimit -n",
        )


def _open_markets(sources: ServiceSources) -> None:
    """Open all markets that the service starts on, and quote on each, so that what orders share is made before forking.

    The markets of feeds are loaded, too: most of their memory stays as it is.
    """
    gc.disable()
    with suppress(SwapcliError):  # the server is away: each worker tries again
        for followed in sources.followed:
            if isinstance(followed, FollowedFeed):
                followed.load(sources.registry.clock, sources.registry.rules.terms.ttl_s)
    for network in sources.registry.served_networks:
        if sources.registry.has_opener(network.name):
            with suppress(MarketUnavailable):
                source = sources.registry.open_source(network.name)
                source.searchable.router.index.warm()
                source.health()
    # A collection of a worker writes to every object that it looks at, and so would copy its page.
    gc.collect()
    gc.freeze()
