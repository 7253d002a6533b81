"""What workers share: their metrics, also where these are too long."""

from __future__ import annotations

import pytest
from prometheus_client.core import CounterMetricFamily, Metric

from swapcli.faces.service import worker_group
from swapcli.faces.service.worker_group import WorkerGroup


def count(value: float, *, name: str = "requests", labels: int = 1) -> Metric:
    family = CounterMetricFamily(name, "A counter.", labels=("number",))
    for number in range(labels):
        family.add_metric((str(number),), value)
    return family


def read(group: WorkerGroup) -> dict[str, float]:
    return {sample.name: sample.value for family in group.sum_metrics() for sample in family.samples}


def test_metrics_that_are_too_long_are_omitted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_group, "MAX_METRICS_BYTES", 2_000)
    group = WorkerGroup(2)
    large = count(1.0, name="large", labels=100)
    group.publish_metrics(0, [count(1.0), large])
    group.publish_metrics(1, [count(2.0)])
    assert read(group) == {"requests_total": 3.0, "swapcli_metrics_omitted": 1.0}
    group.publish_metrics(0, [large, count(5.0)])
    assert read(group) == {"requests_total": 7.0, "swapcli_metrics_omitted": 1.0}, "they do not freeze"
    group.remove_member(0)
    assert read(group) == {"requests_total": 7.0}


def test_each_publication_is_a_heartbeat() -> None:
    group = WorkerGroup(2)
    before = [group.heartbeat(slot) for slot in range(2)]
    group.publish_metrics(0, [count(1.0)])
    assert group.heartbeat(0) != before[0]
    assert group.heartbeat(1) == before[1]
