"""Where the orders of one command line are answered."""

from __future__ import annotations

from typing import NamedTuple

from swapcli.cli.amounts import parse_amount, parse_raw_amount
from swapcli.cli.lazy_group import Misused
from swapcli.cli.options import OrderOptions, SourceOptions
from swapcli.cli.quote_options import Asked, Wishes, understand
from swapcli.cli.session import Session
from swapcli.engine.quote import Answer, Ask
from swapcli.engine.sources.quote_source import QuoteSource
from swapcli.engine.warnings import answer_warnings
from swapcli.model.order import Order
from swapcli.model.warning import QuoteWarning


class Desk(NamedTuple):
    """What answers, and how the orders are to be routed and answered."""

    session: Session
    source: QuoteSource
    wishes: Wishes
    raw: bool

    def order(self, name_in: str, name_out: str, amount: str) -> Order:
        """An order as it is typed. Raises `InvalidInput`."""
        token_in, token_out = self.source.token(name_in), self.source.token(name_out)
        counted = token_out if self.wishes.asked.reverse else token_in
        units = parse_raw_amount(amount) if self.raw else parse_amount(amount, counted.decimals, counted.symbol)
        return self.wishes.order(token_in, token_out, units)

    def ask(self, order: Order) -> Ask:
        """What the source is asked."""
        wishes = self.wishes
        return Ask(
            order,
            wishes.generation,
            wishes.terms.integrator,
            wishes.gas_price_wei,
            wishes.asked.certify,
            self.session.settings.solve_time_s,
        )

    def answer(self, order: Order) -> Answer:
        """The source's answer. Raises as `QuoteSource.quote`."""
        return self.source.quote(self.ask(order))

    def warnings(self, answer: Answer) -> tuple[QuoteWarning, ...]:
        """Return the warnings of an answer."""
        terms = self.wishes.terms
        return answer_warnings(answer, ttl_s=terms.ttl_s, impact_warning_ppm=terms.impact_warning_ppm)


def open_desk(session: Session, network: str, order: OrderOptions, source: SourceOptions) -> Desk:
    """The desk for a network. Raises `InvalidInput`, `IntegratorError`."""
    answering = session.open(network, skip_bad_pools=source.skip_bad_pools)
    asked = Asked(order.reverse, order.direct, order.certify, order.destination)
    wishes = understand(asked, answering.network, session.settings, session.api_key)
    return Desk(session, answering, wishes, order.raw)


def order_given(token_in: str | None, token_out: str | None, amount: str | None, *, otherwise: str = "") -> list[str]:
    """The three words of an order; `otherwise` says what could replace them. Raises `Misused` where one is missing."""
    if token_in is None or token_out is None or amount is None:
        raise Misused(f"TOKEN_IN, TOKEN_OUT and AMOUNT are needed{otherwise}")
    return [token_in, token_out, amount]
