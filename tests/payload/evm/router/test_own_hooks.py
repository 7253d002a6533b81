"""The router swaps in pools that are their own hook of Uniswap V4, and take the input before they pay."""

from __future__ import annotations

from pathlib import Path
from random import Random

from swapcli.core.model.market import MarketState
from swapcli.core.model.pool import PoolIdentity
from swapcli.core.model.units import WAD
from swapcli.families.euler.euler_swap import EulerSwap
from tests.chain.contract_fixture import ContractFixture
from tests.contracts.evm import compile_solidity
from tests.families.euler.test_euler_swap import euler_pool
from tests.payload.evm.router.driving import build, carry_out, single

OWN_HOOK = 0x0088
"""Permissions: beforeSwap, and its amounts."""
PRICES, FEE = (10**6, 3 * 10**6), 3 * 10**15
SUM = 10**24


def place(fixture: ContractFixture) -> EulerSwap:
    """Open a pool of EulerSwap that is a constant sum, and return it as it is read."""
    folder = Path(__file__).parents[3] / "families" / "euler"
    hooks = f"0x{0xE << 152 | OWN_HOOK:040x}"
    hook = fixture.chain.place(hooks, compile_solidity("own_hook.sol", root=folder)["OwnHook"])
    hook.send("set", *PRICES, FEE)
    symbols = sorted(("DAI", "TKN"), key=lambda symbol: int(fixture.address(symbol), 16))
    tokens = tuple(fixture.address(symbol) for symbol in symbols)
    fixture.manager.send("initialize", (*tokens, 300, 1, hooks), 1 << 96)
    for symbol in symbols:
        fixture.give(symbol, hooks, SUM)
        fixture.give(symbol, fixture.manager.address, SUM)
    pool = euler_pool(
        reserves=(SUM, SUM), equilibrium=(SUM, SUM), prices=PRICES, concentrations=(WAD, WAD), fees=(FEE, FEE),
        v4_fee_ppm=300, pool_manager=fixture.manager.address,
    )  # fmt: skip
    return EulerSwap.from_state(PoolIdentity(hooks, "uniswapV4", tokens, (18, 18), 3_000), pool.state())


def test_routes_through_a_pool_of_euler_swap(fixture: ContractFixture, market: MarketState) -> None:
    rng = Random("euler")
    world = fixture.copy()
    pool = place(world)
    market = market._replace(pools={pool.key: pool})
    for _ in range(10):
        token_in, token_out = rng.sample(pool.tokens, 2)
        built = build(market, single(pool.key, token_in, token_out), int(10 ** rng.uniform(3, 22)))
        assert carry_out(world, built.payload) == built.replay.amount_out
