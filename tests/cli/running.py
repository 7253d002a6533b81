"""A service in a process of its own, as `swapcli serve` starts it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

PROCESS = [sys.executable, "-m", "swapcli"]
PATIENCE_S = 30


def nobodys(env: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of somebody without settings, and `env`."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("SWAPCLI_", "XDG_"))}
    return clean | {"HOME": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent"} | dict(env or {})


@dataclass
class Service:
    """A service that is ready. `line` is what it printed, `errors` where it writes its errors and log: a file, since
    one who writes to a pipe that nobody reads comes to a stand."""

    process: subprocess.Popen[str]
    line: dict[str, Any]
    errors: IO[str]
    out: str = ""
    err: str = ""
    status: int | None = field(default=None)

    @property
    def url(self) -> str:
        """Where it is."""
        return str(self.line["url"])

    def wait(self) -> int:
        """Waits for its end; its exit status."""
        self.out, _ = self.process.communicate(timeout=PATIENCE_S)
        self.errors.seek(0)
        self.err = self.errors.read()
        self.status = self.process.returncode
        return self.status

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Tells it to stop, and waits."""
        self.process.send_signal(how)
        return self.wait()


@contextmanager
def serving(*options: str, env: Mapping[str, str] | None = None) -> Iterator[Service]:
    """`swapcli serve --port 0` with options, ended whatever happens."""
    with TemporaryFile("a+", encoding="utf-8") as errors:
        process = subprocess.Popen(
            [*PROCESS, "serve", "--port", "0", *options],
            stdout=subprocess.PIPE, stderr=errors, stdin=subprocess.DEVNULL, text=True, env=nobodys(env),
        )  # fmt: skip
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            service = Service(process, json.loads(line or "{}"), errors)
            if not line:
                service.wait()
                raise AssertionError(service.err)
            yield service
        finally:
            if process.poll() is None:
                process.kill()
                process.communicate(timeout=PATIENCE_S)


def ready_file(folder: Path) -> tuple[Path, tuple[str, str]]:
    """Where a service writes that it is ready, and the option that says so."""
    file = folder / "ready.json"
    return file, ("--ready-file", str(file))
