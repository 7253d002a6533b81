"""Hypothesis strategies for valid market files, as JSON-ready documents and as parsed markets.

They cover every family that a file can contain. Documents are small, so that a failure shrinks to something readable.
"""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from swapcli.core.errors import UnknownNetwork
from swapcli.core.model.market import MarketState
from swapcli.core.model.network import Network
from swapcli.families.tick_math import MAX_TICK, MIN_TICK, sqrt_ratio_at_tick
from swapcli.state.markets.format import FILE_PROVENANCES, parse_market

Document = dict[str, Any]

ONE = 10**18
PROTOCOLS = {
    "constant_product": "uniswapV2",
    "concentrated": "uniswapV3",
    "solidly_stable": "aerodromeV2Stable",
    "stableswap": "curveFi",
    "cryptoswap": "curveFiTwoCrypto",
    "weighted": "balancerV2Weighted",
    "infinity_bin": "PancakeSwapV4",
    "liquidity_book": "hyperBrickLB",
}
"""The families of market files, and the protocol of their pools in these tests."""

PRINTABLE = st.text(st.characters(exclude_categories=("Cc", "Cs")), max_size=12)
ADDRESSES = st.integers(1, 2**160 - 1).map("0x{:040x}".format).filter(lambda address: set(address[2:]) != {"e"})


def raise_unknown_network(name: str) -> Network:
    """Look up a network in an empty catalogue, so that a file has to describe its network."""
    raise UnknownNetwork(f'no network "{name}"')


def _decimal(low: int, high: int) -> st.SearchStrategy[str]:
    return st.integers(low, high).map(str)


def _constant_product(count: int) -> st.SearchStrategy[Document]:
    del count
    return st.fixed_dictionaries({"reserves": st.lists(_decimal(0, 2**112 - 1), min_size=2, max_size=2)})


def _solidly_stable(count: int) -> st.SearchStrategy[Document]:
    del count
    return st.fixed_dictionaries({"reserves": st.lists(_decimal(0, 10**24), min_size=2, max_size=2)})


