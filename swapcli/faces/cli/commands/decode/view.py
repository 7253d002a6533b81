"""The view of `swapcli decode`: the effect of a payload, in words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from swapcli import DecodedPayload, PayloadReview, ReviewedTransaction, Token
from swapcli.core.encoding.text import printable
from swapcli.core.model.decoded_call import (
    SENDER,
    DecodedApproval,
    DecodedPayment,
    enforcer_of_approval,
    enforcer_of_call,
)
from swapcli.core.model.network import UNIVERSAL_ROUTER
from swapcli.core.model.number_format import (
    format_duration,
    format_percentage,
    format_share,
    format_shares,
    format_time,
)
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.quote import SHARES_PER_ROUTE
from swapcli.core.model.token import whole_tokens
from swapcli.core.model.transaction import NOBODY, ORDER, describe_enforcer
from swapcli.core.model.transfer_behaviour import percent
from swapcli.core.model.units import PPM
from swapcli.core.networks.address import display_address
from swapcli.core.networks.explorer import contract_page
from swapcli.faces.cli.render.detail_view import DetailView
from swapcli.faces.cli.render.list_view import Column, ListView
from swapcli.faces.cli.render.quote_facts import Fact, symbol
from swapcli.faces.cli.render.state_wording import describe_origin
from swapcli.payload.checks.payments import describe_payment, find_integrator_payment
from swapcli.payload.review.deadline_warnings import ENDLESS_S
from swapcli.payload.review.decoded_replay import ReviewedSwap

ABSENT = "-"
COLUMNS = (
    Column("swap"),
    Column("share", is_whole=True, drop_order=2),
    Column("protocol", drop_order=1),
    Column("pool", has_pool_ids=True),
)


def build_decode_view(decoded: DecodedPayload, *, verbose: bool = False) -> DetailView:
    """Build the view of a decoded payload. Its first line is the verdict. With `verbose`, it also has base units."""
    words = _Words(decoded.review, verbose=verbose)
    listing = [words.swap_list()] if decoded.review.swaps else []
    facts = [*words.facts(decoded.reviewed_at_s), *_state(decoded)]
    return DetailView(decoded.verdict.message, tuple(facts), lists=tuple(listing))


def _state(decoded: DecodedPayload) -> Iterator[Fact]:
    """Yield the state with which the payload was compared, unless the verdict says that its prices are not real."""
    state = decoded.review.state
    if state is not None and (state.is_live or str(state.kind) not in decoded.verdict.message):
        yield Fact("State", describe_origin(state))


class _Words:
    def __init__(self, review: PayloadReview, *, verbose: bool) -> None:
        self._review, self._call, self._network = review, review.call, review.network
        self._verbose = verbose

    def facts(self, now_s: float) -> Iterator[Fact]:
        """Yield what is traded or allowed, with whom and until when, followed by the call and the fresh quote."""
        signing, call = self._review.signing, self._call
        yield from self._order(now_s)
        yield from self._signed_order(now_s)
        permits = [each for each in call.approvals if each == call.permit]
        for approval in call.approvals:
            if approval not in permits:
                yield from self._approval("Approve", approval, now_s)
        yield self._through()
        for permit in permits:
            yield from self._approval("Permit", permit, now_s)
        yield Fact("Call", self._called())
        if signing.value is not None:
            native = self._network.native if self._network else None
            yield Fact("Value", self._amount(signing.value, native), self._base_units(signing.value, native, "wei"))
        yield from self._quotes()
        if len(self._review.transactions) > 1:
            for number, reviewed in enumerate(self._review.transactions, start=1):
                yield self._transaction(number, reviewed)

    def _called(self) -> str:
        """Return the names of the called function and router."""
        call = self._call
        place = f" on {self._network.name}" if self._network else ""
        if not call.function:
            return f"an unknown function, {call.selector}{place}" if call.selector else f"no function{place}"
        if call.message is not None:
            of_safe = "a Safe transaction, " if call.message.primary_type == "SafeTx" else ""
            return f"a message to sign, {of_safe}{call.function}{place}"
        router = f" of the router {call.dialect}" if call.dialect else ""
        return f"{call.function}{router}{place}"

    def _through(self) -> Fact:
        to = self._review.signing.to
        if to is None:
            return Fact("Through", "unknown", "the called contract is not given")
        return Fact("Through", self._address(to))

    def swap_list(self) -> ListView:
        """Build the list of swaps."""
        rows = tuple(map(self._swap, self._review.swaps, self._shares()))
        pages = [contract_page(self._network, row[3]) if self._network else None for row in rows]
        links = tuple({"pool": page} if page else {} for page in pages)
        return ListView(COLUMNS, rows, links)

    def _order(self, now_s: float) -> Iterator[Fact]:
        order = self._call.order
        if order is None:
            return
        token_in = self._token(order.token_in, is_native=order.is_native_in)
        token_out = self._token(order.token_out, is_native=order.is_native_out)
        sold = self._amount(order.amount_in, token_in, order.token_in)
        if order.amount_in:
            yield Fact(
                "At most" if order.is_exact_out else "You sell", sold, self._base_units(order.amount_in, token_in)
            )
        else:
            yield Fact("You sell", f"all {symbol(token_in) if token_in else 'tokens'} that the router holds")
        minimum = self._amount(order.min_received, token_out, order.token_out)
        least = self._base_units(order.min_received, token_out)
        yield Fact("You buy" if order.is_exact_out else "At least", minimum, least)
        recipient = "the sender" if order.recipient == SENDER else self._address(order.recipient)
        yield Fact("To", recipient, self._relation(order.recipient))
        if order.has_deadline:
            yield Fact("Until", *_enforced(_time(order.deadline_s, now_s), enforcer_of_call(self._call)))
        else:
            yield Fact("Until", "none", "the function takes no deadline, so the transaction never expires")

    def _signed_order(self, now_s: float) -> Iterator[Fact]:
        """Yield what a signed order trades, for whom and until when."""
        message = self._call.message
        if message is None or message.is_judged:
            return
        for name, amounts in (("You sell", message.sells), ("At least", message.buys)):
            for address, amount in amounts:
                token = self._token(address)
                yield Fact(name, self._amount(amount, token, address), self._base_units(amount, token))
        for recipient in message.recipients:
            yield Fact("To", self._address(recipient), self._relation(recipient))
        if message.deadline_s is not None:
            yield Fact("Until", *_enforced(_time(message.deadline_s, now_s), ORDER))

    def _quotes(self) -> Iterator[Fact]:
        order, review = self._call.order, self._review
        if order is None:
            return
        token_out = self._token(order.token_out, is_native=order.is_native_out)
        if order.amount_out is not None:
            quoted = self._amount(order.amount_out, token_out, order.token_out)
            yield Fact("Quoted", quoted, self._base_units(order.amount_out, token_out))
        if review.fresh_amount_out is not None:
            gap = review.minimum_gap or 0.0
            note = f"the minimum is {format_percentage(abs(gap))} {'below' if gap >= 0 else 'above'} it"
            yield Fact("Fresh quote", self._amount(review.fresh_amount_out, token_out, order.token_out), note)
        integrator = find_integrator_payment(self._call, self._review.signing.integrator)
        for payment in self._call.payments:
            name = "Integrator" if payment == integrator else "Payment"
            yield Fact(name, self._payment(payment), f"to {self._address(payment.recipient)}")

    def _relation(self, recipient: str) -> str:
        signing = self._review.signing
        if recipient == signing.recipient:
            return "as --destination"
        return "the sender" if recipient == signing.sender else ""

    def _payment(self, payment: DecodedPayment) -> str:
        token = self._token(payment.token, is_native=payment.token == ZERO_ADDRESS)
        return describe_payment(payment, token, symbol(token) if token else self._address(payment.token))

    def _approval(self, name: str, approval: DecodedApproval, now_s: float) -> Iterator[Fact]:
        address = approval.token or self._review.signing.to
        token = self._token(address) if address else None
        is_unlimited = approval.is_unlimited
        shown = f"all {symbol(token) if token else 'tokens'}" if is_unlimited else self._amount(approval.amount, token)
        yield Fact(name, shown, "without limit" if is_unlimited else self._base_units(approval.amount, token))
        if address and token is None:
            yield Fact("Token", self._address(address), "unknown")
        if approval.spender is not None:
            yield Fact("Spender", self._address(approval.spender))
        end_s = approval.expiration_s if approval.expiration_s is not None else approval.deadline_s
        if end_s is not None:
            message = self._call.message
            is_signed = message.is_permit2 if message else self._call.dialect == UNIVERSAL_ROUTER
            enforcer = enforcer_of_approval(approval, is_signed_for_permit2=is_signed)
            yield Fact("Until", *_enforced(_time(end_s, now_s), enforcer))

    def _transaction(self, number: int, reviewed: ReviewedTransaction) -> Fact:
        given, call = reviewed
        to = "no contract" if given.to is None else self._address(given.to)
        name = call.function or (f"an unknown function, {call.selector}" if call.selector else "no function")
        if call.approval is None:
            return Fact(f"Transaction {number}", name, f"of {to}")
        address = call.approval.token or given.to or ""
        token = self._token(address)
        amount = self._amount(call.approval.amount, token, address)
        if call.approval.is_unlimited:
            amount = f"all {symbol(token) if token else 'tokens'}"
        spender = self._address(call.approval.spender) if call.approval.spender else "nobody"
        return Fact(f"Transaction {number}", f"{name} {amount}", f"for {spender}")

    def _swap(self, reviewed: ReviewedSwap, share: str) -> tuple[str, ...]:
        token_out = ABSENT if reviewed.token_out is None else self._name(reviewed.token_out)
        pool, hint = reviewed.pool, reviewed.swap.pool
        protocol = self._network.protocol(pool.protocol) if self._network and pool else None
        name = protocol.display_name if protocol else hint.kind or (f"protocol {hint.protocol_id}" if hint.key else "")
        fee = f" {percent(pool.fee_ppm)}" if pool else ""
        key = pool.key if pool else hint.key
        return (
            f"{self._name(reviewed.token_in)} → {token_out}",
            share,
            f"{printable(name)}{fee}",
            ABSENT if key is None else self._address(key),
        )

    def _shares(self) -> list[str]:
        """Return the shares of the swaps as `route` shows them: in a brief view, those that sell the same token still
        add up."""
        shown, known = [ABSENT] * len(self._review.swaps), defaultdict[str, dict[int, int]](dict)
        for number, swap in enumerate(self._review.swaps):
            share = self._share(swap)
            if share is not None:
                known[swap.token_in][number] = share
        for shares in known.values():
            texts = list(map(format_share, shares.values())) if self._verbose else format_shares(shares.values())
            for number, text in zip(shares, texts, strict=True):
                shown[number] = text
        return shown

    def _share(self, reviewed: ReviewedSwap) -> int | None:
        """Return the share of a swap in hundredths of a percent; None if it is unknown."""
        amount, order = reviewed.swap.amount_in, self._call.order
        if amount is not None and order is not None and order.amount_in:
            if reviewed.token_in != self._review.wrapped(order.token_in):
                return None  # an amount of a token other than the input
            return round(amount * SHARES_PER_ROUTE / order.amount_in)
        return None if reviewed.share_ppm is None else round(reviewed.share_ppm * SHARES_PER_ROUTE / PPM)

    def _token(self, address: str, *, is_native: bool = False) -> Token | None:
        return self._review.find_token(address, is_native=is_native)

    def _name(self, address: str) -> str:
        token = self._review.tokens.get(address)
        return symbol(token) if token else self._address(address)

    def _amount(self, amount: int, token: Token | None, address: str = "") -> str:
        if token is None:
            return f"{amount} base units of {self._address(address)}" if address else f"{amount} base units"
        return f"{whole_tokens(amount, token.decimals)} {symbol(token)}"

    def _base_units(self, amount: int, token: Token | None, unit: str = "base units") -> str:
        """Return an amount in base units beside that in whole tokens, which says the same, if it is `verbose`."""
        return f"{amount} {unit}" if self._verbose and token is not None else ""

    def _address(self, address: str) -> str:
        return display_address(address, self._review.kind)


def _enforced(shown: tuple[str, str], enforcer: str) -> tuple[str, str]:
    """Return a time, the duration until then, and who enforces it."""
    time, note = shown
    return time, ", ".join(
        filter(None, (note, "" if enforcer == NOBODY else f"enforced by {describe_enforcer(enforcer)}"))
    )


def _time(end_s: int | None, now_s: float) -> tuple[str, str]:
    """Return a time, and the duration until then."""
    if end_s is None:
        return "none", ""
    left_s = end_s - int(now_s)
    if left_s > ENDLESS_S:
        return "never", ""
    if left_s < 0:
        return format_time(end_s), "it has passed"
    return format_time(end_s), f"in {format_duration(left_s)}"
