"""The context that all stages of a run share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from swapcli.core.errors import NodesDisagree, SimulationError, SwapcliError
from swapcli.core.records import NamedTuple
from swapcli.quoting.proving.proof_item import ProofItem, ProofOutcome, ProofStage

if TYPE_CHECKING:
    from swapcli.core.model.network import Network
    from swapcli.quoting.market import Market
    from swapcli.quoting.openers.choose_source import SourceChooser
    from swapcli.quoting.proving.journal import Journal
    from swapcli.quoting.proving.sample_orders import SampleOrder
    from swapcli.state.rpc.run_budget import RunBudget

_SPENT: Final = {
    "requests": "this stage has used all its requests: run the command again, or raise --max-requests",
    "time": "this stage has used all its time: run the command again, or raise --time",
}


class RunContext(NamedTuple):
    """The tools and limits of a run: its `market` on live state, `sources` that open nodes, and the journal.

    `orders` are the sample orders. The first `offer_orders` of them are also sent to aggregators. `recent` is the
    number of mined swaps per venue. `keep` receives items that are ready before their stage can yield them.
    """

    network: Network
    market: Market
    sources: SourceChooser
    journal: Journal
    budget: RunBudget
    keep: Callable[[ProofItem], object]
    orders: tuple[SampleOrder, ...]
    recent: int
    offer_orders: int

    def not_checked(self, stage: ProofStage, item_id: str, title: str, reason: str) -> ProofItem:
        """Return the item of a check that could not be made."""
        return ProofItem(stage, item_id, title, ProofOutcome.NOT_CHECKED, reason)

    def why_spent(self) -> str:
        """Return why the current stage may send no more requests, or an empty text if it may."""
        return _SPENT.get(self.budget.spent, "")

    def failed(self, item: ProofItem, error: SwapcliError) -> ProofItem:
        """Return the item of a check that raised an error. If a limit was reached, the check counts as not made."""
        if reason := self.why_spent():
            return item._replace(outcome=ProofOutcome.NOT_CHECKED, reason=reason)
        return item._replace(outcome=_outcome_of(error), reason=error.message)


def _outcome_of(error: SwapcliError) -> ProofOutcome:
    """Return the outcome for an error: a difference if a simulation paid another amount, or if nodes disagree.

    A node that cannot simulate shows nothing about the swap.
    """
    has_simulated = isinstance(error, SimulationError) and "block" in error.details
    is_difference = has_simulated or isinstance(error, NodesDisagree)
    return ProofOutcome.DIFFERENCE if is_difference else ProofOutcome.NOT_CHECKED
