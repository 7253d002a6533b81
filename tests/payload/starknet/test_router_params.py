"""The router's parameters follow from the step, its pool and the catalogue alone."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidInput, InvalidRoute
from swapcli.core.model.market import MarketState
from swapcli.core.model.network import ProtocolInfo
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote import Step
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import RouterRouteParam
from swapcli.core.networks.catalogue import find_network
from swapcli.payload.starknet import build_call
from swapcli.payload.starknet.router_params import extra_felts
from swapcli.quoting.open_market import open_market
from tests.payload.starknet.router import extra_data_of

STARKNET = find_network("starknet")
ROUTE = RouterRouteParam("0x1", "0x2", 1_000, 990, 985, "0x3", SwapType.TOKEN_TO_TOKEN)
DOCUMENTED = {
    "bridge": (),
    "constant_product": (),
    "solidly_stable": (),
    "concentrated": ("fee",),
    "ekubo": ("poolId", "fee", "tickSpacing", "extension", "skipAhead"),
    "ekubo_twamm": ("poolId", "fee", "tickSpacing", "extension", "skipAhead"),
}
"""Traits in `extra_data` by family: the table in swapcli/payload/starknet/router_params.py."""


@cache
def market() -> MarketState:
    return open_market("starknet", find_network).market


POOLS = st.sampled_from(sorted(market().pools))


def step(pool: Pool, rate: int = 1_000_000) -> Step:
    return Step(pool.key, pool.tokens[0], pool.tokens[1], rate, 1_000, 990)


def with_traits(pool: Pool, traits: dict[str, Any]) -> Pool:
    """Return the same pool with these extra data."""
    pool_class = type("PoolWithTraits", (type(pool),), {"__slots__": (), "api_extra_data": lambda _: traits})
    copy: Pool = object.__new__(pool_class)
    for name in ("address", "protocol", "tokens", "decimals", "fee_ppm"):
        object.__setattr__(copy, name, getattr(pool, name))
    return copy


@given(st.lists(st.tuples(POOLS, st.integers(1, 1_000_000)), min_size=1, max_size=8))
def test_every_step_becomes_one_swap_in_order(uses: list[tuple[str, int]]) -> None:
    pools = market().pools
    steps = [step(pools[key], rate) for key, rate in uses]
    call = build_call(ROUTE, steps, pools, STARKNET)
    assert call.route == ROUTE
    assert not call.integrator_data
    for swap, taken in zip(call.swaps, steps, strict=True):
        pool = pools[taken.pool]
        assert swap[:3] == (taken.token_in, taken.token_out, taken.rate)
        assert swap.pool_address == pool.address
        assert STARKNET.protocols[swap.protocol_id - 1].amm_name == pool.protocol
        assert swap.swap_type is SwapType.TOKEN_TO_TOKEN
        assert (swap.extra_data, list(swap.extra_felts)) == (b"", extra_data_of(pool))


@given(POOLS)
def test_a_pool_is_named_by_its_address_whatever_its_key(key: str) -> None:
    pool = market().pools[key]
    call = build_call(ROUTE, [step(pool)._replace(pool="a key")], {"a key": pool}, STARKNET)
    assert call.swaps[0].pool_address == pool.address


@pytest.mark.parametrize("protocol", [p for p in STARKNET.protocols if p.family], ids=lambda p: p.amm_name)
def test_the_catalogue_names_the_documented_extra_data(protocol: ProtocolInfo) -> None:
    assert protocol.family
    assert protocol.extra_keys == DOCUMENTED[protocol.family]


@pytest.mark.parametrize("key", sorted(market().pools))
def test_the_extra_data_of_a_pool_is_the_documented_one(key: str) -> None:
    pool = market().pools[key]
    protocol = STARKNET.protocol(pool.protocol)
    assert protocol
    assert list(extra_felts(pool, protocol)) == extra_data_of(pool)


@given(POOLS, st.integers(0, 2**64), st.integers(1, 2**251 - 1))
def test_traits_become_felts_in_the_order_of_the_catalogue(key: str, number: int, address: int) -> None:
    pool = with_traits(
        market().pools[key], {"tickSpacing": number, "extension": hex(address), "poolId": "0x1", "unasked": -1}
    )
    protocol = ProtocolInfo(5, "Any", "Any", extra_keys=("poolId", "extension", "tickSpacing"))
    assert extra_felts(pool, protocol) == (address, number)


@given(POOLS, st.sampled_from([-1, 2**252, "0x", "abc", "-1"]))
def test_a_trait_that_is_no_felt_is_refused(key: str, trait: int | str) -> None:
    pool = with_traits(market().pools[key], {"fee": trait})
    with pytest.raises(InvalidInput):
        extra_felts(pool, ProtocolInfo(5, "Any", "Any", extra_keys=("fee",)))


@given(POOLS)
def test_a_pool_without_a_needed_trait_is_refused(key: str) -> None:
    pool = market().pools[key]
    with pytest.raises(InvalidRoute, match="lacks its parameters") as caught:
        extra_felts(pool, ProtocolInfo(5, "Any", "Any", extra_keys=("parameters",)))
    assert caught.value.details == {"pool": key, "trait": "parameters"}


@given(POOLS)
def test_a_pool_of_a_protocol_without_an_id_is_refused(key: str) -> None:
    pool = market().pools[key]
    others = tuple(protocol for protocol in STARKNET.protocols if protocol.amm_name != pool.protocol)
    with pytest.raises(InvalidRoute, match="no protocol ID"):
        build_call(ROUTE, [step(pool)], market().pools, STARKNET._replace(protocols=others))


@given(POOLS)
def test_an_unknown_pool_and_a_route_of_nothing_are_refused(key: str) -> None:
    with pytest.raises(InvalidRoute, match="which is not in the market"):
        build_call(ROUTE, [step(market().pools[key])], {}, STARKNET)
    with pytest.raises(InvalidRoute, match="no swaps"):
        build_call(ROUTE, [], market().pools, STARKNET)


@given(POOLS, st.sampled_from([SwapType.NATIVE_TO_TOKEN, SwapType.TOKEN_TO_NATIVE]))
def test_there_is_no_native_token_beside_the_tokens(key: str, swap_type: SwapType) -> None:
    pool = market().pools[key]
    with pytest.raises(InvalidRoute, match="ordinary token"):
        build_call(ROUTE._replace(swap_type=swap_type), [step(pool)], market().pools, STARKNET)


def test_a_pool_of_a_package_is_refused() -> None:
    pool = next(each for each in market().pools.values() if each.family == "constant_product")
    packaged = with_traits(pool, {})
    type(packaged).family = "of_a_package"
    build_call(ROUTE, [step(pool)], {pool.key: pool}, STARKNET)
    with pytest.raises(InvalidRoute, match="the package that adds the family of_a_package"):
        build_call(ROUTE, [step(packaged)], {packaged.key: packaged}, STARKNET)
