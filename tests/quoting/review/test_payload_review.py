"""A payload beside a market that does not list all of its pools."""

from __future__ import annotations

from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.market import MarketState
from swapcli.core.model.order import Order
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.payload.evm.decoding.decode import decode_calldata
from swapcli.payload.review.reviewed_payload import Signing, SlippageLimits
from swapcli.quoting.review.payload_review import review_payload
from swapcli.quoting.sources.in_memory import InMemorySource, KnownInMemory
from swapcli.quoting.sources.quote_source import quote_and_build
from swapcli.state.clock import SYSTEM_CLOCK
from tests.support.markets import embedded_market

ME = "0x" + "1" * 40


class AddingSource(InMemorySource):
    """A source that adds a pool to each search, as live sources do with pools that a network's definition lists."""

    def __init__(self, market: MarketState, added: str) -> None:
        super().__init__(market, SYSTEM_CLOCK)
        listed = {key: pool for key, pool in market.pools.items() if key != added}
        self._listed = InMemorySource(market._replace(pools=listed), SYSTEM_CLOCK).known()

    def known(self) -> KnownInMemory:
        return self._listed


def test_a_pool_that_only_the_search_has_is_known() -> None:
    market = embedded_market("base")
    usdc = next(token for token in market.tokens.values() if token.symbol == "USDC")
    request = QuoteRequest(Order(market.network.native, usdc, 10**18), ApiVersion.V2)
    answer, payload = quote_and_build(InMemorySource(market, SYSTEM_CLOCK), request, SwapTerms(5_000, ME))
    call = decode_calldata(payload.calldata, market.network.wrapped_native_address, payload.value)
    for key in answer.result.pool_keys:
        source = AddingSource(market, key)
        signing = Signing(payload.to, payload.value, ME)
        review = review_payload(call, source, signing, SYSTEM_CLOCK.now_s(), SlippageLimits(5_000, 200_000))
        assert [warning.code for warning in review.warnings] == ["ROUTE_UNCHECKED"]  # the prices are modelled
        assert key in {swap.pool.key for swap in review.swaps if swap.pool}