def _stableswap(count: int) -> st.SearchStrategy[Document]:
    return st.fixed_dictionaries(
        {
            "reserves": st.lists(_decimal(10**6, 10**24), min_size=count, max_size=count),
            "amp": st.integers(1, 5_000),
            "rates": st.lists(_decimal(ONE // 2, 2 * ONE), min_size=count, max_size=count),
        },
        optional={"offpeg_fee_multiplier": _decimal(10**10, 4 * 10**10)},
    )


@st.composite
def _weighted(draw: st.DrawFn, count: int) -> Document:
    reserves = draw(st.lists(_decimal(0, 2**112 - 1), min_size=count, max_size=count))
    percents = draw(st.lists(st.integers(1, 100 // count), min_size=count - 1, max_size=count - 1))
    weights = [percent * ONE // 100 for percent in percents]
    return {"reserves": reserves, "weights": [str(weight) for weight in (*weights, ONE - sum(weights))]}


@st.composite
def _concentrated(draw: st.DrawFn, count: int) -> Document:
    del count
    spacing = draw(st.sampled_from((1, 10, 60, 200)))
    lowest, highest = -(-MIN_TICK // spacing), MAX_TICK // spacing
    nets: dict[int, int] = {}
    bounds = st.lists(st.integers(lowest, highest), min_size=2, max_size=2, unique=True).map(sorted)
    for low, high in draw(st.lists(bounds, max_size=4)):
        liquidity = draw(st.integers(1, 2**120))
        nets[low * spacing] = nets.get(low * spacing, 0) + liquidity
        nets[high * spacing] = nets.get(high * spacing, 0) - liquidity
    tick = draw(st.integers(MIN_TICK, MAX_TICK - 1))
    ticks = [[each, str(nets[each])] for each in sorted(nets) if nets[each]]
    singleton = {"pool_id": draw(st.integers(0, 2**256 - 1).map("0x{:064x}".format))} if draw(st.booleans()) else {}
    return {
        "tick_spacing": spacing,
        "tick": tick,
        "sqrt_price_x96": str(sqrt_ratio_at_tick(tick)),
        "liquidity": str(sum(net for each, net in nets.items() if each <= tick)),
        "ticks": ticks,
        **singleton,
    }


@st.composite
def _cryptoswap(draw: st.DrawFn, count: int) -> Document:
    """Draw the fields of a pool without the balances that its invariant needs, and sometimes in a ramp."""
    fee_ppm = draw(st.integers(0, 10_000))
    numbers = st.lists(_decimal(1, 10**24), min_size=count - 1, max_size=count - 1)
    state = {
        "version": "v2.0.0",
        "reserves": draw(st.lists(_decimal(0, 10**24), min_size=count, max_size=count)),
        **{name: draw(numbers) for name in ("price_scale", "price_oracle", "last_prices")},
        **{name: draw(_decimal(1, 10**24)) for name in ("invariant", "xcp_profit", "virtual_price", "lp_supply")},
        **{name: draw(_decimal(1, 10**18)) for name in ("amp", "gamma", "fee_gamma")},
        **{name: draw(_decimal(0, 10**18)) for name in ("allowed_extra_profit", "adjustment_step")},
        "mid_fee": str(fee_ppm * 10_000),
        "out_fee": str(fee_ppm * 10_000 + draw(st.integers(0, 10**8))),
        "fee_ppm": fee_ppm,
    }
    ramp = {"ramp_seconds_left": draw(st.integers(0, 10**6))} if draw(st.booleans()) else {}
    return {**state, **ramp}


@st.composite
def _bins(draw: st.DrawFn) -> Document:
    """Draw the fields of a pool of bins: Y below the active one, X above it."""
    active_id = draw(st.integers(2**23 - 8_000, 2**23 + 8_000))
    distances = sorted(draw(st.sets(st.integers(-200, 200), max_size=4)))
    amounts = _decimal(0, 10**24)
    bins = [
        [active_id + each, draw(amounts) if each >= 0 else "0", draw(amounts) if each <= 0 else "0"]
        for each in distances
    ]
    return {"active_id": active_id, "bin_step": draw(st.sampled_from((1, 10, 25, 100))), "bins": bins}


@st.composite
def _infinity_bin(draw: st.DrawFn, count: int) -> Document:
    del count
    bins = draw(_bins())
    key = {"pool_id": draw(st.integers(0, 2**256 - 1).map("0x{:064x}".format)), "hooks": "0x" + "0" * 40}
    fees = {"protocol_fees_ppm": draw(st.tuples(*[st.integers(0, 4_000)] * 2).map(list))} if draw(st.booleans()) else {}
    return {**bins, **key, **fees, "parameters": f"0x{bins['bin_step'] << 16:064x}"}


@st.composite
def _liquidity_book(draw: st.DrawFn, count: int) -> Document:
    del count
    bins, now = draw(_bins()), draw(st.integers(1, 2**40 - 1))
    parameters = {
        "base_factor": draw(st.integers(0, 20_000)),
        "filter_period": 30,
        "decay_period": 600,
        "reduction_factor": draw(st.integers(0, 10_000)),
        "variable_fee_control": draw(st.integers(0, 40_000)),
        "protocol_share": draw(st.integers(0, 2_500)),
        "max_volatility_accumulator": 150_000,
    }
    volatility = {
        "accumulator": draw(st.integers(0, 150_000)),
        "reference": draw(st.integers(0, 150_000)),
        "id_reference": bins["active_id"],
        "updated_at": draw(st.integers(0, now)),
    }
    fee_ppm = parameters["base_factor"] * bins["bin_step"] // 100
    fields = {"fee_ppm": fee_ppm, "fee_parameters": parameters, "volatility": volatility, "timestamp": now}
    return {**bins, **fields}


_STATES = {
    "constant_product": _constant_product,
    "concentrated": _concentrated,
    "solidly_stable": _solidly_stable,
    "stableswap": _stableswap,
    "cryptoswap": _cryptoswap,
    "weighted": _weighted,
    "infinity_bin": _infinity_bin,
    "liquidity_book": _liquidity_book,
}


@st.composite
def token_entries(draw: st.DrawFn, address: str) -> Document:
    """Draw an entry of `tokens`, with decimals that every family accepts."""
    entry = {
        "address": address,
        "symbol": draw(PRINTABLE),
        "name": draw(PRINTABLE),
        "decimals": draw(st.integers(0, 18)),
    }
    price = draw(st.none() | st.floats(0, 1e9))
    transfers = draw(st.none() | _TRANSFERS)
    more = {"price_usd": price, "transfers": transfers}
    return entry | {key: value for key, value in more.items() if value is not None}


_FEES = st.dictionaries(
    st.sampled_from(["buy_fee_ppm", "sell_fee_ppm", "transfer_fee_ppm"]), st.integers(1, 10**6), min_size=1
)
_TRANSFERS = _FEES.map(lambda fees: {"kind": "fee", **fees}) | st.sampled_from(["ordinary", "shares", "irregular"]).map(
    lambda kind: {"kind": kind}
)


_MAX_TOKENS = {"stableswap": 4, "weighted": 4, "cryptoswap": 3}


@st.composite
def pool_entries(draw: st.DrawFn, address: str, tokens: list[str]) -> Document:
    """Draw an entry of `pools`, of any family, with two or more of `tokens`."""
    family = draw(st.sampled_from(sorted(PROTOCOLS)))
    max_tokens = min(len(tokens), _MAX_TOKENS.get(family, 2))
    count = draw(st.integers(2, max_tokens))
    pool_tokens = draw(st.permutations(tokens))[:count]
    shared = {
        "address": address,
        "protocol": PROTOCOLS[family],
        "family": family,
        "tokens": sorted(pool_tokens),
        "fee_ppm": draw(st.integers(0, 100_000)),
    }
    address_flag: Document = {"address_modelled": True} if draw(st.booleans()) else {}
    return {**shared, **address_flag, **draw(_STATES[family](count))}


@st.composite
def market_documents(draw: st.DrawFn, max_pools: int = 4) -> Document:
    """Draw a valid market file that describes its network, ready for `json.dumps`."""
    addresses = draw(st.lists(ADDRESSES, min_size=2, max_size=5, unique=True))
    tokens = [draw(token_entries(address)) for address in addresses]
    tokens[0]["decimals"] = 18
    keys = draw(st.lists(ADDRESSES, max_size=max_pools, unique=True))
    pools = [draw(pool_entries(key, addresses)) for key in keys]
    pools = list({pool.get("pool_id", pool["address"]): pool for pool in pools}.values())
    optional_numbers = st.none() | st.integers(0, 2**40)
    return {
        "format": "swap-market/1",
        "network": {
            "name": "testnet",
            "chain_id": draw(st.integers(1, 2**53)),
            "native": {"symbol": "ETH", "name": "Ether", "decimals": 18},
            "wrapped_native": draw(st.sampled_from([addresses[0], None])),
            "router": draw(st.none() | ADDRESSES),
            "protocols": [
                {"id": number, "amm_name": amm_name, "display_name": amm_name.title()}
                for number, amm_name in enumerate(PROTOCOLS.values())
            ],
        },
        "block": draw(optional_numbers),
        "timestamp": draw(optional_numbers),
        "provenance": draw(st.sampled_from([each.value for each in FILE_PROVENANCES])),
        "source": draw(PRINTABLE),
        "gas_price_wei": draw(_decimal(0, 2**128)),
        "tokens": tokens,
        "pools": pools,
    }


def markets(max_pools: int = 4) -> st.SearchStrategy[MarketState]:
    """Return a strategy for valid markets."""
    return market_documents(max_pools).map(parse_document)


def parse_document(document: Document) -> MarketState:
    """Parse the market in a document that describes its network."""
    return parse_market(json.dumps(document), networks=raise_unknown_network).market
