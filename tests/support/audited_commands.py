"""Run command lines in this process, and print the paths below the working folder that they touched.

A program for a separate process: an audit hook cannot be removed. It reads JSON from stdin, a list of runs: the value
of HOME (null: not set) and the words of a command. For each run it prints a line of JSON: both inputs, the exit status,
and the touched paths. The system has no home folder for the user.
"""

from __future__ import annotations

import io
import json
import os
import pwd
import sys
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

_FOLDER = os.path.realpath(os.getcwd())
_TWO_PATHS = frozenset({"os.rename", "os.link", "os.symlink", "shutil.copyfile", "shutil.move"})
_touched: list[str] = []


def _observe(event: str, arguments: tuple[Any, ...]) -> None:
    if event in ("open", "sqlite3.connect") or event.startswith(("os.", "shutil.", "glob.", "tempfile.")):
        for each in arguments[: 2 if event in _TWO_PATHS else 1]:
            if isinstance(each, str | bytes | os.PathLike):
                _note(os.fsdecode(each))
    elif event == "import" and arguments[1]:
        _note(str(arguments[1]))


def _note(path: str) -> None:
    path = path.removeprefix("file:").partition("?")[0]
    if path and path != ":memory:" and os.path.join(_FOLDER, path).startswith(_FOLDER + os.sep):
        _touched.append(os.path.relpath(os.path.join(_FOLDER, path), _FOLDER))


def _unknown_user(_: int) -> None:
    raise KeyError


def main() -> None:
    """Run all command lines, each with its value of HOME."""
    pwd.getpwuid = _unknown_user  # type: ignore[assignment]
    from swapcli.faces.cli.app import run
    from swapcli.faces.cli.completion.candidates import completion_text

    runs = json.load(sys.stdin)
    sys.addaudithook(_observe)
    for home, command in runs:
        os.environ.pop("HOME", None)
        if home is not None:
            os.environ["HOME"] = home
        _touched.clear()
        sys.stdin = io.TextIOWrapper(io.BytesIO())
        printed = io.TextIOWrapper(io.BytesIO(), write_through=True)
        with redirect_stdout(printed), redirect_stderr(printed):
            if command[0] == "_complete":
                status = 0 if completion_text(command[1:], os.environ) else 1
            else:
                status = run(command)
        print(json.dumps([home, command, status, sorted(set(_touched))]), flush=True)


if __name__ == "__main__":
    main()
