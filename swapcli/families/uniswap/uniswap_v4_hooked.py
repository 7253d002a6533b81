"""Uniswap V4 pools with a hook whose rule is known: it sets the LP fee, and takes a part of the input or the output.

The pool itself is `Concentrated`. The hook takes its parts before and after the swap: `hook_fees` describes them, or
`clanker_volatility` if they depend on the amount. `internal_swap` is for hooks that first sell their own tokens, and
`fee_in_token` for hooks that always take their fee in the same token. All of these are valid for one block: hooks
change them without an event, with time, or through a swap. So a route swaps in such a pool once.
"""

from __future__ import annotations

from collections.abc import Mapping

from swapcli.core.annotations import ClassVar, Final, Self
from swapcli.core.errors import InvalidPoolState, SwapReverts
from swapcli.core.frozen_dataclass import dataclass
from swapcli.core.model.pool import Pool, PoolIdentity, RateCurve
from swapcli.core.model.units import PPM, WAD
from swapcli.families.fast_replace import fast_replace
from swapcli.families.identity_checks import check_pair
from swapcli.families.state_fields import StateFields
from swapcli.families.token_positions import is_forward
from swapcli.families.uniswap.clanker_curve import volatile_curve
from swapcli.families.uniswap.clanker_volatility import ClankerVolatility, read_clanker_volatility
from swapcli.families.uniswap.concentrated import Concentrated, walk_ticks, with_lp_fee, with_position
from swapcli.families.uniswap.concentrated_state import read_position, read_tick_list
from swapcli.families.uniswap.fee_in_token import FeeInToken, read_fee_in_token
from swapcli.families.uniswap.hook_fees import DirectionFees, HookFees, check_hook_fees, read_hook_fees
from swapcli.families.uniswap.hooked_curve import HookedCurve
from swapcli.families.uniswap.internal_swap import InternalSwap, read_internal_swap
from swapcli.families.uniswap.internal_swap_curve import internal_swap_curve
from swapcli.families.uniswap.output_fee_curve import OutputFeeCurve
from swapcli.families.uniswap.v4_hooks import may_take_input, may_take_output

_TAKEN_OUTPUT_BITS: Final = 107
"""Hooks multiply the output by fees of up to 10^6 in signed 128-bit integers; some revert on overflow."""
_MAX_HOOK_GAS: Final = 10_000_000  # gas units


