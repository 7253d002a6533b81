"""A router in a few lines: it knows the pools as the chain does, and of the swap only what the calldata says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from swapcli.evm import decode_call
from swapcli.markets.embedded import embedded_market
from swapcli.markets.format import parse_market
from swapcli.model.market import Market
from swapcli.model.pool import Pool
from swapcli.model.transaction import RouterSwapParam
from swapcli.networks.address import keccak256
from swapcli.networks.catalogue import network

WRAPPER_ID = 0


@lru_cache
def embedded(name: str) -> Market:
    """The market that comes with the program."""
    return parse_market(embedded_market(name), networks=network).market


class RouterModel:
    """Holds the input of a call, and works through its list."""

    def __init__(self, pools: Iterable[Pool]) -> None:
        self._pools = {pool.key: pool for pool in pools}

    def executed(self, calldata: str) -> dict[str, int]:
        """What the router holds of each token at the end."""
        call = decode_call(calldata)
        balances = {call.route.token_in: call.route.amount_in}
        for swap in call.swaps:
            spend = balances[swap.token_in] * swap.rate // 1_000_000
            balances[swap.token_in] -= spend
            balances[swap.token_out] = balances.get(swap.token_out, 0) + self._swapped(swap, spend)
        return balances

    def _swapped(self, swap: RouterSwapParam, spend: int) -> int:
        if swap.protocol_id == WRAPPER_ID:
            return spend
        key = named_pool(swap, self._pools)
        amount_out, self._pools[key] = self._pools[key].swap(swap.token_in, swap.token_out, spend)
        return amount_out


def named_pool(swap: RouterSwapParam, pools: Mapping[str, Pool]) -> str:
    """The key of the pool that an entry names: its address, in Uniswap V4 the hash of its PoolKey."""
    if swap.pool_address in pools:
        return swap.pool_address
    return "0x" + keccak256(swap.extra_data).hex()
