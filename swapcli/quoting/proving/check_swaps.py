"""The third stage: the newest mined swaps of each venue, quoted on the state just before each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from swapcli.quoting.proving.proof_item import ProofItem, ProofOutcome, ProofStage
from swapcli.quoting.proving.run_context import RunContext
from swapcli.state.mined.swap_verification import Outcome

if TYPE_CHECKING:
    from swapcli.core.model.token import Token

PROTOCOL: Final = "protocol"
"""The fact that names the protocol of a swap."""
_OUTCOMES: Final = {
    Outcome.EQUAL: ProofOutcome.MATCH,
    Outcome.DIFFERENT: ProofOutcome.DIFFERENCE,
    Outcome.NOT_EXPLAINED: ProofOutcome.NOT_CHECKED,
}


def check_swaps(run: RunContext) -> Iterator[ProofItem]:
    """Yield an item for each swap, and one for each venue without any."""
    done = Counter(item.facts.get(PROTOCOL) for item in run.journal.of(ProofStage.SWAPS))
    wanted = [
        each
        for each in run.network.protocols
        if each.family and not each.is_wrapper and done[each.amm_name] < run.recent
    ]
    if not wanted or not run.recent:
        return
    verify = getattr(run.market, "verify_recent", None)
    if reason := run.why_spent() or ("" if verify else "this version verifies no recent swaps"):
        for protocol in wanted:
            yield run.not_checked(ProofStage.SWAPS, f"venue {protocol.amm_name}", protocol.display_name, reason)
        return
    assert verify is not None
    names = [each.amm_name for each in wanted]
    found = verify(run.recent, max_requests=run.budget.part_left, protocols=names)
    for venue in found.venues:
        for swap in venue.swaps:
            yield _swap_item(venue.protocol, swap, found.tokens)
        if not venue.swaps:
            protocol = venue.protocol
            yield run.not_checked(ProofStage.SWAPS, f"venue {protocol.amm_name}", protocol.display_name, venue.reason)


def _swap_item(protocol: Any, recent: Any, tokens: dict[str, Token]) -> ProofItem:
    swap = recent.swap
    item = ProofItem(
        ProofStage.SWAPS,
        f"{recent.transaction}:{swap.event.last_log}",
        f"{protocol.display_name} in {recent.transaction}",
        _OUTCOMES[swap.outcome],
        swap.reason,
        recent.block.number,
        facts={PROTOCOL: protocol.amm_name, "pool": swap.event.key, "state": f"block {recent.parent_number:,}"},
    )
    token = tokens.get(swap.token_out or "")
    paid = swap.event.amounts.amount_out
    return item.comparing(swap.quoted, paid, token) if token else item
