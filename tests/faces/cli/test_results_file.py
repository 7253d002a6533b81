"""A file of results has one writer, and the lock of a process that died is none."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from swapcli.core.errors import InvalidOption
from swapcli.faces.cli.results_file import open_results_file

HOLD = """
import sys
from swapcli.faces.cli.results_file import open_results_file
with open_results_file(sys.argv[1], resume=True, hint_without_file="") as file:
    print("locked", flush=True)
    sys.stdin.read()
"""
OTHERWISE = "without it, stdout"


@contextmanager
def another_writer(file: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a process that has the file open."""
    command = [sys.executable, "-c", HOLD, str(file)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.readline() == b"locked\n"
        yield process
        process.kill()


def test_a_second_writer_is_refused_until_the_first_is_dead(tmp_path: Path) -> None:
    file = tmp_path / "results"
    with another_writer(file) as process:
        with (
            pytest.raises(InvalidOption, match=f"another process is writing to {file}") as caught,
            open_results_file(str(file), resume=True, hint_without_file=OTHERWISE),
        ):
            pass
        assert caught.value.hint == "wait until it has finished, then use --resume"
        process.kill()
        process.wait()
        with open_results_file(str(file), resume=True, hint_without_file=OTHERWISE) as opened:
            opened.write(b"one\n")
    assert file.read_bytes() == b"one\n"


def test_results_are_kept_unless_they_are_resumed(tmp_path: Path) -> None:
    file = tmp_path / "results"
    file.write_bytes(b"one\n")
    with (
        pytest.raises(InvalidOption, match="is not empty"),
        open_results_file(str(file), resume=False, hint_without_file=OTHERWISE),
    ):
        pass
    with open_results_file(str(file), resume=True, hint_without_file=OTHERWISE) as opened:
        assert opened.tell() == 4
        opened.write(b"two\n")
    assert file.read_bytes() == b"one\ntwo\n"


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("-", str(tmp_path / "pipe")):
        with pytest.raises(InvalidOption) as caught, open_results_file(name, resume=False, hint_without_file=OTHERWISE):
            pass
        assert caught.value.hint == OTHERWISE
