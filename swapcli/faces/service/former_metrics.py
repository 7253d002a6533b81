"""Metrics under their former names, beside the present ones, for as long as the table of deprecations has them."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from swapcli.core.model.deprecations import DeprecatedKind, Deprecation, deprecations_of


def with_former_metrics(registry: CollectorRegistry) -> CollectorRegistry:
    """Return a registry that also has the metrics under former names; `registry` itself if there are none."""
    former = tuple(deprecations_of(DeprecatedKind.METRIC).values())
    if not former:
        return registry
    both = CollectorRegistry(auto_describe=False)
    both.register(_FormerNamesCollector(registry, former))
    return both


class _FormerNamesCollector(Collector):
    """The metrics of a registry, each with its copies under former names behind it."""

    def __init__(self, registry: CollectorRegistry, former: tuple[Deprecation, ...]) -> None:
        self._registry, self._former = registry, former

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics; called by the registry."""
        for metric in self._registry.collect():
            yield metric
            yield from (_renamed(metric, each) for each in self._former if each.replacement == metric.name)


def _renamed(metric: Metric, former: Deprecation) -> Metric:
    renamed = Metric(former.name, former.message, metric.type)
    renamed.samples = [
        sample._replace(name=former.name + sample.name.removeprefix(metric.name)) for sample in metric.samples
    ]
    return renamed
