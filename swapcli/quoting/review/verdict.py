"""The verdict on a swap before it is signed, by the node that the settings choose for it."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import TYPE_CHECKING

from swapcli.core.errors import MarketError, UnknownNetwork, UpstreamError, VerdictBlocks
from swapcli.core.model.network import Network
from swapcli.core.model.pool import Pool
from swapcli.core.model.warning import QuoteWarning
from swapcli.payload.checks.verdict import Verdict, VerdictStatus
from swapcli.payload.checks.verdict_document import render_verdict
from swapcli.quoting.price_references import PricedOrder, plan_references
from swapcli.quoting.review.swap_rehearsal import JudgedSwap, PriceGuard, judge_swap, not_rehearsed
from swapcli.state.clock import SYSTEM_CLOCK

if TYPE_CHECKING:
    from swapcli.quoting.compose import QuoteSources


def judge(
    sources: QuoteSources, swap: JudgedSwap, sender: str | None, known_pools: Mapping[str, Pool]
) -> Verdict | None:
    """Return the verdict on a swap by `sender`, None if the settings name no node for it.

    `known_pools` (by key) trade its two tokens; those outside its route may give prices to compare with.

    Raises `InvalidOption` if a check is asked for and impossible.
    """
    swap = swap._replace(known_tokens=catalogue_tokens(swap.network))
    try:
        with sources.checking_node(swap.network) as node:
            if node is None:
                return None
            settings, now_s = sources.settings, int(SYSTEM_CLOCK.now_s())
            limits = (settings.price_guard_ppm, settings.max_price_loss_ppm)
            return judge_swap(node, swap, sender, price_guard(swap, known_pools, now_s, limits))
    except UpstreamError as error:
        return not_rehearsed(error)


def price_guard(
    swap: JudgedSwap, known_pools: Mapping[str, Pool], now_s: int, limits_ppm: tuple[int, int]
) -> PriceGuard:
    """Return the prices to compare a swap with at a Unix time, and the losses above which to warn and to block.

    `known_pools` (by key) trade its two tokens.
    """
    network, route = swap.network, swap.payload.call.route
    of_route = {step.pool_key for segment in swap.result.segments for hop in segment.hops for step in hop}
    ends = (swap.tokens.token_in, swap.tokens.token_out)
    token_in, token_out = (each._replace(address=network.to_wrapped(each.address)) for each in ends)
    order = PricedOrder(token_in, token_out, route.amount_in)
    is_wrapping = token_in.address == token_out.address
    questions = () if is_wrapping else plan_references(order, network, known_pools, of_route)
    return PriceGuard(questions, now_s, *limits_ppm)


def catalogue_tokens(network: Network) -> Set[str] | None:
    """Return the addresses of the tokens of a network's embedded market, None without one."""
    from swapcli.core.networks.catalogue import find_network
    from swapcli.quoting.open_market import open_market

    try:
        return open_market(network.name, find_network).market.tokens.keys()
    except (MarketError, UnknownNetwork):
        return None


def verdict_warnings(verdict: Verdict | None) -> tuple[QuoteWarning, ...]:
    """Return the reasons of a verdict as warnings."""
    reasons = verdict.reasons if verdict else ()
    return tuple(QuoteWarning(reason.code, f"{reason.message}; {reason.hint}") for reason in reasons)


def check_verdict(verdict: Verdict | None, option: str = "check") -> None:
    """Raise `VerdictBlocks` if the verdict says so."""
    blocking = verdict.of_status(VerdictStatus.BLOCK) if verdict else ()
    if verdict is None or not blocking:
        return
    first, *others = blocking
    more = f"; and {len(others)} more" if others else ""
    raise VerdictBlocks(
        f"{first.message}{more}",
        hint=f"{first.hint}; to build the transaction all the same, set {option} to never",
        details={"verdict": render_verdict(verdict)},
    )
