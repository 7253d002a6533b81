"""Pools of DODO V2: vending machines (DVM), private pools (DPP), stable pools (DSP) and GSP.

They differ in who provides liquidity, and in one aspect of swaps. A vending machine derives the target of its base
token from its reserves before every swap and has no target for the quote token. The others store both targets, and a
state R that shows which token is above its target, or that both are at their targets. `dodo_math` has the formulas.

The liquidity providers' fee stays in the pool, and the maintainer's fee leaves it; both are taken from the output. The
maintainer's fee may depend on the sender of the transaction: here it is the fee for a sender unknown to the contract.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from swapcli.core.annotations import ClassVar, Final, Self
from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, SwapReverts
from swapcli.core.frozen_dataclass import dataclass
from swapcli.core.model.pool import Pool, PoolIdentity, RateCurve
from swapcli.core.model.units import WAD
from swapcli.families.dodo.dodo_curve import DodoCurve
from swapcli.families.dodo.dodo_math import integrate, invert_price, solve_for_target, solve_for_trade
from swapcli.families.fast_replace import fast_replace
from swapcli.families.fixed_rate.fixed_rate_curve import fixed_rate_curve
from swapcli.families.hull_curve import ZeroCurve
from swapcli.families.identity_checks import check_pair
from swapcli.families.reserves import reserves_after_swap
from swapcli.families.rounding import require_uint128, require_uint256
from swapcli.families.state_fields import StateFields
from swapcli.families.swap_fees import FEE_PER_PPM
from swapcli.families.token_positions import is_forward

_RESERVE_LIMIT: Final = 1 << 112  # above every uint112
_MAX_PRICE: Final = 10**36
"""The contracts' maximum: a price of 10^18 units for one unit."""


class DodoState(StrEnum):
    """Which of its two tokens a pool holds more of than its target, if any.

    R in DODO's papers is the quote token's price relative to the guide price.
    """

    ONE = "one"
    """Neither token: the price is the guide price."""
    ABOVE_ONE = "above"
    """The quote token; the base token is below its target, and more expensive than the guide price."""
    BELOW_ONE = "below"
    """The base token."""


