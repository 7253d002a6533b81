"""`python -m bench`: measure, print the tables, and write the page."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from importlib import import_module, metadata
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.optimum.cases import PEER_RESULTS
from bench.optimum.peer import install
from bench.optimum.real_market import read_document, read_orders
from bench.plan import PAGE, Plan, parse_plan
from bench.report.answer import Answer
from bench.report.circumstances import Clock
from bench.report.files import history_of, read_text, replace_files
from bench.report.page import count_met, print_tables, render_history, render_page
from bench.running import BenchmarkFailed, run
from bench.worlds.random_pairs import read_market
from swapcli.core.errors import SwapcliError

_OF_THE_PEER = frozenset({"speed", "optimum"})
Measure = Callable[[Plan, Path, Callable[[str], None]], Answer]


def main() -> int:
    """Run the plan. Return 1 if something fails, 2 if files cannot be read; a missed threshold is only reported."""
    plan = parse_plan()
    try:
        check_files(plan)
    except BenchmarkFailed as failure:
        return _say(failure, 2)
    clock = Clock()

    def note(text: str) -> None:
        print(f"{clock.minutes:5.1f} min  {text}", file=sys.stderr, flush=True)

    try:
        with ExitStack() as stack:
            folder = plan.work or Path(stack.enter_context(TemporaryDirectory(prefix="bench-")))
            folder.mkdir(parents=True, exist_ok=True)
            answers, failures = measure(plan, folder.resolve(), note)
    except BenchmarkFailed as failure:
        return _say(failure, 1)
    except KeyboardInterrupt:
        return _say("interrupted, and nothing was written", 130)
    if answers:
        print(print_tables(answers.values(), read_text(plan.out or PAGE)))
    if answers and not plan.is_comparable:
        print("\nThese are not the markets or repetitions of BENCHMARKS.md: its figures do not compare with them.")
    met, checked = count_met(answers.values())
    note(f"{met} of {checked} figures meet their bars")
    try:
        _write(plan, answers, clock)
    except BenchmarkFailed as failure:
        return _say(failure, 1)
    for question, reason in failures.items():
        _say(f"{question} was not measured: {reason}", 1)
    return 1 if failures else 0


def check_files(plan: Plan) -> None:
    """Check the plan's input and output files before half an hour of measurements. Raises `BenchmarkFailed`."""
    for market in plan.markets:
        check_market(market)
    if plan.out:
        if not plan.out.parent.is_dir():
            raise BenchmarkFailed(f"{plan.out}: there is no such folder")
        if not os.access(plan.out.parent, os.W_OK):
            raise BenchmarkFailed(f"{plan.out}: its folder cannot be written to")
        read_text(plan.out)
    if plan.work and plan.work.exists() and not plan.work.is_dir():
        raise BenchmarkFailed(f"{plan.work}: this is no folder")


def check_market(file: Path) -> None:
    """Check that a market and its orders can be used. Raises `BenchmarkFailed`."""
    network = read_document(file).get("network")
    if not isinstance(network, dict) or not isinstance(network.get("name"), str):
        raise BenchmarkFailed(f"{file}: this is no market, because it names no network")
    try:
        tokens = read_market(file).tokens
        for order in read_orders(file):
            known = {order["token_in"].lower(), order["token_out"].lower()} <= tokens.keys()
            if not known or int(order["amount_in"]) < 1:
                raise BenchmarkFailed(f"{file}: order {order['id']} has an amount below 1, or tokens that it lacks")
    except SwapcliError as error:
        raise BenchmarkFailed(f"{file}: {error}") from error
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise BenchmarkFailed(f"{file}: an order beside it is not as it should be: {error!r}") from error


def measure(plan: Plan, folder: Path, note: Callable[[str], None]) -> tuple[dict[str, Answer], dict[str, str]]:
    """Return the answers to the plan's questions, and the reasons why others could not be answered."""
    answers: dict[str, Answer] = {}
    failures: dict[str, str] = {}
    for outdated in folder.glob(f"{PEER_RESULTS}_*"):
        outdated.unlink()
    if _OF_THE_PEER & set(plan.questions):
        note("the peer")
        install()
    for question in plan.questions:
        answer: Measure = import_module(f"bench.{question}.question").measure
        try:
            answers[question] = answer(plan, folder, note)
        except BenchmarkFailed as failure:
            failures[question] = str(failure)
        except Exception as error:  # the answers to other questions, half an hour of work, must not be lost
            traceback.print_exc()
            failures[question] = f"{type(error).__name__} {error}"
        if question in failures:
            note(f"{question} failed: {failures[question]}")
    return answers, failures


def _write(plan: Plan, answers: Mapping[str, Answer], clock: Clock) -> None:
    """Write the answers to the page and its history, and keep all other sections."""
    if plan.out is None:
        return
    page, history = read_text(plan.out), read_text(history_of(plan.out))
    whole = clock.stop(plan.command(), tool_versions())
    for question, answer in answers.items():
        circumstances = whole._replace(command=plan.command(question))
        page = render_page(page, answer, circumstances)
        history = render_history(history, answer.sections, circumstances)
    if plan.is_whole:
        page = render_page(page, None, whole)
    replace_files({history_of(plan.out): history, plan.out: page})


def tool_versions() -> dict[str, str]:
    """Return the versions of the tools that affect the figures."""
    numerics = {name: metadata.version(name) for name in ("numpy", "scipy")}
    return {"Node": run(["node", "--version"]).strip(), **numerics, "Tines": install()}


def _say(what: object, status: int) -> int:
    print(f"bench: {what}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
