"""Counters of API keys, which the workers of a service share."""

from __future__ import annotations

import os
import signal
import time

from prometheus_client.parser import text_string_to_metric_families

from swapcli.faces.service.key_counters import MAX_KEYS, OTHER, KeyCounters
from swapcli.faces.service.refusal_reasons import RefusalReason


def samples(counters: KeyCounters) -> dict[tuple[str, ...], float]:
    """Return the value of each series by its name and the values of its labels."""
    families = text_string_to_metric_families(counters.render().decode())
    return {(each.name, *each.labels.values()): each.value for family in families for each in family.samples}


def test_each_key_has_its_requests_refusals_and_processor_time() -> None:
    counters = KeyCounters(workers=2)
    counters.count_request(0, "0000000a", 200, None)
    counters.count_request(1, "0000000a", 200, None)
    counters.count_request(1, "0000000a", 503, RefusalReason.QUEUE)
    counters.count_request(0, "0000000b", None, None)
    counters.count_request(0, "0000000b", 418, None)
    counters.add_cpu(0, "0000000a", 0.25)
    counters.add_cpu(1, "0000000a", 0.5)
    assert samples(counters) == {
        ("swapcli_key_requests_total", "0000000a", "200"): 2,
        ("swapcli_key_requests_total", "0000000a", "503"): 1,
        ("swapcli_key_requests_total", "0000000b", "none"): 1,
        ("swapcli_key_requests_total", "0000000b", "other"): 1,
        ("swapcli_key_refusals_total", "0000000a", "queue"): 1,
        ("swapcli_key_search_cpu_seconds_total", "0000000a"): 0.75,
    }


def test_keys_beyond_the_maximum_share_their_counters() -> None:
    counters = KeyCounters(workers=1)
    for number in range(MAX_KEYS + 20):
        for _ in range(2):
            counters.count_request(0, f"{number:08x}", 200, None)
    counted = {key: value for (_, key, _), value in samples(counters).items()}
    assert len(counted) == MAX_KEYS + 1
    assert counted.pop(OTHER) == 40
    assert set(counted.values()) == {2}


def test_a_killed_worker_loses_no_count_and_its_place_goes_on() -> None:
    """Two processes count the same keys, in different orders; one is killed, and replaced."""
    counters, keys = KeyCounters(workers=2), [f"{number:08x}" for number in range(50)]

    def count(worker: int, order: list[str]) -> int:
        pid = os.fork()
        if not pid:
            for key in order * 20:
                counters.count_request(worker, key, 200, None)
                counters.add_cpu(worker, key, 0.5)
            time.sleep(60)
            os._exit(0)
        return pid

    def counted(times: int) -> bool:
        expected: dict[tuple[str, ...], float] = {}
        for key in keys:
            expected["swapcli_key_requests_total", key, "200"] = 20 * times
            expected["swapcli_key_search_cpu_seconds_total", key] = 10 * times
        return samples(counters) == expected

    def wait_until_counted(times: int) -> bool:
        deadline_s = time.monotonic() + 30
        while not counted(times) and time.monotonic() < deadline_s:
            time.sleep(0.01)
        return counted(times)

    pids = [count(0, keys), count(1, keys[::-1])]
    try:
        assert wait_until_counted(2)
        os.kill(pids[0], signal.SIGKILL)
        os.waitpid(pids.pop(0), 0)
        pids.append(count(0, keys))
        assert wait_until_counted(3)
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
