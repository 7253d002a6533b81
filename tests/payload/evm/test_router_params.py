"""Real quotes through calldata: a router that only sees the calldata pays exactly the quoted amount."""

from __future__ import annotations

import random
from collections import Counter
from functools import lru_cache
from itertools import chain

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from swapcli.core.errors import ConfigError, InvalidInput, InvalidRoute, NoRoute, PoolError
from swapcli.core.model.market import MarketState
from swapcli.core.model.network import ProtocolInfo
from swapcli.core.model.order import ZERO_ADDRESS, Order
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote import Quote, Route, Segment, Step, Swap
from swapcli.core.model.swap_terms import MAX_FEE_BPS, MAX_SURPLUS_BPS, Integrator
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.token import Token
from swapcli.core.model.transaction import RouterCall, RouterRouteParam
from swapcli.core.routing.replay import replay
from swapcli.core.routing.router import Router
from swapcli.families.fixed_rate.wrapper import WrappedNative
from swapcli.payload.evm import build_call, decode_call, decode_integrator_data, encode_call, encode_integrator_data
from tests.payload.evm.router_model import RouterModel, embedded, named_pool
from tests.support.pools import BALANCER_VARIANTS, RANDOM_FAMILIES, build_random_market

RECIPIENT = "0x" + "de" * 20
INTEGRATOR = "0x" + "1e" * 20
MAX_UINT = 2**256 - 1
NAMES = ("v2", "v3", "solidly", "stable", "weighted", *chain.from_iterable(BALANCER_VARIANTS.values()))
KEYS = {"v3": ("fee",)}
FAMILY_OF = {"v2": "constant_product", "v3": "concentrated", "solidly": "solidly_stable", "stable": "stableswap"}


@lru_cache
def drawn_market(seed: int) -> MarketState:
    """Return a random market of every family whose network has its protocols."""
    market = build_random_market(seed, tokens=6, pools=24, every_family=True)
    protocols = tuple(
        ProtocolInfo(k + 1, name, name, FAMILY_OF.get(name, name), KEYS.get(name, ())) for k, name in enumerate(NAMES)
    )
    return market._replace(network=market.network._replace(protocols=protocols))


@lru_cache
def router(name: str) -> Router:
    return Router(embedded(name))


def quoted(name: str, token_in: Token, token_out: Token, amount: int) -> Quote:
    """Return a quote of an embedded market at gas price 0, so that it uses as many pools as possible."""
    return router(name).quote(Order(token_in, token_out, amount), gas_price_wei=0)


def route_of(quote: Quote, swap_type: SwapType = SwapType.TOKEN_TO_TOKEN) -> RouterRouteParam:
    order = quote.order
    addresses = order.token_in.address, order.token_out.address
    return RouterRouteParam(*addresses, quote.amount_in, quote.amount_out, quote.amount_out, RECIPIENT, swap_type)


def check(market: MarketState, quote: Quote, swap_type: SwapType = SwapType.TOKEN_TO_TOKEN) -> RouterCall:
    """Check that the call survives encoding, names the quote's pools and pays the quoted amount."""
    call = build_call(route_of(quote, swap_type), quote.steps, market.pools, market.network)
    calldata = encode_call(call)
    assert decode_call(calldata) == call
    assert {swap.swap_type for swap in call.swaps} == {swap_type}
    assert [named_pool(swap, market.pools) for swap in call.swaps] == [step.pool for step in quote.steps]
    balances = RouterModel(market.pools.values()).execute(calldata)
    assert balances.pop(call.route.token_out) == quote.amount_out
    assert set(balances.values()) == {0}
    return call


@pytest.mark.parametrize("name", ["base", "hyperevm", "monad", "citrea"])
def test_quotes_of_embedded_markets_are_paid_out_exactly(name: str) -> None:
    market, rng = embedded(name), random.Random(name)
    known, families, routed = sorted(market.tokens.values()), Counter[str](), 0
    for _ in range(30):
        token_in, token_out = rng.sample(known, 2)
        try:
            quote = quoted(name, token_in, token_out, int(10 ** (token_in.decimals + rng.uniform(-3, 4))))
        except (NoRoute, PoolError):
            continue
        check(market, quote)
        families.update(market.pools[step.pool].family for step in quote.steps)
        routed += 1
    assert routed >= 15
    assert len(families) >= 2


