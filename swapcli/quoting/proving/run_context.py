"""What the stages of a run share."""

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
    "requests": "the requests of this stage were used up: run it again, or allow more with --max-requests",
    "time": "the time of this stage was used up: run it again, or allow more with --time",
}


class RunContext(NamedTuple):
    """What a run checks with: its `market` on live state, what opens nodes, the journal, and the limits.

    `orders` are the sample orders, of which the first `offer_orders` go to aggregators, none if that is 0. `recent` is
    the number of mined swaps for each venue. `keep` takes an item that is ready before its stage can yield it.
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
        """Return why the present stage may send nothing more; empty if it may."""
        return _SPENT.get(self.budget.spent, "")

    def failed(self, item: ProofItem, error: SwapcliError) -> ProofItem:
        """Return the item of a check that ended with an error, whatever it was: without requests, it says nothing."""
        if reason := self.why_spent():
            return item._replace(outcome=ProofOutcome.NOT_CHECKED, reason=reason)
        return item._replace(outcome=_outcome_of(error), reason=error.message)


def _outcome_of(error: SwapcliError) -> ProofOutcome:
    """Return what an error says: a simulation that paid another amount, or nodes that contradict each other, differ.

    A node that cannot simulate has said nothing about the swap.
    """
    has_simulated = isinstance(error, SimulationError) and "block" in error.details
    is_difference = has_simulated or isinstance(error, NodesDisagree)
    return ProofOutcome.DIFFERENCE if is_difference else ProofOutcome.NOT_CHECKED
