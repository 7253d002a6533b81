"""Command lines, run in this process."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from swapcli.faces.cli.app import run


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
    """Return the environment of a user without settings, overridden by `env`.

    Commands use no public node, unless `env` names a node or sets `SWAPCLI_LIVE`. Not even root can create files in the
    home directory, so no test depends on files left by others. Searches have no time limit, so no test depends on the
    load of the machine.
    """
    own = dict(env or {})
    dropped = ("SWAPCLI_", "XDG_", "ETH_RPC_URL")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    live = "auto" if _brings_node(own) else "never"
    unlimited = {"SWAPCLI_SOLVE_TIME_S": "0", "SWAPCLI_SERVICE_SOLVE_TIME_S": "0"}
    return clean | {"HOME": "/dev/null", "XDG_CONFIG_HOME": "/dev/null", "SWAPCLI_LIVE": live} | unlimited | own


def _brings_node(env: Mapping[str, str]) -> bool:
    """Return whether the variables, or the settings file they name, contain a node's URL."""
    file = Path(env.get("SWAPCLI_CONFIG") or "/nonexistent")
    settings = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
    # The node that resolves names belongs to Ethereum.
    return bool(re.search(r"(?<!names_)rpc_url", " ".join([*env, settings]), re.IGNORECASE))


def run_swapcli(
    *arguments: str,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    encoding: str = "utf-8",
    width: int | None = None,
) -> CommandResult:
    """Run a command line in this process, without the developer's own settings.

    `encoding` is the streams' encoding; `width` replaces the width of help pages, which is 80 by default.
    """
    unset = {name: None for name in os.environ if name.startswith(("SWAPCLI_", "XDG_", "ETH_RPC_URL"))}
    environment = unset | clean_environment({"COLUMNS": "80", **(env or {})})
    extra: dict[str, Any] = {} if width is None else {"terminal_width": width}
    with CliRunner(charset=encoding).isolation(input=stdin, env=environment) as (stdout, stderr, _):
        status = run(arguments, extra)
        sys.stdout.flush()
        sys.stderr.flush()
        written = [stream.getvalue().decode(encoding, "replace") for stream in (stdout, stderr)]
    return CommandResult(status, *written)
