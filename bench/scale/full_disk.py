"""Fill the disk of a service that follows a chain, and print what clients saw.

    python -m bench.scale.full_disk [--seconds 60] [--kind one|workers|feed] [--early] [--kill] [--clients 4] [--seed 1]

The store, temporary files, the home folder and the log are on a small file system, which needs root. `one` is a
service of one process, `workers` has two and a writer, and `feed` follows a feed, whose writer has the full disk, too.
With `--early` the disk is full before they start. With `--kill` a worker and the process that writes the store are
killed while it is full. Exits with 1 if a request was rejected while the disk was full, an amount was wrong, or the
store is not on the disk with the latest block in the end.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from bench.running import BenchmarkFailed
from bench.scale.chain import TradingChain, open_trading_chain, trading
from bench.scale.checks import check_answers
from bench.scale.cluster import Daemon, get_page
from bench.scale.load import load
from tests.chain.anvil import Node
from tests.state.store.build import rows
from tests.support.command import clean_environment
from tests.support.redis_server import free_ports, run_redis
from tests.support.service_process import SWAPCLI_COMMAND, child_ids

MAX_AGE_S = 12
_DISK_MIB = 8
_AROUND_S = 8.0
"""Time before and after the outage."""
_READY_S = 60.0


def main() -> int:
    """Run the service; return 0 if the full disk failed no client."""
    parser = argparse.ArgumentParser(prog="python -m bench.scale.full_disk", description=__doc__)
    parser.add_argument("--kind", choices=("one", "workers", "feed"), default="workers")
    for name, default in (("seconds", 60), ("clients", 4), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    for name in ("early", "kill"):
        parser.add_argument(f"--{name}", action="store_true")
    arguments = parser.parse_args()
    rng = Random(arguments.seed)
    with TemporaryDirectory(prefix="scale-") as name, open_trading_chain() as scene, _small_disk(Path(name)) as disk:
        settings = scene.write_settings(disk)
        scene.fill_store(disk / "stores")
        if arguments.early:
            _fill(disk)
        with (
            trading(scene, Random(rng.getrandbits(64))),
            _run(scene, disk, settings, arguments.kind) as (port, daemons),
        ):
            _wait_until_ready(port, scene, daemons)
            with load(scene, port, arguments.clients, 1.0, Random(rng.getrandbits(64))) as traffic:
                time.sleep(_AROUND_S)
                before, full_s, first = dict(traffic.statuses), time.monotonic(), _newest(scene)
                _fill(disk)
                time.sleep(arguments.seconds / 2)
                if arguments.kill:
                    _kill(daemons)
                time.sleep(arguments.seconds / 2)
                meanwhile = {key: count - before.get(key, 0) for key, count in traffic.statuses.items()}
                mined = _newest(scene) - first
                metrics = get_page(port, "/metrics")[1].splitlines()
                (disk / "filler").unlink()
                time.sleep(_AROUND_S)
            ended = [each.name for each in daemons if each.exit_code() is not None]
            store = disk / "stores" / f"{scene.network}.sqlite"
            behind = _newest(scene) - int(str(rows(store, "SELECT head FROM meta")[0][0]))
        found = check_answers(scene.chain.node, traffic.answers, MAX_AGE_S)
        notes = [line for line in (disk / "log").read_text().splitlines() if "store" in line]
    blocks = len({each.block for each in traffic.answers if full_s <= each.answered_s < full_s + arguments.seconds})
    document = {
        "kind": arguments.kind,
        "answers_while_full": meanwhile,
        "blocks_while_full": mined,
        "blocks_quoted_while_full": blocks,
        "checked": found.checked,
        "wrong_amounts": found.wrong,
        "older_than_max_age": found.stale,
        "oldest_s": found.oldest_s,
        "blocks_behind_on_disk": behind,
        "write_failures": [line for line in metrics if line.startswith("swapcli_store_write_failures")],
        "log": notes[:8],
        "unexpected": traffic.unexpected[:5],
        "ended_by_itself": ended,
    }
    print(json.dumps(document, indent=2))
    return int(set(meanwhile) != {200} or bool(found.wrong or found.stale or ended or behind > 2))


@contextmanager
def _small_disk(folder: Path) -> Iterator[Path]:
    disk = folder / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={_DISK_MIB}m", "none", str(disk)], check=True)
    try:
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


def _fill(disk: Path) -> None:
    """Fill the disk to the last byte."""
    with (disk / "filler").open("ab", buffering=0) as file:
        for size in (65_536, 4_096, 1):
            with suppress(OSError):
                while file.write(bytes(size)):
                    pass


def _newest(scene: TradingChain) -> int:
    with closing(Node(scene.chain.node.port)) as node:  # the other one belongs to the thread that trades
        return int(node.ask("eth_blockNumber"), 16)


def _kill(daemons: list[Daemon]) -> None:
    """Kill a worker and the writer of a group, otherwise the process that writes the store, which then restarts."""
    children = child_ids(daemons[-1].pid)
    for pid in (children[0], children[-1]) if children else ():
        os.kill(pid, signal.SIGKILL)
    if not children:
        daemons[0].kill()
        daemons[0].start()


@contextmanager
def _run(scene: TradingChain, disk: Path, settings: Path, kind: str) -> Iterator[tuple[int, list[Daemon]]]:
    """Run the service, and yield its port and the processes."""
    with ExitStack() as stack:
        (port,) = free_ports(1)
        env = clean_environment({"SWAPCLI_CONFIG": str(settings), "TMPDIR": str(disk), "HOME": str(disk)})
        serve = [*SWAPCLI_COMMAND, "serve", "--networks", scene.network, "--max-age", str(MAX_AGE_S)]
        daemons = []
        if kind == "feed":
            redis = stack.enter_context(run_redis())
            command = [*SWAPCLI_COMMAND, "sync", scene.network, "--watch", "--json", "--publish", redis.url]
            daemons.append(Daemon("writer", command, env, disk / "log"))
            serve += ["--feed", redis.url]
        if kind == "workers":
            serve += ["--workers", "2"]
        daemons.append(Daemon("service", [*serve, "--port", str(port)], env, disk / "log"))
        for daemon in daemons:
            stack.callback(daemon.kill)
            daemon.start()
        yield port, daemons


def _wait_until_ready(port: int, scene: TradingChain, daemons: list[Daemon]) -> None:
    deadline_s = time.monotonic() + _READY_S
    while get_page(port, f"/readyz?network={scene.network}")[0] != 200:
        if time.monotonic() > deadline_s:
            raise BenchmarkFailed(f"the service is not ready: {daemons[-1].log.read_text()[-2_000:]}")
        time.sleep(0.2)


if __name__ == "__main__":
    sys.exit(main())
