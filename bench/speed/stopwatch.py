"""Wall time and peak memory of commands, run in turn.

    python -I -S stopwatch.py RUNS -- COMMAND [ARGUMENT...] -- COMMAND ...

prints, for each command, a JSON list of [seconds, KiB]. It is a script of its own that imports next to nothing, because
on Linux a process starts with its parent's peak memory: the parent has to be smaller than what it measures.
"""

from __future__ import annotations

import os
import sys
import time


def once(command: list[str]) -> list[float]:
    """Return the seconds and KiB of one run, discarding its output. Ends this process if the command fails."""
    silent = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
    started = time.perf_counter()
    child = os.posix_spawn(command[0], command, os.environ, file_actions=silent)
    _, status, usage = os.wait4(child, 0)
    elapsed = time.perf_counter() - started
    if status:
        sys.exit(f"{command} exited with status {os.waitstatus_to_exitcode(status)}")
    return [elapsed, usage.ru_maxrss // (1024 if sys.platform == "darwin" else 1)]


def in_turn(runs: int, commands: list[list[str]]) -> list[list[list[float]]]:
    """Run all commands in turn, `runs` times, after one uncounted run of each."""
    for command in commands:
        once(command)
    rounds = [[once(command) for command in commands] for _ in range(runs)]
    return [list(column) for column in zip(*rounds, strict=True)]


def split(words: list[str]) -> list[list[str]]:
    """Split the arguments into the commands after each `--`."""
    commands: list[list[str]] = []
    for word in words:
        if word == "--":
            commands.append([])
        else:
            commands[-1].append(word)
    return commands


if __name__ == "__main__":
    print(in_turn(int(sys.argv[1]), split(sys.argv[2:])))
