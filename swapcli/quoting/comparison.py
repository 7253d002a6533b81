"""Compare ways to fill one order. All ways are computed at the same time, and those computed in this process use the
same state.

Aggregators are queried only if the user names them. To make results comparable, the value of gas from the split route's
quote is subtracted from every expected output. If there is a node, the payloads of the split route, services and
aggregators are then simulated for one sender at one block. They are ranked by their simulated outputs instead of their
quoted ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from functools import partial
from threading import Event, Thread
from typing import TYPE_CHECKING, Final, TypeVar

from swapcli.core.errors import SwapcliError
from swapcli.core.model.network import Network
from swapcli.core.model.order import Order
from swapcli.core.model.quote_figures import QuoteFigures
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.quoting.aggregator_options import AggregatorOptions
from swapcli.quoting.alternatives import (
    Alternative,
    AlternativeKind,
    AnsweredAlternative,
    Comparison,
    SimulationOutcome,
)
from swapcli.quoting.offer_costs import OfferCost, extra_wei, offer_cost
from swapcli.quoting.quote_figures import compute_figures
from swapcli.quoting.quote_results import LocalQuote
from swapcli.quoting.sources.quote_source import QuoteSource
from swapcli.state.clock import Clock

if TYPE_CHECKING:
    from swapcli.payload.evm.simulation import SimulatedCall
    from swapcli.quoting.openers.choose_aggregators import AskedAggregator
    from swapcli.quoting.simulated_offers import OfferSimulator

T = TypeVar("T")

_HEAD_START_S: Final = 0.1
"""Aggregators are queried once the split route is found, or after this time: importing their HTTP client takes half as
long as finding it, and only one Python thread runs at a time."""
_IMPLAUSIBLE: Final = 2
"""An unproven output that exceeds the split route's by this factor is a mistake, such as wrong decimals."""


def compare_alternatives(
    source: QuoteSource,
    services: Sequence[tuple[str, QuoteSource]],
    request: QuoteRequest,
    terms: SwapTerms,
    clock: Clock,
    aggregators: AggregatorOptions | None = None,
    *,
    lists_local_ways: bool = True,
) -> Comparison:
    """Return the alternatives for filling an order. Services (by URL) and aggregators are queried in parallel.

    The direct quote and single-protocol quotes respect the order's limits. Unless `lists_local_ways` is true, this
    process computes only the split route. If an alternative fails, nothing is raised, and its `error` has the reason.
    """
    has_split = Event()
    plain = request._replace(certify=False, proof=False)  # only the split route is certified
    service_terms = terms._replace(recipient=aggregators.sender) if aggregators else None
    waiting = [
        _run_in_thread(partial(_quote, each, plain, terms, clock, AlternativeKind.SERVICE, url, service_terms))
        for url, each in services
    ]
    if aggregators:
        ask = partial(_ask_aggregator, aggregators, request, source.network, terms, clock, has_split)
        waiting += [_run_in_thread(partial(ask, each)) for each in aggregators.asked]
    source.pin(pinned=True)
    try:
        split = _quote(source, request, terms, clock, AlternativeKind.SPLIT)
        has_split.set()
        answers = [split]
        if split.figures and lists_local_ways:
            local = _local_alternatives(source, plain, terms, clock, split.figures)
            answers += [_priced(each, split, request.order) for each in local]
        if aggregators:
            simulator = aggregators.open_simulator()
            own = _own_calls(source, split, terms, simulator)
    finally:
        source.pin(pinned=False)
    answers += [_priced(each.result(), split, request.order) for each in waiting]
    alternatives = [each.alternative for each in answers]
    if aggregators:
        alternatives = simulator.simulate(answers, own, request.order)
    ordered = tuple(sorted(alternatives, key=partial(_rank, split=alternatives[0])))
    found = Comparison(source.network, request.order, ordered, split.figures, quoted=split.quoted)
    if not aggregators:
        return found
    return found._replace(hosts=aggregators.hosts, sender=aggregators.sender)


def _local_alternatives(
    source: QuoteSource, request: QuoteRequest, terms: SwapTerms, clock: Clock, split: QuoteFigures
) -> Iterator[AnsweredAlternative]:
    order, single = request.order, split.single_path
    if single and single.amount_out:
        yield AnsweredAlternative(
            Alternative(
                AlternativeKind.SINGLE_PATH,
                amount_out=single.amount_out,
                gas_units=single.gas_units,
                gas_usd=single.gas_usd,
                output_after_gas=single.output_after_gas,
                state=split.state,
            )
        )
    if not order.direct:
        direct = request._replace(order=order._replace(direct=True))
        yield _quote(source, direct, terms, clock, AlternativeKind.DIRECT)
    protocols = source.network.protocols
    for protocol in protocols:
        if protocol.amm_name in order.excluded_protocols or protocol.family is None or protocol.is_wrapper:
            continue
        others = frozenset(each.amm_name for each in protocols) - {protocol.amm_name}
        alone = request._replace(order=order._replace(excluded_protocols=others | order.excluded_protocols))
        yield _quote(source, alone, terms, clock, AlternativeKind.PROTOCOL, protocol.display_name)


