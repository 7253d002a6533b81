"""The context in which the orders of one command line are quoted: source, options and settings."""

from __future__ import annotations

from typing import NamedTuple

from swapcli.cli.account_options import RECIPIENT, parse_account_option
from swapcli.cli.lazy_group import UsageError
from swapcli.cli.options import OrderOptions, SourceOptions
from swapcli.cli.session import Session
from swapcli.engine.amounts import parse_amount, parse_raw_amount
from swapcli.engine.quote_options import QuoteOptions, resolve_options
from swapcli.engine.quote_results import QuoteResult
from swapcli.engine.sources.quote_source import QuoteSource
from swapcli.engine.warnings import answer_warnings
from swapcli.model.order import Order
from swapcli.model.quote_request import QuoteRequest
from swapcli.model.warning import QuoteWarning


class QuoteContext(NamedTuple):
    """A source of quotes with the options of the command line. With `raw`, amounts are in base units."""

    session: Session
    source: QuoteSource
    options: QuoteOptions
    raw: bool

    def parse_order(self, token_in: str, token_out: str, amount: str) -> Order:
        """Parse an order from the words of the command line. Raises `InvalidInput`."""
        token_sold, token_bought = self.source.token(token_in), self.source.token(token_out)
        token = token_bought if self.options.reverse else token_sold
        units = parse_raw_amount(amount) if self.raw else parse_amount(amount, token.decimals, token.symbol)
        return self.options.build_order(token_sold, token_bought, units)

    def build_request(self, order: Order) -> QuoteRequest:
        """Return the request for a quote on `order`."""
        return self.options.build_request(order)

    def quote(self, order: Order) -> QuoteResult:
        """Quote an order. Raises the errors of `QuoteSource.quote`."""
        return self.source.quote(self.build_request(order))

    def find_warnings(self, answer: QuoteResult) -> tuple[QuoteWarning, ...]:
        """Return the warnings on a quote."""
        terms = self.options.terms
        return answer_warnings(answer, ttl_s=terms.ttl_s, impact_warning_ppm=terms.impact_warning_ppm)


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


def require_order(token_in: str | None, token_out: str | None, amount: str | None, *, hint: str = "") -> list[str]:
    """Return the three words of an order. Raises `UsageError`, with `hint` at its end, if one is missing."""
    if token_in is None or token_out is None or amount is None:
        raise UsageError(f"TOKEN_IN, TOKEN_OUT and AMOUNT are required{hint}")
    return [token_in, token_out, amount]
