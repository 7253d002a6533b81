"""Combine the metrics of several processes. Counters and histograms are added up; gauges are merged according to their
meaning."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import msgspec
from prometheus_client.core import Metric

_MERGE_GAUGE: Final[Mapping[str, Callable[[float, float], float]]] = {
    # Each process has its own limit, and the service began with its first process. A client may reach any worker, so
    # the oldest state is the one to watch.
    "process_max_fds": min,
    "process_start_time_seconds": min,
    "swapcli_build_info": max,
    "swapcli_key_file_valid": min,
    "swapcli_market_age_seconds": max,
    "swapcli_market_block": min,
    "swapcli_market_pools": min,
    "swapcli_market_real": min,
    "swapcli_market_subscribed": min,
    "swapcli_node_lag_blocks": max,
    "swapcli_node_read": max,
    "swapcli_node_up": min,
    "swapcli_state_connected": min,
}
"""Gauges that are not added up."""

_COUNTED: Final = ("counter", "histogram")

_Families = list[tuple[str, str, str, list[tuple[str, dict[str, str], float]]]]


def encode_families(families: Iterable[Metric]) -> bytes:
    """Return metrics encoded as bytes, for `decode_families`."""
    return msgspec.json.encode(
        [
            (
                each.name,
                each.documentation,
                each.type,
                [(name, labels, float(value)) for name, labels, value, *_ in each.samples],
            )
            for each in families
        ]
    )


def decode_families(content: bytes) -> list[Metric]:
    """Return the metrics encoded by `encode_families`."""
    families = []
    for name, documentation, kind, samples in msgspec.json.decode(content, type=_Families):
        family = Metric(name, documentation, kind)
        for sample_name, labels, value in samples:
            family.add_sample(sample_name, labels, value)
        families.append(family)
    return families


def add_up(processes: Iterable[Iterable[Metric]]) -> list[Metric]:
    """Return the metrics of all processes combined."""
    families: dict[str, Metric] = {}
    values: dict[str, dict[tuple[Any, ...], float]] = {}
    for metrics in processes:
        for metric in metrics:
            families.setdefault(metric.name, Metric(metric.name, metric.documentation, metric.type))
            summed = values.setdefault(metric.name, {})
            for name, labels, value, *_ in metric.samples:
                key = name, *labels.items()
                summed[key] = _merge(metric, summed[key], value) if key in summed else value
    for family_name, family in families.items():
        for (sample_name, *pairs), value in values[family_name].items():
            family.add_sample(sample_name, dict(pairs), value)
    return list(families.values())


def without_gauges(families: Iterable[Metric]) -> list[Metric]:
    """Return the metrics that remain valid after their process has ended."""
    return [each for each in families if each.type in _COUNTED]


def _merge(metric: Metric, value: float, other: float) -> float:
    if metric.type in _COUNTED:
        return value + other
    merge = _MERGE_GAUGE.get(metric.name)
    return merge(value, other) if merge else value + other
