"""The tokens that can be swapped: those with pools, and the native one with those of its wrapped form."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.model.swappable_tokens import count_pools_by_token, swappable_in, swappable_pool_counts
from swapcli.core.networks.catalogue import network_names
from tests.support.markets import embedded_market


@given(data=st.data(), name=st.sampled_from(network_names()))
def test_a_token_can_be_swapped_if_a_pool_has_it(data: st.DataObject, name: str) -> None:
    market = embedded_market(name)
    kept = data.draw(st.sets(st.sampled_from(sorted(market.pools))))
    pools = {key: pool for key, pool in market.pools.items() if key in kept}
    listed = swappable_in(market._replace(pools=pools))
    held = {address for pool in pools.values() for address in pool.tokens}
    wrapped = market.network.wrapped_native
    native = {market.network.native.address} if wrapped is not None and wrapped.address in held else set()
    assert {each.token.address for each in listed} == held | native
    counts = {each.token.address: each.pools for each in listed}
    for address in held:
        assert counts[address] == sum(address in pool.tokens for pool in pools.values()) > 0
    if native and wrapped is not None:
        assert counts[market.network.native.address] == counts[wrapped.address]
    assert [each.pools for each in listed] == sorted((each.pools for each in listed), reverse=True)


def test_tokens_that_are_only_described_are_left_out() -> None:
    market = embedded_market("base")
    counts = count_pools_by_token(market.pools.values())
    poolless = {token.address for token in market.network.tokens} - counts.keys()
    assert poolless
    swappable = swappable_pool_counts(market.network, {**dict.fromkeys(poolless, 0), **counts})
    assert not poolless & swappable.keys()
