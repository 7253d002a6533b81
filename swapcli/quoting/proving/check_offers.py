"""The fourth stage: simulate offers from aggregators that need no key, and compare them with swapcli's route."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from swapcli.core.errors import InvalidOption, SwapcliError
from swapcli.core.model.live_and_check_modes import CheckMode
from swapcli.core.model.order import UNOWNED_ADDRESS
from swapcli.core.model.units import BPS, PPM
from swapcli.core.records import NamedTuple
from swapcli.quoting.aggregator_options import choose_aggregator_options
from swapcli.quoting.alternatives import AlternativeKind, SimulationOutcome
from swapcli.quoting.comparison import compare_alternatives
from swapcli.quoting.config import override_settings
from swapcli.quoting.market_quotes import MarketQuotes
from swapcli.quoting.openers.choose_aggregators import ALL, choose_aggregators
from swapcli.quoting.proving.proof_item import ProofItem, ProofOutcome, ProofStage
from swapcli.quoting.proving.run_context import RunContext
from swapcli.state.clock import SYSTEM_CLOCK

if TYPE_CHECKING:
    from swapcli.core.model.network import Network
    from swapcli.quoting.alternatives import Alternative, Comparison
    from swapcli.quoting.openers.choose_source import SourceChooser
    from swapcli.quoting.openers.nodes import NodeOpener
    from swapcli.quoting.proving.sample_orders import SampleOrder

_NEEDS_KEY: Final = "it needs an API key; this run uses only aggregators that need none"


class OpenAggregators(NamedTuple):
    """The hosts of the aggregators that need no key, and the reasons why others are skipped, both by aggregator
    name."""

    hosts: Mapping[str, str]
    left_out: Mapping[str, str]


def open_aggregators(sources: SourceChooser, network: Network) -> OpenAggregators:
    """Return the aggregators that need no key on a network. This does not contact them."""
    try:
        chosen = choose_aggregators([ALL], network, sources.setup.settings.aggregators)
    except InvalidOption as error:
        return OpenAggregators({}, {"aggregators": error.message})
    with_key = {each.adapter.name: _NEEDS_KEY for each in chosen.asked if each.adapter.needs_key}
    hosts = {each.adapter.name: each.adapter.host for each in chosen.asked if not each.adapter.needs_key}
    return OpenAggregators(hosts, {**chosen.left_out, **with_key})


def check_offers(run: RunContext) -> Iterator[ProofItem]:
    """Yield an item for each aggregator and order."""
    if not run.offer_orders:
        return
    aggregators = open_aggregators(run.sources, run.network)
    for name, reason in aggregators.left_out.items():
        yield run.not_checked(ProofStage.OFFERS, name, name, reason)
    nodes = _simulating_nodes(run.sources.nodes)
    for order in run.orders[: run.offer_orders]:
        names = [name for name in aggregators.hosts if not run.journal.find(ProofStage.OFFERS, _id(name, order))]
        if not names:
            continue
        if reason := run.why_spent():
            yield from (_not_asked(run, name, order, reason) for name in names)
            continue
        try:
            found = _compare(run, order, names, nodes)
        except SwapcliError as error:
            yield from (_not_asked(run, name, order, error.message) for name in names)
            continue
        yield from _items(run, order, names, found)


def _simulating_nodes(nodes: NodeOpener) -> NodeOpener:
    """Return an opener that may use a public node to simulate, unless the settings exclude simulations."""
    setup = nodes.setup
    if setup.settings.check is CheckMode.NEVER:
        return nodes
    settings = override_settings(setup.settings, {"check": CheckMode.ALWAYS.value})
    return type(nodes)(setup._replace(settings=settings))


def _compare(run: RunContext, order: SampleOrder, names: list[str], nodes: NodeOpener) -> Comparison:
    """Return the offers for an order and our own route, simulated for an address that no one owns."""
    routers = run.sources.networks.routers
    quotes = MarketQuotes(run.market.source, nodes, routers, run.market)
    resolved, options = quotes.read_order(order.token_in, order.token_out, f"${order.size_usd}", None, {})
    request = options.build_request(resolved)
    asked = choose_aggregator_options(names, UNOWNED_ADDRESS, run.network, nodes, routers)
    asked = asked._replace(timeout_s=min(asked.timeout_s, max(run.budget.part_left_s, 1.0)))
    return compare_alternatives(
        run.market.source, (), request, options.terms, SYSTEM_CLOCK, asked, lists_local_ways=False
    )


def _items(run: RunContext, order: SampleOrder, names: list[str], found: Comparison) -> Iterator[ProofItem]:
    asked = choose_aggregators(names, run.network, run.sources.setup.settings.aggregators).asked
    titles = {each.adapter.title: each.adapter.name for each in asked}
    split = found.split
    slippage_ppm = found.figures.slippage_ppm if found.figures else 0
    for offer in found.alternatives:
        if offer.kind is AlternativeKind.AGGREGATOR:
            yield _item(run, order, titles[offer.name], offer, split, slippage_ppm)


def _item(
    run: RunContext, order: SampleOrder, name: str, offer: Alternative, split: Alternative, slippage_ppm: int
) -> ProofItem:
    """Return the item of an offer. It differs if it reverts, or pays less than promised by more than the slippage."""
    item = _not_asked(run, name, order, "")
    if offer.amount_out is None:
        return item._replace(reason=offer.error.message if offer.error else "it made no offer")
    simulation = offer.simulation
    paid = None if simulation is None else simulation.amount_out
    item = item.comparing(offer.amount_out, paid, order.token_out)
    if simulation is None or simulation.outcome is SimulationOutcome.NOT_SIMULATED:
        return item._replace(reason=simulation.reason if simulation else "it was not simulated")
    item = item._replace(block=simulation.block)
    if simulation.is_node_error:
        return item._replace(reason=run.why_spent() or simulation.reason)
    if paid is None:
        return item._replace(outcome=ProofOutcome.DIFFERENCE, reason=simulation.reason)
    item = item._replace(facts=_beside(paid, split))
    short_ppm = PPM * (offer.amount_out - paid) // offer.amount_out if offer.amount_out else 0
    if short_ppm > slippage_ppm:
        short_bps = BPS * short_ppm / PPM
        return item._replace(outcome=ProofOutcome.DIFFERENCE, reason=f"it pays {short_bps:,.2f} bps less than promised")
    return item._replace(outcome=ProofOutcome.MATCH)


def _beside(paid: int, split: Alternative) -> dict[str, str]:
    own = split.amount_paid
    return {"compared with swapcli's route": f"{BPS * (paid - own) / own:+,.2f} bps"} if own else {}


def _id(name: str, order: SampleOrder) -> str:
    return f"{name} {order.id}"


def _not_asked(run: RunContext, name: str, order: SampleOrder, reason: str) -> ProofItem:
    return run.not_checked(ProofStage.OFFERS, _id(name, order), f"{name}: {order.title}", reason)
