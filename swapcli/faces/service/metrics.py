"""Metrics of the service in the Prometheus format. No label value comes from a client."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import Collector

from swapcli import __version__
from swapcli.core.records import NamedTuple
from swapcli.faces.service.key_counters import OTHER, KeyCounters
from swapcli.faces.service.redis_state import StateFigures
from swapcli.faces.service.refusal_reasons import RefusalReason
from swapcli.faces.service.request_io import RequestContext
from swapcli.faces.service.worker_group import GroupMember, GroupStatus
from swapcli.faces.service.worker_thread import JobFigures
from swapcli.state.feed.counters import FeedCounters
from swapcli.state.rpc.head_rule import NodeStanding

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4

_REQUEST_BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_STATUSES = range(100, 600)
_LABELS = ("network",)
_FEED_COUNTERS = (
    ("entries", "Applied feed entries."),
    ("gaps", "Feed entries that did not continue the market, so that it was reloaded."),
    ("mismatches", "Feed entries and snapshots with a wrong market hash."),
    ("rejected", "Malformed feed entries, snapshots and pools."),
    ("reorganizations", "Feed entries that undo blocks after a chain reorganization."),
    ("snapshots", "Loaded feed snapshots."),
)


# A start time series for each counter would double the stored data, and add nothing to the process's own.
disable_created_metrics()  # type: ignore[no-untyped-call]


class MarketMetrics(NamedTuple):
    """Figures about a network's market. A figure that is None is omitted. `failures` is how often following the market
    failed, and `write_failures` how often its store could not be written. `is_subscribed` is true if its node announces
    new blocks. `has_real_prices` is false for modelled and synthetic state. `feed` has the counts of its feed's events.
    `nodes` are the watched nodes."""

    network: str
    pools: int | None = None
    age_s: float | None = None
    block: int | None = None
    failures: int | None = None
    write_failures: int | None = None
    is_subscribed: bool | None = None
    has_real_prices: bool | None = None
    feed: FeedCounters | None = None
    nodes: Sequence[NodeStanding] = ()


class Metrics:
    """The metrics of one process, in a separate registry.

    Labels take only the values in `networks` and `endpoints` (path patterns), ids of API keys, and `other`. Times are
    in seconds. A `member` of a group publishes its metrics, and renders the group's sums.
    """

    def __init__(self, networks: Iterable[str], endpoints: Iterable[str], member: GroupMember | None = None) -> None:
        self._member = member
        self._keys, self._worker = (member.group.key_counters, member.slot) if member else (KeyCounters(1), 0)
        self._networks, self._endpoints = frozenset(networks), frozenset(endpoints)
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        build = Gauge("swapcli_build_info", "The running version.", ("version", "python"), registry=registry)
        build.labels(__version__, ".".join(map(str, sys.version_info[:3]))).set(1)
        self._requests = Counter(
            "swapcli_http_requests",
            "Requests answered.",
            ("endpoint", "network", "status"),
            registry=registry,
        )
        self._request_s = Histogram(
            "swapcli_http_request_duration_seconds",
            "Time from the first byte of a request to the last byte of its response.",
            ("endpoint",),
            registry=registry,
            buckets=_REQUEST_BUCKETS_S,
        )
        self._solve_s = Histogram(
            "swapcli_solve_duration_seconds",
            "Time in the routing core, without queueing.",
            ("network",),
            registry=registry,
            buckets=_REQUEST_BUCKETS_S,
        )
        self._wait_s = Histogram(
            "swapcli_solve_wait_seconds",
            "Time of an order in the queue, until it started or was rejected.",
            registry=registry,
            buckets=_REQUEST_BUCKETS_S,
        )
        self._queue = Gauge("swapcli_solve_queue_length", "Orders waiting in the queue.", registry=registry)
        self._cancelled = Counter(
            "swapcli_solves_cancelled",
            "Orders cancelled because their client disconnected.",
            ("network",),
            registry=registry,
        )
        refusals = Counter(
            "swapcli_refusals",
            "Requests and connections rejected by a limit of the service.",
            ("reason",),
            registry=registry,
        )
        self._refusals = {each: refusals.labels(each.value) for each in RefusalReason}
        self._unnamed_proxy = Counter(
            "swapcli_unnamed_proxy_requests",
            "Requests without limits, from a proxy on this machine that trusted_proxies does not list.",
            registry=registry,
        )
        self._defects = Counter(
            "swapcli_defects", "Requests that failed because of an internal error.", registry=registry
        )
        self._add_streams(registry)

    def _add_streams(self, registry: CollectorRegistry) -> None:
        self._streams = Gauge("swapcli_streams_open", "Open streams of quotes.", registry=registry)
        self._events = Counter("swapcli_events", "Events sent to streams.", registry=registry)
        self._dropped_streams = Counter(
            "swapcli_streams_dropped", "Streams closed because their client did not read.", registry=registry
        )
        self._event_delay_s = Histogram(
            "swapcli_event_delay_seconds",
            "Time from a block's arrival until a stream's order was quoted on it.",
            registry=registry,
            buckets=_REQUEST_BUCKETS_S,
        )

    def record_event(self) -> None:
        """Count an event that was sent to a stream."""
        self._events.inc()

    def record_dropped_stream(self) -> None:
        """Count a stream that was closed because its client did not read it."""
        self._dropped_streams.inc()

    def record_event_delay(self, delay_s: float) -> None:
        """Record how long after a block its quote was sent, which is mainly the time of one search."""
        self._event_delay_s.observe(delay_s)

    def watch_streams(self, count: Callable[[], int]) -> None:
        """Read the number of open streams whenever the metrics are rendered."""
        self._streams.set_function(lambda: float(count()))

    def record_request(self, endpoint: str | None, network: str | None, status: int, duration_s: float) -> None:
        """Count a request with a response; `endpoint` is None if none matched."""
        endpoint = endpoint if endpoint in self._endpoints else OTHER
        label = str(status) if status in _STATUSES else OTHER
        self._requests.labels(endpoint, self._network(network), label).inc()
        self._request_s.labels(endpoint).observe(duration_s)

    def record_key(self, key_id: str, status: int | None, refusal: RefusalReason | None) -> None:
        """Count a request with a key. `status` is None if its client disconnected."""
        self._keys.count_request(self._worker, key_id, status, refusal)

    def record_search(self, context: RequestContext, job: JobFigures) -> None:
        """Record the time of a search for a request. Call this on the thread that ran the search."""
        context.record_search(job)
        if context.api_key is not None:
            self._keys.add_cpu(self._worker, context.api_key.id, job.cpu_s)

    def record_solve(self, network: str, duration_s: float) -> None:
        """Record how long an endpoint's work ran on the worker thread."""
        self._solve_s.labels(self._network(network)).observe(duration_s)

    def record_wait(self, wait_s: float) -> None:
        """Record how long an order waited in the queue."""
        self._wait_s.observe(wait_s)

    def watch_queue(self, length: Callable[[], int]) -> None:
        """Read the length of the queue whenever the metrics are rendered."""
        self._queue.set_function(lambda: float(length()))

    def watch_stuck_searches(self, count: Callable[[], int]) -> None:
        """Read the number of stuck searches whenever the metrics are rendered."""
        self._registry.register(
            _CountCollector("swapcli_stuck_searches", "Searches abandoned because they were stuck.", count)
        )

    def watch_log(self, dropped: Callable[[], int]) -> None:
        """Read the number of dropped log lines whenever the metrics are rendered."""
        self._registry.register(
            _CountCollector("swapcli_log_lines_dropped", "Log lines dropped because the reader was too slow.", dropped)
        )

    def watch_key_file(self, is_valid: Callable[[], bool]) -> None:
        """Read whether the file of API keys is valid whenever the metrics are rendered."""
        gauge = Gauge("swapcli_key_file_valid", "1 while the key file is valid, otherwise 0.", registry=self._registry)
        gauge.set_function(lambda: float(is_valid()))

    def watch_state(self, read_figures: Callable[[], StateFigures]) -> None:
        """Read the figures of the shared state whenever the metrics are rendered."""
        self._registry.register(_SharedStateCollector(read_figures))

    def record_cancelled(self, network: str) -> None:
        """Count an order whose client disconnected."""
        self._cancelled.labels(self._network(network)).inc()

    def record_refusal(self, reason: RefusalReason) -> None:
        """Count a request or a connection that was rejected."""
        self._refusals[reason].inc()

    def record_unnamed_proxy(self) -> None:
        """Count a request from an untrusted proxy on this machine."""
        self._unnamed_proxy.inc()

    def record_defect(self) -> None:
        """Count a request that failed because of a defect."""
        self._defects.inc()

    def watch_markets(self, read_markets: Callable[[], Iterable[MarketMetrics]]) -> None:
        """Read the figures of all markets whenever the metrics are rendered."""

        def read_known() -> Iterator[MarketMetrics]:
            return (each._replace(network=self._network(each.network)) for each in read_markets())

        self._registry.register(_MarketsCollector(read_known))

    def publish(self) -> None:
        """Publish these metrics to the other members of the group."""
        if self._member is not None:
            self._member.group.publish_metrics(self._member.slot, list(self._registry.collect()))

    def render(self) -> bytes:
        """Return all metrics in the format `CONTENT_TYPE`. Other workers' metrics are up to half a second old, except
        for the metrics of keys."""
        registry = self._registry
        if self._member is not None:
            self.publish()
            registry = CollectorRegistry(auto_describe=False)
            registry.register(_GroupCollector(self._member))
        return generate_latest(registry) + self._keys.render()

    def _network(self, network: str | None) -> str:
        return network if network in self._networks and network is not None else OTHER


