"""Review a document with more than one call. The calls to sign must be exactly those that the swap needs.

`review_payload` checks the swap. This module compares the document's transactions, chain, fees and route with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from swapcli.core.errors import InvalidInput, SwapcliError
from swapcli.core.model.decoded_call import DecodedCall
from swapcli.core.model.finding import Finding, FindingCode, gravest_first
from swapcli.core.model.network import Kind, Network
from swapcli.core.model.token import Token
from swapcli.core.networks.address import parse_address, parse_network_address
from swapcli.payload.decode.decode_payload import decode_payload
from swapcli.payload.decode.documents import PayloadInput
from swapcli.payload.decode.given_transaction import GivenTransaction
from swapcli.payload.review.amount_warnings import promise_warnings
from swapcli.payload.review.fee_warnings import fee_warnings
from swapcli.payload.review.reviewed_payload import PayloadReview, ReviewedTransaction, Signing, SlippageLimits
from swapcli.payload.review.route_differences import RoutedMarket, find_differences, promised_output
from swapcli.payload.review.transaction_warnings import chain_warnings, list_warnings
from swapcli.quoting.review.payload_review import review_payload
from swapcli.quoting.sources.quote_source import known_market

if TYPE_CHECKING:
    from swapcli.quoting.sources.quote_source import QuoteSource


def review_document(
    review: PayloadReview,
    given: PayloadInput,
    source: QuoteSource | None,
    now_s: float,
    limits: SlippageLimits,
    usual_price_wei: int | None = None,
) -> PayloadReview:
    """Return the review of a payload, extended to the rest of its document: transactions, chain, fees and route.

    `usual_price_wei` is the gas price that a node reports, or None without a node. Raises `InvalidInput` for an
    unreadable document.
    """
    given = _canonical_input(given, review.network)
    wrapped = review.network.wrapped_native_address if review.network else None
    reviewed = tuple(ReviewedTransaction(each, _decode(each, wrapped)) for each in given.listed)

    def find_token(address: str) -> Token | None:
        with suppress(InvalidInput):
            return source.token(address) if source else None
        return None

    def review_other(call: DecodedCall, signing: Signing) -> PayloadReview:
        return review_payload(call, source, signing, now_s, limits)

    warnings = [*review.warnings, *chain_warnings(review, given)]
    messages = [ReviewedTransaction(each, _decode(each, wrapped)) for each in given.messages]
    if review.call.order is not None:
        warnings += list_warnings(review, given, reviewed, find_token)
        messages += [each for each in reviewed if each.given.message is not None]
    elif len(reviewed) > 1:
        warnings += _of_each(review, given.position, reviewed, review_other)
    warnings += _promise_warnings(review, given, limits)
    warnings += _of_each(review, None, messages, review_other, "a message next to the transaction")
    warnings += fee_warnings(review, given, lambda: _native_usd(source), usual_price_wei)
    if source is not None:
        known = known_market(source)
        market = RoutedMarket(source.network, find_token, known.whole if known else lambda: None)
        differences = find_differences(given.document, given.payload, review.call, market)
        warnings += [FindingCode.DOCUMENT_DIFFERS.finding(each) for each in differences]
    return review._replace(warnings=gravest_first(dict.fromkeys(warnings)), transactions=reviewed)


def _promise_warnings(review: PayloadReview, given: PayloadInput, limits: SlippageLimits) -> Iterator[Finding]:
    """Compare the minimum with the output promised by the document, unless the call itself contains it."""
    order, promised = review.call.order, promised_output(given.document)
    if order is not None and order.amount_out is None and promised is not None:
        yield from promise_warnings(review, order, promised, limits)


def _canonical_input(given: PayloadInput, network: Network | None) -> PayloadInput:
    """Return the input with canonical addresses. Raises `InvalidInput` with the place of a wrong one."""
    return given._replace(
        payload=_canonical(given.payload, network, "the transaction"),
        written=None if given.written is None else _canonical(given.written, network, "the transaction"),
        listed=tuple(
            _canonical(each, network, f"transaction {number}") for number, each in enumerate(given.listed, start=1)
        ),
    )


def _canonical(given: GivenTransaction, network: Network | None, place: str) -> GivenTransaction:
    if given.to is None:
        return given
    try:
        kind = Kind.EVM if given.felts is None else Kind.STARKNET
        to = parse_network_address(given.to, network) if network else parse_address(given.to, kind)
        return given._replace(to=to)
    except InvalidInput as error:
        error.place = place
        raise


def _decode(given: GivenTransaction, wrapped: str | None) -> DecodedCall:
    with suppress(InvalidInput):
        return decode_payload(given, wrapped)
    return DecodedCall("", given.calldata[:10] if given.felts is None else given.entrypoint or "")


def _of_each(
    review: PayloadReview,
    position: int | None,
    reviewed: Sequence[ReviewedTransaction],
    review_other: Callable[[DecodedCall, Signing], PayloadReview],
    name: str = "",
) -> Iterator[Finding]:
    """Review transactions or messages that do not belong to a swap, each separately; by default they are numbered."""
    for number, (given, call) in enumerate(reviewed, start=1):
        if number - 1 == position:
            continue
        for each in review_other(call, Signing(given.to, given.value, review.signing.sender)).warnings:
            if not each.code.startswith("STATE_"):
                yield each._replace(message=f"{name or f'transaction {number}'}: {each.message}")


def _native_usd(source: QuoteSource | None) -> float | None:
    """Return the price of the native token; None if it is unknown."""
    if source is None:
        return None
    from swapcli.quoting.token_prices import price_tokens

    with suppress(SwapcliError):
        return price_tokens(source, [source.network.native]).prices[0].price_usd
    return None
