"""Run a command in a process of its own.

So a call of a tool is a command and nothing else: it shares no memory with other calls, a crash ends only itself, and
cancelling it ends its search and its requests to nodes at once, which a thread would not.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress

from swapcli.faces.cli.tools.answers import CommandOutput
from swapcli.faces.cli.tools.arguments import CommandLine

PROGRAM = (sys.executable, "-P", "-m", "swapcli")
"""-P: no module in the folder where the server was started takes the place of another."""


async def run_command(line: CommandLine) -> CommandOutput:
    """Run a command line and return its output. Cancelling it kills the process. Raises `OSError`."""
    process = await asyncio.create_subprocess_exec(
        *PROGRAM,
        *line.words,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        stdout, stderr = await process.communicate(line.stdin.encode())
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
    return CommandOutput(stdout.decode(), stderr.decode(errors="replace"), process.returncode or 0)
