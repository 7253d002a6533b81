"""A command that waits says so on a terminal, and only there."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.command import clean_environment
from tests.support.loopback_server import FakeExchange, http_response, loopback_server
from tests.support.testnet import write_market_file

SLOW_S = 0.9


class Shown(NamedTuple):
    """What a command wrote to a terminal on stderr, with the seconds from its start to each piece, and to stdout."""

    pieces: list[tuple[float, str]]
    stdout: str

    @property
    def stderr(self) -> str:
        return "".join(text for _, text in self.pieces)

    def time_of(self, text: str) -> float:
        """The seconds to the piece that contains `text`."""
        return next(seconds for seconds, piece in self.pieces if text in piece)


def run_in_terminal(*arguments: str, stdin: bytes = b"", stdin_after_s: float = 0) -> Shown:
    """Run a command whose stderr is a terminal, and give it `stdin` after a while."""
    terminal, end = pty.openpty()
    os.set_blocking(terminal, False)
    env = {**clean_environment(), "TERM": "dumb", "COLUMNS": "80"}
    pieces: list[tuple[float, str]] = []
    started_s = time.monotonic()
    command = [sys.executable, "-m", "swapcli", *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=end, env=env) as process:
        assert process.stdin
        assert process.stdout
        has_ended = False
        while not has_ended:
            has_ended = process.poll() is not None
            with suppress(BlockingIOError):
                pieces.append((time.monotonic() - started_s, os.read(terminal, 4_096).decode()))
            if not process.stdin.closed and time.monotonic() - started_s >= stdin_after_s:
                process.stdin.write(stdin)
                process.stdin.close()
            time.sleep(0.01)
        stdout = process.stdout.read().decode()
    os.close(end)
    os.close(terminal)
    return Shown(pieces, stdout)


def run_in_pipe(*arguments: str) -> Shown:
    """Run a command whose stderr is a pipe."""
    ran = subprocess.run(
        [sys.executable, "-m", "swapcli", *arguments],
        capture_output=True, text=True, env=clean_environment(), check=False,
    )  # fmt: skip
    return Shown([(0, ran.stderr)], ran.stdout)


def answer_slowly(exchange: FakeExchange) -> None:
    """Let a client wait, then be the node of another chain, which ends the command."""
    if exchange.index == 0:
        exchange.wait(SLOW_S)
    received = json.loads(exchange.body)
    requests = received if isinstance(received, list) else [received]
    results = [{"jsonrpc": "2.0", "id": each["id"], "result": "0x1"} for each in requests]
    body = json.dumps(results if isinstance(received, list) else results[0])
    exchange.send(http_response(200, body, "Content-Type: application/json"))


def assert_erased(shown: str, line: str) -> None:
    """Check that a line was shown and then overwritten with blanks."""
    _, _, after = shown.partition(line)
    assert after.startswith("\r" + " " * len(line) + "\r")


COMMANDS = {
    "route": ("route", "base", "ETH", "USDC", "1"),
    "health": ("health", "base"),
    "sync": ("sync", "base", "--store", "{store}"),
}


class SlowRun(NamedTuple):
    """What a command showed while the node at `url` was slow."""

    url: str
    shown: Shown


@pytest.fixture(scope="module")
def slow_runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, SlowRun]:
    """Each command with a slow node of its own, all at the same time; `piped` is `route` with its errors in a pipe."""
    store = str(tmp_path_factory.mktemp("store"))

    def run(name: str) -> SlowRun:
        with loopback_server(answer_slowly) as server:
            if name == "piped":
                return SlowRun(server.url, run_in_pipe(*COMMANDS["route"], "--rpc-url", server.url))
            arguments = [word.format(store=store) for word in COMMANDS[name]]
            return SlowRun(server.url, run_in_terminal(*arguments, "--rpc-url", server.url))

    names = [*COMMANDS, "piped"]
    with ThreadPoolExecutor(len(names)) as pool:
        return dict(zip(names, pool.map(run, names), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("command", ["route", "health"])
def test_a_slow_node_is_named_after_half_a_second(command: str, slow_runs: dict[str, SlowRun]) -> None:
    url, shown = slow_runs[command]
    line = f"waiting for {url} ..."
    assert 0.5 < shown.time_of(line) < shown.time_of("error: ")
    assert_erased(shown.stderr, line)
    assert "waiting" not in shown.stdout


def test_sync_names_its_node_from_the_first_request(slow_runs: dict[str, SlowRun]) -> None:
    url, shown = slow_runs["sync"]
    line = f"connecting to {url} ..."
    assert shown.time_of(line) < shown.time_of("error: ") - SLOW_S / 2
    assert_erased(shown.stderr, line)


def test_a_long_search_says_so_and_leaves_nothing(tmp_path: Path) -> None:
    """Orders that arrive late make a search long on any machine."""
    orders = b'{"id": 1, "tokenIn": "ETH", "tokenOut": "USDC", "inputAmount": "1000000000000000000"}\n'
    command = ("route", "testnet", "--market", write_market_file(tmp_path), "--batch", "-")
    shown = run_in_terminal(*command, stdin=orders, stdin_after_s=4 * SLOW_S)  # starting may take long, too
    assert_erased(shown.stderr, "searching for the best route ...")
    assert shown.stdout.startswith("{")


def test_pipes_hear_nothing_of_waiting(slow_runs: dict[str, SlowRun]) -> None:
    stderr = slow_runs["piped"].shown.stderr
    assert stderr.startswith("error: ")
    assert "waiting" not in stderr
