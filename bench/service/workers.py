"""Compare a service with several workers and one with a single process, under load from `wrk`, in turn on one
machine."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from bench.running import BenchmarkFailed
from bench.service.workers_section import FEW, MANY, Throughput, WorkersFigures, WorkersRound
from tests.faces.service.soak import Service, orders, served
from tests.support.service_process import child_ids

WORKERS = 2
_NETWORK = "base"
_SCRIPT = """
local paths, at = {}, 0
for line in io.lines("PATHS") do paths[#paths + 1] = line end
function request()
  at = at % #paths + 1
  return wrk.format("GET", paths[at])
end
"""
"""Requests the routes in turn; wrk itself cannot loop over requests."""


class _Counts(NamedTuple):
    good: int
    seconds: float


def measure_workers(rounds: int, seconds: int) -> WorkersFigures:
    """Measure both services in turn, `rounds` times for `seconds` each. Raises `BenchmarkFailed`."""
    if shutil.which("wrk") is None:
        raise BenchmarkFailed("wrk is not installed: apt-get install wrk")
    with TemporaryDirectory(prefix="bench-") as folder, served() as one, served("--workers", str(WORKERS)) as several:
        script = _write_script(Path(folder))
        for service in (one, several):
            _load(service, script, FEW, seconds)  # the first responses fill caches
        measured = [
            WorkersRound(
                one=_measure(one, script, FEW, seconds),
                few=_measure(several, script, FEW, seconds),
                many=_measure(several, script, MANY, seconds),
            )
            for _ in range(rounds)
        ]
        memory = [_shared_bytes(each) for each in _processes(several)]
    return WorkersFigures(WORKERS, tuple(measured), tuple(memory))


def _write_script(folder: Path) -> Path:
    paths, script = folder / "paths", folder / "routes.lua"
    paths.write_text("\n".join(f"/{_NETWORK}/v2/route?{query}" for query in orders()) + "\n")
    script.write_text(_SCRIPT.replace("PATHS", str(paths)))
    return script


def _measure(service: Service, script: Path, connections: int, seconds: int) -> Throughput:
    processes = _processes(service)
    before_s = _cpu_s(processes)
    counts = _load(service, script, connections, seconds)
    spent_s = _cpu_s(processes) - before_s
    if not counts.good:
        raise BenchmarkFailed(f"no good answer over {connections} connections")
    return Throughput(counts.good / counts.seconds, spent_s / counts.good * 1e3)


def _load(service: Service, script: Path, connections: int, seconds: int) -> _Counts:
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}", "--timeout", "30s", "-s", str(script)]
    ran = subprocess.run([*command, f"http://127.0.0.1:{service.port}"], capture_output=True, text=True, check=False)
    sent = re.search(r"(\d+) requests in ([\d.]+)(m?s)", ran.stdout)
    if ran.returncode or sent is None:
        raise BenchmarkFailed(f"wrk failed: {ran.stderr or ran.stdout}")
    refused = re.search(r"Non-2xx or 3xx responses: (\d+)", ran.stdout)
    spent_s = float(sent[2]) / (1_000 if sent[3] == "ms" else 1)
    return _Counts(int(sent[1]) - (int(refused[1]) if refused else 0), spent_s)


def _processes(service: Service) -> list[int]:
    return [service.process.pid, *child_ids(service.process.pid)]


def _cpu_s(processes: Sequence[int]) -> float:
    """Return the processes' CPU time so far."""
    fields = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in processes]
    return sum(int(each[11]) + int(each[12]) for each in fields) / os.sysconf("SC_CLK_TCK")


def _shared_bytes(pid: int) -> int:
    """Return a process's memory (PSS): shared pages count in part."""
    found = re.search(r"^Pss:\s+(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)
    if found is None:
        raise BenchmarkFailed("the system does not report the memory of processes")
    return int(found[1]) * 1_024
