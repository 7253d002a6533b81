"""Check the health of a source: whether it has pools and can quote an order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from swapcli.core.encoding.text import counted
from swapcli.core.errors import MarketUnavailable, SwapcliError
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.market import MarketState, Provenance
from swapcli.core.model.network import Network
from swapcli.core.model.order import Order
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.state_source import StateSource
from swapcli.core.model.swappable_tokens import swappable_in
from swapcli.core.model.token import Token
from swapcli.core.records import NamedTuple
from swapcli.interface.health import HEALTHY, UNHEALTHY
from swapcli.interface.own_document import own_document
from swapcli.quoting.price_policy import PriceRequest, PriceUse, may_use
from swapcli.quoting.quote_results import QuoteResult
from swapcli.state.clock import Clock

if TYPE_CHECKING:
    from swapcli.interface.document_types import HealthDocumentJson, SampleJson


_PRICES: Final = {
    Provenance.LIVE: "live",
    Provenance.SYNCED: "stored",
    Provenance.RECORDED: "recorded",
    Provenance.MODELLED: "modelled",
    Provenance.SYNTHETIC: "synthetic",
}
"""The kinds of prices, in words for people."""


class Sample(NamedTuple):
    """The order that was quoted to check that quoting works. Amounts are in base units."""

    token_in: Token
    token_out: Token
    amount_in: int
    amount_out: int

    def document(self) -> SampleJson:
        """Return the order as JSON."""
        return {
            "tokenIn": self.token_in.symbol,
            "tokenOut": self.token_out.symbol,
            "inputAmount": str(self.amount_in),
            "outputAmount": str(self.amount_out),
        }


class Health(NamedTuple):
    """The result of a health check. The check took `time_s`.

    `status` is 200 if the source is healthy. Values that a service does not report are None.
    """

    network: str
    status: int
    message: str
    time_s: float
    state_source: StateSource | None = None
    pools: int | None = None
    tokens: int | None = None
    sample: Sample | None = None

    @property
    def is_healthy(self) -> bool:
        """Whether the source can quote."""
        return self.status == HEALTHY

    @property
    def prices(self) -> str | None:
        """The kind of prices: live, stored, recorded, modelled or synthetic; None if it is unknown."""
        provenance = self.state_source.provenance if self.state_source else None
        return _PRICES[provenance] if provenance is not None else None

    @own_document
    def document(self) -> HealthDocumentJson:
        """Return the JSON that `swapcli health` prints for a network."""
        from swapcli.interface.quote_fields import render_state_source

        return {
            "network": self.network,
            "healthy": self.is_healthy,
            "status": self.status,
            "message": self.message,
            "timeS": self.time_s,
            "state": render_state_source(self.state_source) if self.state_source else None,
            "pools": self.pools,
            "tokens": self.tokens,
            "sample": self.sample.document() if self.sample else None,
        }


class MarketSize(NamedTuple):
    """The number of pools and the number of swappable tokens in a market."""

    pools: int
    tokens: int


def check_market(
    market: MarketState, quote: Callable[[Order], QuoteResult], clock: Clock, count: MarketSize | None = None
) -> Health:
    """Return the health of a market: whether it has pools, and whether `quote` can quote an order between two of its
    main tokens.

    If `market` is only a part of the source, `count` is the size of the whole source. The result has the state of the
    sample quote.
    """
    count = count or size_of(market)
    state_source = StateSource.of(market, clock.now_s())
    started_s = clock.monotonic_s()
    sample: Sample | None = None
    try:
        sample, state_source = _quote_sample(market, quote)
        summary = f"{counted(count.pools, 'pool')}, {state_source.provenance} state"
        status, message = HEALTHY, f"{_title(market.network)} router is alive and well: {summary}"
    except SwapcliError as error:
        status, message = UNHEALTHY, f"{_title(market.network)} router cannot quote: {error.message}"
    return Health(
        network=market.network.name,
        status=status,
        message=message,
        time_s=round(clock.monotonic_s() - started_s, 6),
        state_source=state_source,
        pools=count.pools,
        tokens=count.tokens,
        sample=sample,
    )


def check_live(known: Health, network: Network, quote: Callable[[QuoteRequest], QuoteResult], clock: Clock) -> Health:
    """Return the health of a market after quoting its sample order again with `quote`, which reads the state from a
    node.

    `known` is the market's health before that quote. If the quote fails, there is no state to report.
    """
    sample = known.sample
    if sample is None:
        return known
    order = Order(sample.token_in, sample.token_out, sample.amount_in)
    started_s = clock.monotonic_s()
    try:
        answer = quote(QuoteRequest(order, ApiVersion.V1))
    except SwapcliError as error:
        message = f"{network.name}: {error.message}"
        return known._replace(status=UNHEALTHY, message=message, state_source=None, sample=None)
    state = answer.state_source
    read = ", read live" if state.provenance is Provenance.LIVE else ""
    return known._replace(
        message=f"{known.message}{read}",
        time_s=known.time_s + round(clock.monotonic_s() - started_s, 6),
        state_source=state,
        sample=sample._replace(amount_out=answer.result.output_amount),
    )


def judge_prices(health: Health, request: PriceRequest) -> Health:
    """Return the health of a source. It is unhealthy if its prices are not real and the user did not request such
    prices."""
    state = health.state_source
    if not health.is_healthy or state is None or may_use(state, PriceUse.NUMBER, request):
        return health
    origin = f"{state.service_url} quotes on them" if state.service_url else "no node was read"
    message = state.live_failure or f"the prices are {health.prices}: {origin}"
    return health._replace(status=UNHEALTHY, message=message)


def size_of(market: MarketState) -> MarketSize:
    """Return the numbers of pools and of swappable tokens in a market."""
    return MarketSize(len(market.pools), len(swappable_in(market)))


def _title(network: Network) -> str:
    return network.name[:1].upper() + network.name[1:]


def _quote_sample(market: MarketState, quote: Callable[[Order], QuoteResult]) -> tuple[Sample, StateSource]:
    order = _sample_order(market)
    if order is None:
        raise MarketUnavailable("the market holds no pools")
    answer = quote(order)
    amounts = answer.result.input_amount, answer.result.output_amount
    return Sample(order.token_in, order.token_out, *amounts), answer.state_source


def _sample_order(market: MarketState) -> Order | None:
    """Return an order of one whole token between the two tokens that share the most pools; None without pools."""
    pairs = Counter(pair for pool in market.pools.values() for pair in _pairs(pool.tokens))
    if not pairs:
        return None
    (one, other), _ = max(pairs.items(), key=lambda item: (item[1], item[0]))
    token_in, token_out = market.tokens[one], market.tokens[other]
    return Order(token_in, token_out, 10**token_in.decimals)


def _pairs(tokens: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(one, other) for one in tokens for other in tokens if one < other]
