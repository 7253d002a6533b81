"""Metrics of several processes are those of one: counters are added up, gauges by what they mean."""

from __future__ import annotations

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from swapcli.faces.service.metric_sums import add_up, decode_families, encode_families, without_gauges


def metrics(requests: int, age_s: float, block: int, clients: int) -> list[Metric]:
    counter = CounterMetricFamily("requests", "Requests.", labels=["network"], created=None)
    counter.add_metric(["base"], requests)
    gauges = {"swapcli_market_age_seconds": age_s, "swapcli_market_block": block, "clients": clients}
    return [counter, *(GaugeMetricFamily(name, name, value=value) for name, value in gauges.items())]


def values(families: list[Metric]) -> dict[str, float]:
    return {sample.name: sample.value for family in families for sample in family.samples}


def test_metrics_survive_the_way_to_another_process() -> None:
    sent = metrics(3, 1.5, 7, 2)
    received = decode_families(encode_families(sent))
    assert values(received) == values(sent)
    assert [each.type for each in received] == [each.type for each in sent]


def test_each_metric_is_merged_by_what_it_means() -> None:
    merged = values(add_up([metrics(3, 1.5, 7, 2), metrics(4, 0.5, 6, 1)]))
    assert merged == {
        "requests_total": 7,
        "swapcli_market_age_seconds": 1.5,
        "swapcli_market_block": 6,
        "clients": 3,
    }


def test_the_metrics_of_processes_are_merged_by_what_they_mean() -> None:
    def process(started_s: float, resident_bytes: float) -> list[Metric]:
        cpu = CounterMetricFamily("process_cpu_seconds_total", "CPU.", value=2.5)
        gauges = {"process_start_time_seconds": started_s, "process_resident_memory_bytes": resident_bytes}
        build = GaugeMetricFamily("swapcli_build_info", "Build.", labels=["version"])
        build.add_metric(["0.1.0"], 1)
        return [cpu, build, *(GaugeMetricFamily(name, name, value=value) for name, value in gauges.items())]

    assert values(add_up([process(200.0, 10), process(100.0, 20)])) == {
        "process_cpu_seconds_total": 5,
        "process_start_time_seconds": 100,
        "process_resident_memory_bytes": 30,
        "swapcli_build_info": 1,
    }


def test_only_counters_outlive_their_process() -> None:
    assert values(without_gauges(metrics(3, 1.5, 7, 2))) == {"requests_total": 3}
