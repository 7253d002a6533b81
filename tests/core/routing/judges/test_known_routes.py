"""Orders for which the search once missed a better route: markets of 2 to 11 pools, each with a cause of its own.

The known outputs are exact replays of routes that hill climbing or brute force found.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from swapcli.core.model.market import MarketState
from swapcli.core.model.order import Order
from swapcli.core.networks.catalogue import find_network
from swapcli.core.routing.router import Router
from swapcli.quoting.open_market import open_market
from tests.core.routing.judges.quoted import gas_unit_value, net_output, quote_or_none

MARKETS = Path(__file__).parent / "markets"
KNOWN: list[dict[str, str]] = json.loads((MARKETS / "known_routes.json").read_text())["orders"]
MAX_LOSS = 5e-6
"""Of the known output: a twentieth of a basis point."""


@cache
def opened(name: str) -> MarketState:
    document: dict[str, Any] = json.loads((MARKETS / f"{name}.json").read_text())
    return open_market(document["network"]["name"], find_network, document=json.dumps(document).encode()).market


@pytest.mark.parametrize("known", KNOWN, ids=[known["market"] for known in KNOWN])
def test_the_known_route_is_not_ahead(known: dict[str, str]) -> None:
    market = opened(known["market"])
    sold, bought = market.tokens[known["token_in"]], market.tokens[known["token_out"]]
    order = Order(sold, bought, int(known["amount_in"]))
    router, gas_price_wei = Router(market), int(known["gas_price_wei"])
    quote = quote_or_none(router, order, gas_price_wei)
    ours = net_output(quote, gas_unit_value(router, order, gas_price_wei))
    assert ours >= int(known["output_after_gas"]) * (1 - MAX_LOSS), known["reason"]
