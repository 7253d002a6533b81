"""Changes the router contract in small ways that its tests must notice: `python -m tests.contracts.foundry.mutants`.

Each mutant is one change of one line. It is compiled, and killed if the invariants fail on it, or else the tests of
`tests/payload/evm/router`, which run in a copy of the checkout that has its bytecode. `equivalent_mutants.json` says
which of them no test can kill, and why. `--invariants-only` leaves the second part out, and `--only TEXT` takes those
whose name contains it. `--holes` tries the holes of `holes.json` instead: changes made by hand that an attacker would
like, each of one or more places, with the harm that it does.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tests.contracts.build import ROUTER
from tests.contracts.evm import run_solc
from tests.contracts.foundry.forge import CACHE, run_forge

ROOT = Path(__file__).parents[3]
RESULTS = Path(__file__).with_name("mutants.json")
HOLES = Path(__file__).with_name("holes.json")
MUTATED = ("SwapRouter.sol", "Callbacks.sol", "Families.sol", "ApprovedPools.sol", "SettledPools.sol", "Tokens.sol")
MAX_PER_LINE = 2
"""The first ones: what removes or turns round a line is worth more than what changes a number in it."""
SETTINGS = {"evmVersion": "paris", "optimizer": {"enabled": True, "runs": 1}}
"""Compiles three times as fast as those of the release, whose bytecode the invariants run on unchanged."""
INVARIANT, ROUTER_TESTS, SURVIVED, STILLBORN = "invariant", "router tests", "survived", "does not compile"
TIMEOUT_S = 600
RUNS = 12
"""Half of what the invariants are run with: most mutants die in the first."""
ROUTER_TEST_FILES = tuple(
    f"tests/payload/evm/router/test_{name}.py"
    for name in ("reverts", "hostile", "hostile_vaults", "integrator", "deadline")
)
"""Those that kill most, first."""

_SWAPS = (
    (r"(?<![<>=!-])==(?!=)", "!="), (r"!=", "=="), (r"(?<![<>=])<(?![<=])", "<="), (r"(?<![<>=])>(?![>=])", ">="),
    (r"<=", "<"), (r">=", ">"), (r" \+ ", " - "), (r" - ", " + "), (r" \* ", " / "), (r" / ", " * "),
    (r"&&", "||"), (r"\|\|", "&&"), (r"\btrue\b", "false"), (r"\bfalse\b", "true"), (r" >> ", " << "), (r" & ", " | "),
    (r"\+\+", "--"),
)  # fmt: skip
_NUMBER = re.compile(r"(?<![\w.])(\d[\d_]*)(?![\w.])")
_GUARD = re.compile(r"\bif \((.+)\) (revert|return)\b")
_CONDITION = re.compile(r"\bif \((.+?)\) (?!revert|return)")
_TERNARY = re.compile(r"(\? )([^?:;]+)( : )([^:;]+?)(;|\)\s*;|\),|$)")
_CALL = re.compile(r"^\s*(?!return|emit|revert|using|import|event|error)[\w.\[\]]+(\(.*\)|\{.*\}\(.*\))+;$")
_SKIPPED = ("//", "///", "import", "pragma", "event", "error", "function", "using", "contract", "abstract", "library")


class Mutant(NamedTuple):
    """A change of one line of a file; `line` counts from 0."""

    file: str
    line: int
    before: str
    after: str

    @property
    def name(self) -> str:
        """What identifies it as long as the line stays as it is."""
        return f"{self.file}: {self.before.strip()} => {self.after.strip() or '(nothing)'}"

    def apply(self, folder: Path) -> None:
        """Change the source in a folder."""
        lines = (folder / self.file).read_text().splitlines()
        lines[self.line] = self.after
        (folder / self.file).write_text("\n".join(lines) + "\n")


class Hole(NamedTuple):
    """A hole made by hand: texts of files, each of which occurs once, and what replaces them."""

    name: str
    harm: str
    changes: tuple[tuple[str, str, str], ...]
    found_by: str

    def apply(self, folder: Path) -> None:
        """Change the sources in a folder."""
        for file, before, after in self.changes:
            source = (folder / file).read_text()
            assert source.count(before) == 1, f"{self.name}: {before}"
            (folder / file).write_text(source.replace(before, after))


EQUIVALENT: dict[str, str] = json.loads(Path(__file__).with_name("equivalent_mutants.json").read_text())
"""Why no call can tell a mutant from the contract."""


def find_mutants() -> list[Mutant]:
    """Return all mutants, each name once for each line that has it."""
    found = []
    for file in MUTATED:
        lines = (ROUTER.folder / file).read_text().splitlines()
        for number, line in enumerate(lines):
            if line.strip() and not line.strip().startswith(_SKIPPED):
                changed = dict.fromkeys(each for each in _changes(line) if each != line)
                found += [Mutant(file, number, line, each) for each in [*changed][:MAX_PER_LINE]]
    return found


def _changes(line: str) -> Iterator[str]:
    code = line.partition("//")[0]
    if _CALL.match(code):
        yield ""
    if guard := _GUARD.search(code):
        yield f"{code[: guard.start(1)]}false && ({guard[1]}){code[guard.end(1) :]}"
    if condition := _CONDITION.search(code):
        yield f"{code[: condition.start(1)]}!({condition[1]}){code[condition.end(1) :]}"
    if ternary := _TERNARY.search(code):
        one, other = ternary[2], ternary[4]
        yield code[: ternary.start(2)] + other + ternary[3] + one + code[ternary.end(4) :]
    for pattern, replacement in _SWAPS:
        for match in re.finditer(pattern, code):
            yield code[: match.start()] + replacement + code[match.end() :]
    for match in _NUMBER.finditer(code):
        number = int(match[1].replace("_", ""))
        yield code[: match.start()] + str(number + 1) + code[match.end() :]


def find_holes() -> list[Hole]:
    """Return the holes of `holes.json`."""
    return [
        Hole(
            each["name"],
            each["harm"],
            tuple((change["file"], change["before"], change["after"]) for change in each["changes"]),
            each.get("found_by", ""),
        )
        for each in json.loads(HOLES.read_text())
    ]


def copy_sources(folder: Path) -> None:
    """Copy the router's sources into a folder."""
    for file in ROUTER.folder.glob("*.sol"):
        shutil.copy(file, folder / file.name)


