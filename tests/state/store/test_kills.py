"""A killed process leaves the last whole block, at any time."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.examples import examples
from tests.state.store.build import NETWORK, TOKENS, create, is_sound, pool, reopen

KILLS = examples(4, full=50)
POOLS = 8

FORK_SERVER = f"""
import os, sys
from pathlib import Path
from tests.state.store.build import TOKENS, pool, reopen

def write(path, number):
    with reopen(Path(path)) as store:
        while True:
            number += 1
            with store.write_block(number, hex(number), number) as writer:
                for k in range({POOLS}):
                    writer.put_pools([pool(k, number, (k % 3, 3 + k % 2))])
                writer.remove_pools([pool(100 + number - 1).key])
                writer.put_pools([pool(100 + number, number)])
                writer.put_metadata("number", number)

for line in sys.stdin:
    path, number = line.split()
    child = os.fork()
    if child == 0:
        write(path, int(number))
    print(child, flush=True)
    os.waitpid(child, 0)
    print("gone", flush=True)
"""
"""Forks a writer for each line that it reads: a fresh interpreter for each would take most of the test's time."""


def test_a_killed_writer_leaves_one_whole_block(tmp_path: Path) -> None:
    path = tmp_path / "store"
    with create(path) as store, store.write_block(1, "0x1", 1) as writer:
        writer.put_tokens(TOKENS)
    rng, blocks, longest_s = random.Random(4), [1], 0.05
    with subprocess.Popen(
        [sys.executable, "-c", FORK_SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=os.getcwd()
    ) as fork_server:
        assert fork_server.stdin
        assert fork_server.stdout
        kills = 0
        while kills < KILLS or (blocks[-1] <= KILLS / 2 and kills < 20 * KILLS):  # a machine may be slow
            kills += 1
            fork_server.stdin.write(f"{path} {blocks[-1]}\n")
            fork_server.stdin.flush()
            child = int(fork_server.stdout.readline())
            time.sleep(rng.uniform(0.0, longest_s))
            os.kill(child, signal.SIGKILL)
            assert fork_server.stdout.readline() == "gone\n"
            blocks.append(check_whole_block(path))
            if blocks[-1] == blocks[-2]:
                longest_s = min(1.2 * longest_s, 0.5)
        fork_server.stdin.close()
    assert blocks == sorted(blocks)
    assert blocks[-1] > KILLS / 2, "most of the writers wrote a block"


def check_whole_block(path: Path) -> int:
    """Return the number of the latest block. Fails unless all content is of that block."""
    with reopen(path) as store:
        market, number = store.read_market(), store.read_blocks()[0].number
        assert market.network == NETWORK
        assert (market.block, market.timestamp) == (number, number)
        if number > 1:
            expected = [pool(k, number, (k % 3, 3 + k % 2)) for k in range(POOLS)] + [pool(100 + number, number)]
            assert market.pools == {each.key: each for each in expected}
            assert store.read_metadata("number") == number
    assert is_sound(path)
    return number
