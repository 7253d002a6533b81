"""Run a command in a separate process.

Each tool call is one command. It shares no memory with other calls, and a crash ends only that call. Cancelling it ends
its search and its requests to nodes at once, which would be impossible in a thread.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress

from swapcli.faces.cli.tools.answers import CommandOutput
from swapcli.faces.cli.tools.arguments import CommandLine

PROGRAM = (sys.executable, "-P", "-m", "swapcli")
"""The option -P prevents modules in the folder where the server was started from replacing others."""

REAP_S = 1.0
"""How long to wait for a killed process to end. It may never end if its pipes are full."""


class CommandProcesses:
    """A runner of command lines, each in a separate process."""

    def __init__(self) -> None:
        self._running: set[asyncio.subprocess.Process] = set()
        self._starting = 0
        """The number of processes that are starting, which `kill_all` cannot kill yet because nothing refers to
        them."""

    async def run(self, line: CommandLine) -> CommandOutput:
        """Run a command line and return its output. Cancelling it kills the process. Raises `OSError`."""
        process = await self._start(line)
        try:
            stdout, stderr = await process.communicate(line.stdin.encode())
        finally:
            self._kill(process)
            with suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), REAP_S)
        return CommandOutput(stdout.decode(), stderr.decode(errors="replace"), process.returncode or 0)

    def kill_all(self) -> bool:
        """Kill the running processes, and return whether none is left. If one is starting, call this again."""
        for process in list(self._running):
            self._kill(process)
        return self._starting == 0

    async def _start(self, line: CommandLine) -> asyncio.subprocess.Process:
        """Start a process. Until it can be killed it is counted, so that `kill_all` does not miss it."""
        self._starting += 1
        try:
            process = await asyncio.create_subprocess_exec(
                *PROGRAM,
                *line.words,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            self._running.add(process)
        finally:
            self._starting -= 1
        return process

    def _kill(self, process: asyncio.subprocess.Process) -> None:
        self._running.discard(process)
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
