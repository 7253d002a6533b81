"""Estimate gas: the base of a transaction, the cost of each swap, and other differences between routes.

The figures in the pools were fitted by least squares of relative errors over 2,000 random routes, executed by this
project's router contract with the published bytecode of the pools. `OWN_ROUTER_GAS` was fitted over 2,400 routes of the
router's present code. For other routes, 95.8% of estimates are within 10%. StableSwap is less accurate, because its
bytecode was not available. All figures are gas used after refunds. Refunds are at most a fifth, so a gas limit must be
the gas used / 0.8.

`value_of_wei` is the single gas value, in the output token, that all code uses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from swapcli.core.annotations import Final
from swapcli.core.model.network import Network
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote import GasValueSource, Step, WeiValue
from swapcli.core.model.router_execution import OWN_ROUTER_GAS, V4, RouterGas
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.token import Token
from swapcli.core.routing.replay import Replay

_POOL_ID_CHARACTERS: Final = 66
"""The length of a pool ID: 32 bytes in hex with 0x. An address has 42 characters."""
_MAX_WEI_VALUE: Final = 2.0**256
"""The highest value of one wei. No token has more base units, so a higher value is an artefact."""


def value_of_wei(
    network: Network,
    token_out: Token,
    usd_prices: Callable[[Token, Token], tuple[float | None, ...]],
    path_value: Callable[[], float],
) -> WeiValue | None:
    """Return the value of one wei of gas in base units of the output token; None if unknown.

    `usd_prices` returns mid prices of whole tokens. `path_value` returns the output of the best path from the native
    token for one wei, 0.0 without a path; it is called only if a price is missing. A path alone would be a poor value:
    the fees of thin pools and arbitrage move it, by 1 to 17% on two real markets (empirical, for random orders).
    """
    if network.is_gas_token(token_out):
        return WeiValue(1.0, GasValueSource.NATIVE)
    native = network.to_wrapped_token(network.native)
    native_usd, token_usd = usd_prices(native, token_out)
    if native_usd and token_usd:
        amount = native_usd / 10**native.decimals / token_usd * 10**token_out.decimals
        if 0.0 < amount < _MAX_WEI_VALUE:
            return WeiValue(amount, GasValueSource.MID_PRICES)
    amount = path_value()
    return WeiValue(amount, GasValueSource.BEST_PATH) if 0.0 < amount < _MAX_WEI_VALUE else None


def before_refunds(gas_units: int) -> int:
    """Return the peak gas of a transaction that uses `gas_units` after the highest possible refund, a fifth."""
    return -(-gas_units * 5 // 4)


def with_margin(gas_units: int) -> int:
    """Return a gas limit with a margin for changes until the transaction is mined.

    A fifth is one more initialised tick (27,000 to 30,000 gas, measured on Uniswap V3) in a swap of 150,000 gas.
    """
    return gas_units + -(-gas_units // 5)


def fits_block(gas_units: int, block_gas_limit: int) -> bool:
    """Return whether the gas limit of a transaction that uses `gas_units` between two ERC-20 tokens fits a block.

    The transaction then also fits if it sells or buys the native token.
    """
    return with_margin(before_refunds(gas_units + OWN_ROUTER_GAS.native_out)) <= block_gas_limit


def route_gas(pools: Mapping[str, Pool], result: Replay, router: RouterGas = OWN_ROUTER_GAS) -> int:
    """Return the gas units of a transaction between two tokens, from the replay of its route and the `pools` (by key)
    before the swap."""
    swaps = sum(pools[key].gas_units(pool) for key, pool in result.pools_after.items())
    again = Counter(step.pool for step in result.steps) - Counter(result.pools_after.keys())
    swaps += sum(uses * (pools[key].gas_units(pools[key]) + router.repeated_swap) for key, uses in again.items())
    tokens = {token for step in result.steps for token in (step.token_in, step.token_out)}
    swaps += router.each_swap * len(result.steps)
    if router.by_kind:
        swaps += _gas_by_kind(pools, result.steps, router)
    return router.base + swaps + router.token_between * (len(tokens) - 2)


def least_swap_gas(pool: Pool, router: RouterGas = OWN_ROUTER_GAS) -> int:
    """Return the least gas units that a swap in one direction of `pool` adds to `route_gas`.

    A pool with several tokens may trade two pairs of its tokens in one route; for the second pair, the pool's storage
    is already warm.
    """
    warm = min(0, router.repeated_swap) if len(pool.tokens) > 2 else 0
    return pool.gas_units(pool) + router.each_swap + router.by_kind.get(_kind(pool), 0) + warm


def gas_of_terms(
    pools: Mapping[str, Pool],
    steps: Sequence[Step],
    swap_type: SwapType,
    router: RouterGas = OWN_ROUTER_GAS,
    *,
    pays_integrator: bool = False,
) -> int:
    """Return the gas units that native currency and an integrator add to `route_gas`."""
    gas = router.of_swap_type(swap_type) + (router.integrator if pays_integrator else 0)
    if swap_type is SwapType.NATIVE_TO_TOKEN and router.native_pool_in:
        first = [step for step in steps if step.token_in == steps[0].token_in]
        gas += router.native_pool_in if any(_is_native(pools[step.pool]) for step in first) else 0
    elif swap_type is SwapType.TOKEN_TO_NATIVE and router.native_pool_out:
        last = [step for step in steps if step.token_out == steps[-1].token_out]
        gas += router.native_pool_out if any(_is_native(pools[step.pool]) for step in last) else 0
    return gas


def _gas_by_kind(pools: Mapping[str, Pool], steps: Sequence[Step], router: RouterGas) -> int:
    """Return the gas by kind of pool, and the gas of each run of consecutive V4 swaps in one path."""
    kinds = [_kind(pools[step.pool]) for step in steps]
    gas = sum(router.by_kind.get(kind, 0) for kind in kinds)
    source, target = steps[0].token_in, steps[-1].token_out
    for number, (kind, step) in enumerate(zip(kinds, steps, strict=True)):
        is_first = number == 0 or (steps[number - 1].token_out == target and step.token_in == source)
        if kind == V4 and (is_first or kinds[number - 1] != V4):
            gas += router.v4_run
    return gas


def _kind(pool: Pool) -> str:
    """Return the kind of a pool in `RouterGas.by_kind`. Pools with an ID outside V4 are called one by one."""
    hooks = pool.api_extra_data().get("hooks")
    # EulerSwap's pools are hooks of their own V4 pools.
    is_v4 = hooks is not None and (len(pool.key) == _POOL_ID_CHARACTERS or hooks == pool.key)
    return V4 if is_v4 else pool.family


def _is_native(pool: Pool) -> bool:
    return pool.api_extra_data().get("token0") == ZERO_ADDRESS
