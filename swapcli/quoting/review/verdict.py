"""The verdict on a swap before it is signed, by the node that the settings choose for it."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import TYPE_CHECKING

from swapcli.core.errors import MarketError, UnknownNetwork, UpstreamError
from swapcli.core.model.network import Network
from swapcli.core.model.pool import Pool
from swapcli.payload.verdict.swap_rehearsal import JudgedSwap, judge_swap, not_rehearsed, price_guard
from swapcli.payload.verdict.verdict import Verdict
from swapcli.state.clock import SYSTEM_CLOCK

if TYPE_CHECKING:
    from swapcli.quoting.openers.nodes import NodeOpener


def judge(nodes: NodeOpener, swap: JudgedSwap, sender: str | None, known_pools: Mapping[str, Pool]) -> Verdict | None:
    """Return the verdict on a swap by `sender`, None if the settings name no node for it.

    `known_pools` (by key) trade its two tokens; those outside its route may give prices to compare with.

    Raises `InvalidOption` if a check is asked for and impossible.
    """
    swap = swap._replace(known_tokens=catalogue_tokens(swap.network))
    try:
        with nodes.checking_node(swap.network) as node:
            if node is None:
                return None
            settings, now_s = nodes.setup.settings, int(swap.origin.network_time_s(SYSTEM_CLOCK.now_s()))
            limits = (settings.price_guard_ppm, settings.max_price_loss_ppm)
            return judge_swap(node, swap, sender, price_guard(swap, known_pools, now_s, limits))
    except UpstreamError as error:
        return not_rehearsed(error)


def catalogue_tokens(network: Network) -> Set[str] | None:
    """Return the addresses of the tokens of a network's embedded market, None without one."""
    from swapcli.core.networks.catalogue import find_network
    from swapcli.quoting.open_market import open_market

    try:
        return open_market(network.name, find_network).market.tokens.keys()
    except (MarketError, UnknownNetwork):
        return None
