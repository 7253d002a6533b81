"""Warnings on a transaction before it is signed: on its quote, its router, its deadline and its checks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from swapcli.core.encoding.text import printable
from swapcli.core.model.network import FIBROUS, Network
from swapcli.core.model.router_variant import ExtraDataForm, RateVariant, RouterVariant
from swapcli.core.model.token import Token, in_tokens
from swapcli.core.model.transaction import UnsignedTransaction
from swapcli.core.model.warning import QuoteWarning, WarningCode
from swapcli.payload.payloads_by_variant import ReadPayload, RoutePayloads, VariantCertainty
from swapcli.quoting.warnings import format_age, payload_warnings
from swapcli.state.clock import SYSTEM_CLOCK

if TYPE_CHECKING:
    from swapcli.payload.checks.presign_checks import PayloadCheck
    from swapcli.quoting.config import Settings

RATE_WORDS = {
    RateVariant.RELATIVE: "parts of its present balance",
    RateVariant.ABSOLUTE_INPUT: "parts of the route's input, then of its present balance",
    RateVariant.ABSOLUTE: "parts of its balance before a token's first swap",
}
FORM_WORDS = {
    ExtraDataForm.TWO_BYTES: "two bytes",
    ExtraDataForm.WORD: "a word",
    ExtraDataForm.EMPTY: "nothing",
    ExtraDataForm.THREE_BYTES: "three bytes",
    ExtraDataForm.TWO_BYTES_OR_WORD: "two bytes, or a word of zeros for none",
}


def swap_warnings(
    on_quote: Iterable[QuoteWarning],
    payload: UnsignedTransaction,
    network: Network,
    settings: Settings,
    checked: PayloadCheck | None = None,
    variants: RoutePayloads | None = None,
    *,
    with_approval: bool,
) -> tuple[QuoteWarning, ...]:
    """Return the warnings on a quote, and those on the router and the checks of its payload.

    `with_approval` says that the approvals that the payload needs are sent before it.
    """
    own = settings.networks.get(network.name)
    # Only the public router's code is not published.
    is_router_own = network.router_dialect != FIBROUS or (own is not None and own.router is not None)
    warnings = payload_warnings(
        on_quote,
        payload,
        network,
        is_router_own=is_router_own,
        is_simulated=checked is not None and checked.simulation is not None,
    )
    on_checks = warnings_from_checks(checked, payload, with_approval=with_approval) if checked else ()
    on_variant = () if is_router_own else variant_warnings(variants, checked, payload)
    return (*warnings, *witness_warnings(payload), *on_variant, *on_checks)


def witness_warnings(payload: UnsignedTransaction) -> Iterator[QuoteWarning]:
    """Yield a warning if no second node has confirmed the state behind a payload, though it comes from a public one."""
    if payload.unconfirmed:
        yield QuoteWarning(WarningCode.STATE_UNCONFIRMED, payload.unconfirmed)


def warnings_from_checks(
    checked: PayloadCheck, payload: UnsignedTransaction, *, with_approval: bool
) -> Iterator[QuoteWarning]:
    """Yield the warnings on the results of the checks."""
    token_in, token_out, native = checked.tokens
    simulation, holdings, needed = checked.simulation, checked.holdings, payload.call.route.amount_in
    if simulation and not simulation.matches:
        pays, due = (_format_amount(amount, token_out) for amount in (simulation.received, simulation.expected))
        reason = "the quote uses other state"
        if checked.is_rounded or checked.proven:
            reason = "the quote is not exact"
        yield QuoteWarning(
            WarningCode.SIMULATION_DIFFERS,
            f"{reason}: it promises {due}, but at block {simulation.block} the swap pays {pays}",
        )
    if holdings is None:
        return
    if holdings.allowance is not None and holdings.allowance < needed and not with_approval:
        allowed, sold = _format_amount(holdings.allowance, token_in), _format_amount(needed, token_in)
        yield QuoteWarning(
            WarningCode.ALLOWANCE_TOO_LOW,
            f"the sender has approved {allowed}, but the swap spends {sold}: send the approval first, which is in"
            " transactions of the JSON, and which --with-approval shows",
        )
    if checked.signing and checked.signing.failure:
        yield QuoteWarning(
            WarningCode.GAS_NOT_ESTIMATED,
            "the node cannot estimate the gas, and the transaction may fail: " + printable(checked.signing.failure),
        )
    for excess in checked.signing.excesses if checked.signing else ():
        yield QuoteWarning(WarningCode.FEES_UNUSUAL, excess)
    upfront_wei = sum(fields.max_cost_wei for fields in checked.signing.fields) if checked.signing else 0
    gas_wei = upfront_wei or checked.gas_wei or 0  # a node requires what the transactions' own fields may cost
    if holdings.account.balance_wei < payload.value + gas_wei:
        balance, gas = (_format_amount(wei, native) for wei in (holdings.account.balance_wei, gas_wei))
        extra = " on top of the amount sold" if payload.value else ""
        yield QuoteWarning(
            WarningCode.GAS_BALANCE_TOO_LOW, f"the sender has {balance}, too little for gas of about {gas}{extra}"
        )


def _format_amount(amount: int, token: Token) -> str:
    return printable(in_tokens(amount, token))


def variant_warnings(
    payloads: RoutePayloads | None, checked: PayloadCheck | None, payload: UnsignedTransaction
) -> Iterator[QuoteWarning]:
    """Yield a warning on how certain the variant of the payload is, unless a simulation has just shown it."""
    if payloads is None or (checked is not None and checked.proven):
        return
    read = (checked.read_payload if checked else None) or ReadPayload(payloads.network.router_variant, payload)
    match payloads.certainty(read):
        case VariantCertainty.SHARED:
            message = "the payload is the same in every known variant of the router's rates and extra data"
            yield QuoteWarning(WarningCode.READING_SHARED, message)
        case VariantCertainty.REMEMBERED:
            yield QuoteWarning(WarningCode.READING_REMEMBERED, _remembered(payloads, read))
        case VariantCertainty.ASSUMED:
            yield QuoteWarning(
                WarningCode.READING_ASSUMED,
                f"the payload is right only if the router reads {_describe(read.variant)}; a simulation shows how it"
                " reads them",
            )


def _remembered(payloads: RoutePayloads, read: ReadPayload) -> str:
    found = payloads.oldest_finding(read.payload)
    age = f" at block {found.block}, {format_age(max(0, int(SYSTEM_CLOCK.now_s()) - found.found_s))}" if found else ""
    return f"the router was seen to read payloads so{age}: {_describe(read.variant)}"


def _describe(variant: RouterVariant) -> str:
    forms = dict.fromkeys(FORM_WORDS[form] for form in (variant.extra_data, *dict(variant.forms).values()))
    return f"rates as {RATE_WORDS[variant.rate]} and extra data as {' or '.join(forms)}"