def _ask_aggregator(
    options: AggregatorOptions,
    request: QuoteRequest,
    network: Network,
    terms: SwapTerms,
    clock: Clock,
    has_split: Event,
    asked: AskedAggregator,
) -> AnsweredAlternative:
    has_split.wait(_HEAD_START_S)
    from swapcli.quoting.aggregators.ask_aggregator import AggregatorRequest, ask_aggregator

    alternative = Alternative(AlternativeKind.AGGREGATOR, asked.adapter.title, package=asked.adapter.package)
    started_s = clock.monotonic_s()
    wanted = AggregatorRequest(request.order, network, options.sender, terms.slippage_ppm, request.gas_price_wei)
    try:
        offer = ask_aggregator(asked.adapter, wanted, asked.key, options.timeout_s)
    except SwapcliError as error:
        time_s = round(clock.monotonic_s() - started_s, 6)
        return AnsweredAlternative(alternative._replace(time_s=time_s, error=error))
    time_s = round(clock.monotonic_s() - started_s, 6)
    said = alternative._replace(amount_out=offer.amount_out, gas_units=offer.gas_units, time_s=time_s)
    return AnsweredAlternative(said, offer=offer)


def _quote(
    source: QuoteSource,
    request: QuoteRequest,
    terms: SwapTerms,
    clock: Clock,
    kind: AlternativeKind,
    name: str = "",
    payload_terms: SwapTerms | None = None,
) -> AnsweredAlternative:
    started_s = clock.monotonic_s()
    try:
        quoted = source.quote(request, payload_terms)
    except SwapcliError as error:
        return AnsweredAlternative(
            Alternative(kind, name, time_s=round(clock.monotonic_s() - started_s, 6), error=error)
        )
    time_s = round(clock.monotonic_s() - started_s, 6)
    figures = compute_figures(quoted, terms)
    alternative = Alternative(
        kind,
        name,
        figures.amount_out,
        figures.gas_units,
        figures.gas_usd,
        figures.output_after_gas,
        time_s,
        figures.state,
    )
    return AnsweredAlternative(alternative, quoted, figures)


def _priced(answer: AnsweredAlternative, split: AnsweredAlternative, order: Order) -> AnsweredAlternative:
    """Return an alternative with its gas valued as in the split quote, also in dollars if an aggregator gave only
    units.

    Other quotes in this process may have read different pools and so use different prices; services use their own.
    """
    alternative, figures = answer.alternative, answer.figures
    if not isinstance(split.quoted, LocalQuote):
        return answer
    if answer.offer is not None:
        if alternative.gas_units is None:
            return answer
        cost = offer_cost(split.quoted, alternative.gas_units, extra_wei(answer.offer, order))
        net = cost.taken_from(answer.offer.amount_out)
        return answer._replace(alternative=alternative._replace(gas_usd=cost.usd, output_after_gas=net))
    if figures is None:
        return answer
    if figures.gas_wei is None:  # a service with the Fibrous API's first version gives units
        cost = offer_cost(split.quoted, figures.gas_units) if figures.gas_units else OfferCost(None, None)
    else:
        cost = OfferCost(figures.gas_usd, split.quoted.quote.cost_in_output(figures.gas_wei))
    net = cost.taken_from(figures.amount_out_after_fee)
    return answer._replace(alternative=alternative._replace(output_after_gas=net))


def _own_calls(
    source: QuoteSource, split: AnsweredAlternative, terms: SwapTerms, simulator: OfferSimulator
) -> tuple[SimulatedCall, ...] | SwapcliError:
    """Return the payloads of the split route, or the reason why there are none."""
    if split.quoted is None:
        return ()
    try:
        return simulator.own_calls(source, split.quoted, terms)
    except SwapcliError as error:
        return error


def _run_in_thread(function: Callable[[], T]) -> Future[T]:
    """Run a function in a thread that does not delay an interrupt."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(function())
        except BaseException as error:
            future.set_exception(error)

    Thread(target=run, daemon=True).start()
    return future


def _rank(alternative: Alternative, split: Alternative) -> tuple[int, bool, int]:
    net, amount_out = alternative.paid_after_gas, alternative.amount_paid
    return _tier(alternative, split), net is None, -((amount_out or 0) if net is None else net)


def _tier(alternative: Alternative, split: Alternative) -> int:
    """Return how certain an alternative's output is: proven, stated, stated but implausible, refuted, or not stated."""
    if alternative.amount_out is None:
        return 4
    outcome = alternative.simulation.outcome if alternative.simulation else SimulationOutcome.NOT_SIMULATED
    if outcome is SimulationOutcome.FAILED:
        return 3
    if outcome is not SimulationOutcome.NOT_SIMULATED:
        return 0
    is_implausible = alternative.kind is AlternativeKind.AGGREGATOR and bool(
        split.amount_out and alternative.amount_out > _IMPLAUSIBLE * split.amount_out
    )
    return 2 if is_implausible else 1