@pytest.mark.parametrize("seed", range(40))
def test_random_quotes_of_every_family_are_paid_out_exactly(seed: int) -> None:
    market, rng = drawn_market(seed), random.Random(seed)
    token_in, token_out = rng.sample(sorted(market.tokens.values()), 2)
    check(market, Router(market).quote(Order(token_in, token_out, int(10 ** rng.uniform(15, 22)))))


def test_routes_of_random_markets_use_all_their_families() -> None:
    used = {family for seed in range(40) for family in used_families(drawn_market(seed), seed)}
    assert used == set(RANDOM_FAMILIES)


def used_families(market: MarketState, seed: int) -> set[str]:
    rng = random.Random(seed)
    token_in, token_out = rng.sample(sorted(market.tokens.values()), 2)
    quote = Router(market).quote(Order(token_in, token_out, int(10 ** rng.uniform(15, 22))))
    return {market.pools[step.pool].family for step in quote.steps}


@given(st.integers(0, 39), st.floats(14, 23), st.permutations(range(6)))
def test_the_call_pays_the_quoted_amount_on_random_markets(seed: int, magnitude: float, order: list[int]) -> None:
    market = drawn_market(seed)
    known = list(market.tokens.values())
    try:
        quote = Router(market).quote(Order(known[order[0]], known[order[1]], int(10**magnitude)))
    except (NoRoute, PoolError):
        reject()
    check(market, quote)


def test_steps_have_the_networks_ids_and_contract_addresses() -> None:
    base = embedded("base")
    quote = quoted("base", weth(), usdc(), 50 * 10**18)
    call = check(base, quote)
    singletons = 0
    for swap, step in zip(call.swaps, quote.steps, strict=True):
        protocol = base.network.protocol(base.pools[step.pool].protocol)
        assert protocol is not None
        assert swap.protocol_id == protocol.id
        assert swap.pool_address == base.pools[step.pool].address
        assert (swap.token_in, swap.token_out, swap.rate) == (step.token_in, step.token_out, step.rate)
        singletons += swap.pool_address != step.pool
    assert singletons


@pytest.mark.parametrize("native_side", [SwapType.NATIVE_TO_TOKEN, SwapType.TOKEN_TO_NATIVE])
def test_only_the_swap_type_marks_a_native_token(native_side: SwapType) -> None:
    base, sells = embedded("base"), native_side is SwapType.NATIVE_TO_TOKEN
    pair = (weth(), usdc()) if sells else (usdc(), weth())
    quote = quoted("base", *pair, 10**9)
    call = check(base, quote, native_side)
    by_zero = call.route._replace(token_in=ZERO_ADDRESS) if sells else call.route._replace(token_out=ZERO_ADDRESS)
    assert build_call(by_zero, quote.steps, base.pools, base.network) == call
    assert not any(ZERO_ADDRESS in (swap.token_in, swap.token_out) for swap in call.swaps)


@pytest.mark.parametrize("name", ["base", "monad", "hyperevm", "citrea"])
@pytest.mark.parametrize("wraps", [True, False])
def test_wrapping_is_protocol_zero_at_the_wrapped_tokens_address(name: str, wraps: bool) -> None:
    network = embedded(name).network
    wrapped = network.wrapped_native
    assert wrapped is not None
    pool = WrappedNative(wrapped.address, "wrapper", (ZERO_ADDRESS, wrapped.address), (18, 18), 0)
    token_in, token_out = pool.tokens if wraps else pool.tokens[::-1]
    steps = replay({pool.key: pool}, single(pool, token_in, token_out), 7).steps
    swap_type = SwapType.of(token_in, token_out)
    call = build_call(
        RouterRouteParam(token_in, token_out, 7, 7, 7, RECIPIENT, swap_type), steps, {pool.key: pool}, network
    )
    assert call.route.token_in == call.route.token_out == wrapped.address
    (swap,) = call.swaps
    assert (swap.token_in, swap.token_out, swap.pool_address) == (wrapped.address,) * 3
    assert (swap.protocol_id, swap.rate, swap.extra_data, swap.swap_type) == (0, 1_000_000, b"", swap_type)
    assert decode_call(encode_call(call)) == call


def single(pool: Pool, token_in: str, token_out: str) -> Route:
    return Route((Segment(10_000, ((Swap(pool.key, token_in, token_out, 10_000),),)),))


