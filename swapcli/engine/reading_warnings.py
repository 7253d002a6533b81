"""The reading of the public router in `calldata` and `execute`: the payload in it, and a warning on what is known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from swapcli.engine.clock import SYSTEM_CLOCK
from swapcli.engine.payloads_by_reading import ReadingCertainty, ReadPayload, RoutePayloads
from swapcli.engine.warnings import format_age
from swapcli.model.router_reading import ExtraDataForm, RateReading, RouterReading
from swapcli.model.transaction import UnsignedTransaction
from swapcli.model.warning import QuoteWarning, WarningCode

if TYPE_CHECKING:
    from swapcli.engine.presign_checks import PayloadCheck

RATE_WORDS = {
    RateReading.RELATIVE: "parts of its present balance",
    RateReading.ABSOLUTE_INPUT: "parts of the route's input, then of its present balance",
    RateReading.ABSOLUTE: "parts of its balance before a token's first swap",
}
FORM_WORDS = {
    ExtraDataForm.TWO_BYTES: "two bytes",
    ExtraDataForm.WORD: "a word",
    ExtraDataForm.EMPTY: "nothing",
    ExtraDataForm.THREE_BYTES: "three bytes",
    ExtraDataForm.TWO_BYTES_OR_WORD: "two bytes, or a word of zeros for none",
}


def reading_warnings(
    payloads: RoutePayloads | None, checked: PayloadCheck | None, payload: UnsignedTransaction
) -> Iterator[QuoteWarning]:
    """Yield a warning on how certain the reading of the payload is, unless a simulation has just shown it."""
    if payloads is None or (checked is not None and checked.proven):
        return
    read = (checked.read_payload if checked else None) or ReadPayload(payloads.network.router_reading, payload)
    match payloads.certainty(read):
        case ReadingCertainty.SHARED:
            message = "the payload is the same in every known reading of the router's rates and extra data"
            yield QuoteWarning(WarningCode.READING_SHARED, message)
        case ReadingCertainty.REMEMBERED:
            yield QuoteWarning(WarningCode.READING_REMEMBERED, _remembered(payloads, read))
        case ReadingCertainty.ASSUMED:
            yield QuoteWarning(
                WarningCode.READING_ASSUMED,
                f"the payload is right only if the router reads it as written, {_describe(read.reading)}: --simulate"
                " shows how it does",
            )


def _remembered(payloads: RoutePayloads, read: ReadPayload) -> str:
    found = payloads.oldest_finding(read.payload)
    age = f" at block {found.block}, {format_age(max(0, int(SYSTEM_CLOCK.now_s()) - found.found_s))}" if found else ""
    return f"the router was seen to read payloads so{age}: {_describe(read.reading)}"


def _describe(reading: RouterReading) -> str:
    forms = dict.fromkeys(FORM_WORDS[form] for form in (reading.extra_data, *dict(reading.forms).values()))
    return f"rates as {RATE_WORDS[reading.rate]} and extra data as {' or '.join(forms)}"