class _GroupCollector(Collector):
    """The sums of a group, and its number of workers."""

    def __init__(self, member: GroupMember) -> None:
        self._member = member

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics; called by the registry."""
        yield from self._member.group.sum_metrics()
        status: GroupStatus = self._member.status
        yield GaugeMetricFamily("swapcli_workers", "Workers that accept connections.", value=status.live)
        yield CounterMetricFamily(
            "swapcli_workers_replaced", "Workers that exited and were replaced.", value=status.replaced
        )


class _CountCollector(Collector):
    """A counter whose value is counted elsewhere."""

    def __init__(self, name: str, text: str, count: Callable[[], int]) -> None:
        self._name, self._text, self._count = name, text, count

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics; called by the registry."""
        yield CounterMetricFamily(self._name, self._text, value=self._count())


class _SharedStateCollector(Collector):
    """Figures of the state that services share."""

    def __init__(self, read_figures: Callable[[], StateFigures]) -> None:
        self._read_figures = read_figures

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics; called by the registry."""
        figures = self._read_figures()
        yield GaugeMetricFamily(
            "swapcli_state_connected",
            "1 while the shared-state server responds, 0 while it fails.",
            value=figures.is_connected,
        )
        yield CounterMetricFamily(
            "swapcli_state_failures", "Failed requests to the shared-state server.", value=figures.failures
        )
        fallbacks = CounterMetricFamily(
            "swapcli_state_fallbacks",
            "Fallbacks to the process's own state because the shared-state server did not respond.",
            labels=("use",),
        )
        fallbacks.add_metric(("limits",), figures.limit_fallbacks)
        fallbacks.add_metric(("routes",), figures.route_fallbacks)
        yield fallbacks


class _MarketsCollector(Collector):
    """Gauges of each market."""

    def __init__(self, read_markets: Callable[[], Iterable[MarketMetrics]]) -> None:
        self._read_markets = read_markets

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics; called by the registry."""
        gauges = (
            GaugeMetricFamily("swapcli_market_pools", "Pools of the market.", labels=_LABELS),
            GaugeMetricFamily("swapcli_market_age_seconds", "Age of the market state in seconds.", labels=_LABELS),
            GaugeMetricFamily("swapcli_market_block", "Block of the market state.", labels=_LABELS),
            GaugeMetricFamily(
                "swapcli_market_subscribed", "1 while the node announces new blocks, 0 while polling.", labels=_LABELS
            ),
            GaugeMetricFamily(
                "swapcli_market_real",
                "1 while prices are real, 0 while they are modelled or synthetic.",
                labels=_LABELS,
            ),
        )
        failures = CounterMetricFamily(
            "swapcli_market_update_failures",
            "Failed attempts to update the market to the latest block.",
            labels=_LABELS,
        )
        counters = {
            name: CounterMetricFamily(f"swapcli_feed_{name}", text, labels=_LABELS) for name, text in _FEED_COUNTERS
        }
        unwritten = CounterMetricFamily(
            "swapcli_store_write_failures",
            "Failed store writes; until one succeeds, new blocks stay in memory.",
            labels=_LABELS,
        )
        by_node = [
            GaugeMetricFamily(f"swapcli_node_{name}", text, labels=("network", "node"))
            for name, text in (
                ("up", "1 while the node at this position in the settings returns a usable block, otherwise 0."),
                ("read", "1 for the node in use, otherwise 0."),
                ("lag_blocks", "Blocks by which the node is behind the highest node."),
            )
        ]
        for market in self._read_markets():
            network, pools, age_s, block, failed, unwr, is_subscribed, has_real_prices, feed, nodes = market
            for position, node in enumerate(nodes, 1):
                for gauge, figure in zip(by_node, (node.lag is not None, node.is_read, node.lag), strict=True):
                    if figure is not None:
                        gauge.add_metric((network, str(position)), figure)
            for gauge, value in zip(gauges, (pools, age_s, block, is_subscribed, has_real_prices), strict=True):
                if value is not None:
                    gauge.add_metric((network,), value)
            if failed is not None:
                failures.add_metric((network,), failed)
            if unwr is not None:
                unwritten.add_metric((network,), unwr)
            for name, counter in counters.items() if feed is not None else ():
                counter.add_metric((network,), getattr(feed, name))
        yield from (*gauges, *by_node, failures, unwritten, *counters.values())
