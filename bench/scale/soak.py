"""Run for a long time under a changing load, and check that the memory and descriptors of all processes do not grow."""

from __future__ import annotations

import http.client
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from random import Random
from statistics import median
from threading import Event, Thread
from typing import Any, NamedTuple
from urllib.parse import urlencode

from bench.scale.chain import TradingChain
from bench.scale.cluster import Cluster, Daemon
from bench.scale.load import Traffic
from tests.chain.contract_fixture import DECIMALS
from tests.chain.trader import random_amount

PAUSES_S = (0.02, 0.05, 0.2, 1.0)
"""Average pauses of the clients: from as much as they can send to nearly nothing."""
PHASE_S = (10.0, 30.0)
"""How long the load stays the same."""
STREAMS = 20
STREAM_S = (2.0, 20.0)
"""How long a client listens to the events of an order before it switches to another."""
SAMPLE_S = 5.0
WARM_S = 60.0
"""Time under full load before the first count: pools of Redis connections grow to the size that the load needs, and
stay."""
IDLE_S = 25.0
"""Time until the connections of the load have been closed: nginx and the service wait for less."""
MAX_GROWTH = 0.05
KEEP_EVERY = 20
_TIMEOUT_S = 30.0


class Sample(NamedTuple):
    """The memory of each process, in order, at a monotonic time."""

    at_s: float
    bytes: tuple[int, ...]


class Soaked(NamedTuple):
    """The figures of each process, by name: the median memory in the second and last quarters in bytes, and the
    descriptors before and after the load, both without any of its connections."""

    seconds: float
    answers: int
    streams: int
    events: int
    memory: Mapping[str, tuple[float, float]]
    descriptors: Mapping[str, tuple[int, int]]

    @property
    def is_flat(self) -> bool:
        """Whether no process has grown or leaked a descriptor."""
        grown = any(after > before * (1 + MAX_GROWTH) for before, after in self.memory.values())
        return not grown and all(after <= before for before, after in self.descriptors.values())

    def document(self) -> dict[str, Any]:
        """Return the figures as JSON."""
        return {
            "seconds": round(self.seconds),
            "answers": self.answers,
            "streams": self.streams,
            "events": self.events,
            "memory_mb": {name: [round(each / 2**20, 1) for each in pair] for name, pair in self.memory.items()},
            "descriptors": {name: list(pair) for name, pair in self.descriptors.items()},
            "is_flat": self.is_flat,
        }


def soak(
    cluster: Cluster, scene: TradingChain, traffic: Traffic, seconds: float, rng: Random, report: Callable[[str], None]
) -> Soaked:
    """Vary the load for this long; return the figures."""
    daemons = [*cluster.replicas, cluster.writer]
    usual_s, traffic.keep_every = traffic.pause_s, KEEP_EVERY
    with _listening(scene, cluster.port, Random(rng.getrandbits(64))):
        traffic.pause_s = min(PAUSES_S)
        time.sleep(WARM_S)
    before, answered = _idle_descriptors(daemons, traffic), traffic.statuses[200]
    samples: list[Sample] = []
    started_s, phase_ends_s, reported_s = time.monotonic(), 0.0, 0.0
    with _listening(scene, cluster.port, Random(rng.getrandbits(64))) as counts:
        while (now_s := time.monotonic()) < started_s + seconds:
            if now_s > phase_ends_s:
                traffic.pause_s, phase_ends_s = rng.choice(PAUSES_S), now_s + rng.uniform(*PHASE_S)
            samples.append(Sample(now_s, tuple(each.memory_bytes() for each in daemons)))
            if now_s > reported_s + 60.0:
                reported_s = now_s
                report(f"soak: {now_s - started_s:.0f} s, {[each >> 20 for each in samples[-1].bytes]} MB")
            time.sleep(SAMPLE_S)
    answered, (streams, events) = traffic.statuses[200] - answered, counts
    after = _idle_descriptors(daemons, traffic)
    traffic.pause_s = usual_s
    names = [each.name for each in daemons]
    return Soaked(
        time.monotonic() - started_s,
        answered,
        streams,
        events,
        dict(zip(names, compare_quarters(samples), strict=True)),
        {name: (one, other) for name, one, other in zip(names, before, after, strict=True)},
    )


def compare_quarters(samples: Sequence[Sample]) -> list[tuple[float, float]]:
    """Return each process's median memory in the second and the last quarter of the time."""
    started_s, length_s = samples[0].at_s, samples[-1].at_s - samples[0].at_s
    quarters = [[each for each in samples if 4 * (each.at_s - started_s) // (length_s + 1e-9) == k] for k in (1, 3)]
    processes = range(len(samples[0].bytes))
    return [(median(e.bytes[k] for e in quarters[0]), median(e.bytes[k] for e in quarters[1])) for k in processes]


def _idle_descriptors(daemons: Sequence[Daemon], traffic: Traffic) -> list[int]:
    """Return the descriptors of each process while almost nothing is requested: the lowest count seen."""
    traffic.pause_s = 2 * IDLE_S
    time.sleep(IDLE_S)
    seen = []
    for _ in range(20):
        seen.append([each.descriptors() for each in daemons])
        time.sleep(0.25)
    return [min(each) for each in zip(*seen, strict=True)]


@contextmanager
def _listening(scene: TradingChain, port: int, rng: Random) -> Iterator[list[int]]:
    """Listen to events until the context ends; yield the numbers of streams and events so far."""
    counts, ended = [0, 0], Event()
    threads = [
        Thread(target=_listen, args=(scene, port, Random(rng.getrandbits(64)), counts, ended), daemon=True)
        for _ in range(STREAMS)
    ]
    for thread in threads:
        thread.start()
    try:
        yield counts
    finally:
        ended.set()
        for thread in threads:
            thread.join(STREAM_S[1] + _TIMEOUT_S)


def _listen(scene: TradingChain, port: int, rng: Random, counts: list[int], ended: Event) -> None:
    tokens = scene.fixture.tokens
    while not ended.is_set():
        sold, bought = rng.sample(sorted(DECIMALS), 2)
        order = {
            "amount": str(random_amount(rng, tokens[sold])),
            "tokenInAddress": tokens[sold].address,
            "tokenOutAddress": tokens[bought].address,
        }
        ends_s = time.monotonic() + rng.uniform(*STREAM_S)
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_TIMEOUT_S)
        try:
            connection.request("GET", f"/{scene.network}/v2/route/events?{urlencode(order)}")
            response = connection.getresponse()
            counts[0] += response.status == 200
            while time.monotonic() < ends_s and not ended.is_set() and (line := response.readline()):
                counts[1] += line.startswith(b"event: quote")
        except (OSError, http.client.HTTPException):
            ended.wait(1.0)
        finally:
            connection.close()
