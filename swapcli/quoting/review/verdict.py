"""The verdict on a swap before it is signed, by the node that the settings choose for such checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import TYPE_CHECKING

from swapcli.core.errors import MarketError, UnknownNetwork, UpstreamError
from swapcli.core.model.finding import FindingCode, Level
from swapcli.core.model.network import Network
from swapcli.core.model.pool import Pool
from swapcli.payload.verdict.swap_rehearsal import (
    NOT_REHEARSED,
    JudgedSwap,
    PriceGuard,
    judge_swap,
    not_rehearsed,
    price_guard,
)
from swapcli.payload.verdict.verdict import Verdict
from swapcli.state.clock import SYSTEM_CLOCK

if TYPE_CHECKING:
    from swapcli.quoting.openers.nodes import NodeOpener
    from swapcli.state.rpc.rpc_node import SingleRpcNode
    from swapcli.state.rpc.witness_node import WitnessNode


def judge(nodes: NodeOpener, swap: JudgedSwap, sender: str | None, known_pools: Mapping[str, Pool]) -> Verdict | None:
    """Return the verdict on a swap by `sender`, or None if the settings name no node for it.

    `known_pools` (by key) trade the swap's two tokens. Pools outside the route may provide prices for comparison.

    Raises `InvalidOption` if a check is requested but impossible.
    """
    if not nodes.checks_swaps(swap.network):
        return None
    swap = swap._replace(known_tokens=catalogue_tokens(swap.network))
    settings, now_s = nodes.setup.settings, int(swap.origin.network_time_s(SYSTEM_CLOCK.now_s()))
    guard = price_guard(swap, known_pools, now_s, (settings.price_guard_ppm, settings.max_price_loss_ppm))
    try:
        with nodes.separate_nodes(swap.network) as separate:
            if separate is not None:
                return _judge_on_several(separate, swap, sender, guard)
        with nodes.checking_node(swap.network) as node:
            return None if node is None else judge_swap(node, swap, sender, guard)
    except UpstreamError as error:
        return not_rehearsed(error)


def _judge_on_several(nodes: Iterator[WitnessNode], swap: JudgedSwap, sender: str | None, guard: PriceGuard) -> Verdict:
    """Return the verdict on which two public nodes agree, otherwise the worse one. Raises `NodesDisagree` if only one
    blocks the swap, and `UpstreamError`."""
    from swapcli.quoting.review.second_opinions import find_opinions, nodes_disagree

    def check(node: SingleRpcNode) -> Verdict:
        verdict = judge_swap(node, swap, sender, guard)
        if verdict.facts.block is None:
            raise UpstreamError(verdict.findings[0].message.removeprefix(f"{NOT_REHEARSED}: "))
        return verdict

    opinions = find_opinions(nodes, check, _shared_verdict)
    if opinions.agreed is not None:
        return opinions.agreed.result
    worst = max((each.result for each in opinions.all), key=lambda each: each.level.severity)
    # A node that simulates less also detects less: it does not contradict one that blocks the swap.
    complete = [each.result for each in opinions.all if not _is_incomplete(each.result)]
    if worst.level is Level.BLOCK and (worst not in complete or len(complete) > 1):
        raise nodes_disagree("the simulated swap", opinions, _describe)
    return worst


def _shared_verdict(one: Verdict, other: Verdict) -> Verdict | None:
    """Return the more complete of two verdicts with the same findings; None if the findings differ."""
    if _codes(one) != _codes(other):
        return None
    if one.facts.block == other.facts.block and one.facts.received != other.facts.received:
        return None
    return other if _is_incomplete(one) else one


def _codes(verdict: Verdict) -> Set[str]:
    return {each.code for each in verdict.findings} - {FindingCode.NOT_SIMULATED}


def _is_incomplete(verdict: Verdict) -> bool:
    return any(each.code is FindingCode.NOT_SIMULATED for each in verdict.findings)


def _describe(verdict: Verdict) -> str:
    return "; ".join(each.message for each in verdict.findings) or "no problem found"


def catalogue_tokens(network: Network) -> Set[str] | None:
    """Return the token addresses in a network's embedded market, or None if it has none."""
    from swapcli.core.networks.catalogue import find_network
    from swapcli.quoting.open_market import open_market

    try:
        return open_market(network.name, find_network).market.tokens.keys()
    except (MarketError, UnknownNetwork):
        return None