@dataclass(frozen=True, slots=True)
class DodoV2(Pool):
    """A DODO V2 pool. `tokens` are base and quote. `price` and `slippage` are i and k; `targets` are stored or derived.

    `lp_fee` and `maintainer_fee` are fractions of the output, scaled by 10^18; `fee_ppm` is their sum, rounded down. A
    vending machine `derives_targets`: it is `ABOVE_ONE` and has no target for the quote token. Some private pools
    require at least `min_amounts`.
    """

    reserves: tuple[int, int]
    targets: tuple[int, int]
    r_state: DodoState
    price: int
    slippage: int
    lp_fee: int
    maintainer_fee: int
    derives_targets: bool
    min_amounts: tuple[int, int]

    family: ClassVar[str] = "dodo_v2"
    swap_gas: ClassVar[int] = 71_500
    """Measured with the bytecode: 9,000 more than a Uniswap V2 pair in the same EVM, and 2,600 for the call of a
    clone."""

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, Self]:
        """Sell at the output of the contract's `querySellBase` or `querySellQuote`.

        Raises the same errors as `Pool.swap`.
        """
        sells_base = is_forward(self, token_in, token_out)
        i, j = (0, 1) if sells_base else (1, 0)
        if amount_in < self.min_amounts[i]:
            raise SwapReverts(f"pool {self.key} takes at least {self.min_amounts[i]} of {token_in}")
        targets = self._current_targets()
        gross, r_state = self._sell(sells_base, targets, amount_in)
        lp_fee, maintainer_fee = (require_uint256(gross * fee) // WAD for fee in (self.lp_fee, self.maintainer_fee))
        amount_out = gross - lp_fee - maintainer_fee
        if amount_out <= 0:
            raise self.rounds_to_zero(amount_in)
        if amount_out + maintainer_fee > self.reserves[j]:
            raise InsufficientLiquidity(f"pool {self.key} holds less than {amount_out + maintainer_fee} of {token_out}")
        reserves = reserves_after_swap(self.reserves, i, amount_in, j, amount_out + maintainer_fee)
        if reserves[i] >= _RESERVE_LIMIT:
            raise SwapReverts(f"pool {self.key} stores reserves below 2^112")
        if self.derives_targets:
            after: Self = _after_swap(self, reserves, self.targets, self.r_state)
            return amount_out, after
        if r_state is not self.r_state and targets[i] >= _RESERVE_LIMIT:
            raise SwapReverts(f"pool {self.key} stores targets below 2^112")
        require_uint128(max(targets))
        after = _after_swap(self, reserves, targets, r_state)
        return amount_out, after

    def curve(self, token_in: str, token_out: str) -> RateCurve:
        """Return the floating-point curve for selling `token_in`: one part towards its target, then one away from the
        target of `token_out`."""
        sells_base = is_forward(self, token_in, token_out)
        i, j = (0, 1) if sells_base else (1, 0)
        try:
            targets = self._current_targets()
        except SwapReverts:
            return ZeroCurve()
        gamma = (WAD - self.lp_fee - self.maintainer_fee) / WAD
        price = (self.price if sells_base else invert_price(self.price)) / WAD
        balance_in, target_in, balance_out, target_out = self.reserves[i], targets[i], targets[j], targets[j]
        if self.r_state is not (DodoState.ABOVE_ONE if sells_base else DodoState.BELOW_ONE):
            balance_in = target_in = self.reserves[i]
            balance_out = targets[j] if self.r_state is DodoState.ONE else self.reserves[j]
        if balance_in > target_in or not self.reserves[j] or (target_in > balance_in == 0):
            return ZeroCurve()
        max_in = _RESERVE_LIMIT - 1 - self.reserves[i]
        if not self.slippage:
            return fixed_rate_curve(price * gamma, int(self.reserves[j] * gamma), max_in)
        return DodoCurve(
            price * gamma,
            self.slippage / WAD,
            balance_in,
            target_in,
            balance_out * gamma,
            target_out * gamma,
            max_in,
        )

    def state(self) -> dict[str, object]:
        """Return the family's fields in the `swap-market/1` format."""
        state: dict[str, object] = {
            "reserves": [str(reserve) for reserve in self.reserves],
            "targets": [str(target) for target in self.targets],
            "r_state": str(self.r_state),
            "price": str(self.price),
            "slippage": str(self.slippage),
            "lp_fee": str(self.lp_fee),
            "maintainer_fee": str(self.maintainer_fee),
        }
        if self.derives_targets:
            state["derives_targets"] = True
        if any(self.min_amounts):
            state["min_amounts"] = [str(amount) for amount in self.min_amounts]
        return state

    @classmethod
    def from_state(cls, identity: PoolIdentity, state: Mapping[str, object]) -> Self:
        """Read the fields of `state`; `derives_targets` defaults to false, and `min_amounts` to 0."""
        check_pair(identity)
        fields = StateFields(state)
        fees = fields.uint("lp_fee", 64), fields.uint("maintainer_fee", 64)
        if sum(fees) // FEE_PER_PPM != identity.fee_ppm:
            raise InvalidPoolState("lp_fee", f"the fees are not {identity.fee_ppm} ppm together, rounded down")
        r_state = DodoState(fields.choice("r_state", tuple(map(str, DodoState))))
        targets = fields.uints("targets", 2, 128)
        derives_targets = fields.boolean("derives_targets")
        if derives_targets and (targets[1] or r_state is not DodoState.ABOVE_ONE):
            raise InvalidPoolState(
                "derives_targets", "expected the R state above one, and no target of the second token"
            )
        reserves = fields.uints("reserves", 2, 112)
        min_amounts = fields.uints("min_amounts", 2) if fields.has("min_amounts") else (0, 0)
        return cls(
            *identity,
            (reserves[0], reserves[1]),
            (targets[0], targets[1]),
            r_state,
            fields.integer("price", 1, _MAX_PRICE),
            fields.integer("slippage", 0, WAD),
            *fees,
            derives_targets,
            (min_amounts[0], min_amounts[1]),
        )

    def _current_targets(self) -> tuple[int, int]:
        """Return the targets before a swap.

        The target of the token below it follows from the surplus of the other token.
        """
        (base, quote), (base_target, quote_target) = self.reserves, self.targets
        match self.r_state:
            case DodoState.BELOW_ONE:
                surplus = _difference(base, base_target)
                return base_target, solve_for_target(quote, surplus, self.price, self.slippage)
            case DodoState.ABOVE_ONE:
                surplus, price = _difference(quote, quote_target), invert_price(self.price)
                return solve_for_target(base, surplus, price, self.slippage), quote_target
            case DodoState.ONE:
                return self.targets

    def _sell(self, sells_base: bool, targets: tuple[int, int], sold: int) -> tuple[int, DodoState]:
        """Return the output of a sale before fees, and the resulting state."""
        i, j = (0, 1) if sells_base else (1, 0)
        price, k = self.price if sells_base else invert_price(self.price), self.slippage
        away = DodoState.BELOW_ONE if sells_base else DodoState.ABOVE_ONE
        if self.r_state is DodoState.ONE:
            return solve_for_trade(targets[j], targets[j], sold, price, k), away
        if self.r_state is away:
            return solve_for_trade(targets[j], self.reserves[j], sold, price, k), away
        missing = _difference(targets[i], self.reserves[i])
        surplus = _difference(self.reserves[j], targets[j])
        if sold < missing:
            return min(integrate(targets[i], self.reserves[i], sold, price, k), surplus), self.r_state
        if sold == missing:
            return surplus, DodoState.ONE
        return surplus + solve_for_trade(targets[j], targets[j], sold - missing, price, k), away


_after_swap = fast_replace(DodoV2, "reserves", "targets", "r_state")


def _difference(larger: int, smaller: int) -> int:
    """Return the difference. Raises `SwapReverts` if it is negative, like the contracts."""
    if larger < smaller:
        raise SwapReverts("a reserve of the pool contradicts its target")
    return larger - smaller
