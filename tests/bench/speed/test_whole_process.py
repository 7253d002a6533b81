"""One-shot commands are timed in turn."""

from __future__ import annotations

import sys

import pytest

from bench.speed.stopwatch import in_turn, split
from bench.speed.whole_process import BANNED, Runs, banned_among, modules_of_a_quote


def test_a_stopwatch_measures_time_and_memory() -> None:
    bare, larger = ([sys.executable, "-S", "-c", code] for code in ("pass", "x = bytearray(80 << 20)"))
    measured = in_turn(2, [bare, larger])
    assert [len(runs) for runs in measured] == [2, 2]
    assert split(["--", *bare, "--", *larger]) == [bare, larger]
    assert all(seconds > 0 for runs in measured for seconds, _ in runs)
    assert all(kibibytes > 80 << 10 for _, kibibytes in measured[1])


def test_a_stopwatch_does_not_time_a_failure() -> None:
    with pytest.raises(SystemExit, match="exited with status 3"):
        in_turn(1, [[sys.executable, "-c", "raise SystemExit(3)"]])


def test_ratios_are_of_runs_that_followed_each_other() -> None:
    assert Runs((3.0, 40.0, 500.0), 0).ratio_to(Runs((1.0, 20.0, 100.0), 0)) == 3.0


def test_banned_packages_are_seen_in_any_of_their_modules() -> None:
    assert banned_among(("json", "rich.table", "httpx", "webbrowser")) == ("httpx", "rich")


def test_the_modules_of_a_quote_are_those_of_the_program() -> None:
    modules = modules_of_a_quote()
    assert {"swapcli.core.routing.router", "swapcli.faces.cli.commands.route"} <= set(modules)
    assert not set(modules) & set(BANNED)
