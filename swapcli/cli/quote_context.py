"""The context in which the orders of one command line are quoted: source, options and settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from swapcli.cli.account_options import RECIPIENT, parse_account_option
from swapcli.cli.lazy_group import UsageError
from swapcli.cli.options import OrderOptions, SourceOptions
from swapcli.cli.session import Session
from swapcli.encoding.text import printable
from swapcli.engine.amount_notation import AmountUnit, WrittenAmount, is_balance_part, parse_notation
from swapcli.engine.amounts import parse_amount, parse_raw_amount
from swapcli.engine.quote_figures import compute_figures
from swapcli.engine.quote_options import QuoteOptions, resolve_options
from swapcli.engine.quote_results import QuoteResult
from swapcli.engine.sources.quote_source import QuoteSource
from swapcli.errors import InvalidOption, UnknownNetwork
from swapcli.model.order import Order
from swapcli.model.quote_figures import QuoteFigures
from swapcli.model.quote_request import QuoteRequest
from swapcli.model.token import in_tokens

if TYPE_CHECKING:
    from swapcli.engine.payload_checker import PayloadChecker

T = TypeVar("T")


class QuoteContext(NamedTuple):
    """A source of quotes with the options of the command line. With `raw`, amounts are in base units."""

    session: Session
    source: QuoteSource
    options: QuoteOptions
    raw: bool

    def parse_order(self, token_in: str, token_out: str, amount: str) -> Order:
        """Parse an order from the words of the command line, and note what a friendly amount means.

        Raises `InvalidInput`, also for a part of a balance, and for dollars as `quote`.
        """
        return self._parse_amount(self._parse_tokens(token_in, token_out), amount)

    def answer_order(
        self,
        words: Sequence[str],
        ask: Callable[[QuoteRequest], T],
        quote_of: Callable[[T], QuoteResult],
        open_sender: Callable[[], PayloadChecker | None],
    ) -> T:
        """Parse an order and return the answer of `ask`; the amount may be a part of the balance of the sender.

        Raises `InvalidInput`, and as `ask`.
        """
        token_in, token_out, amount = words
        if not is_balance_part(amount):
            return ask(self.build_request(self.parse_order(token_in, token_out, amount)))
        from swapcli.cli.balance_amounts import answer_balance_part

        order = self._parse_tokens(token_in, token_out)
        return answer_balance_part(
            self.session, amount, order, open_sender(), lambda each: ask(self.build_request(each)), quote_of
        )

    def _parse_tokens(self, token_in: str, token_out: str) -> Order:
        """Return the order without its amount. Raises `InvalidInput`."""
        return self.options.build_order(self.source.token(token_in), self.source.token(token_out), 0)

    def _parse_amount(self, order: Order, amount: str) -> Order:
        token = order.token_out if order.reverse else order.token_in
        if is_balance_part(amount):
            raise InvalidOption(f"{amount}: a part of a balance does not fit here", hint="write an amount")
        if self.raw:
            return replace(order, amount=parse_raw_amount(amount))
        written = parse_notation(amount)
        if written.is_plain:
            return replace(order, amount=parse_amount(amount, token.decimals, token.symbol))
        if written.unit is AmountUnit.USD:
            from swapcli.engine.order_amounts import from_dollars

            found = from_dollars(written, order, self.quote)
            price = f" at the market's price of ${found.price_usd:,.6g} for 1 {token.symbol}"
            return self._noted(written, replace(order, amount=found.amount), price)
        return self._noted(
            written, replace(order, amount=parse_amount(written.number, token.decimals, token.symbol)), ""
        )

    def _noted(self, written: WrittenAmount, order: Order, reason: str) -> Order:
        """Note what an amount means, and return its order."""
        token = order.token_out if order.reverse else order.token_in
        self.session.output.note(printable(f"{written.shown} is {in_tokens(order.amount, token)}{reason}"))
        return order

    def build_request(self, order: Order) -> QuoteRequest:
        """Return the request for a quote on `order`."""
        return self.options.build_request(order)

    def quote(self, order: Order) -> QuoteResult:
        """Quote an order. Raises the errors of `QuoteSource.quote`."""
        return self.source.quote(self.build_request(order))

    def compute_figures(self, answer: QuoteResult, deadline_s: int | None = None) -> QuoteFigures:
        """Return the figures of a quote, for a swap with this deadline (Unix seconds)."""
        return compute_figures(answer, self.options.terms._replace(deadline_s=deadline_s))


def open_quote_context(session: Session, network: str, order: OrderOptions, source: SourceOptions) -> QuoteContext:
    """Open the source of quotes of a network. Raises `InvalidInput`, `IntegratorError`."""
    quote_source = session.open(network, skip_bad_pools=source.skip_bad_pools)
    found = quote_source.network
    recipient = None
    if order.destination is not None:
        recipient = parse_account_option(order.destination, found, session, RECIPIENT)
    options = resolve_options(
        session.settings,
        found,
        session.api_key,
        recipient=recipient,
        reverse=order.reverse,
        direct=order.direct,
        certify=order.certify,
    )
    return QuoteContext(session, quote_source, options, order.raw)


def split_words(session: Session, words: Sequence[str | None]) -> tuple[str, list[str]]:
    """Return the network and the other words of NETWORK TOKEN_IN TOKEN_OUT AMOUNT; the network may be left out.

    A first word that is a network's name or chain id is the network, and so is that of one or four words: a market file
    may bring its own network. Else that of the settings is meant. Raises `UsageError` if there is none.
    """
    present = [word for word in words if word is not None]
    if len(present) in (1, 4) or (present and _is_network(session, present[0])):
        return present[0], present[1:]
    if session.settings.network is None:
        example = "swapcli route base ETH USDC 1"
        raise UsageError(f"no network given: name it first, as in {example}, or set SWAPCLI_NETWORK=base")
    return session.settings.network, present


def require_order(words: Sequence[str], *, hint: str = "") -> list[str]:
    """Return the three words of an order. Raises `UsageError`, with `hint` at its end, if one is missing."""
    if len(words) != 3:
        raise UsageError(f"TOKEN_IN, TOKEN_OUT and AMOUNT are required{hint}")
    return list(words)


def _is_network(session: Session, word: str) -> bool:
    try:
        session.network(word)
    except UnknownNetwork:
        return False
    return True
