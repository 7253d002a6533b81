"""`swapcli serve --workers N`: a parent that opens the markets and the socket, and the processes that it forks.

Markets are opened before the first fork, so that the processes share their memory. The parent opens nothing that needs
a thread or a connection. If markets follow a node, one more process writes their stores.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from swapcli.core.errors import InvalidOption, MarketUnavailable, SwapcliError
from swapcli.faces.garbage_collection import enable_garbage_collection
from swapcli.faces.service.access_log import AccessLog
from swapcli.faces.service.access_policy import PolicyReloader
from swapcli.faces.service.app import open_metrics_port
from swapcli.faces.service.listeners import STOPPING, Listeners, notify_manager
from swapcli.faces.service.log_writer import UnqueuedLog, log_stream
from swapcli.faces.service.market_followers import FollowerThreads
from swapcli.faces.service.parent_channel import ParentChannel
from swapcli.faces.service.server import BACKLOG, ServerLimits, WorkerPart, allow_open_files, serve
from swapcli.faces.service.service_sources import ServicePolicy, ServiceSources, open_app, open_shared_state
from swapcli.faces.service.shared_pool_stores import SharedStores
from swapcli.faces.service.supervisor import ProcessPlan, Supervisor
from swapcli.faces.service.worker_group import GroupMember, WorkerGroup, share_of
from swapcli.quoting.followers.feed_follower import FollowedFeed

_WRITER = "the store writer"


def serve_by_workers(
    sources: ServiceSources,
    policy: ServicePolicy,
    listeners: Listeners,
    on_ready: Callable[[], None],
    read_policy: Callable[[], ServicePolicy],
    is_terminal_gone: Callable[[], bool] | None,
) -> int:
    """Run the service with as many workers as the settings say, until stopped, and return 0.

    Raises `InvalidOption` if the system cannot fork, and `UnhealthyError` if a worker repeatedly ends early.
    """
    if not hasattr(os, "fork"):
        raise InvalidOption("--workers needs a system that can fork processes", hint="remove --workers")
    workers = policy.settings.workers
    unqueued_log = AccessLog(UnqueuedLog(sys.stderr))

    def log_process(name: str, problem: str) -> None:
        unqueued_log.log_process(name, problem, sources.registry.clock.now_s())

    processes = _Processes(sources, policy, listeners, read_policy)
    stores = processes.stores
    open_shared_state(sources, unqueued_log)  # raises here if the package is missing, and loads it once
    _open_markets(sources)
    for listener in listeners:
        if listener is not None:
            listener.listen(BACKLOG)
    plans = [ProcessPlan(_worker_name(slot), partial(processes.run_worker, slot)) for slot in range(workers)]
    with stores:
        if stores.has_writer:
            plans.append(ProcessPlan(_WRITER, processes.run_writer))
        processes.group = WorkerGroup(workers, helpers=len(plans) - workers)
        supervisor = Supervisor(
            plans,
            processes.group,
            on_ready=on_ready,
            on_reload=processes.reload,
            on_problem=log_process,
            on_stop=partial(_stop_listening, listeners),
            is_terminal_gone=is_terminal_gone,
        )
        supervisor.run()
    return 0


class _Processes:
    """The forked processes, and the stores that the parent opens for them."""

    group: WorkerGroup

    def __init__(
        self,
        sources: ServiceSources,
        policy: ServicePolicy,
        listeners: Listeners,
        read_policy: Callable[[], ServicePolicy],
    ) -> None:
        self._sources, self._policy, self._read_policy = sources, policy, read_policy
        self._workers, self._listeners = policy.settings.workers, listeners
        _allow_pipes(self._workers, len(sources.followed))
        self.stores = SharedStores(sources.followed, self._workers)

    def reload(self) -> None:
        """Read the settings again for processes forked later. Running processes read them themselves, and log
        problems."""
        with suppress(SwapcliError, OSError):
            policy = self._read_policy()
            self._policy = policy._replace(settings=self._listeners.describe_in(policy.settings))

    def run_writer(self, parent: ParentChannel) -> int:
        """Write the stores of followed markets, until stopped; return the exit status."""
        enable_garbage_collection()
        self._listeners.close()
        registry = self._sources.registry
        with log_stream(sys.stderr) as stream:
            member = GroupMember(self.group, slot=self._workers)
            return self.stores.write(registry.networks, member, parent, AccessLog(stream, _WRITER), registry.clock)

    def run_worker(self, slot: int, parent: ParentChannel) -> int:
        """Serve, until stopped; return the exit status."""
        enable_garbage_collection()
        self.stores.announcements.close_others(slot)
        member, registry = GroupMember(self.group, slot), self._sources.registry
        with (
            log_stream(sys.stderr) as stream,
            FollowerThreads(
                self.stores.followed_by(slot),
                registry,
                log := AccessLog(stream, _worker_name(slot)),
                self.stores.announcements,
            ) as followers,
        ):
            service = open_app(self._sources, self._policy, log, followers, member)
            settings, metrics = self._policy.settings, self._listeners.metrics
            return serve(
                service,
                self._listeners.service,
                ServerLimits(
                    max_connections=share_of(settings.max_connections, member), keep_alive_s=settings.keep_alive_s
                ),
                on_ready=parent.report_ready,
                on_hangup=PolicyReloader(service.policy, self._read_policy, log, registry.clock),
                metrics=open_metrics_port(service, metrics) if metrics is not None else None,
                on_refusal=service.metrics.record_refusal,
                worker=WorkerPart(member, parent, service.metrics.publish),
            )


def _stop_listening(listeners: Listeners) -> None:
    notify_manager(STOPPING)
    listeners.close()


def _worker_name(slot: int) -> str:
    return f"worker {slot + 1}"


def _allow_pipes(workers: int, networks: int) -> None:
    """Allow the parent's open files: a pipe for each worker and followed network, and a socket for each worker.

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
    """Open all markets with which the service starts, and quote on each, so that data shared by orders is created
    before forking.

    The markets of feeds are loaded, too, because most of their memory never changes.
    """
    gc.disable()
    with suppress(SwapcliError):  # the server is down: each worker tries again
        for followed in sources.followed:
            if isinstance(followed, FollowedFeed):
                followed.load(sources.registry.clock, sources.registry.rules.terms.ttl_s)
    for network in sources.registry.served_networks:
        if sources.registry.has_opener(network.name):
            with suppress(MarketUnavailable):
                source = sources.registry.open_source(network.name)
                source.searchable.router.warm()
                source.health()
    # A worker's garbage collection writes to every object it visits, and so would copy the memory page.
    gc.collect()
    gc.freeze()
