"""Decode a transaction that a client is about to sign, with the same code as `swapcli decode`, on the service's
pools."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swapcli.core.errors import InvalidInput
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.faces.service.market_registry import MarketRegistry
from swapcli.faces.service.worker_thread import IsCancelled
from swapcli.quoting.quote_results import LocalQuote
from swapcli.quoting.sources.in_memory import InMemorySource

if TYPE_CHECKING:
    from collections.abc import Callable

    from swapcli.core.model.decoded_call import DecodedCall
    from swapcli.core.model.network import Network
    from swapcli.core.model.quote_request import QuoteRequest
    from swapcli.interface.document_types import DecodedDocumentJson
    from swapcli.interface.requests import DecodeRequest

MAX_CALLDATA_BYTES = 32_768
"""Several times as long as the longest route that a router accepts. The limit matters because each swap in a call is
compared with all pools."""


class _BoundedSource(InMemorySource):
    """A source that searches no longer than for any other of the service's orders."""

    def __init__(self, source: InMemorySource, registry: MarketRegistry, is_cancelled: IsCancelled) -> None:
        super().__init__(source.market, registry.clock, searchable=source.searchable)
        self._solve_time_s = registry.rules.values.get("solve_time_s")
        self._is_cancelled = is_cancelled

    def quote(
        self, request: QuoteRequest, terms: SwapTerms | None = None, *, is_cancelled: IsCancelled | None = None
    ) -> LocalQuote:
        """Return the best route for an order."""
        bounded = request._replace(solve_time_s=self._solve_time_s)
        return super().quote(bounded, terms, is_cancelled=is_cancelled or self._is_cancelled)


def decode_request(
    given: DecodeRequest,
    network: Network,
    registry: MarketRegistry,
    open_source: Callable[[list[str]], InMemorySource],
    is_cancelled: IsCancelled,
) -> DecodedDocumentJson:
    """Return the JSON of a decoded transaction, compared with a fresh quote. Raises `InvalidInput` for invalid bytes.

    `open_source` receives the tokens in the call. It raises an error if the available prices may not be used to build
    transactions.
    """
    from swapcli.payload.decode.decode_payload import decode_payload
    from swapcli.payload.decode.given_transaction import GivenTransaction, parse_calldata
    from swapcli.payload.review.reviewed_payload import FactNames, Signing, SlippageLimits
    from swapcli.quoting.review.decoded_payload import DecodedPayload
    from swapcli.quoting.review.payload_review import review_payload

    if given.felts:
        payload = GivenTransaction(felts=given.felts, to=given.to, value=given.value)
    else:
        if len(given.calldata) > 2 * MAX_CALLDATA_BYTES:
            problem = f"calldata must have at most {MAX_CALLDATA_BYTES} bytes"
            raise InvalidInput(problem, details={"field": "calldata"})
        payload = GivenTransaction(parse_calldata(given.calldata), to=given.to, value=given.value)
    call = decode_payload(payload, network.wrapped_native_address)
    source = _BoundedSource(open_source(_tokens_of(call)), registry, is_cancelled)
    signing = Signing(
        given.to, given.value, given.sender, given.recipient, names=FactNames("to", "value", "sender", "destination")
    )
    limits = SlippageLimits(registry.rules.terms.slippage_ppm, registry.rules.max_slippage_ppm)
    now_s = registry.network_time_s(network.name)
    review = review_payload(call, source, signing, now_s, limits)
    # OpenAPI has one schema of a state, which has the empty fields of routes; this document has none.
    return DecodedPayload(review._replace(state=None), now_s).document()


def _tokens_of(call: DecodedCall) -> list[str]:
    return [] if call.order is None else [call.order.token_in, call.order.token_out]
