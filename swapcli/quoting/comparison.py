"""Ways to fill one order, side by side: all at the same moment, and those of this process on one state."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from enum import StrEnum
from functools import partial
from threading import Thread
from typing import TypeVar

from swapcli.core.errors import SwapcliError
from swapcli.core.model.network import Network
from swapcli.core.model.order import Order
from swapcli.core.model.quote_figures import QuoteFigures
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.state_source import StateSource
from swapcli.core.model.swap_terms import BPS, SwapTerms
from swapcli.core.records import NamedTuple
from swapcli.quoting.quote_figures import compute_figures
from swapcli.quoting.quote_results import QuoteResult
from swapcli.quoting.sources.quote_source import QuoteSource
from swapcli.state.clock import Clock

T = TypeVar("T")


class AlternativeKind(StrEnum):
    """How an alternative fills the order."""

    SPLIT = "split"
    SINGLE_PATH = "singlePath"
    DIRECT = "direct"
    PROTOCOL = "protocol"
    SERVICE = "service"


class Alternative(NamedTuple):
    """One way to fill the order: its figures, or the error for which it has none.

    `name` is the display name of the only protocol, or the URL of the service; empty for other kinds. Amounts are in
    base units, None if unknown. `time_s` is how long the answer took, None for the single path, which every split quote
    finds on its way. `state` is what the quote rests on.
    """

    kind: AlternativeKind
    name: str = ""
    amount_out: int | None = None
    gas_units: int | None = None
    gas_usd: float | None = None
    output_net_of_gas: int | None = None
    time_s: float | None = None
    state: StateSource | None = None
    error: SwapcliError | None = None


class Comparison(NamedTuple):
    """All alternatives for an order, the best first: by the output net of gas, or by the output if no net is known.

    `figures` are those of the split quote, None if it failed.
    """

    network: Network
    order: Order
    alternatives: tuple[Alternative, ...]
    figures: QuoteFigures | None

    @property
    def split(self) -> Alternative:
        """The split quote of this process."""
        return next(each for each in self.alternatives if each.kind is AlternativeKind.SPLIT)

    def versus_split_bps(self, alternative: Alternative) -> float | None:
        """Return how much more an alternative pays than the split quote, before gas; None if unknown."""
        return _difference_bps(alternative.amount_out, self.split.amount_out)

    def versus_best_bps(self, alternative: Alternative) -> float | None:
        """Return how much more an alternative pays than the best one, net of gas: 0 for the best; None if unknown."""
        return _difference_bps(alternative.output_net_of_gas, self.alternatives[0].output_net_of_gas)


def compare_alternatives(
    source: QuoteSource,
    services: Sequence[tuple[str, QuoteSource]],
    request: QuoteRequest,
    terms: SwapTerms,
    clock: Clock,
) -> Comparison:
    """Ask for all alternatives to fill an order. The services, by URL, answer while this process computes.

    The direct quote and those of one protocol stay within the limits of the order. Raises no error that one alternative
    meets; it is its `error`.
    """
    waiting = [_run_in_thread(partial(_ask_service, *each, request, terms, clock)) for each in services]
    source.pin(pinned=True)
    try:
        split, figures = _quote(source, request, terms, clock, AlternativeKind.SPLIT)
        alternatives = [split]
        if figures:
            alternatives += _local_alternatives(source, request, terms, clock, figures)
    finally:
        source.pin(pinned=False)
    alternatives += [each.result() for each in waiting]
    ordered = tuple(sorted(alternatives, key=_rank))
    return Comparison(source.network, request.order, ordered, figures)


def _local_alternatives(
    source: QuoteSource, request: QuoteRequest, terms: SwapTerms, clock: Clock, split: QuoteFigures
) -> Iterator[Alternative]:
    order, single = request.order, split.single_path
    if single and single.amount_out:
        yield Alternative(
            AlternativeKind.SINGLE_PATH,
            amount_out=single.amount_out,
            gas_units=single.gas_units,
            gas_usd=single.gas_usd,
            output_net_of_gas=single.output_net_of_gas,
            state=split.state,
        )
    if not order.direct:
        direct = request._replace(order=order._replace(direct=True))
        yield _quote(source, direct, terms, clock, AlternativeKind.DIRECT)[0]
    protocols = source.network.protocols
    for protocol in protocols:
        if protocol.amm_name in order.excluded_protocols or protocol.family is None or protocol.is_wrapper:
            continue
        others = frozenset(each.amm_name for each in protocols) - {protocol.amm_name}
        alone = request._replace(order=order._replace(excluded_protocols=others | order.excluded_protocols))
        yield _quote(source, alone, terms, clock, AlternativeKind.PROTOCOL, protocol.display_name)[0]


def _ask_service(url: str, source: QuoteSource, request: QuoteRequest, terms: SwapTerms, clock: Clock) -> Alternative:
    return _quote(source, request, terms, clock, AlternativeKind.SERVICE, url)[0]


def _quote(
    source: QuoteSource,
    request: QuoteRequest,
    terms: SwapTerms,
    clock: Clock,
    kind: AlternativeKind,
    name: str = "",
) -> tuple[Alternative, QuoteFigures | None]:
    started_s = clock.monotonic_s()
    try:
        answer: QuoteResult = source.quote(request)
    except SwapcliError as error:
        return Alternative(kind, name, time_s=round(clock.monotonic_s() - started_s, 6), error=error), None
    time_s = round(clock.monotonic_s() - started_s, 6)
    figures = compute_figures(answer, terms)
    return (
        Alternative(
            kind,
            name,
            figures.amount_out,
            figures.gas_units,
            figures.gas_usd,
            figures.output_net_of_gas,
            time_s,
            figures.state,
        ),
        figures,
    )


def _run_in_thread(function: Callable[[], T]) -> Future[T]:
    """Run a function in a thread that an interruption need not wait for."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(function())
        except BaseException as error:
            future.set_exception(error)

    Thread(target=run, daemon=True).start()
    return future


def _rank(alternative: Alternative) -> tuple[bool, bool, int]:
    net, amount_out = alternative.output_net_of_gas, alternative.amount_out
    return amount_out is None, net is None, -((amount_out or 0) if net is None else net)


def _difference_bps(amount: int | None, reference: int | None) -> float | None:
    if amount is None or reference is None or reference <= 0:
        return None
    return round(BPS * (amount - reference) / reference, 4)
