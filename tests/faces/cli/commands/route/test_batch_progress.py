"""The progress of a batch: on a terminal that does not get the results, and nowhere else."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from swapcli.faces.cli.commands.route.batch_progress import count_orders
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


def test_the_titles_of_a_csv_are_not_counted(tmp_path: Path) -> None:
    orders = tmp_path / "orders.csv"
    orders.write_text("tokenIn,tokenOut,amount\n" + "ETH,USDC,1.5\n" * 3)
    assert count_orders(str(orders)) == 3
    orders.write_text(f"\n{json.dumps(ORDER)}\n\n{json.dumps(ORDER)}\n")
    assert count_orders(str(orders)) == 2
    orders.write_text("")
    assert count_orders(str(orders)) == 0


def test_an_interrupted_batch_says_how_to_continue(tmp_path: Path) -> None:
    orders, results = tmp_path / "orders", tmp_path / "results"
    orders.write_text("".join(f"{json.dumps(ORDER)}\n" for _ in range(100_000)))
    # A background job of a script ignores Ctrl-C, and so would the command that a test in it starts.
    listen = "import runpy, signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    run = f"{listen}runpy.run_module('swapcli', run_name='__main__', alter_sys=True)"
    command = [sys.executable, "-c", run, "route", "base", "--offline", "--batch", str(orders)]
    with subprocess.Popen(
        [*command, "--results", str(results)], env=clean_environment(), stderr=subprocess.PIPE, text=True
    ) as process:
        while not (results.exists() and results.stat().st_size):
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.stderr
        shown = process.stderr.read()
    assert process.returncode == 130
    assert shown.endswith("error: interrupted\nhint:  add --resume to continue after the last result\n")


def read_or_end(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # the other end is closed
        return b""
