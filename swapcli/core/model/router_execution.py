"""How a router executes a route: how it spends its balances, and how finely it divides shares."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from swapcli.core.model.quote import HUNDREDTHS, RATE_SCALE
from swapcli.core.model.router_variant import RateVariant
from swapcli.core.model.swap_type import SwapType
from swapcli.core.records import NamedTuple

TRANSACTION_GAS = 21_000
"""The gas of every transaction, whatever it does."""


class RouterGas(NamedTuple):
    """The gas of a router besides the swaps of its pools, after refunds.

    `base` is the gas of a transaction, `each_swap` the gas of each swap besides the pool's own, `token_between` the gas
    of each intermediate token, and `repeated_swap` the gas of each further swap in the same pool, whose storage is
    already warm. `native_in` is for wrapping the input, `native_out` for unwrapping the output, and `integrator` for
    paying an integrator.

    `by_kind` adds gas to each swap by the family of its pool. `V4` is for pools that share one contract, which a router
    enters and leaves once per run of consecutive swaps, for `v4_run`. `native_pool_in` and `native_pool_out` are for
    orders in native currency if the first or last pool takes or pays the currency unwrapped. The search omits the last
    two, which matter for the estimate of a transaction, but little for the choice of its pools.
    """

    base: int
    each_swap: int
    token_between: int
    repeated_swap: int
    native_in: int
    native_out: int
    integrator: int = 0
    by_kind: Mapping[str, int] = MappingProxyType({})
    v4_run: int = 0
    native_pool_in: int = 0
    native_pool_out: int = 0

    def of_swap_type(self, swap_type: SwapType) -> int:
        """Return the gas of wrapping or unwrapping in a swap."""
        return {SwapType.NATIVE_TO_TOKEN: self.native_in, SwapType.TOKEN_TO_NATIVE: self.native_out}.get(swap_type, 0)


V4 = "v4"
"""The kind of pools identified by a 32-byte ID in one contract."""

OWN_ROUTER_GAS = RouterGas(90_300, 0, 11_900, -44_500, -2_200, 11_600, integrator=6_000)
"""The gas of this project's router contract, which also stands in for the public router's.

`core/routing/gas.py` has the source.
"""


class Execution(NamedTuple):
    """How a router executes a route. A replay follows the same rules, which makes its amounts exact.

    A router with rates spends `floor(balance * rate / rate_scale)` of its balance of a token in each pool that sells
    it; segments that pass through the same token share that balance. With `rounds_to_nearest`, needed for a coarse
    scale, larger shares come first and rates are rounded to the nearest instead of down. With other values of
    `rate_variant`, the rate is a part of an earlier balance.

    A router that `executes_paths` runs one path of single pools after another, each with an absolute amount of the
    input token, and passes on each pool's whole output.

    `share_step` is the finest step of the shares of segments that the router distinguishes, in hundredths of a percent.
    """

    rate_scale: int = RATE_SCALE
    executes_paths: bool = False
    rounds_to_nearest: bool = False
    share_step: int = HUNDREDTHS
    rate_variant: RateVariant = RateVariant.RELATIVE
    gas: RouterGas = OWN_ROUTER_GAS

    def is_absolute(self, *, sells_input: bool) -> bool:
        """Return whether a swap's rate is a fraction of the balance before the first swap that sells its token.

        `sells_input` shows whether that token is the input of the route.
        """
        if sells_input:
            return self.rate_variant is not RateVariant.RELATIVE
        return self.rate_variant is RateVariant.ABSOLUTE


RATES = Execution()
"""The execution of the public router and of this project's."""
