"""`swapcli sync --watch --publish` and `swapcli serve --feed`, over a real chain and a real Redis server."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from random import Random
from urllib.request import urlopen

import pytest

from swapcli.core.encoding.redis_url import RedisUrl
from swapcli.faces.cli import exit_codes
from swapcli.state.rpc.head_source import POLLING_HINT
from tests.faces.cli.commands.sync.scene import Scene
from tests.support.command import run_swapcli
from tests.support.redis_server import RedisServer
from tests.support.service_process import TIMEOUT_S, run_service
from tests.support.waiting import until


@pytest.mark.parametrize("is_reorganized", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_replica_follows_the_published_chain(
    scene: Scene, redis_server: RedisServer, is_reorganized: bool, tmp_path: Path
) -> None:
    """Its state is that of the store, which it never reads, and the password is never shown."""
    url = f"{redis_server.url}/{1 + is_reorganized}"  # each test has a database, as the chain goes back between them
    env = scene.env | {"SWAPCLI_SERVICE_FEED_URL": url, "SWAPCLI_STORE_DIR": str(tmp_path / "other")}
    with (
        scene.running("--watch", "--json", "--publish", url) as process,
        run_service("--networks", "anvil", "--workers", "2" if is_reorganized else "1", env=env) as service,
    ):
        assert process.stdout is not None
        steps = [json.loads(process.stdout.readline())["state"]]

        def metric(name: str) -> float:
            with urlopen(f"{service.url}/metrics", timeout=TIMEOUT_S) as answer:
                lines = answer.read().decode().splitlines()
            values = [line.split()[-1] for line in lines if line.startswith(f'swapcli_{name}{{network="anvil"}}')]
            return float(values[0]) if values else -1.0

        until(lambda: metric("market_block") == steps[-1]["block"])
        if is_reorganized:
            turn = scene.small_chain.prepare_reorg(Random(7))
            steps.append(json.loads(process.stdout.readline()))
            until(lambda: metric("market_block") >= steps[-1]["block"])
            turn()
            scene.small_chain.chain.node.ask("anvil_mine", hex(60))
            while steps[-1].get("rewoundTo") is None:
                steps.append(json.loads(process.stdout.readline()))
        else:
            scene.small_chain.run_random_activity(Random(7))
            steps.append(json.loads(process.stdout.readline()))
        until(lambda: metric("market_block") >= steps[-1]["block"])
        assert metric("feed_entries_total") >= 1
        assert metric("feed_gaps_total") == metric("feed_mismatches_total") == metric("feed_rejected_total") == 0
        assert metric("market_pools") == len(scene.stored_market()["pools"])
        process.send_signal(signal.SIGTERM)
        _, notes = process.communicate(timeout=TIMEOUT_S)
        assert service.stop() == 0
    assert process.returncode == 0
    assert notes == f"note: {POLLING_HINT}\nnote: publishing to {RedisUrl.parse(url).shown}\n"
    assert "hunter2" not in service.stderr


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("sync", "base", "--publish", "redis://127.0.0.1"), "--publish requires --watch"),
        (("sync", "base", "--watch", "--publish", "http://a"), "--publish: expected the address of a Redis server"),
        (("serve", "--feed", "redis://a:b"), "--feed: expected the address of a Redis server"),
        (("serve", "--feed", "redis://127.0.0.1", "--offline"), "a feed cannot be combined with --offline"),
        (
            ("serve", "--feed", "redis://127.0.0.1", "--market", "a.json"),
            "a feed cannot be combined with a market file",
        ),
        (("serve", "--feed", "redis://127.0.0.1", "--store", "a"), "a feed cannot be combined with --store"),
    ],
)
def test_unfit_options_of_a_feed_are_refused(command: tuple[str, ...], words: str) -> None:
    ran = run_swapcli(*command)
    assert ran.exit_code == 2
    assert words in ran.stderr


@pytest.mark.parametrize(
    ("command", "env"),
    [
        (("sync", "base", "--watch", "--publish", "redis://127.0.0.1:1"), {}),
        (("serve", "--networks", "base", "--feed", "redis://127.0.0.1:1"), {}),
        (("serve", "--networks", "base", "--offline"), {"SWAPCLI_SERVICE_STATE_URL": "redis://127.0.0.1:1"}),
    ],
)
def test_without_the_package_its_installation_is_named(
    monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], env: dict[str, str]
) -> None:
    monkeypatch.setitem(sys.modules, "redis", None)
    ran = run_swapcli(*command, env=env)
    assert (ran.exit_code, ran.stdout) == (exit_codes.USAGE, "")
    assert "needs the Python package redis, which is not installed" in ran.stderr
    assert "pip install 'redis>=" in ran.stderr
