"""`swapcli sync --watch` follows a chain and reports each step."""

from __future__ import annotations

import json
import signal
from random import Random

import pytest

from swapcli.state.rpc.head_source import POLLING_HINT
from tests.chain.failure_modes import check_secrets_hidden
from tests.chain.node.server import hangs_up
from tests.faces.cli.commands.sync.scene import Scene
from tests.support.service_process import TIMEOUT_S
from tests.support.waiting import until


def test_watch_prints_one_json_line_per_block_until_stopped(scene: Scene) -> None:
    with scene.running("--watch", "--json") as process:
        assert process.stdout is not None
        synced = json.loads(process.stdout.readline())
        assert synced["state"]["kind"] == "synced"
        blocks = [synced["state"]["block"]]
        for seed in range(3):
            scene.small_chain.run_random_activity(Random(seed))
            blocks.append(json.loads(process.stdout.readline())["block"])
        until(lambda: scene.stored_market()["block"] == int(scene.small_chain.chain.node.ask("eth_blockNumber"), 16))
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=TIMEOUT_S)
    assert (process.returncode, err) == (0, f"note: {POLLING_HINT}\n")
    rest = [json.loads(line)["block"] for line in out.splitlines()]
    assert blocks + rest == sorted(set(blocks + rest))
    assert (blocks + rest)[-1] == scene.stored_market()["block"]
    scene.check_fresh()


def test_a_watch_reports_on_stderr_and_survives_failures(scene: Scene) -> None:
    with scene.running("--watch", "--format=plain") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "anvil synced: 5 pools, 5 new\n"
        assert process.stderr.readline() == f"note: {POLLING_HINT}\n"
        scene.proxy.always = hangs_up
        failed = process.stderr.readline()
        scene.proxy.always = None
        scene.small_chain.run_random_activity(Random(5))
        reported = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=TIMEOUT_S)
    assert failed.startswith("note: http://127.0.0.1:")
    assert "closed the connection before it responded" in failed or "refuses connections" in failed
    assert failed.endswith("retrying at each block for up to 30 minutes\n")
    check_secrets_hidden(failed + reported + out + err)
    while reported.startswith("note: "):
        reported, _, err = err.partition("\n")
    assert reported.startswith("block ")
    assert process.returncode == 0
    assert scene.sync().exit_code == 0
    scene.check_fresh()


@pytest.mark.slow
def test_a_watch_follows_a_reorganization(scene: Scene) -> None:
    with scene.running("--watch", "--json") as process:
        assert process.stdout is not None
        synced = json.loads(process.stdout.readline())["state"]["block"]
        turn = scene.small_chain.prepare_reorg(Random(7))
        steps = [json.loads(process.stdout.readline())]
        turn()
        # A chain shorter than the one before is not followed yet.
        scene.small_chain.chain.node.ask("anvil_mine", hex(60))
        while steps[-1].get("rewoundTo") is None:
            steps.append(json.loads(process.stdout.readline()))
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=TIMEOUT_S)
    assert steps[-1]["rewoundTo"] == synced
    assert process.returncode == 0
    assert scene.sync().exit_code == 0
    scene.check_fresh()


@pytest.mark.slow
def test_a_watch_ends_when_its_output_is_closed(scene: Scene) -> None:
    with scene.running("--watch", "--json") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        scene.small_chain.run_random_activity(Random(9))
        assert process.wait(timeout=TIMEOUT_S) == 0
        assert process.stderr.read() == f"note: {POLLING_HINT}\n"
        process.stdout = None
