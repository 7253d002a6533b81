"""Uniswap V4 pools with a hook whose rule is known: it sets the LP fee, and takes a part of the input or the output.

The pool itself is `Concentrated`; around its swap stand the parts that the hook takes, which `hook_fees` describes, or
`clanker_volatility` where they depend on the amount. They are those of one block: hooks change them without an event,
with time, or by what the swap itself leaves behind. So a route swaps in such a pool once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, Self

from swapcli.core.errors import SwapReverts
from swapcli.core.model.pool import Pool, PoolIdentity, RateCurve
from swapcli.core.model.units import WAD
from swapcli.core.pools.fast_replace import fast_replace
from swapcli.core.pools.identity_checks import check_pair
from swapcli.core.pools.state_fields import StateFields
from swapcli.core.pools.token_positions import is_forward
from swapcli.core.pools.uniswap.clanker_curve import volatile_curve
from swapcli.core.pools.uniswap.clanker_volatility import ClankerVolatility, read_clanker_volatility
from swapcli.core.pools.uniswap.concentrated import Concentrated, with_lp_fee
from swapcli.core.pools.uniswap.concentrated_state import read_position, read_tick_list
from swapcli.core.pools.uniswap.hook_fees import HookFees, check_hook_fees, read_hook_fees
from swapcli.core.pools.uniswap.hooked_curve import HookedCurve

_TAKEN_OUTPUT_BITS: Final = 107
"""Hooks multiply the output by fees of up to 10^6 in signed 128-bit integers; some revert on overflow."""
_MAX_HOOK_GAS: Final = 10_000_000


@dataclass(frozen=True, slots=True)
class UniswapV4Hooked(Pool):
    """`plain` is the pool as it would swap without its hook, and `hook_gas` what the hook adds to the gas of a swap.

    `fees` are those of the smallest swaps. If there is a `volatility`, larger ones may cost more.
    """

    plain: Concentrated
    fees: HookFees
    hook_gas: int
    volatility: ClankerVolatility | None = None

    family: ClassVar[str] = "uniswap_v4_hooked"
    swap_gas: ClassVar[int] = Concentrated.swap_gas
    requires_exact_payment: ClassVar[bool] = True
    is_single_use: ClassVar[bool] = True
    changes_without_events: ClassVar[bool] = True

    @property
    def key(self) -> str:
        """The pool id."""
        return self.plain.key

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Sell exactly `amount_in`, of which the hook may take a part. Raises as `Pool.swap`."""
        if amount_in >> self.plain.tick_list.amount_bits:
            raise SwapReverts(f"pool {self.key}: {amount_in} is more than the contract can count")
        down = is_forward(self, token_in, token_out)
        fees = self.fees.of_direction(down=down)
        if self.volatility is not None:
            fees = self.volatility.fees_of_swap(self.plain, amount_in, down=down)
        swapped = amount_in - fees.taken_of_input(amount_in)
        if not swapped:
            raise self.rounds_to_zero(amount_in)
        plain = with_lp_fee(self.plain, fees.lp_fee_ppm)
        amount_out, plain_after = plain.swap(token_in, token_out, swapped)
        if fees.output_fee and amount_out >> _TAKEN_OUTPUT_BITS:
            raise SwapReverts(f"pool {self.key}: the hook may not be able to count an output of {amount_out}")
        amount_out -= fees.taken_of_output(amount_out)
        if not amount_out:
            raise self.rounds_to_zero(amount_in)
        after: Self = _replace_plain(self, with_lp_fee(plain_after, self.fee_ppm))
        return amount_out, after

    def curve(self, token_in: str, token_out: str) -> RateCurve:
        """Return the direction in floats; a bound from above where the fee rises with the amount."""
        down = is_forward(self, token_in, token_out)
        fees = self.fees.of_direction(down=down)
        if self.volatility is not None:
            return volatile_curve(self.plain, self.volatility, down=down)
        inner = with_lp_fee(self.plain, fees.lp_fee_ppm).curve(token_in, token_out)
        return HookedCurve(inner, 1.0 - fees.input_fee / WAD, 1.0 - fees.output_fee / WAD)

    def state(self) -> dict[str, object]:
        """Return the family's fields of `swap-market/1`."""
        state = {**self.plain.state(), "hook_gas": self.hook_gas}
        if self.volatility is not None:
            return {**state, "clanker_volatility": self.volatility.state()}
        return {**state, "hook_fees": self.fees.state()}

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read the fields of `Concentrated` for a Uniswap V4 pool, `hook_fees` (`hook_fees`) and `hook_gas`.

        `fee_ppm` is the LP fee that the pool manager has; the hook may set another one. A pool of Clanker with dynamic
        fees has `clanker_volatility` (`clanker_volatility`) in place of `hook_fees`.
        """
        check_pair(identity)
        fields = StateFields(state)
        tick_list = read_tick_list(fields, identity.fee_ppm, accepts_any_hook=True)
        sqrt_price_x96, tick, liquidity = read_position(fields, tick_list)
        plain = Concentrated(*identity, sqrt_price_x96, tick, liquidity, tick_list)
        volatility = read_clanker_volatility(fields)
        if volatility is None:
            fees = read_hook_fees(fields, tick_list, identity.fee_ppm)
        else:
            fees = volatility.start_fees(plain)
            check_hook_fees(fees, tick_list, identity.fee_ppm, "clanker_volatility")
        return cls(*identity, plain, fees, fields.integer("hook_gas", 0, _MAX_HOOK_GAS), volatility)

    def gas_units(self, after: Pool) -> int:
        """Return the gas of the pool's own swap and that of its hook."""
        assert isinstance(after, UniswapV4Hooked)
        return self.plain.gas_units(after.plain) + self.hook_gas

    def gas_units_to(self, token_in: str, token_out: str, rate: float) -> int:
        """Return `gas_units` of a swap that ends at the marginal rate `rate`."""
        fees = self.fees.of_direction(down=is_forward(self, token_in, token_out))
        inner_rate = rate / ((1.0 - fees.input_fee / WAD) * (1.0 - fees.output_fee / WAD))
        plain = with_lp_fee(self.plain, fees.lp_fee_ppm)
        return plain.gas_units_to(token_in, token_out, inner_rate) + self.hook_gas

    def api_extra_data(self) -> dict[str, int | str]:
        """Return the id of the pool and its key, as `Concentrated`."""
        return self.plain.api_extra_data()


_replace_plain = fast_replace(UniswapV4Hooked, "plain")
