"""Random trades with all pools of a test chain."""

from __future__ import annotations

from collections import Counter
from random import Random

from bench.running import BenchmarkFailed
from swapcli.core.model.market import MarketState
from swapcli.core.model.quote import RATE_SCALE, Step
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import RouterRouteParam
from swapcli.payload.evm import build_call, build_transaction
from swapcli.testing.evm import DEPLOYER
from tests.chain.anvil import AnvilChain
from tests.chain.contract_fixture import CENTS, ContractFixture
from tests.chain.node.evm_node import deploy_multicall, sources

_MAX_UINT256 = 2**256 - 1
_WEALTH = 10**9
_GAS = 30_000_000
_CENTS = (3.0, 6.5)
"""Powers of ten for the size of swaps in cents: ten dollars to thirty thousand."""
_RETURN_SHARE = 0.7
"""The share of swaps that move a pool back to its first price: without them prices leave the liquidity ranges."""


class Crowd:
    """Traders who swap with the pools of `market` through the router, many times in each transaction."""

    def __init__(self, chain: AnvilChain, fixture: ContractFixture, market: MarketState, rng: Random) -> None:
        self._chain, self._fixture, self._market, self._rng = chain, fixture, market, rng
        self._multicall = chain.at(deploy_multicall(chain), sources()["Multicall"])
        self._sold: Counter[tuple[str, str]] = Counter()
        approvals = []
        for symbol, token in fixture.contracts.items():
            fixture.give(symbol, self._multicall.address, _WEALTH * 10 ** fixture.tokens[symbol].decimals)
            approvals.append((token.address, False, token.calldata("approve", fixture.router.address, _MAX_UINT256)))
        self._multicall.send("aggregate3", approvals)

    def trade(self, swaps: int) -> None:
        """Mine one block of swaps with half of the pools. Raises `BenchmarkFailed` if a swap fails."""
        keys = self._rng.sample(sorted(self._market.pools), len(self._market.pools) // 2)
        calls = [(self._fixture.router.address, False, self._swap(self._rng.choice(keys))) for _ in range(swaps)]
        calldata = f"0x{self._multicall.calldata('aggregate3', calls).hex()}"
        message = {"from": DEPLOYER, "to": self._multicall.address, "data": calldata, "gas": hex(_GAS)}
        if not self._chain.receipt(self._chain.node.ask("eth_sendTransaction", message)).succeeded:
            raise BenchmarkFailed("a swap of the crowd failed")

    def _swap(self, key: str) -> bytes:
        """Return the router calldata for a random swap with the pool `key`."""
        cents = round(10 ** self._rng.uniform(*_CENTS))
        sold, bought = self._rng.sample(self._market.pools[key].tokens, 2)
        is_further = self._sold[key, sold] > self._sold[key, bought]
        if is_further == (self._rng.random() < _RETURN_SHARE):
            sold, bought = bought, sold
        self._sold[key, sold] += cents
        self._sold[key, bought] -= cents
        amount = amount_of(self._fixture, sold, cents)
        route = RouterRouteParam(sold, bought, amount, 1, 1, self._multicall.address, SwapType.TOKEN_TO_TOKEN)
        steps = [Step(key, sold, bought, RATE_SCALE, amount, 1)]
        call = build_call(route, steps, self._market.pools, self._fixture.network)
        return bytes.fromhex(build_transaction(call, self._fixture.network, self._fixture.router.address).calldata[2:])


def amount_of(fixture: ContractFixture, address: str, cents: int) -> int:
    """Return `cents` of a token in base units."""
    symbol = fixture.symbol(address)
    one: int = 10 ** fixture.tokens[symbol].decimals
    return max(cents * one // CENTS[symbol], 1)
