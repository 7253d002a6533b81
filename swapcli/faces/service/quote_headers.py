"""Headers for routes, transactions and health checks: the state behind them, and warnings.

The service warns, but never rejects a quote because of a warning, because signing is the client's decision.
"""

from __future__ import annotations

from collections.abc import Iterable

from swapcli.core.model.finding import Finding, FindingCode
from swapcli.core.model.price_impact import PriceImpact
from swapcli.core.model.route_result import RouteResult
from swapcli.core.model.state_source import StateSource
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.core.model.transaction import UnsignedTransaction
from swapcli.faces.service.error_responses import Headers
from swapcli.families.wrap import terms_of_payload
from swapcli.interface.state_headers import (
    STATE_HEADER,
    WARNINGS_HEADER,
    WITNESSES_HEADER,
    ReportedState,
    render_state,
    render_warnings,
)
from swapcli.interface.unknown_parameters import UnknownParameter
from swapcli.quoting.quote_figures import find_warnings
from swapcli.quoting.quote_results import QuoteResult
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.sources.quote_source import payload_impact
from swapcli.quoting.warnings import clock_warnings, quote_warnings


def quote_headers(terms: SwapTerms, *answers: QuoteResult, payload: UnsignedTransaction | None = None) -> Headers:
    """Return the headers for one or more quotes on the same state. `terms` are the terms of their swaps, with the
    limits for warnings.

    `payload` is the transaction of a single quote, if it was built.
    """
    found = [find_warnings(answer, terms, payload) for answer in answers]
    warnings = [warning for _, each in found for warning in each]
    highest = max((impact for impact, _ in found if impact), default=None, key=lambda impact: impact.fraction)
    return _headers(answers[0].state_source, warnings, highest)


def payload_headers(
    source: InMemorySource, result: RouteResult, terms: SwapTerms, payload: UnsignedTransaction
) -> Headers:
    """Return the headers for `payload`, a transaction that `source` has just built from `result` and `terms`."""
    state, impact = source.state_source, payload_impact(source, result, payload)
    warnings = quote_warnings(impact, state, terms_of_payload(payload, terms))
    return _headers(state, warnings, impact)


def health_headers(state_source: StateSource) -> Headers:
    """Return the headers for the health check of a source: its state, and whether this machine's clock is wrong."""
    return _headers(state_source, clock_warnings(state_source), None)


def state_headers(state_source: StateSource) -> Headers:
    """Return the header with a source's state, or no header if the kind of state is unknown."""
    if state_source.provenance is None:
        return ()
    state = ReportedState(state_source.provenance, state_source.block, state_source.age_s, state_source.tag)
    return ((STATE_HEADER, render_state(state)),)


def with_witnesses(headers: Headers, witnesses: int, *, is_confirmed: bool) -> Headers:
    """Return a transaction's headers, extended by the number of nodes that agree on its state.

    If no second node has confirmed the state, a warning is added too.
    """
    found = dict(headers) | {WITNESSES_HEADER: str(witnesses)}
    if not is_confirmed:
        others = [found[WARNINGS_HEADER]] if WARNINGS_HEADER in found else []
        found[WARNINGS_HEADER] = ", ".join([*others, FindingCode.STATE_UNCONFIRMED])
    return tuple(found.items())


def with_unknown(headers: Headers, unknown: Iterable[UnknownParameter]) -> Headers:
    """Return the headers of a response with a warning for each unknown parameter of its request."""
    found = dict(headers)
    others = [found[WARNINGS_HEADER]] if WARNINGS_HEADER in found else []
    found[WARNINGS_HEADER] = ", ".join([*others, *(each.header_word for each in unknown)])
    return tuple(found.items())


def _headers(state_source: StateSource, warnings: Iterable[Finding], impact: PriceImpact | None) -> Headers:
    headers = [*state_headers(state_source)]
    if codes := list(dict.fromkeys(each.code for each in warnings)):
        fraction = impact.fraction if impact else None
        headers.append((WARNINGS_HEADER, render_warnings(codes, FindingCode.PRICE_IMPACT_HIGH, fraction)))
    return tuple(headers)
