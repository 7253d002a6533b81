"""The tokens that a Flaunch hook has collected as fees, which it sells to buyers before the pool's own swap.

Fees in the launched token must be converted to the paired token, so the hook fills buyers first. Its price is the price
of a swap in the opposite direction: the amount of launched tokens that the pool would require for the buyer's whole
input, with the liquidity of the current tick and without a fee. If the hook has fewer tokens than that, it pays all of
them and charges the same part of the input. The rest of the input is swapped in the pool. The hook's fee is taken from
both outputs, each rounded down.

Source: `InternalSwapPool.sol` of flayerlabs/flaunchgg-contracts, and `SwapMath.sol` of Uniswap v4-core.
"""

from __future__ import annotations

from swapcli.core.annotations import Final
from swapcli.core.errors import SwapReverts
from swapcli.core.records import NamedTuple
from swapcli.families.rounding import UINT256_LIMIT, div_up, mul_div_up
from swapcli.families.state_fields import StateFields
from swapcli.families.tick_math import MAX_SQRT_RATIO, MIN_SQRT_RATIO, Q96
from swapcli.families.uniswap.concentrated import Concentrated

_FIELD: Final = "internal_swap"
_AMOUNT_BITS: Final = 127
"""The pool manager stores deltas as signed 128-bit integers."""


class InternalSwap(NamedTuple):
    """The hook's balance of the launched token: `amount` in base units. The token is the pool's first or its second."""

    token_is_first: bool
    amount: int

    def is_bought(self, *, down: bool) -> bool:
        """Return whether a sale of token0 (`down`) or token1 buys the launched token."""
        return down != self.token_is_first

    def fill(self, plain: Concentrated, amount_in: int, *, down: bool) -> tuple[int, int]:
        """Return the part of `amount_in` paid to the hook, and the hook's output for it before fees. Raises
        `SwapReverts`."""
        if not self.amount:
            return 0, 0
        asked, bought = _opposite_step(plain, amount_in, down=down)
        if asked <= self.amount:
            return bought, asked
        if self.amount * bought >= UINT256_LIMIT:
            raise SwapReverts(f"pool {plain.key}: the hook overflows on {self.amount} times {bought}")
        return self.amount * bought // asked, self.amount

    def state(self) -> dict[str, object]:
        """Return the object that `read_internal_swap` reads."""
        return {"token_is_first": self.token_is_first, "amount": str(self.amount)}


def read_internal_swap(fields: StateFields) -> InternalSwap | None:
    """Read the optional `internal_swap: {token_is_first, amount}`. Raises `InvalidPoolState`."""
    if not fields.has(_FIELD):
        return None
    nested = fields.nested(_FIELD)
    return InternalSwap(nested.boolean("token_is_first"), nested.uint("amount", _AMOUNT_BITS))


def _opposite_step(plain: Concentrated, amount: int, *, down: bool) -> tuple[int, int]:
    """Return the input of token0 (`down`) or token1 that buys `amount` with the current liquidity, and the amount that
    it buys.

    It buys less than `amount` only if the liquidity does not suffice up to the end of the price range.
    """
    price, liquidity = plain.sqrt_price_x96, plain.liquidity
    if down:
        limit = MAX_SQRT_RATIO - 1
        available = (liquidity << 96) * (limit - price) // limit // price
        if amount >= available:
            return mul_div_up(liquidity, limit - price, Q96), available
        left = (liquidity << 96) - amount * price
        if left <= 0 or amount * price >= UINT256_LIMIT:
            raise _no_price(plain)
        after = mul_div_up(liquidity << 96, price, left)
        return mul_div_up(liquidity, after - price, Q96), amount
    limit = MIN_SQRT_RATIO + 1
    available = liquidity * (price - limit) >> 96
    if amount >= available:
        after, paid = limit, available
    else:
        after, paid = price - div_up(amount << 96, liquidity), amount
        if after <= 0:
            raise _no_price(plain)
    return div_up(mul_div_up(liquidity << 96, price - after, price), after), paid


def _no_price(plain: Concentrated) -> SwapReverts:
    return SwapReverts(f"pool {plain.key}: the hook finds no price for so large an input")
