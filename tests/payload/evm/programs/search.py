"""Search for programs that pass and break their promise, and for internal errors.

    python -m tests.payload.evm.programs.search --count 20000 --findings FOLDER

The programs are divided among the targets, a seed each, so that any of them can be made again. Each finding is written
as JSON: the transaction, what was shown, what was executed, in the smallest form that still fails.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from eth_abi.exceptions import EncodingError

from swapcli.core.model.network import FIBROUS, OWN, SETTLER
from tests.payload.evm.programs import router_programs, settler_programs, universal_programs
from tests.payload.evm.programs.judge import Judge, Shown
from tests.payload.evm.programs.program import Program
from tests.payload.evm.programs.quoted_programs import QuotedPlan, QuotedPrograms
from tests.payload.evm.programs.router_programs import RouterPrograms
from tests.payload.evm.programs.settler_programs import SettlerPrograms
from tests.payload.evm.programs.universal_programs import UniversalPrograms
from tests.payload.evm.programs.world import (
    TARGETS,
    UNIVERSAL_2_0,
    UNIVERSAL_2_1,
    ProgramWorld,
    open_program_world,
)

HONEST, QUOTED, HOSTILE = "honest", "quoted", "hostile"
"""How programs are made: by generators that keep their promise, by this project's builders, by attackers."""
BROKEN_PROMISE, INTERNAL_ERROR, FALSE_ALARM = "broken promise", "internal error", "false alarm"
_CHANGED: Final = 0.1
"""The part of hostile programs in which one word is changed after encoding."""
_Plan = TypeVar("_Plan")


class Programs(Protocol[_Plan]):
    """Makes plans and their transactions."""

    def honest(self, rng: Random) -> _Plan: ...

    def encode(self, plan: _Plan, origin: str) -> Program: ...


class HostilePrograms(Programs[_Plan], Protocol[_Plan]):
    """Makes plans of attackers too."""

    def hostile(self, rng: Random) -> _Plan: ...


class WordChange(NamedTuple):
    """A change of one word of calldata, at a fraction of its length: of bits, or to what another word has."""

    at: float
    flipped: int
    copied_from: float | None = None

    def apply(self, calldata: str) -> str:
        """Return changed calldata."""
        words = (len(calldata) - 10) // 64
        if not words:
            return calldata
        at = 10 + 64 * int(self.at * words)
        source = at if self.copied_from is None else 10 + 64 * int(self.copied_from * words)
        word = int(calldata[source : source + 64], 16) ^ self.flipped
        return f"{calldata[:at]}{word:064x}{calldata[at + 64 :]}"


def random_change(rng: Random) -> WordChange:
    """Return a change that routers may not see, such as a bit above an address, or an offset to other words."""
    bit = 1 << rng.choice((0, 1, 5, 6, 8, 9, 128, 160, 161, 200, 255, rng.randrange(256)))
    return WordChange(rng.random(), bit) if rng.random() < 0.7 else WordChange(rng.random(), 0, rng.random())


class Finding(NamedTuple):
    """A program with what is wrong: `kind` is `BROKEN_PROMISE`, `INTERNAL_ERROR` or `FALSE_ALARM`."""

    kind: str
    program: Program
    sentences: tuple[str, ...]
    shown: Shown | None = None
    plan: object = None


class Tally(NamedTuple):
    """What became of the programs of one target, and the findings among them."""

    counts: Counter[str]
    findings: list[Finding]


MAKERS: Final[Mapping[str, Callable[[ProgramWorld, str], HostilePrograms[Any]]]] = {
    UNIVERSAL_2_0: UniversalPrograms,
    UNIVERSAL_2_1: UniversalPrograms,
    SETTLER: SettlerPrograms,
    OWN: RouterPrograms,
    FIBROUS: RouterPrograms,
}
_PARTS: Final[Mapping[str, Callable[[Any], list[Any]]]] = {
    UNIVERSAL_2_0: universal_programs.parts,
    UNIVERSAL_2_1: universal_programs.parts,
    SETTLER: settler_programs.parts,
    OWN: router_programs.parts,
    FIBROUS: router_programs.parts,
}


