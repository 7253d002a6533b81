"""Choose the aggregators that a comparison queries for a sender, and simulate their offers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from swapcli.core.model.network import Network
from swapcli.core.model.order import UNOWNED_ADDRESS
from swapcli.core.records import NamedTuple

if TYPE_CHECKING:
    from swapcli.quoting.openers.choose_aggregators import AskedAggregator
    from swapcli.quoting.openers.nodes import NodeOpener
    from swapcli.quoting.openers.router_memory import RouterMemory
    from swapcli.quoting.simulated_offers import OfferSimulator


class AggregatorOptions(NamedTuple):
    """The aggregators to query on behalf of a sender, and the seconds within which each must respond.

    `open_simulator` opens the simulator for the aggregators' payloads. It is called after swapcli's own quotes, because
    importing its modules takes as long as quoting. `left_out` maps each aggregator that is not queried to the reason.
    """

    asked: Sequence[AskedAggregator]
    sender: str
    timeout_s: float
    open_simulator: Callable[[], OfferSimulator]
    left_out: Mapping[str, str] = MappingProxyType({})

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts to which the order is sent."""
        return tuple(dict.fromkeys(each.adapter.host for each in self.asked))


def choose_aggregator_options(
    names: Sequence[str], sender: str | None, network: Network, nodes: NodeOpener, routers: RouterMemory
) -> AggregatorOptions:
    """Return the options for querying the aggregators called `names`, or every aggregator if `names` contains `all`.

    Without a `sender`, offers are requested for an address that no one owns. Adapters, keys and the time-out come from
    the settings. The node that checks swaps also simulates the offers. Raises `InvalidOption` for an aggregator that
    cannot be queried.
    """
    from swapcli.quoting.openers.choose_aggregators import choose_aggregators

    settings, owner = nodes.setup.settings, sender or UNOWNED_ADDRESS
    chosen = choose_aggregators(names, network, settings.aggregators)

    def open_simulator() -> OfferSimulator:
        from swapcli.quoting.simulated_offers import OfferSimulator

        return OfferSimulator(nodes, routers, network, owner)

    return AggregatorOptions(chosen.asked, owner, settings.timeout_s, open_simulator, chosen.left_out)
