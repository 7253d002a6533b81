"""Gas estimates: a transaction's base, what each swap costs by its pool, and what sets routes apart beside that.

The figures here and those of the pools are fitted to 2,000 random routes, mined by this project's router contract
through the published bytecode of the pools: least squares of relative errors. Of routes that were not fitted to, 96.7 %
are estimated to a tenth. StableSwap is rougher: its bytecode was not at hand. All are gas used, after refunds, which
are a fifth at most: a limit must be used / 0.8.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from swapcli.model.pool import Pool
from swapcli.model.transaction import SwapType
from swapcli.routing.replay import Replay

BASE_GAS = 90_300
TOKEN_BETWEEN_GAS = 10_000
REPEATED_POOL_GAS = -39_400
"""Added for each further step in a pool, which has been touched already."""
NATIVE_GAS: Mapping[SwapType, int] = {
    SwapType.NATIVE_TO_TOKEN: -1_400,
    SwapType.TOKEN_TO_NATIVE: 13_800,
    SwapType.TOKEN_TO_TOKEN: 0,
}
"""Added where the router wraps what is sold, or unwraps what is bought."""


def route_gas(pools: Mapping[str, Pool], result: Replay) -> int:
    """Gas units of a whole transaction between two tokens, from the pools `before` it by key and its replay."""
    swaps = sum(pools[key].gas_units(pool) for key, pool in result.pools_after.items())
    again = Counter(step.pool for step in result.steps) - Counter(result.pools_after.keys())
    swaps += sum(uses * (pools[key].gas_units(pools[key]) + REPEATED_POOL_GAS) for key, uses in again.items())
    tokens = {token for step in result.steps for token in (step.token_in, step.token_out)}
    return BASE_GAS + swaps + TOKEN_BETWEEN_GAS * (len(tokens) - 2)