def weth() -> Token:
    wrapped = embedded("base").network.wrapped_native
    assert wrapped is not None
    return wrapped


def usdc() -> Token:
    return embedded("base").tokens["0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"]


@lru_cache
def small_quote() -> Quote:
    return quoted("base", weth(), usdc(), 10**18)


SHARES = st.tuples(st.integers(1, MAX_FEE_BPS), st.just(0)) | st.tuples(st.just(0), st.integers(1, MAX_SURPLUS_BPS))


@given(SHARES)
def test_an_earning_integrator_is_encoded_with_its_shares(shares: tuple[int, int]) -> None:
    base = embedded("base")
    earning = Integrator(INTEGRATOR, *shares, name="someone")
    call = build_call(route_of(small_quote()), small_quote().steps, base.pools, base.network, earning)
    assert decode_integrator_data(call.integrator_data) == (INTEGRATOR, *shares)
    assert encode_call(call).startswith("0x21ed51f7")
    assert decode_call(encode_call(call)) == call


@pytest.mark.parametrize("integrator", [None, Integrator(INTEGRATOR), Integrator(INTEGRATOR, name="acme")])
def test_an_integrator_without_shares_is_not_encoded(integrator: Integrator | None) -> None:
    base = embedded("base")
    call = build_call(route_of(small_quote()), small_quote().steps, base.pools, base.network, integrator)
    assert call.integrator_data == b""
    assert encode_call(call).startswith("0x8619b04e")


def test_integrator_data_is_three_abi_words() -> None:
    from eth_abi.abi import encode

    encoded = encode_integrator_data(Integrator(INTEGRATOR, fee_bps=500))
    assert encoded == encode(["address", "uint256", "uint256"], [INTEGRATOR, 500, 0])


def test_an_integrator_with_a_bad_address_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"^integrator: "):
        encode_integrator_data(Integrator("0x12", fee_bps=1))


def refused(
    kind: type[Exception], match: str, market: MarketState, steps: tuple[Step, ...], route: RouterRouteParam
) -> None:
    with pytest.raises(kind, match=match):
        build_call(route, steps, market.pools, market.network)


def test_an_unknown_protocol_error_names_the_setting() -> None:
    base, quote = embedded("base"), small_quote()
    bare = base._replace(network=base.network._replace(protocols=()))
    with pytest.raises(ConfigError, match='base has no protocol "') as caught:
        build_call(route_of(quote), quote.steps, bare.pools, bare.network)
    assert "networks.base.protocols" in (caught.value.hint or "")
    assert caught.value.details["pool"] == quote.steps[0].pool


def test_a_missing_wrapped_token_error_names_the_setting() -> None:
    base, quote = embedded("base"), small_quote()
    bare = base._replace(network=base.network._replace(wrapped_native=None))
    refused(ConfigError, "no wrapped native token", bare, quote.steps, route_of(quote)._replace(token_in=ZERO_ADDRESS))


def test_steps_that_do_not_lead_from_input_to_output_are_refused() -> None:
    base, route, steps = embedded("base"), route_of(small_quote()), small_quote().steps
    refused(InvalidRoute, "do not lead", base, (), route)
    refused(InvalidRoute, "do not lead", base, steps, route._replace(token_in=usdc().address))
    refused(InvalidRoute, "do not lead", base, steps, route._replace(token_out=weth().address))


def test_pools_that_are_unknown_or_hold_other_tokens_are_refused() -> None:
    base, route, step = embedded("base"), route_of(small_quote()), small_quote().steps[0]
    refused(InvalidRoute, "is not in the market", base, (step._replace(pool="0xno"),), route)
    refused(InvalidRoute, "does not hold", base, (step._replace(token_out=RECIPIENT),), route)


@pytest.mark.parametrize("swap_type", [SwapType.NATIVE_TO_TOKEN, SwapType.TOKEN_TO_NATIVE])
def test_no_other_token_counts_as_the_native_token(swap_type: SwapType) -> None:
    base = embedded("base")
    others = [token for token in base.tokens.values() if token.symbol in ("USDC", "AERO")]
    quote = quoted("base", others[0], others[1], 10**6)
    refused(InvalidRoute, "the native token, but", base, quote.steps, route_of(quote, swap_type))
