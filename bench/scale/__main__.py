"""Kill replicas, Redis and the writer at random under load, and print what clients saw.

    python -m bench.scale [--kills 50] [--soak-minutes 60] [--replicas 4] [--clients 8] [--seed 1]

Each of the three is killed `--kills` times: 50 take about 11 minutes, and the checks two more. Then all of them live
for `--soak-minutes` under a load that changes, and their memory and descriptors are measured. Progress goes to stderr.
Exits with 1 if an amount was wrong, an answer was older than the maximum age, the rate limit was missed by more than
2%, a process did not come back, its memory grew by more than 5%, or it lost a descriptor. SIGTERM, SIGHUP and Ctrl-C
end all processes.

    python -m bench.scale capacity [--pools 100,1000,10000]

prints what one process bears, by the number of pools.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from statistics import median, quantiles
from tempfile import TemporaryDirectory

from bench.scale import capacity
from bench.scale.chain import TradingChain, open_trading_chain, trading
from bench.scale.checks import (
    Availability,
    CheckedAnswers,
    Failure,
    Limit,
    check_answers,
    check_limit,
    measure_availability,
)
from bench.scale.cluster import Cluster, Process, get_page, run_cluster
from bench.scale.load import Traffic, load
from bench.scale.soak import Soaked, soak
from tests.support.redis_server import run_redis

MAX_AGE_S = 12
LIMIT_PER_MINUTE = 120
LIMITED_PER_S = 30.0
"""Requests per second that empty a full bucket in four seconds, less than Redis lives on average."""
LIMIT_TOLERANCE = 0.02
SETTLE_S = 2.0
"""All replicas use a Redis server again this long after it started."""
PAUSE_S = (0.5, 3.0)
"""Pause between a restart and the next kill."""
SHORT_S = {"replica": 0.5, "redis": 2.0, "writer": 2.0}
"""Most failures end within this time."""
LONG_S = {"replica": 1.0, "redis": 2.0 * MAX_AGE_S, "writer": 1.5 * MAX_AGE_S}
"""One failure in `LONG_EVERY` lasts up to this long: longer than the maximum age, for Redis and the writer."""
LONG_EVERY = 6
PROGRESS_EVERY = 10
_READY_S = 60.0


def main() -> int:
    """Run the deployment; return 0 if it never failed a client."""
    arguments = _parse_arguments()
    rng = Random(arguments.seed)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    with TemporaryDirectory(prefix="scale-") as name, open_trading_chain() as scene, run_redis() as redis:
        folder = Path(name)
        service = {
            "state_url": redis.url,
            "trusted_proxies": ["127.0.0.1"],
            "requests_per_minute": LIMIT_PER_MINUTE,
        }
        settings = scene.write_settings(folder, service=service)
        scene.fill_store(folder / "stores")
        with (
            trading(scene, Random(rng.getrandbits(64))),
            run_cluster(folder, redis, settings, scene.network, arguments.replicas, MAX_AGE_S) as cluster,
        ):
            _wait_until_ready(cluster, scene)
            with load(scene, cluster.port, arguments.clients, LIMITED_PER_S, Random(rng.getrandbits(64))) as traffic:
                started_s = time.monotonic()
                failures = _kill_at_random(cluster, arguments.kills, rng, traffic)
                _wait_until_ready(cluster, scene)
                ended_s = time.monotonic()
                soaked = None
                if arguments.soak_minutes:
                    soaked = soak(cluster, scene, traffic, 60.0 * arguments.soak_minutes, rng, _report)
            ended = [each.name for each in (cluster.writer, *cluster.replicas) if each.exit_code() is not None]
            counters = _scrape(cluster)
        _report(f"checking {len(traffic.answers):,} answers")
        found = check_answers(scene.chain.node, traffic.answers, MAX_AGE_S)
    availability = measure_availability(traffic.answers, found.timestamps_s, failures, started_s, ended_s)
    limit = check_limit(traffic.limited, redis_lives(failures, started_s, ended_s), LIMIT_PER_MINUTE, SETTLE_S)
    _print(traffic, found, availability, limit, counters, ended, soaked)
    is_exact = abs(limit.allowed - limit.due) <= LIMIT_TOLERANCE * limit.due + 1
    is_flat = soaked is None or soaked.is_flat
    return int(bool(found.wrong or found.stale or traffic.unexpected or ended or not is_exact or not is_flat))


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description=__doc__)
    for name, default in (("kills", 50), ("soak-minutes", 60), ("replicas", 4), ("clients", 8), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    return parser.parse_args()


def _kill_at_random(cluster: Cluster, kills: int, rng: Random, traffic: Traffic) -> list[Failure]:
    """Kill each of the three `kills` times in random order, and start it again."""
    order = ["replica", "redis", "writer"] * kills
    rng.shuffle(order)
    failures: list[Failure] = []
    begun_s = time.monotonic()
    for number, what in enumerate(order, 1):
        time.sleep(rng.uniform(*PAUSE_S))
        processes: dict[str, Process] = {
            "replica": rng.choice(cluster.replicas),
            "redis": cluster.redis,
            "writer": cluster.writer,
        }
        process = processes[what]
        killed_s = time.monotonic()
        process.kill()
        time.sleep(rng.uniform(0.0, (SHORT_S if rng.randrange(LONG_EVERY) else LONG_S)[what]))
        process.start()
        failures.append(Failure(what, killed_s, time.monotonic(), time.time()))
        if number % PROGRESS_EVERY == 0:
            good = traffic.statuses[200]
            _report(f"{number} of {len(order)} kills, {time.monotonic() - begun_s:.0f} s, {good:,} good answers")
    return failures


def redis_lives(failures: Sequence[Failure], started_s: float, ended_s: float) -> list[tuple[float, float]]:
    """Return the periods in which Redis was running."""
    outages = [each for each in failures if each.what == "redis"]
    starts = [started_s, *(each.restarted_s for each in outages)]
    return list(zip(starts, [*(each.killed_s for each in outages), ended_s], strict=True))


def _report(progress: str) -> None:
    print(progress, file=sys.stderr, flush=True)


def _wait_until_ready(cluster: Cluster, scene: TradingChain) -> None:
    """Wait until every replica can quote and uses the shared state."""
    deadline_s = time.monotonic() + _READY_S
    for port, daemon in zip(cluster.replica_ports, cluster.replicas, strict=True):
        while not _is_ready(port, scene.network):
            if time.monotonic() > deadline_s:
                raise SystemExit(f"{daemon.name} is not ready; its log ends: {daemon.log.read_text()[-2_000:]}")
            time.sleep(0.1)


def _is_ready(port: int, network: str) -> bool:
    is_quoting = get_page(port, f"/readyz?network={network}")[0] == 200
    return is_quoting and "swapcli_state_connected 1.0" in get_page(port, "/metrics")[1]


def _scrape(cluster: Cluster) -> Counter[str]:
    """Return the sums of the replicas' feed and shared-state metrics since each one's last start."""
    found: Counter[str] = Counter()
    for port in cluster.replica_ports:
        for line in get_page(port, "/metrics")[1].splitlines():
            if line.startswith(("swapcli_feed", "swapcli_state", "swapcli_shared")):
                found[line.split()[0]] += int(float(line.split()[1]))
    return found


def _print(
    traffic: Traffic,
    found: CheckedAnswers,
    availability: Availability,
    limit: Limit,
    counters: Counter[str],
    ended: list[str],
    soaked: Soaked | None,
) -> None:
    times_ms = sorted(1_000 * each for each in traffic.times_s)
    document = {
        "answers": dict(sorted(traffic.statuses.items())),
        "seconds": round(availability.seconds),
        "seconds_with_good_answers_percent": round(100 * availability.good_share, 1),
        "blocks_quoted": availability.blocks_quoted,
        "new_block_after_restart_s": {
            what: {"measured": len(times), "median": round(median(times), 1), "max": round(max(times), 1)}
            for what, times in sorted(availability.recoveries_s.items())
        },
        "checked": found.checked,
        "wrong_amounts": found.wrong,
        "older_than_max_age": found.stale,
        "oldest_s": found.oldest_s,
        "limit": {"seconds": round(limit.seconds), "allowed": limit.allowed, "due": round(limit.due, 1)},
        "latency_ms": {"p50": round(median(times_ms)), "p99": round(quantiles(times_ms, n=100)[98])},
        "metrics_since_last_start": dict(counters),
        "soak": None if soaked is None else soaked.document(),
        "unexpected": traffic.unexpected[:10],
        "ended_by_itself": ended,
    }
    print(json.dumps(document, indent=2))


if __name__ == "__main__":
    sys.exit(capacity.main(sys.argv[2:]) if sys.argv[1:2] == ["capacity"] else main())
