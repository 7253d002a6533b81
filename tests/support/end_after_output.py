"""Run swapcli with the given arguments, and end a service or a watch once it has written its first line.

It runs as a script, so that a line of a shell can call it in the place of `swapcli`.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from threading import Event, Thread
from typing import IO


def main() -> int:
    """Forward all output; return the exit code."""
    arguments = sys.argv[1:]
    command = [sys.executable, "-m", "swapcli", *arguments]
    if arguments[0] != "serve" and "--watch" not in arguments:
        return subprocess.run(command, check=False).returncode
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        is_ended = Event()
        threads = [
            Thread(target=_forward, args=(process, process.stdout, sys.stdout.buffer, is_ended)),
            Thread(target=_forward, args=(process, process.stderr, sys.stderr.buffer, is_ended)),
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return process.wait()


def _forward(process: subprocess.Popen[bytes], source: IO[bytes], target: IO[bytes], is_ended: Event) -> None:
    for line in source:
        target.write(line)
        target.flush()
        if not is_ended.is_set():
            is_ended.set()
            process.send_signal(signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main())