def compile_mutant(mutant: Mutant | Hole, folder: Path) -> bytes | None:
    """Return the creation code of a mutant; None if it does not compile, or is too large to deploy."""
    copy_sources(folder)
    mutant.apply(folder)
    try:
        contract = json.loads(run_solc([f"{ROUTER.contract}.sol"], SETTINGS, folder))[ROUTER.contract]
    except RuntimeError as error:
        # Warnings of unused or unreachable code are errors of `run_solc`, and part of a mutant.
        if "Error" in str(error):
            return None
        contract = _compile_with_warnings(folder)
    return bytes.fromhex(contract["bytecode"])


def _compile_with_warnings(folder: Path) -> dict[str, str]:
    request = {"entries": [f"{ROUTER.contract}.sol"], "settings": SETTINGS, "root": str(folder), "solc": "solc"}
    compiler = Path(__file__).parents[1] / "compile.cjs"
    ran = subprocess.run(["node", compiler], input=json.dumps(request), capture_output=True, text=True, check=True)
    return dict(json.loads(ran.stdout)[ROUTER.contract])


def write_artifact(code: bytes, path: Path) -> Path:
    """Write an artifact as the committed one, with this creation code."""
    document = json.loads(ROUTER.artifact.read_text())
    path.write_text(json.dumps(document | {"bytecode": f"0x{code.hex()}"}))
    return path


def fails_invariants(artifact: Path, folder: Path) -> bool:
    """Return whether the invariants fail on an artifact."""
    env = {
        "ROUTER_ARTIFACT": str(artifact),
        "FOUNDRY_INVARIANT_FAILURE_PERSIST_DIR": str(folder / "invariant"),
        "FOUNDRY_TEST_FAILURES_FILE": str(folder / "failures"),
        "FOUNDRY_INVARIANT_SHRINK_RUN_LIMIT": "0",
        "FOUNDRY_INVARIANT_RUNS": str(RUNS),
    }
    return run_forge("--match-contract", "RouterInvariants|RouterRounding", env=env).returncode != 0


