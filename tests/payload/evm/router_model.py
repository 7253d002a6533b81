"""A short model of the router: it has the pools' states and reads everything else from the calldata."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from swapcli.core.model.market import MarketState
from swapcli.core.model.pool import Pool
from swapcli.core.model.transaction import RouterSwapParam
from swapcli.core.networks.catalogue import find_network
from swapcli.payload.evm import decode_call
from swapcli.state.markets.embedded import embedded_market
from swapcli.state.markets.format import parse_market
from tests.support.outside_ids import keccak256

WRAPPER_ID = 0


@lru_cache
def embedded(name: str) -> MarketState:
    """Return an embedded market."""
    return parse_market(embedded_market(name), networks=find_network).market


class RouterModel:
    """Executes the swaps of a call on its own pools."""

    def __init__(self, pools: Iterable[Pool]) -> None:
        self._pools = {pool.key: pool for pool in pools}

    def execute(self, calldata: str) -> dict[str, int]:
        """Return the router's balance of each token after the call."""
        call = decode_call(calldata)
        balances = {call.route.token_in: call.route.amount_in}
        for swap in call.swaps:
            spend = balances[swap.token_in] * swap.rate // 1_000_000
            balances[swap.token_in] -= spend
            balances[swap.token_out] = balances.get(swap.token_out, 0) + self._swap(swap, spend)
        return balances

    def _swap(self, swap: RouterSwapParam, spend: int) -> int:
        if swap.protocol_id == WRAPPER_ID:
            return spend
        key = named_pool(swap, self._pools)
        amount_out, self._pools[key] = self._pools[key].swap(swap.token_in, swap.token_out, spend)
        return amount_out


def named_pool(swap: RouterSwapParam, pools: Mapping[str, Pool]) -> str:
    """Return the key of the swap's pool: its address, in Uniswap V4 the hash of its PoolKey."""
    if swap.pool_address in pools:
        return swap.pool_address
    return "0x" + keccak256(swap.extra_data).hex()
