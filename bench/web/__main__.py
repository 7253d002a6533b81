"""Compare the page in Chromium with this Python: `python -m bench.web [--orders N] [--payloads N] [--proofs N]`.

Exit status 1 means that a reply differs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any, Final, NamedTuple

from bench.web.cases import Case, order_cases, payload_cases, proof_cases
from tests.faces.service.test_html_pages import find_chromium
from tests.web.static_server import serve_folder
from web.bridge import call
from web.build import build

_SCRIPT: Final = Path(__file__).with_name("measure.mjs")
_MAX_FIRST: Final = 3.0
_MAX_LATER: Final = 10.0
_AMOUNTS: Final = ("inputAmount", "outputAmount", "minReceived", "route", "gasUnits", "warnings")
"""The fields of a quote that must be equal. Prices and bounds are floats, whose last digits depend on the C library."""


class Comparison(NamedTuple):
    """The cases whose replies differ, and the times: pairs of (start of Pyodide, first quote) in ms, and for each case
    (this Python, the browser) in ms."""

    cases: Sequence[Case]
    differing: Sequence[int]
    pairs: Sequence[tuple[float, float]]
    times: Sequence[tuple[float, float]]

    @property
    def first_ratio(self) -> float:
        """The median ratio of the first quote's time to the start of Pyodide alone."""
        return median(first / bare for bare, first in self.pairs)

    def later_ratio(self, action: str) -> float:
        """The ratio of an action's total time in the browser to that in this Python."""
        times = [each for case, each in zip(self.cases, self.times, strict=True) if case.action == action]
        return sum(browser for _, browser in times) / sum(here for here, _ in times)


def compare(cases: Sequence[Case], starts: int) -> Comparison:
    """Run the cases here and in Chromium, and measure `starts` pairs of starts."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build(folder / "page")
        with serve_folder(folder / "page") as server:
            facts = {
                "browser": find_chromium(),
                "folder": str(folder / "profiles"),
                "url": f"{server.url}/",
                "starts": starts,
                "cases": cases,
            }
            ran = subprocess.run(
                ["node", str(_SCRIPT)], input=json.dumps(facts), stdout=subprocess.PIPE, text=True, check=True
            )
        found = json.loads(ran.stdout)
        here = list(_answer(cases, folder))
    replies = [each["reply"] for each in found["answers"]]
    differing = [
        number
        for number, (case, (ours, _), theirs) in enumerate(zip(cases, here, replies, strict=True))
        if _comparable(case, ours) != _comparable(case, theirs)
    ]
    for number in differing[:5]:
        print(_first_difference(cases[number], here[number][0], replies[number]), file=sys.stderr)
    times = [(ms, each["ms"]) for (_, ms), each in zip(here, found["answers"], strict=True)]
    return Comparison(cases, differing, [tuple(each) for each in found["pairs"]], times)


def _answer(cases: Sequence[Case], folder: Path) -> Iterator[tuple[Any, float]]:
    """Yield this Python's reply to each case with its milliseconds, using a folder for its files."""
    before = os.getcwd()
    os.chdir(folder)
    call("about", "{}")
    try:
        for case in cases:
            fields = case.fields
            if case.text is not None:
                fields = {"file": "proof", **fields}
                Path(fields["file"]).write_text(case.text, encoding="utf-8")
            started = time.perf_counter()
            reply = call(case.action, json.dumps(fields))
            yield json.loads(reply), (time.perf_counter() - started) * 1e3
    finally:
        os.chdir(before)


def _comparable(case: Case, reply: Any) -> Any:
    """Return the part that must be equal: a quote's amounts and swaps; for a file that is not a proof, only that
    fact."""
    result = reply.get("result")
    if case.action == "quote" and result:
        return {"swaps": result["swaps"], **{key: result["document"][key] for key in _AMOUNTS}}
    if case.action == "check" and result["status"] == 2:
        return 2  # the reason's wording depends on the Python version
    return reply


def _first_difference(case: Case, ours: Any, theirs: Any) -> str:
    one, other = (json.dumps(_comparable(case, each), sort_keys=True) for each in (ours, theirs))
    at = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
    shown = slice(max(0, at - 150), at + 80)
    return f"{case.action} {str(case.fields)[:200]}:\n  {one[shown]}\n  {other[shown]}"


def main() -> int:
    """Print the table, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.web", description=__doc__)
    for name, count in (("orders", 200), ("payloads", 200), ("proofs", 100), ("starts", 3), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=count)
    given = parser.parse_args()
    cases = [
        *order_cases(given.orders, given.seed), *payload_cases(given.payloads, given.seed),
        *proof_cases(given.proofs, given.seed),
    ]  # fmt: skip
    found = compare(cases, given.starts)
    differing = Counter(cases[number].action for number in found.differing)
    for action, count in Counter(case.action for case in cases).items():
        ratio = found.later_ratio(action)
        print(f"{action}: {count} cases, {differing[action]} differ, {ratio:.2f} x the time here")
    starts = ", ".join(f"{first / 1e3:.1f} s to {bare / 1e3:.1f} s" for bare, first in found.pairs)
    print(f"first quote to Pyodide's own start: {found.first_ratio:.2f} x ({starts}), at most {_MAX_FIRST:g}")
    print(f"later quotes: {found.later_ratio('quote'):.2f} x, at most {_MAX_LATER:g}")
    return int(bool(found.differing))


if __name__ == "__main__":
    sys.exit(main())