def fails_router_tests(artifact: Path, folder: Path) -> bool:
    """Return whether the tests of the router fail in a copy of the checkout with this artifact."""
    copy = folder / "checkout"
    copy.mkdir()
    for name in ("swapcli", "tests"):
        # Hard links are enough for what is only read; the artifact is replaced, not written to.
        shutil.copytree(ROOT / name, copy / name, copy_function=os.link, ignore=shutil.ignore_patterns("node_modules"))
    (copy / "tests" / "contracts" / "node_modules").symlink_to(ROOT / "tests" / "contracts" / "node_modules")
    shutil.copy(ROOT / "pyproject.toml", copy)
    target = copy / ROUTER.artifact.relative_to(ROOT)
    target.unlink()
    shutil.copy(artifact, target)
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *ROUTER_TEST_FILES]
    command += ["tests/payload/evm/router"]
    # These compare the bytecode itself with what is committed, and would fail on every mutant.
    command += [
        "--ignore=tests/payload/evm/router/test_artifact.py",
        "--ignore=tests/payload/evm/router/test_versions.py",
    ]
    try:
        ran = subprocess.run(command, cwd=copy, capture_output=True, check=False, timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        return True
    return ran.returncode != 0


def try_mutant(mutant: Mutant | Hole, *, invariants_only: bool = False) -> str:
    """Return what killed a mutant, or that it survived or is none."""
    # Below the checkout, which is all that the invariants may read.
    with TemporaryDirectory(dir=CACHE) as name:
        folder = Path(name)
        sources = folder / "contracts"
        sources.mkdir()
        code = compile_mutant(mutant, sources)
        if code is None:
            return STILLBORN
        artifact = write_artifact(code, folder / "artifact.json")
        if fails_invariants(artifact, folder):
            return INVARIANT
        if not invariants_only and fails_router_tests(artifact, folder):
            return ROUTER_TESTS
    return SURVIVED


def score(outcomes: dict[str, str]) -> float:
    """Return the share of mutants that were killed, without those that are equivalent or do not compile."""
    counted = {name: each for name, each in outcomes.items() if each != STILLBORN and name not in EQUIVALENT}
    return sum(each != SURVIVED for each in counted.values()) / max(1, len(counted))


def _known_outcomes() -> dict[str, str]:
    return dict(json.loads(RESULTS.read_text())) if RESULTS.exists() else {}


def write_results(outcomes: dict[str, str]) -> None:
    """Add outcomes to those of earlier parts, in the order of the sources, without what no longer exists."""
    merged = _known_outcomes() | outcomes
    names = dict.fromkeys(each.name for each in find_mutants())
    RESULTS.write_text(json.dumps({name: merged[name] for name in names if name in merged}, indent=1) + "\n")


def write_holes(outcomes: dict[str, str]) -> None:
    """Write what found the holes into `holes.json`."""
    holes = json.loads(HOLES.read_text())
    for each in holes:
        if each["name"] in outcomes:
            each["found_by"] = outcomes[each["name"]]
    HOLES.write_text(json.dumps(holes, indent=1) + "\n")


def main(arguments: Sequence[str]) -> int:
    """Try mutants, print the outcome of each, and write those of all to `mutants.json`."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--invariants-only", action="store_true")
    parser.add_argument("--only", default="", help="mutants whose name contains this text")
    parser.add_argument("--untried", action="store_true", help="mutants that mutants.json does not have")
    parser.add_argument("--part", default="0/1", help="K/N: those of N parts that are taken in turns, from 0")
    parser.add_argument("--holes", action="store_true", help="the holes made by hand, not the mutants")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args(arguments)
    part, _, parts = options.part.partition("/")
    candidates: Sequence[Mutant | Hole] = find_holes() if options.holes else find_mutants()
    found = {each.name: each.found_by for each in candidates if isinstance(each, Hole) and each.found_by}
    known = (found if options.holes else _known_outcomes()) if options.untried else {}
    mutants = [each for each in candidates if options.only in each.name and each.name not in known]
    mutants = mutants[int(part) :: int(parts)]
    run_forge("--match-contract", "RouterInvariants")  # compiles the tests, once
    attempt = partial(try_mutant, invariants_only=options.invariants_only)
    outcomes: dict[str, str] = {}
    with ThreadPoolExecutor(options.jobs) as pool:
        for mutant, outcome in zip(mutants, pool.map(attempt, mutants), strict=True):
            # A line that occurs twice counts as its worse outcome.
            outcomes[mutant.name] = SURVIVED if SURVIVED in (outcome, outcomes.get(mutant.name)) else outcome
            place = f"{mutant.line + 1:4}" if isinstance(mutant, Mutant) else "hole"
            print(f"{outcome:>18}  {place}  {mutant.name}", flush=True)
            if not options.invariants_only:
                (write_holes if options.holes else write_results)(outcomes)
    print(f"{dict(Counter(outcomes.values()))}, killed {score(outcomes):.1%}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
