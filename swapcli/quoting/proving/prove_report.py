"""The report of a run: its items, their counts, and the hosts that were contacted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from swapcli.core.errors import Interrupted, SwapDiffers, UpstreamError
from swapcli.core.records import NamedTuple
from swapcli.core.version import __version__
from swapcli.interface.own_document import own_document
from swapcli.quoting.proving.journal import REPORT_JSON, REPORT_PAGE
from swapcli.quoting.proving.proof_item import ProofItem, ProofOutcome, ProofStage, item_document

if TYPE_CHECKING:
    from swapcli.core.model.network import Network
    from swapcli.interface.document_types import ProveJson


_WORDS: Final = {
    ProofOutcome.DIFFERENCE: ("difference", "differences"),
    ProofOutcome.MATCH: ("match", "matches"),
    ProofOutcome.NOT_CHECKED: ("not checked", "not checked"),
}
OUTCOMES: Final = tuple(_WORDS)
"""The outcomes, in the order in which people read them."""


def outcome_word(outcome: ProofOutcome, count: int) -> str:
    """Return the word for `count` checks with an outcome, singular or plural."""
    return _WORDS[outcome][count != 1]


class StageTime(NamedTuple):
    """The time that a stage took in this run, and the requests it sent to nodes."""

    stage: ProofStage
    time_s: float
    requests: int


class ProveReport(NamedTuple):
    """All items of a run and of earlier runs in its folder, in the order of the stages.

    `hosts` are the public nodes and aggregators that were contacted. `started_at_s` and `finished_at_s` are Unix
    seconds. `time_s` is a duration. `unchecked` are sentences about what no check covers.
    """

    network: Network
    folder: Path
    items: tuple[ProofItem, ...]
    stages: tuple[StageTime, ...]
    hosts: tuple[str, ...]
    started_at_s: int
    finished_at_s: int
    requests: int
    max_requests: int
    time_s: float
    time_budget_s: float
    unchecked: tuple[str, ...] = ()
    resumed_items: int = 0
    was_interrupted: bool = False
    python: str = ""

    @property
    def summary(self) -> str:
        """The number of checks and their outcomes, as in "9 checks on base: 8 matches, 1 not checked"."""
        total = f"{len(self.items):,} check{'s' if len(self.items) != 1 else ''} on {self.network.name}"
        return ": ".join(filter(None, [total, self.counts_in_words()]))

    def counts_in_words(self, stage: ProofStage | None = None) -> str:
        """Return the numbers of outcomes, in a stage or in all stages, differences first: "1 difference, 8 matches"."""
        counts = {outcome: self.count(outcome, stage) for outcome in OUTCOMES}
        return ", ".join(f"{count:,} {outcome_word(outcome, count)}" for outcome, count in counts.items() if count)

    @property
    def page(self) -> Path:
        """The path of the report as an HTML page."""
        return self.folder / REPORT_PAGE

    @property
    def file(self) -> Path:
        """The path of the report as JSON."""
        return self.folder / REPORT_JSON

    @property
    def blocks(self) -> tuple[int, int] | None:
        """The first and the last block whose state was checked, or None."""
        found = [item.block for item in self.items if item.block is not None]
        return (min(found), max(found)) if found else None

    def of(self, stage: ProofStage) -> tuple[ProofItem, ...]:
        """Return the items of a stage."""
        return tuple(item for item in self.items if item.stage is stage)

    def count(self, outcome: ProofOutcome, stage: ProofStage | None = None) -> int:
        """Return the number of items with an outcome, in a stage or in all stages."""
        return sum(item.outcome is outcome for item in (self.items if stage is None else self.of(stage)))

    @own_document
    def document(self) -> ProveJson:
        """Return the JSON of `swapcli prove`."""
        times = {each.stage: each for each in self.stages}
        return {
            "network": self.network.name,
            "chainId": str(self.network.chain_id),
            "swapcli": __version__,
            "python": self.python,
            "startedAt": self.started_at_s,
            "finishedAt": self.finished_at_s,
            "interrupted": self.was_interrupted,
            "resumedItems": self.resumed_items,
            "firstBlock": self.blocks[0] if self.blocks else None,
            "lastBlock": self.blocks[1] if self.blocks else None,
            "matches": self.count(ProofOutcome.MATCH),
            "differences": self.count(ProofOutcome.DIFFERENCE),
            "notChecked": self.count(ProofOutcome.NOT_CHECKED),
            "hostsContacted": list(self.hosts),
            "requests": self.requests,
            "maxRequests": self.max_requests,
            "timeS": self.time_s,
            "timeBudgetS": self.time_budget_s,
            "stages": [
                {
                    "stage": stage.value,
                    "matches": self.count(ProofOutcome.MATCH, stage),
                    "differences": self.count(ProofOutcome.DIFFERENCE, stage),
                    "notChecked": self.count(ProofOutcome.NOT_CHECKED, stage),
                    "timeS": times[stage].time_s if stage in times else None,
                    "requests": times[stage].requests if stage in times else 0,
                }
                for stage in ProofStage
            ],
            "items": [item_document(item) for item in self.items],
            "unchecked": list(self.unchecked),
            "page": REPORT_PAGE,
        }

    def check(self) -> None:
        """Raise `Interrupted` for an unfinished run, `SwapDiffers` for a difference, and `UpstreamError` if only nodes
        could be checked."""
        if self.was_interrupted:
            raise Interrupted(
                f"interrupted: {self.page} has the checks made so far", hint="run the same command again for the rest"
            )
        differences = self.count(ProofOutcome.DIFFERENCE)
        if differences:
            raise SwapDiffers(
                f"{differences} of {len(self.items)} checks on {self.network.name} found a difference",
                hint=f"see {self.page}",
                details={"differences": differences, "page": str(self.page)},
            )
        if not any(item.is_finished for item in self.items if item.stage is not ProofStage.NODES):
            reason = next((item.reason for item in self.items if item.reason), "")
            raise UpstreamError(f"nothing could be checked on {self.network.name}: {reason}", hint=f"see {self.page}")
