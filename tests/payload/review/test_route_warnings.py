"""Tokens and pools of a call, and whether its swaps lead from the input to the output."""

from __future__ import annotations

from types import MappingProxyType

import pytest

from swapcli.core.model.decoded_call import PoolHint
from swapcli.core.model.network import FIBROUS, SETTLER, UNIVERSAL_ROUTER
from swapcli.core.model.pool import Pool
from swapcli.families.row import PoolUse
from swapcli.payload.evm.extra_data import find_pool_key
from swapcli.payload.review.route_warnings import is_pool, named_tokens, route_warnings, token_warnings
from tests.payload.evm.router_model import embedded
from tests.payload.review.reviews import CALL, OTHER, REVIEW, USDC, WETH, with_order


def test_the_tokens_of_a_call_are_named() -> None:
    assert set(named_tokens(REVIEW)) == {WETH.address, USDC.address}


def test_unknown_tokens_and_pools_are_named() -> None:
    unknown = REVIEW._replace(tokens=MappingProxyType({}))
    assert [each.code for each in token_warnings(unknown, knows_pools=True)] == ["TOKEN_UNKNOWN"] * 2 + ["POOL_UNKNOWN"]
    assert [each.code for each in token_warnings(REVIEW, knows_pools=False)] == []
    assert list(token_warnings(unknown._replace(network=None), knows_pools=False)) == []


def test_a_route_leads_from_the_input_to_the_output() -> None:
    (swap,) = REVIEW.swaps
    assert list(route_warnings(REVIEW)) == []
    for broken, sentence in (
        (swap._replace(token_in=USDC.address), "no earlier swap buys"),
        (swap._replace(token_out=WETH.address), "sells WETH for WETH"),
        (swap._replace(share_ppm=600_000), "40.00% of the WETH is not swapped"),
    ):
        messages = [each.message for each in route_warnings(REVIEW._replace(swaps=(broken,)))]
        assert any(sentence in message for message in messages), messages


def test_a_call_without_swaps_is_dangerous_unless_it_wraps() -> None:
    (found,) = route_warnings(REVIEW._replace(swaps=()))
    assert (found.code, "no swaps" in found.message) == ("ROUTE_BROKEN", True)
    wrap = with_order(token_out="0x" + "0" * 40, is_native_out=True)
    assert list(route_warnings(wrap._replace(swaps=()))) == []


def test_a_route_does_not_end_where_it_begins() -> None:
    (swap,) = REVIEW.swaps
    back = swap._replace(token_in=USDC.address, token_out=WETH.address)
    circle = with_order(token_out=WETH.address)._replace(swaps=(swap, back))
    assert [each.message for each in route_warnings(circle)] == ["the swaps sell WETH and buy the same token"]


def test_what_a_swap_buys_is_sold_or_is_the_output() -> None:
    (swap,) = REVIEW.swaps
    first = swap._replace(token_out=OTHER, share_ppm=10_000)
    rest = swap._replace(share_ppm=990_000)
    (lost,) = route_warnings(REVIEW._replace(swaps=(first, rest)))
    assert "100.00% of the" in lost.message
    onward = swap._replace(token_in=OTHER)
    assert list(route_warnings(REVIEW._replace(swaps=(first, onward, rest)))) == []
    plan = REVIEW._replace(call=CALL._replace(dialect=UNIVERSAL_ROUTER), swaps=(first, rest))
    assert list(route_warnings(plan)) == []


def pool_of(protocol: str, fee_ppm: int) -> Pool:
    pools = embedded("base").pools.values()
    return next(each for each in pools if (each.protocol, each.fee_ppm) == (protocol, fee_ppm))


@pytest.mark.parametrize(
    ("dialect", "protocol", "fee_ppm", "hint", "is_meant"),
    [
        (UNIVERSAL_ROUTER, "uniswapV3", 500, PoolHint(kind="v3", tier=500), True),
        (UNIVERSAL_ROUTER, "uniswapV3", 500, PoolHint(kind="v3", tier=10), False),
        (UNIVERSAL_ROUTER, "uniswapV3", 3_000, PoolHint(kind="v3", tier=60), False),
        (SETTLER, "pancakeSwapV3", 500, PoolHint(kind="UNISWAPV3", fork=1, tier=500), True),
        (SETTLER, "pancakeSwapV3", 500, PoolHint(kind="UNISWAPV3", fork=1, tier=10), False),
        (SETTLER, "aerodromeV3", 400, PoolHint(kind="UNISWAPV3", fork=4, tier=100), True),
        (SETTLER, "aerodromeV3", 400, PoolHint(kind="UNISWAPV3", fork=4, tier=400), False),
    ],
)
def test_pools_are_found_by_the_key_of_their_factory(
    dialect: str, protocol: str, fee_ppm: int, hint: PoolHint, is_meant: bool
) -> None:
    network = embedded("base").network
    assert is_pool(hint, pool_of(protocol, fee_ppm), network, dialect) is is_meant


def test_a_key_beside_the_pool_manager_must_be_that_of_the_pool() -> None:
    network, pool = embedded("base").network, pool_of("uniswapV4", 500)
    protocol = network.protocol("uniswapV4")
    assert protocol is not None
    key = find_pool_key(PoolUse(pool, pool.tokens[0], pool.tokens[1], protocol))
    assert len(key) == 160
    hint = PoolHint(pool.pool_id, protocol_id=protocol.id, contract=pool.called_address, pool_key=key)
    assert is_pool(hint, pool, network, FIBROUS)
    for changed in (
        hint._replace(contract=OTHER),
        hint._replace(pool_key=key[:-1] + b"\1"),
        PoolHint(pool.called_address, protocol_id=protocol.id),
    ):
        assert not is_pool(changed, pool, network, FIBROUS)
    plain = pool_of("uniswapV3", 500)
    assert not is_pool(PoolHint(plain.address, pool_key=key), plain, network, FIBROUS)
