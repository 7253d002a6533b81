"""Gas estimates: the base of a transaction, the cost of each swap by its pool, and what else differs between routes.

The figures in the pools are least-squares fits of relative errors over 2,000 random routes, executed by this project's
router contract with the published bytecode of the pools; `OWN_ROUTER_GAS` is one over 2,400 routes of its present code.
Of other routes, 95.8% are estimated within 10%. StableSwap is less accurate, because its bytecode was not available.
All figures are gas used after refunds, which are at most a fifth: a gas limit must be used / 0.8.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from swapcli.model.execution import OWN_ROUTER_GAS, RouterGas
from swapcli.model.pool import Pool
from swapcli.routing.replay import Replay


def before_refunds(gas_units: int) -> int:
    """Return the gas that a transaction needs at its peak, if it uses `gas_units` after the highest refund: a fifth."""
    return -(-gas_units * 5 // 4)


def with_margin(gas_units: int) -> int:
    """Return a gas limit with room for what changes until the transaction is mined.

    A fifth is one more initialised tick (27,000 to 30,000 gas, measured on Uniswap V3) in a swap of 150,000 gas.
    """
    return gas_units + -(-gas_units // 5)


def fits_block(gas_units: int, block_gas_limit: int) -> bool:
    """Return whether the gas limit of a transaction that uses `gas_units` between two ERC-20 tokens fits a block.

    It then fits with the native token too.
    """
    return with_margin(before_refunds(gas_units + OWN_ROUTER_GAS.native_out)) <= block_gas_limit


def route_gas(pools: Mapping[str, Pool], result: Replay, router: RouterGas = OWN_ROUTER_GAS) -> int:
    """Return the gas units of a transaction between two tokens, from the `pools` before it by key and its replay."""
    swaps = sum(pools[key].gas_units(pool) for key, pool in result.pools_after.items())
    again = Counter(step.pool for step in result.steps) - Counter(result.pools_after.keys())
    swaps += sum(uses * (pools[key].gas_units(pools[key]) + router.repeated_swap) for key, uses in again.items())
    tokens = {token for step in result.steps for token in (step.token_in, step.token_out)}
    swaps += router.each_swap * len(result.steps)
    return router.base + swaps + router.token_between * (len(tokens) - 2)