class Search:
    """Makes, reads and executes programs in one world."""

    def __init__(self, world: ProgramWorld, judge: Judge | None = None) -> None:
        self.world, self.judge = world, judge or Judge(world)
        self.programs = {target: make(world, target) for target, make in MAKERS.items()}
        self.quoted = {target: QuotedPrograms(world, target) for target in MAKERS}
        self.plan: object = None  # that of the program that was read last

    def run(self, target: str, origin: str, seed: object, count: int) -> Tally:
        """Judge `count` programs of a target. `origin` is `HONEST`, `QUOTED` or `HOSTILE`."""
        tally = Tally(Counter(), [])
        makers = {HONEST: self.programs[target].honest, QUOTED: self.quoted[target].honest}
        make = makers.get(origin, self.programs[target].hostile)
        for number in range(count):
            rng = Random(f"{target} {origin} {seed} {number}")
            plan = make(rng)
            change = random_change(rng) if origin == HOSTILE and rng.random() < _CHANGED else None
            tally.counts["programs"] += 1
            tally.findings.extend(self._judge(target, plan, f"{origin} {seed} {number}", tally.counts, change))
        tally.counts.update(each.kind for each in tally.findings)
        return tally

    def _judge(
        self, target: str, plan: object, origin: str, counts: Counter[str], change: WordChange | None = None
    ) -> Iterator[Finding]:
        makers: Mapping[bool, Programs[Any]] = {True: self.quoted[target], False: self.programs[target]}
        try:
            program = makers[isinstance(plan, QuotedPlan)].encode(plan, origin)
        except EncodingError:
            counts["not encodable"] += 1
            return
        if change is not None:
            program = program._replace(calldata=change.apply(program.calldata))
        self.plan = plan
        read = self.judge.read(program)
        if read.is_internal_error:
            yield Finding(INTERNAL_ERROR, program, (read.error,), plan=plan)
        elif not read.passes or read.review is None:
            counts["invalid" if read.review is None else "dangerous"] += 1
            if not origin.startswith(HOSTILE):
                reasons = read.review.dangers if read.review else (read.error,)
                yield Finding(FALSE_ALARM, program, tuple(reasons), plan=plan)
        else:
            counts["passed"] += 1
            sentences = []
            for state in self.judge.states(read.review):
                done = self.world.execute(program, state)
                if state.dear is None:
                    counts["executed" if done.succeeded else "reverted"] += 1
                if not done.succeeded and state.dear is None and not origin.startswith(HOSTILE):
                    yield Finding(FALSE_ALARM, program, ("an honest program reverts",), plan=plan)
                sentences += [f"{each} (dear: {state.dear})" for each in self.judge.broken(program, read.review, done)]
            if sentences:
                yield Finding(BROKEN_PROMISE, program, tuple(sentences), self.judge.shown(read.review), plan)

    def minimize(self, finding: Finding) -> Finding:
        """Return the same kind of finding with as few parts as possible."""
        if finding.kind == FALSE_ALARM:  # with fewer parts it would not be honest
            return finding
        target = finding.program.target
        for plan in _PARTS[target](finding.plan):
            for smaller in self._judge(target, plan, finding.program.origin, Counter()):
                if smaller.kind == finding.kind:
                    return self.minimize(smaller)
        return finding


def describe(finding: Finding) -> dict[str, object]:
    """Return a finding as a JSON document."""
    program = finding.program
    return {
        "kind": finding.kind,
        "sentence": finding.sentences[0].strip().splitlines()[-1],
        "target": program.target,
        "to": program.to,
        "value": str(program.value),
        "calldata": program.calldata,
        "recipient": program.recipient,
        "origin": program.origin,
        "shown": None if finding.shown is None else finding.shown._asdict(),
        "found": list(finding.sentences),
        "plan": repr(finding.plan),
    }


def main() -> None:
    """Run a search from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2_000, help="programs in all")
    parser.add_argument("--honest", type=int, default=0, help="honest programs per target")
    parser.add_argument("--quoted", type=int, default=0, help="programs of this project per target")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--findings", type=Path)
    parser.add_argument("--targets", nargs="*", default=TARGETS)
    options = parser.parse_args()
    with open_program_world() as world:
        search = Search(world)
        for target in options.targets:
            counts = {HONEST: options.honest, QUOTED: options.quoted, HOSTILE: options.count // len(options.targets)}
            for origin, count in counts.items():
                if not count:
                    continue
                began = time.monotonic()
                tally = search.run(target, origin, options.seed, count)
                print(target, origin, dict(tally.counts), f"{time.monotonic() - began:.1f} s", flush=True)
                if options.findings is not None:
                    write_findings(search, tally.findings, options.findings)


def write_findings(search: Search, findings: Sequence[Finding], folder: Path) -> None:
    """Write one finding of each form into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for finding in findings:
        smallest = search.minimize(finding)
        digest = hashlib.sha256(form_of(smallest).encode()).hexdigest()[:8]
        path = folder / f"{finding.kind} {finding.program.target} {digest}.json".replace(" ", "-")
        if not path.exists():
            path.write_text(json.dumps(describe(smallest), indent=1) + "\n")


def form_of(finding: Finding) -> str:
    """Return what findings with the same cause mostly have in common: the place of an error, the kinds of actions."""
    sentence = re.sub(r"0x[0-9a-f]+|-?\d+", "N", finding.sentences[0].strip().splitlines()[-1])
    if finding.kind == INTERNAL_ERROR:
        return f"{sentence} {re.findall('File .*', finding.sentences[0])[-1]}"
    kinds = re.findall(r"code=(\d+)|name='(\w+)'|function='(\w+)'", repr(finding.plan))
    return f"{sentence} {kinds}"


if __name__ == "__main__":
    main()
