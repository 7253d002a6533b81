"""Review a document that carries more than one call: what is signed must be what its swap needs, and nothing else.

`review_payload` judges the swap; here its transactions, chain, fees and route are compared with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from swapcli.core.errors import InvalidInput, SwapcliError
from swapcli.core.model.decoded_call import DecodedApproval, DecodedCall
from swapcli.core.model.swap_terms import DEFAULT_MAX_FEE_USD
from swapcli.core.model.token import Token, in_tokens
from swapcli.core.model.transaction import Purpose
from swapcli.core.model.warning import QuoteWarning, WarningCode
from swapcli.core.networks.address import display_address, parse_address
from swapcli.payload.decode.decode_payload import decode_payload
from swapcli.payload.decode.documents import PayloadInput
from swapcli.payload.decode.given_transaction import GivenTransaction
from swapcli.payload.decode.quantities import parse_quantity
from swapcli.payload.decode.transaction_list import ApprovalList, implied_approvals
from swapcli.payload.review.reviewed_payload import PayloadReview, ReviewedTransaction, Signing, SlippageLimits
from swapcli.quoting.review.payload_review import review_payload
from swapcli.quoting.review.route_check import find_differences

if TYPE_CHECKING:
    from swapcli.quoting.sources.quote_source import QuoteSource

_MAX_GAS_FACTOR = 4
"""Of the estimate in the document. A limit has a quarter more than the estimate after refunds, which is up to 1.7 times
too low on long splits."""
_MAX_APPROVAL_GAS = 500_000
"""Eight times what an approval of a token behind a proxy uses."""
_MAX_GAS = 60_000_000
"""More than any known swap needs, where nothing else says how much it may be."""


def review_document(
    review: PayloadReview, given: PayloadInput, source: QuoteSource | None, now_s: float, limits: SlippageLimits
) -> PayloadReview:
    """Return the review of a payload with what came with it: transactions, chain, fees and route.

    Raises `InvalidInput` for what cannot be read.
    """
    return _Reviewer(review, given, source, now_s, limits).review()


def _purpose(call: DecodedCall) -> Purpose:
    """Return what a transaction among those of a swap is for."""
    if call.approval is None:
        return Purpose.SWAP
    if call.approval.expiration_s is not None:
        return Purpose.APPROVE_PERMIT2
    return Purpose.APPROVE if call.approval.amount else Purpose.REVOKE


class _Reviewer:
    def __init__(
        self,
        review: PayloadReview,
        given: PayloadInput,
        source: QuoteSource | None,
        now_s: float,
        limits: SlippageLimits,
    ) -> None:
        self._review, self._given, self._source = review, given, source
        self._network = review.network
        self._now_s, self._limits = now_s, limits
        self._payload = self._canonical(given.payload, "the transaction")
        self._listed = tuple(
            self._canonical(each, f"transaction {number}") for number, each in enumerate(given.listed, start=1)
        )

    def review(self) -> PayloadReview:
        """Return the whole review."""
        reviewed = tuple(ReviewedTransaction(each, self._decode(each)) for each in self._listed)
        warnings = [*self._review.warnings, *self._of_chain(), *self._of_oddities()]
        if self._review.call.order is not None:
            warnings += self._of_list(reviewed)
        elif len(reviewed) > 1:
            warnings += self._of_each(reviewed)
        warnings += self._of_fees()
        if self._source is not None:
            differences = find_differences(self._given.document, self._payload, self._review.call, self._source)
            warnings += [QuoteWarning(WarningCode.DOCUMENT_DIFFERS, each) for each in differences]
        return self._review._replace(warnings=tuple(dict.fromkeys(warnings)), transactions=reviewed)

    def _canonical(self, given: GivenTransaction, place: str) -> GivenTransaction:
        if given.to is None:
            return given
        try:
            return given._replace(to=parse_address(given.to, self._review.kind))
        except InvalidInput as error:
            error.place = place
            raise

    def _decode(self, given: GivenTransaction) -> DecodedCall:
        wrapped = self._network.wrapped_native_address if self._network else None
        with suppress(InvalidInput):
            return decode_payload(given, wrapped)
        return DecodedCall("", given.calldata[:10])

    # --- chain

    def _of_chain(self) -> Iterator[QuoteWarning]:
        network = self._network
        if network is None:
            return
        name = self._given.network
        if name is not None and name.lower() not in (network.name.lower(), str(network.chain_id)):
            yield QuoteWarning(WarningCode.CHAIN_DIFFERS, f"the document is for {name}, and not for {network.name}")
        for chain_id in self._given.chain_ids:
            if chain_id != network.chain_id:
                yield QuoteWarning(
                    WarningCode.CHAIN_DIFFERS,
                    f"the transaction is for the chain {chain_id}, and {network.name} is {network.chain_id}",
                )

    def _of_oddities(self) -> Iterator[QuoteWarning]:
        for given in (self._payload, *self._listed):
            yield from (QuoteWarning(WarningCode.CALL_UNUSUAL, oddity) for oddity in given.oddities)

    # --- transactions

    def _of_list(self, reviewed: Sequence[ReviewedTransaction]) -> Iterator[QuoteWarning]:
        """Compare the transactions with those that the swap needs."""
        if not reviewed:
            return
        position = self._given.position or 0
        listed_swap = self._listed[position]
        yield from map(self._differ, self._of_swap(listed_swap))
        to = self._payload.to or listed_swap.to
        approvals = implied_approvals(self._review.call, to)
        needed = ApprovalList(approvals, self._review.kind)
        for number, (given, call) in enumerate(reviewed[:position], start=1):
            if not needed.accepts(given):
                yield self._differ(f"transaction {number} {self._description(given, call)}: the swap needs no such")
        for number, (given, call) in enumerate(reviewed[position + 1 :], start=position + 2):
            yield self._differ(f"transaction {number} {self._description(given, call)} after the swap")
        if "dialect" in self._given.document:
            for number, (given, call) in enumerate(reviewed, start=1):
                if given.purpose not in (None, purpose := _purpose(call)):
                    yield self._differ(f"transaction {number} is called {given.purpose}, and is {purpose}")
        if needed.is_revoked:
            yield self._differ("an approval is revoked and not granted again")
        is_checked = any(each.sender is not None for each in self._listed)
        if "dialect" in self._given.document and not is_checked:
            for _ in needed.missing(self._listed):
                yield self._differ("an approval that the swap needs is not among the transactions")
        yield from self._of_senders()

    def _of_swap(self, listed: GivenTransaction) -> Iterator[str]:
        """Compare the swap among the transactions with the one that the document shows."""
        shown = self._payload
        if (listed.calldata, listed.felts, listed.entrypoint) != (shown.calldata, shown.felts, shown.entrypoint):
            yield "the swap among the transactions has other calldata than the document shows"
        if listed.to is None or (shown.to is not None and listed.to != shown.to):
            yield f"the swap among the transactions goes to {self._shown(listed.to)}, not {self._shown(shown.to)}"
        if (listed.value or 0) != (shown.value or 0):
            yield f"the swap among the transactions sends {listed.value or 0} wei, not {shown.value or 0}"

    def _of_senders(self) -> Iterator[QuoteWarning]:
        senders = {each.sender.lower() for each in self._listed if each.sender is not None}
        if len(senders) > 1:
            yield self._differ("the transactions have several senders")
        nonces = [each.nonce for each in self._listed if each.nonce is not None]
        if nonces and nonces != list(range(nonces[0], nonces[0] + len(self._listed))):
            yield self._differ("the nonces of the transactions do not follow each other")

    def _of_each(self, reviewed: Sequence[ReviewedTransaction]) -> Iterator[QuoteWarning]:
        """Review transactions that belong to no swap, each by itself."""
        for number, (given, call) in enumerate(reviewed, start=1):
            if number - 1 == self._given.position:
                continue
            signing = Signing(given.to, given.value, self._review.signing.sender)
            own = review_payload(call, self._source, signing, self._now_s, self._limits)
            for code, message in own.warnings:
                if not code.startswith("STATE_"):
                    yield QuoteWarning(code, f"transaction {number}: {message}")

    def _description(self, given: GivenTransaction, call: DecodedCall) -> str:
        """Return what a transaction does, as the end of a sentence that begins with it."""
        value = f" and sends {self._wei(given.value)}" if given.value else ""
        if call.approval is not None:
            return self._approval(given, call.approval) + value
        to = "a new contract" if given.to is None else self._shown(given.to)
        if not given.has_content:
            return f"sends {self._wei(given.value or 0)} to {to}"
        if call.function:
            return f"calls {call.function} of {to}{value}"
        return f"calls an unknown function, {call.selector}, of {to}{value}"

    def _approval(self, given: GivenTransaction, approval: DecodedApproval) -> str:
        address = approval.token or given.to or ""
        token = self._token(address)
        amount = in_tokens(approval.amount, token) if token else f"{approval.amount} units of {self._shown(address)}"
        shown = "any amount" if approval.is_unlimited else amount
        if approval.is_unlimited:
            shown += f" of {token.symbol if token else self._shown(address)}"
        return f"lets {self._shown(approval.spender)} take {shown}"

    def _token(self, address: str) -> Token | None:
        known = self._review.tokens.get(address)
        if known is not None or self._source is None or not address:
            return known
        with suppress(InvalidInput):
            return self._source.token(address)
        return None

    def _wei(self, value: int) -> str:
        return in_tokens(value, self._network.native) if self._network else f"{value} wei"

    def _shown(self, address: str | None) -> str:
        return "no contract" if address is None else display_address(address, self._review.kind)

    @staticmethod
    def _differ(sentence: str) -> QuoteWarning:
        return QuoteWarning(WarningCode.TRANSACTIONS_DIFFER, sentence)

    # --- gas and fees

    def _of_fees(self) -> Iterator[QuoteWarning]:
        others = [each for number, each in enumerate(self._listed) if number != self._given.position]
        swap = [self._payload]
        if self._given.position is not None and self._listed:
            swap.append(self._listed[self._given.position])
        for given in dict.fromkeys((*swap, *others)):
            yield from map(self._unusual, self._gas_problems(given, is_swap=given in swap))

    def _gas_problems(self, given: GivenTransaction, *, is_swap: bool) -> Iterator[str]:
        gas, max_fee, priority = given.gas, given.max_fee_wei, given.max_priority_fee_wei
        if gas is not None and gas > (limit := self._gas_limit(is_swap=is_swap)):
            yield f"the gas limit is {gas:,}, and {limit:,} is more than enough"
        if max_fee is not None and priority is not None and priority > max_fee:
            yield "the priority fee is above the maximum fee: no node accepts the transaction"
        if gas is None or max_fee is None:
            return
        usd = self._native_usd()
        fees_usd = None if usd is None else gas * max_fee / 1e18 * usd
        if fees_usd is not None and fees_usd > DEFAULT_MAX_FEE_USD:
            yield f"the transaction may cost {self._wei(gas * max_fee)} of gas, worth ${fees_usd:,.2f}"

    def _gas_limit(self, *, is_swap: bool) -> int:
        network = self._network
        most = network.block_gas_limit if network and network.block_gas_limit else _MAX_GAS
        if not is_swap:
            return _MAX_APPROVAL_GAS
        estimate = self._given.document.get("gasUnits")
        return min(most, _MAX_GAS_FACTOR * parse_quantity(estimate, "gasUnits")) if estimate is not None else most

    def _native_usd(self) -> float | None:
        """Return the price of the native token; None if it is unknown."""
        if self._source is None:
            return None
        from swapcli.quoting.token_prices import price_tokens

        with suppress(SwapcliError):
            return price_tokens(self._source, [self._source.network.native]).prices[0].price_usd
        return None

    @staticmethod
    def _unusual(sentence: str) -> QuoteWarning:
        return QuoteWarning(WarningCode.FEES_UNUSUAL, sentence)
