"""The progress of a batch: on a terminal that does not get the results, and nowhere else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.examples import few_rows
from tests.support.command import clean_environment

ORDER = {"tokenIn": "ETH", "tokenOut": "USDC", "amount": "1.5"}


@pytest.mark.parametrize(("is_terminal", "options"), few_rows([(True, ()), (True, ("--quiet",)), (False, ())], 1))
def test_people_see_it_and_files_do_not(tmp_path: Path, is_terminal: bool, options: tuple[str, ...]) -> None:
    orders, results = tmp_path / "orders", tmp_path / "results"
    orders.write_text("".join(f"{json.dumps(ORDER)}\n" for _ in range(400)))
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "swapcli", "route", "base", "--offline", "--batch", str(orders)]
    with subprocess.Popen(
        [*command, "--results", str(results), *options],
        env=clean_environment(),
        stderr=theirs if is_terminal else subprocess.PIPE,
    ) as process:
        os.close(theirs)
        shown = b""
        if is_terminal:
            while part := read_or_end(ours):
                shown += part
        else:
            assert process.stderr
            shown = process.stderr.read()
    os.close(ours)
    assert process.wait() == 0
    assert len(results.read_text().splitlines()) == 400
    assert (b" of 400 orders, " in shown) == (is_terminal and not options)


def read_or_end(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # the other end is closed
        return b""
