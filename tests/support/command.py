"""Command lines, run in this process."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

from swapcli.cli.app import run


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The exit code and the output of a command line."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        """The only JSON document on stdout."""
        return json.loads(self.stdout)

    @property
    def error(self) -> dict[str, Any]:
        """The only JSON object on stderr."""
        return dict(json.loads(self.stderr))


def clean_environment(env: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of a user without settings, with `env` on top."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("SWAPCLI_", "XDG_"))}
    return clean | {"HOME": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent"} | dict(env or {})


def run_swapcli(*arguments: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> CommandResult:
    """Run a command line in this process, without the developer's own settings."""
    environment = clean_environment({"COLUMNS": "80", **(env or {})})
    with mock.patch.dict(os.environ, environment, clear=True), _redirect_streams(stdin) as (out, err):
        exit_code = run(arguments)
        sys.stdout.flush()
        sys.stderr.flush()
        return CommandResult(exit_code, out.getvalue().decode(), err.getvalue().decode())


@contextmanager
def _redirect_streams(stdin: bytes) -> Iterator[tuple[io.BytesIO, io.BytesIO]]:
    before = sys.stdin, sys.stdout, sys.stderr
    out, err = io.BytesIO(), io.BytesIO()
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    sys.stdout = io.TextIOWrapper(out, encoding="utf-8")
    sys.stderr = io.TextIOWrapper(err, encoding="utf-8")
    try:
        yield out, err
    finally:
        sys.stdin, sys.stdout, sys.stderr = before
