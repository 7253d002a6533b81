"""The small market `testnet`, and a quote on it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from swapcli.core.errors import UnknownNetwork
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.market import MarketState
from swapcli.core.model.network import Network
from swapcli.core.model.order import Order
from swapcli.core.model.quote import Certificate, GasValueSource, NetBound, Quote, Route, Segment, Swap, WeiValue
from swapcli.core.model.route_result import build_result
from swapcli.core.model.state_source import StateSource
from swapcli.core.model.swap_terms import Integrator
from swapcli.core.routing.replay import replay
from swapcli.quoting.quote_results import LocalQuote
from swapcli.state.markets.format import parse_market

NOW_S = 1_800_000_000.5
WETH = "0x" + "11" * 20
USDC = "0x" + "22" * 20
DAI = "0x" + "33" * 20
TWIN_A = "0x" + "44" * 20
TWIN_B = "0x" + "55" * 20
LONELY = "0x" + "66" * 20
TOKENS = {
    WETH: ("WETH", "Wrapped Ether", 18),
    USDC: ("USDC", "USD Coin", 6),
    DAI: ("Dai", "Dai Stablecoin", 18),
    TWIN_A: ("TWIN", "Twin One", 18),
    TWIN_B: ("TWIN", "Twin Two", 18),
    LONELY: ("LONELY", "In No Pool", 8),
}
DIRECT_V2, DIRECT_V3, FIRST_V2, SECOND_V2 = ("0x" + digits * 20 for digits in ("a1", "a2", "a3", "a4"))
EMPTY_V2 = "0x" + "a5" * 20
SQRT_PRICE_OF_2000 = str(3543191142285914205922034)  # 2,000 USDC a WETH: sqrt(2000e6 / 1e18) * 2^96
TICK_OF_2000 = -200312


def build_market_document(**changes: Any) -> dict[str, Any]:
    """Return a market on a network outside the catalogue: about 2,000 USDC per WETH, directly and through DAI."""
    document: dict[str, Any] = {
        "format": "swap-market/1",
        "network": {
            "name": "testnet",
            "chain_id": 31337,
            "native": {"symbol": "ETH", "name": "Ether", "decimals": 18},
            "wrapped_native": WETH,
            "router": None,
            "protocols": [
                {"id": 0, "amm_name": "wrapper", "display_name": "Wrapper"},
                {"id": 4, "amm_name": "uniswapV2", "display_name": "Uniswap V2"},
                {"id": 5, "amm_name": "uniswapV3", "display_name": "Uniswap V3"},
            ],
        },
        "block": 1234,
        "timestamp": int(NOW_S) - 7_200,
        "provenance": "synthetic",
        "source": "written by hand",
        "gas_price_wei": "0",
        "tokens": [
            {"address": address, "symbol": symbol, "name": name, "decimals": decimals}
            for address, (symbol, name, decimals) in TOKENS.items()
        ],
        "pools": [
            _v2(DIRECT_V2, WETH, 1000 * 10**18, USDC, 2_000_000 * 10**6),
            {
                "address": DIRECT_V3,
                "protocol": "uniswapV3",
                "family": "concentrated",
                "tokens": [WETH, USDC],
                "fee_ppm": 500,
                "sqrt_price_x96": SQRT_PRICE_OF_2000,
                "tick": TICK_OF_2000,
                "liquidity": str(10**17),
                "tick_spacing": 10,
                "ticks": [[-202000, str(10**17)], [-198000, str(-(10**17))]],
            },
            _v2(FIRST_V2, WETH, 500 * 10**18, DAI, 1_000_000 * 10**18),
            _v2(SECOND_V2, USDC, 3_000_000 * 10**6, DAI, 3_000_000 * 10**18),
            _v2(EMPTY_V2, WETH, 1, TWIN_A, 1),
        ],
    }
    return document | changes


def _v2(address: str, token0: str, reserve0: int, token1: str, reserve1: int) -> dict[str, Any]:
    return {
        "address": address,
        "protocol": "uniswapV2",
        "family": "constant_product",
        "tokens": [token0, token1],
        "fee_ppm": 3000,
        "reserves": [str(reserve0), str(reserve1)],
    }


def raise_unknown_network(name: str) -> Network:
    raise UnknownNetwork(f"no network {name}")


def build_testnet_market(**changes: Any) -> MarketState:
    return parse_market(json.dumps(build_market_document(**changes)), networks=raise_unknown_network).market


ROUTE = Route(
    (
        Segment(7_000, ((Swap(DIRECT_V3, WETH, USDC, 8_000), Swap(DIRECT_V2, WETH, USDC, 2_000)),)),
        Segment(2_000, ((Swap(FIRST_V2, WETH, DAI, 10_000),), (Swap(SECOND_V2, DAI, USDC, 10_000),))),
        Segment(1_000, ((Swap(DIRECT_V2, WETH, USDC, 10_000),),)),
    )
)


def build_quote(
    market: MarketState | None = None,
    *,
    certified: bool = False,
    api_version: ApiVersion = ApiVersion.V2,
    integrator: Integrator | None = None,
) -> LocalQuote:
    """Return a quote for 25 ETH in USDC over the fixed `ROUTE`, so that it does not depend on the router."""
    market = market or build_testnet_market()
    native, usdc = market.network.native, market.tokens[USDC]
    order = Order(native, usdc, 25 * 10**18)
    done = replay(market.pools, ROUTE, order.amount)
    quote = Quote(
        order=order,
        route=ROUTE,
        steps=done.steps,
        amount_in=order.amount,
        amount_out=done.amount_out,
        gas_units=412_300,
        gas_price_wei=10_000_000,
        wei_usd=0.0082 / (412_300 * 10_000_000),
        price_in_usd=2001.5,
        price_out_usd=1.0,
        price_impact=0.0123,
        best_single_path_out=done.amount_out * 99 // 100,
        time_s=0.0042,
        certificate=Certificate(
            done.amount_out * 1.0001,
            1.0,
            done.amount_out * 1.00003,
            0.3,
            5,
            NetBound(float(done.amount_out), 0.2, 5, 8, is_complete=True),
        )
        if certified
        else None,
        wei_value=WeiValue(0.0082 / (412_300 * 10_000_000) * 10**6, GasValueSource.MID_PRICES),
    )
    placeholders = market.placeholder_pools.intersection(step.pool for step in done.steps)
    state_source = StateSource.of(market, NOW_S)
    now_ms = int(NOW_S * 1000)
    result = build_result(
        quote, order, market.network, market.pools, api_version, timestamp_ms=now_ms, integrator=integrator
    )
    return LocalQuote(
        order, result, market.network, market.tokens, state_source, now_ms, quote, market.pools, placeholders, {}
    )


def write_market_file(folder: Path, **changes: Any) -> str:
    """Write the market as a file; return its path."""
    file = folder / "market.json"
    file.write_text(json.dumps(build_market_document(**changes)))
    return str(file)
