"""What 0x Settler's and the Universal Router's own bytecode paid for chosen routes is what they are quoted at.

`record_router_choice` had the payloads mined; the same orders are quoted here, chosen for again, and encoded to the
same calldata.
"""

from __future__ import annotations

import json
import lzma
from collections import Counter
from functools import cache
from typing import Any

from swapcli.core.model.market import MarketState, Provenance
from swapcli.core.model.network import SETTLER, UNIVERSAL_ROUTER
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.core.routing.search.route_search import SearchResult
from swapcli.payload.evm.decoding.decode import decode_calldata
from swapcli.quoting.sources.local_quotes import LocalPayloads, build_local_quote
from swapcli.quoting.sources.router_choice import choose_route
from swapcli.quoting.sources.searchable_market import SearchableMarket
from swapcli.state.clock import SYSTEM_CLOCK
from tests.chain.trader import USER
from tests.payload.evm.record_router_choice import (
    DEADLINE_S,
    GAS_PRICE_WEI,
    RECORD,
    order_of,
    recorded_network,
    request_of,
)
from tests.payload.evm.test_settler_executions import read_pool
from tests.support.outside_ids import keccak256

LEAST_ORDERS = 100


def search(searched: SearchableMarket, asked: QuoteRequest) -> tuple[SearchableMarket, SearchResult]:
    return searched, searched.search(asked)


@cache
def recorded() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(lzma.decompress(RECORD.read_bytes()))
    return document


def test_chosen_payloads_are_those_that_paid_the_quote() -> None:
    document = recorded()
    network = recorded_network(document)
    decimals = {token.address: token.decimals for token in network.tokens}
    pools = [read_pool({"decimals": decimals}, each) for each in document["pools"]]
    tokens = {token.address: token for token in network.tokens}
    market = MarketState(
        network, tokens, {pool.key: pool for pool in pools}, Provenance.RECORDED, "the record", GAS_PRICE_WEI
    )
    read, payloads = SearchableMarket(market, SYSTEM_CLOCK), LocalPayloads(SYSTEM_CLOCK, 60)
    chosen = Counter[str]()
    for each in document["orders"]:
        asked = request_of(order_of(each, network))
        found = choose_route(asked, search(read, asked), (search,))
        answer = build_local_quote(found.searched, asked, found.outcome, 0.0)._replace(router_choice=found.choice)
        payload = payloads.of_quote(answer, SwapTerms(0, USER, deadline_s=DEADLINE_S), market)
        if answer.result.output_amount != int(each["received"]):
            continue  # a later search found another route, whose payload was not mined
        assert found.choice.dialect == each["dialect"]
        assert keccak256(bytes.fromhex(payload.calldata[2:])).hex() == each["calldata_hash"]
        assert decode_calldata(payload.calldata, network.wrapped_native_address).dialect == each["dialect"]
        chosen[each["dialect"]] += 1
    assert chosen.total() >= LEAST_ORDERS
    assert min(chosen[SETTLER], chosen[UNIVERSAL_ROUTER]) > 0
