"""Command lines, run in this process."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from typer.testing import CliRunner

from swapcli.cli.root import app


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
    """Return the environment of a user without settings, with `env` on top.

    Not even root can create files in the home directory, so that no test depends on what others left there.
    """
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("SWAPCLI_", "XDG_"))}
    return clean | {"HOME": "/dev/null", "XDG_CONFIG_HOME": "/dev/null"} | dict(env or {})


def run_swapcli(
    *arguments: str,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    encoding: str = "utf-8",
    width: int | None = None,
) -> CommandResult:
    """Run a command line in this process, without the developer's own settings.

    `encoding` is that of the streams; `width` replaces the width of help pages, for which the runner takes 80.
    """
    unset = {name: None for name in os.environ if name.startswith(("SWAPCLI_", "XDG_"))}
    environment = unset | clean_environment({"COLUMNS": "80", **(env or {})})
    extra: dict[str, Any] = {} if width is None else {"terminal_width": width}
    runner = CliRunner(charset=encoding)
    result = runner.invoke(app, list(arguments), input=stdin, env=environment, catch_exceptions=False, **extra)
    return CommandResult(result.exit_code, result.stdout, result.stderr)
