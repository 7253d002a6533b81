"""Quote and build the due part of a plan on a program's market."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol, Unpack, cast

from swapcli.core.model.network import Network
from swapcli.core.model.token import Token
from swapcli.interface.quote_parameters import PARAMETERS
from swapcli.quoting.config import override_settings
from swapcli.quoting.planning.due_part import BuiltPart, build_due_part
from swapcli.quoting.planning.plan_file import PlanFile, PlannedPart, open_plan
from swapcli.quoting.planning.route_limits import LIMITS, narrow_limits
from swapcli.quoting.quote_keywords import check_part_keywords
from swapcli.quoting.quote_options import parse_destination
from swapcli.state.clock import SYSTEM_CLOCK

if TYPE_CHECKING:
    from os import PathLike

    from swapcli.quoting.config import Settings
    from swapcli.quoting.price_policy import PriceRequest
    from swapcli.quoting.quote_keywords import PartKeywords, QuoteKeywords, TransactionKeywords
    from swapcli.quoting.sources.quote_source import QuoteSource
    from swapcli.quoting.swap_quote import PreparedSwap, SwapQuote


class QuotesAndPrepares(Protocol):
    """The methods of a `Market` that building a part needs."""

    @property
    def network(self) -> Network:
        """The network of the quotes."""

    @property
    def source(self) -> QuoteSource:
        """The source of the quotes."""

    @property
    def settings(self) -> Settings:
        """The settings that apply if an option of a quote is omitted."""

    def token(self, name: str) -> Token:
        """Return a token by its address."""

    def quote(self, token_in: Token, token_out: Token, amount: int, /, **options: Unpack[QuoteKeywords]) -> SwapQuote:
        """Return the best route for selling an amount in base units."""

    def prepare(self, quote: SwapQuote, **terms: Unpack[TransactionKeywords]) -> PreparedSwap:
        """Return the transactions of a quote after their checks."""


class _PartOfMarket:
    """Quotes a part and builds its payload on a market."""

    def __init__(
        self, market: QuotesAndPrepares, price_request: PriceRequest, plan: PlanFile, options: PartKeywords
    ) -> None:
        check_part_keywords(options)
        given = {name: value for name, value in options.items() if value is not None}
        limits = {name: value for name, value in given.items() if name in LIMITS}
        terms = {name: value for name, value in given.items() if name not in LIMITS}
        self._market, self._plan, self._terms = market, plan, cast("TransactionKeywords", terms)
        chosen = {name: value for name, value in limits.items() if PARAMETERS[name].setting}
        self.limits = narrow_limits(
            plan.limits, market.network, override_settings(market.settings, chosen), limits, self.name_option
        )
        self.network, self.source, self.settings = market.network, market.source, market.settings
        self.price_request = price_request
        self.recipient = parse_destination(self._terms.get("destination"), market.network)

    @staticmethod
    def name_option(parameter: str) -> str:
        """Return the keyword of a quote parameter."""
        return parameter

    def quote(self, part: PlannedPart) -> SwapQuote:
        """Return a fresh quote for the part."""
        token_in, token_out = map(self._market.token, (self._plan.token_in.address, self._plan.token_out.address))
        return self._market.quote(token_in, token_out, part.amount_in, **self.limits.keywords())

    def prepare(self, quote: SwapQuote) -> PreparedSwap:
        """Return the payload of a quote after its checks."""
        return self._market.prepare(quote, **self._terms)


def build_market_part(
    market: QuotesAndPrepares, price_request: PriceRequest, path: str | PathLike[str], options: PartKeywords
) -> BuiltPart:
    """Build the part that is due in a plan's file, and record it in that file. Raises the same errors as
    `Market.build_part`.

    `price_request` is how the program requested prices that are not real.
    """
    with open_plan(os.fspath(path)) as plan:
        return build_due_part(plan, _PartOfMarket(market, price_request, plan, options), SYSTEM_CLOCK.now_s())
