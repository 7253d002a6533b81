"""The third stage: the latest mined swaps of each venue, quoted on the state just before each swap."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from swapcli.quoting.proving.proof_item import ProofItem, ProofOutcome, ProofStage
from swapcli.quoting.proving.run_context import RunContext
from swapcli.quoting.sources.quote_source import require_pools
from swapcli.state.mined.swap_verification import Outcome

if TYPE_CHECKING:
    from swapcli.core.model.network import ProtocolInfo
    from swapcli.core.model.token import Token
    from swapcli.quoting.verification.recent_verification import RecentSwap

PROTOCOL: Final = "protocol"
"""The fact that names the protocol of a swap."""
_OUTCOMES: Final = {
    Outcome.EQUAL: ProofOutcome.MATCH,
    Outcome.DIFFERENT: ProofOutcome.DIFFERENCE,
    Outcome.NOT_EXPLAINED: ProofOutcome.NOT_CHECKED,
}


def check_swaps(run: RunContext) -> Iterator[ProofItem]:
    """Keep an item for each swap as soon as it is verified. Yield an item for each venue without swaps."""
    wanted = _unfinished_venues(run)
    if not wanted:
        return
    if reason := run.why_spent():
        yield from (_without_swaps(run, protocol, reason) for protocol in wanted)
        return
    known = require_pools(run.market.source).known()

    def keep(protocol: ProtocolInfo, recent: RecentSwap) -> None:
        item = _swap_item(protocol, recent, known.token_at(recent.swap.token_out or ""))
        if _is_new(run, item):
            run.keep(item)

    found = run.market.verify_recent(
        run.recent,
        protocols=[each.amm_name for each in wanted],
        max_requests=run.budget.part_left,
        max_duration_s=run.budget.part_left_s,
        on_swap=keep,
    )
    for venue in found.venues:
        for recent in venue.swaps:
            item = _swap_item(venue.protocol, recent, found.tokens.get(recent.swap.token_out or ""))
            if _is_new(run, item):
                yield item
        if not venue.swaps:
            yield _without_swaps(run, venue.protocol, venue.reason)


def _unfinished_venues(run: RunContext) -> list[ProtocolInfo]:
    """Return the supported protocols with fewer verified swaps than requested."""
    done = Counter(item.facts.get(PROTOCOL) for item in run.journal.of(ProofStage.SWAPS))
    venues = [each for each in run.network.protocols if each.family and not each.is_wrapper]
    return [each for each in venues if done[each.amm_name] < run.recent]


def _is_new(run: RunContext, item: ProofItem) -> bool:
    """Return whether no run has verified the swap yet with a known token."""
    kept = run.journal.find(ProofStage.SWAPS, item.id)
    return kept is None or not kept.token


def _without_swaps(run: RunContext, protocol: ProtocolInfo, reason: str) -> ProofItem:
    return run.not_checked(ProofStage.SWAPS, f"venue {protocol.amm_name}", protocol.display_name, reason)


def _swap_item(protocol: ProtocolInfo, recent: RecentSwap, token: Token | None) -> ProofItem:
    swap = recent.swap
    item = ProofItem(
        ProofStage.SWAPS,
        f"{recent.block}:{swap.event.last_log}",
        f"{protocol.display_name} in {recent.transaction or f'block {recent.block:,}'}",
        _OUTCOMES[swap.outcome],
        swap.reason,
        recent.block,
        facts={PROTOCOL: protocol.amm_name, "pool": swap.event.key, "event": f"log {swap.event.last_log:,}"},
    )
    paid = swap.event.amounts.amount_out
    return item.comparing(swap.quoted, paid, token) if token else item._replace(expected=swap.quoted, found=paid)
