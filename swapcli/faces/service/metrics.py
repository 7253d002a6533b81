"""Metrics of the service in the Prometheus format. No label value comes from a client."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator

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
from swapcli.faces.service.redis_state import StateFigures
from swapcli.faces.service.refusal_reasons import RefusalReason
from swapcli.faces.service.worker_group import GroupMember, GroupStatus
from swapcli.state.feed.counters import FeedCounters

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4
OTHER = "other"

_REQUEST_BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_STATUSES = range(100, 600)
_LABELS = ("network",)
_FEED_COUNTERS = (
    ("entries", "Entries of the feed that were applied."),
    ("gaps", "Entries of the feed that do not continue the market, which then had to be loaded again."),
    ("mismatches", "Entries and snapshots of the feed whose hash of the market is wrong."),
    ("rejected", "Entries, snapshots and pools of the feed that are malformed."),
    ("reorganizations", "Entries of the feed that undo blocks, because the chain was reorganized."),
    ("snapshots", "Snapshots of the feed that were loaded."),
)


# A series for the start time of each counter doubles what is stored, and tells nothing that the process's does not.
disable_created_metrics()  # type: ignore[no-untyped-call]


class MarketMetrics(NamedTuple):
    """Figures of a network's market; None is omitted. `failures` is how often following it failed; `is_subscribed` is
    whether its node announces new blocks; `has_real_prices` is false for modelled and synthetic state; `feed` is what
    has happened to its feed."""

    network: str
    pools: int | None = None
    age_s: float | None = None
    block: int | None = None
    failures: int | None = None
    is_subscribed: bool | None = None
    has_real_prices: bool | None = None
    feed: FeedCounters | None = None


class Metrics:
    """Counters of one process, in a registry of their own.

    Labels take only the values `networks`, `endpoints` (path patterns) and `other`. Times are in seconds. A `member` of
    a group publishes its metrics, and renders the sums of the group.
    """

    def __init__(self, networks: Iterable[str], endpoints: Iterable[str], member: GroupMember | None = None) -> None:
        self._member = member
        self._networks, self._endpoints = frozenset(networks), frozenset(endpoints)
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        build = Gauge("swapcli_build_info", "The version that runs.", ("version", "python"), registry=registry)
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
            "Time of an order in the queue, until it started or was refused.",
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
            "Requests and connections refused by a limit of the service.",
            ("reason",),
            registry=registry,
        )
        self._refusals = {each: refusals.labels(each.value) for each in RefusalReason}
        self._unnamed_proxy = Counter(
            "swapcli_unnamed_proxy_requests",
            "Requests of a proxy on this machine that trusted_proxies does not name, so that they have no limits.",
            registry=registry,
        )
        self._defects = Counter(
            "swapcli_defects", "Requests that failed because of a defect of the service.", registry=registry
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
            "Time from the arrival of a block until an order of the streams was quoted on it.",
            registry=registry,
            buckets=_REQUEST_BUCKETS_S,
        )

    def record_event(self) -> None:
        """Count an event that was sent to a stream."""
        self._events.inc()

    def record_dropped_stream(self) -> None:
        """Count a stream whose client did not read."""
        self._dropped_streams.inc()

    def record_event_delay(self, delay_s: float) -> None:
        """Record the time from a block until an order was quoted on it: one search."""
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

    def record_solve(self, network: str, duration_s: float) -> None:
        """Record the time of an endpoint on the worker."""
        self._solve_s.labels(self._network(network)).observe(duration_s)

    def record_wait(self, wait_s: float) -> None:
        """Record the time of an order in the queue."""
        self._wait_s.observe(wait_s)

    def watch_queue(self, length: Callable[[], int]) -> None:
        """Read the length of the queue whenever the metrics are rendered."""
        self._queue.set_function(lambda: float(length()))

    def watch_stuck_searches(self, count: Callable[[], int]) -> None:
        """Read the number of stuck searches whenever the metrics are rendered."""
        self._registry.register(_StuckSearchesCollector(count))

    def watch_log(self, dropped: Callable[[], int]) -> None:
        """Read the number of dropped log lines whenever the metrics are rendered."""
        self._registry.register(_DroppedLinesCollector(dropped))

    def watch_state(self, read_figures: Callable[[], StateFigures]) -> None:
        """Read the figures of the shared state whenever the metrics are rendered."""
        self._registry.register(_SharedStateCollector(read_figures))

    def record_cancelled(self, network: str) -> None:
        """Count an order whose client disconnected."""
        self._cancelled.labels(self._network(network)).inc()

    def record_refusal(self, reason: RefusalReason) -> None:
        """Count a request or a connection that was refused."""
        self._refusals[reason].inc()

    def record_unnamed_proxy(self) -> None:
        """Count a request of a proxy on this machine that is not trusted."""
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
        """Let the other members of the group see these metrics."""
        if self._member is not None:
            self._member.group.publish_metrics(self._member.slot, list(self._registry.collect()))

    def render(self) -> bytes:
        """Return all metrics in the format `CONTENT_TYPE`. Those of other workers are up to half a second old."""
        if self._member is None:
            return generate_latest(self._registry)
        self.publish()
        sums = CollectorRegistry(auto_describe=False)
        sums.register(_GroupCollector(self._member))
        return generate_latest(sums)

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
            "swapcli_workers_replaced", "Workers that ended and were replaced.", value=status.replaced
        )


class _StuckSearchesCollector(Collector):
    """The number of searches that were stuck."""

    def __init__(self, count: Callable[[], int]) -> None:
        self._count = count

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics; called by the registry."""
        yield CounterMetricFamily(
            "swapcli_stuck_searches", "Searches given up because they were stuck.", value=self._count()
        )


class _DroppedLinesCollector(Collector):
    """The number of log lines dropped."""

    def __init__(self, dropped: Callable[[], int]) -> None:
        self._dropped = dropped

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics; called by the registry."""
        yield CounterMetricFamily(
            "swapcli_log_lines_dropped", "Log lines dropped because the reader was too slow.", value=self._dropped()
        )


class _SharedStateCollector(Collector):
    """Figures of the state that services share."""

    def __init__(self, read_figures: Callable[[], StateFigures]) -> None:
        self._read_figures = read_figures

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics; called by the registry."""
        figures = self._read_figures()
        yield GaugeMetricFamily(
            "swapcli_state_connected",
            "1 while the server of shared state answers, 0 while it fails.",
            value=figures.is_connected,
        )
        yield CounterMetricFamily(
            "swapcli_state_failures", "Failed exchanges with the server of shared state.", value=figures.failures
        )
        fallbacks = CounterMetricFamily(
            "swapcli_state_fallbacks",
            "Uses of the process's own state because the server of shared state did not answer.",
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
                "1 while the prices of the market are real, 0 while they are modelled or synthetic.",
                labels=_LABELS,
            ),
        )
        failures = CounterMetricFamily(
            "swapcli_market_update_failures", "Failed attempts to bring the market to the newest block.", labels=_LABELS
        )
        counters = {
            name: CounterMetricFamily(f"swapcli_feed_{name}", text, labels=_LABELS) for name, text in _FEED_COUNTERS
        }
        for network, pools, age_s, block, failed, is_subscribed, has_real_prices, feed in self._read_markets():
            for gauge, value in zip(gauges, (pools, age_s, block, is_subscribed, has_real_prices), strict=True):
                if value is not None:
                    gauge.add_metric((network,), value)
            if failed is not None:
                failures.add_metric((network,), failed)
            for name, counter in counters.items() if feed is not None else ():
                counter.add_metric((network,), getattr(feed, name))
        yield from (*gauges, failures, *counters.values())