@dataclass(frozen=True, slots=True)
class UniswapV4Hooked(Pool):
    """A pool with a hook. `plain` is the pool without its hook, and `hook_gas` the gas that the hook adds to a swap.

    `fees` are the fees of the smallest swaps. With a `volatility`, larger swaps may cost more. `internal_swap` has the
    tokens that the hook sells before the pool does; `fee_in_token` is a fee that is always in the same token.
    """

    plain: Concentrated
    fees: HookFees
    hook_gas: int
    volatility: ClankerVolatility | None = None
    internal_swap: InternalSwap | None = None
    fee_in_token: FeeInToken | None = None

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
        """Sell exactly `amount_in`, part of which the hook may take. Raises the same errors as `Pool.swap`."""
        if amount_in >> self.plain.tick_list.amount_bits:
            raise SwapReverts(f"pool {self.key}: {amount_in} is more than the contract can count")
        down = is_forward(self, token_in, token_out)
        fees = self.fees.of_direction(down=down)
        if self.volatility is not None:
            fees = self.volatility.fees_of_swap(self.plain, amount_in, down=down)
        swapped = amount_in - fees.taken_of_input(amount_in)
        one_sided = self.fee_in_token
        if one_sided is not None and one_sided.is_sold(down=down):
            swapped -= one_sided.taken_of_input(amount_in)
        if swapped <= 0:
            raise self.rounds_to_zero(amount_in)
        if self.internal_swap is not None and self.internal_swap.is_bought(down=down):
            return self._buy_from_hook(self.internal_swap, fees, swapped, down=down)
        plain = with_lp_fee(self.plain, fees.lp_fee_ppm)
        amount_out, plain_after = plain.swap(token_in, token_out, swapped)
        if fees.output_fee and amount_out >> _TAKEN_OUTPUT_BITS:
            raise SwapReverts(f"pool {self.key}: the hook may not be able to count an output of {amount_out}")
        amount_out -= fees.taken_of_output(amount_out)
        if one_sided is not None and not one_sided.is_sold(down=down):
            amount_out -= one_sided.taken_of_output(self.plain, amount_in)
        if amount_out <= 0:
            raise self.rounds_to_zero(amount_in)
        if self.volatility is not None:
            self.volatility.start_fees(plain_after)  # no swap could follow one that makes these overflow
        after: Self = _replace_plain(self, with_lp_fee(plain_after, self.fee_ppm))
        return amount_out, after

    def _buy_from_hook(
        self, internal: InternalSwap, fees: DirectionFees, amount_in: int, *, down: bool
    ) -> tuple[int, Self]:
        """Sell `amount_in` to the hook first, and the rest to the pool. The hook keeps its fees from both outputs."""
        paid, filled = internal.fill(self.plain, amount_in, down=down)
        plain = with_lp_fee(self.plain, fees.lp_fee_ppm)
        bought, *position = walk_ticks(plain, amount_in - paid, down=down)
        if bought >> _TAKEN_OUTPUT_BITS:
            raise SwapReverts(f"pool {self.key}: the hook may not be able to count an output of {bought}")
        kept = fees.taken_of_output(filled) + fees.taken_of_output(bought)
        if filled + bought <= kept:
            raise self.rounds_to_zero(amount_in)
        plain_after = with_lp_fee(with_position(plain, *position), self.fee_ppm)
        after: Self = _replace_bought(self, plain_after, internal._replace(amount=internal.amount - filled + kept))
        return filled + bought - kept, after

    def curve(self, token_in: str, token_out: str) -> RateCurve:
        """Return the floating-point curve for selling `token_in` for `token_out`; it is an upper bound if the fee rises
        with the amount, or the hook sells."""
        down = is_forward(self, token_in, token_out)
        fees = self.fees.of_direction(down=down)
        if self.volatility is not None:
            return volatile_curve(self.plain, self.volatility, down=down)
        inner: RateCurve = with_lp_fee(self.plain, fees.lp_fee_ppm).curve(token_in, token_out)
        if self.internal_swap is not None and self.internal_swap.is_bought(down=down):
            inner = internal_swap_curve(inner, self.plain, self.internal_swap, down=down)
        if self.fee_in_token is not None:
            if self.fee_in_token.is_sold(down=down):
                return HookedCurve(inner, 1.0 - self.fee_in_token.fee_ppm / PPM, 1.0)
            return OutputFeeCurve(inner, self.fee_in_token.rate(self.plain))
        return HookedCurve(inner, fees.input_part, 1.0 - fees.output_fee / WAD)

    def state(self) -> dict[str, object]:
        """Return the family's fields in the `swap-market/1` format."""
        state = {**self.plain.state(), "hook_gas": self.hook_gas}
        if self.volatility is not None:
            return {**state, "clanker_volatility": self.volatility.state()}
        others = {"internal_swap": self.internal_swap, "fee_in_token": self.fee_in_token}
        known = {name: each.state() for name, each in others.items() if each is not None}
        return {**state, "hook_fees": self.fees.state(), **known}

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read the fields of `Concentrated` for a Uniswap V4 pool, `hook_fees` and `hook_gas`.

        `fee_ppm` is the LP fee in the pool manager; the hook may set a different one. A Clanker pool with dynamic fees
        has `clanker_volatility` in place of `hook_fees`. Optional: `internal_swap`, the tokens that the hook sells
        before the pool does, or `fee_in_token`. The modules of the same names describe these fields.
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
            try:
                fees = volatility.start_fees(plain)
            except SwapReverts as error:
                raise InvalidPoolState("clanker_volatility", error.message) from None
            check_hook_fees(fees, tick_list, identity.fee_ppm, "clanker_volatility")
        internal, one_sided = read_internal_swap(fields), read_fee_in_token(fields)
        known = [each for each in (volatility, internal, one_sided) if each is not None]
        if internal is not None:
            _check_rule("internal_swap", tick_list.hooks, fees, len(known))
        if one_sided is not None:
            _check_rule("fee_in_token", tick_list.hooks, fees, len(known) + any(each.output_fee for each in fees))
        gas = fields.integer("hook_gas", 0, _MAX_HOOK_GAS)
        return cls(*identity, plain, fees, gas, volatility, internal, one_sided)

    def gas_units(self, after: Pool) -> int:
        """Return the gas of the pool's own swap plus that of its hook."""
        assert isinstance(after, UniswapV4Hooked)
        return self.plain.gas_units(after.plain) + self.hook_gas

    def gas_units_to(self, token_in: str, token_out: str, rate: float) -> int:
        """Return the gas units of a swap that ends at the marginal rate `rate`."""
        fees = self.fees.of_direction(down=is_forward(self, token_in, token_out))
        inner_rate = rate / (fees.input_part * (1.0 - fees.output_fee / WAD))
        plain = with_lp_fee(self.plain, fees.lp_fee_ppm)
        return plain.gas_units_to(token_in, token_out, inner_rate) + self.hook_gas

    def api_extra_data(self) -> dict[str, int | str]:
        """Return the ID of the pool and its key, as `Concentrated` does."""
        return self.plain.api_extra_data()


def _check_rule(field: str, hooks: str, fees: HookFees, rule_count: int) -> None:
    """Raise `InvalidPoolState` for a field that the hook's permissions do not allow, or that no known rule has."""
    may_take_both = may_take_input(hooks) and may_take_output(hooks)
    if not may_take_both or rule_count > 1 or any(each.takes_input for each in fees):
        raise InvalidPoolState(field, f"no known rule lets {hooks} do that with its permissions and fees")


_replace_plain = fast_replace(UniswapV4Hooked, "plain")
_replace_bought = fast_replace(UniswapV4Hooked, "plain", "internal_swap")
