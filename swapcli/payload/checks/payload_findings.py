"""Findings on a transaction before it is signed: on its quote, its router and its checks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from swapcli.core.encoding.text import printable
from swapcli.core.model.finding import DO_NOT_SIGN, UNREAL_STATE_CODES, Finding, FindingCode
from swapcli.core.model.network import FIBROUS, Network, encoding_package
from swapcli.core.model.router_variant import ExtraDataForm, RateVariant
from swapcli.core.model.token import Token, in_tokens
from swapcli.core.model.transaction import UnsignedTransaction
from swapcli.payload.payloads_by_variant import ReadPayload, RoutePayloads, VariantCertainty
from swapcli.state.clock import SYSTEM_CLOCK

if TYPE_CHECKING:
    from swapcli.payload.checks.presign_checks import PayloadCheck

_UNSAFE_STATES: Final = frozenset({*UNREAL_STATE_CODES, FindingCode.STATE_OLD})
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


def payload_findings(
    on_quote: Iterable[Finding],
    payload: UnsignedTransaction,
    network: Network,
    checked: PayloadCheck | None = None,
    variants: RoutePayloads | None = None,
    *,
    has_own_router: bool,
    with_approval: bool,
) -> tuple[Finding, ...]:
    """Return the findings on a quote, on its payload's router, and from the payload's checks.

    `has_own_router` means that the settings name the router. `with_approval` means that the approvals for the payload
    are sent before it. A successful simulation on the real state makes findings on the router and on unsafe state
    unnecessary.
    """
    # Only the public router's code is unpublished.
    is_router_own = network.router_dialect != FIBROUS or has_own_router
    is_simulated = checked is not None and checked.simulation is not None
    found = [each if is_simulated or each.code not in _UNSAFE_STATES else _not_to_sign(each) for each in on_quote]
    if not is_router_own and not is_simulated:
        message = "simulate first: the router has no deadline, and part of its code is unpublished"
        found.append(FindingCode.ROUTER_UNVERIFIED.finding(message))
    package = encoding_package(network, payload.to)
    if package is not None:
        message = f"simulate first: {package} encodes this payload, and swapcli cannot check it"
        found.append(FindingCode.DIALECT_OF_PACKAGE.finding(message))
    if payload.unconfirmed:  # the state comes from a public node, and no second node has confirmed it
        found.append(FindingCode.STATE_UNCONFIRMED.finding(payload.unconfirmed))
    if not is_router_own:
        found += _variant_findings(variants, checked, payload)
    if checked:
        found += _check_findings(checked, payload, with_approval=with_approval)
    return tuple(found)


def _not_to_sign(finding: Finding) -> Finding:
    """Return a finding on the pools' state as a danger.

    The message omits the kind of state, because the code has it.
    """
    reason = finding.message.partition(": ")[2] if finding.code in UNREAL_STATE_CODES else finding.message
    return finding._replace(message=f"{DO_NOT_SIGN}: {reason}")


def _check_findings(checked: PayloadCheck, payload: UnsignedTransaction, *, with_approval: bool) -> Iterator[Finding]:
    """Yield the findings on the results of the checks."""
    token_in, token_out, native = checked.tokens
    simulation, holdings, needed = checked.simulation, checked.holdings, payload.call.route.amount_in
    if simulation and not simulation.matches:
        pays, due = (_format_amount(amount, token_out) for amount in (simulation.received, simulation.expected))
        reason = "the quote uses different state"
        if checked.is_rounded or checked.proven:
            reason = "the quote is not exact"
        yield FindingCode.SIMULATION_DIFFERS.finding(
            f"{reason}: it promises {due}, but the swap pays {pays} at block {simulation.block}",
        )
    if holdings is None:
        return
    if holdings.allowance is not None and holdings.allowance < needed and not with_approval:
        allowed, sold = _format_amount(holdings.allowance, token_in), _format_amount(needed, token_in)
        yield FindingCode.ALLOWANCE_TOO_LOW.finding(
            f"the sender has approved {allowed} of {sold}: send the approval first (--with-approval)",
        )
    if checked.signing and checked.signing.failure:
        yield FindingCode.GAS_NOT_ESTIMATED.finding(
            "the node cannot estimate the gas; the transaction may fail: " + printable(checked.signing.failure),
        )
    yield from checked.signing.excesses if checked.signing else ()
    upfront_wei = sum(fields.max_cost_wei for fields in checked.signing.fields) if checked.signing else 0
    gas_wei = upfront_wei or checked.gas_wei or 0  # a node requires the maximum cost by the transactions' own fields
    if holdings.account.balance_wei < payload.value + gas_wei:
        balance, gas = (_format_amount(wei, native) for wei in (holdings.account.balance_wei, gas_wei))
        extra = " on top of the amount sold" if payload.value else ""
        yield FindingCode.GAS_BALANCE_TOO_LOW.finding(
            f"the sender has {balance}, too little for gas of about {gas}{extra}"
        )


def _format_amount(amount: int, token: Token) -> str:
    return printable(in_tokens(amount, token))


def _variant_findings(
    payloads: RoutePayloads | None, checked: PayloadCheck | None, payload: UnsignedTransaction
) -> Iterator[Finding]:
    """Yield a finding on the certainty of the payload's variant, unless a simulation has just confirmed it."""
    if payloads is None or (checked is not None and checked.proven):
        return
    read = (checked.read_payload if checked else None) or ReadPayload(payloads.network.router_variant, payload)
    match payloads.certainty(read):
        case VariantCertainty.SHARED:
            message = "every known variant of the router executes this same payload"
            yield FindingCode.READING_SHARED.finding(message)
        case VariantCertainty.REMEMBERED:
            yield FindingCode.READING_REMEMBERED.finding(_remembered(payloads, read))
        case VariantCertainty.ASSUMED:
            yield FindingCode.READING_ASSUMED.finding(
                "simulate first: swapcli assumes how the router reads rates and extra data"
            )


def _remembered(payloads: RoutePayloads, read: ReadPayload) -> str:
    from swapcli.core.model.number_format import format_duration

    found = payloads.oldest_finding(read.payload)
    age = f", {format_duration(max(0, int(SYSTEM_CLOCK.now_s()) - found.found_s))} old," if found else ""
    return f"an earlier simulation{age} showed how the router reads rates and extra data"
