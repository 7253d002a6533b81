"""The fee of hooks, such as Deli's, that always take their fee in the same token of the pool.

If that token is sold, the fee is a part of the input, rounded up. If the other token is sold, the same part of the
input is converted at the price before the swap, also rounded up, and taken from the output.

Source: `DeliHook.sol` of morphex-labs/deli-swap-contracts.
"""

from __future__ import annotations

from swapcli.core.annotations import Final
from swapcli.core.model.units import PPM
from swapcli.core.records import NamedTuple
from swapcli.families.rounding import mul_div_up
from swapcli.families.state_fields import StateFields
from swapcli.families.tick_math import Q96
from swapcli.families.uniswap.concentrated import Concentrated

_FIELD: Final = "fee_in_token"


class FeeInToken(NamedTuple):
    """The fee: `fee_ppm` is taken in the pool's first token or in its second."""

    token_is_first: bool
    fee_ppm: int

    def is_sold(self, *, down: bool) -> bool:
        """Return whether a sale of token0 (`down`) or token1 pays the fee from the input."""
        return down == self.token_is_first

    def taken_of_input(self, amount_in: int) -> int:
        """Return the fee on an input, in base units of the sold token."""
        return mul_div_up(amount_in, self.fee_ppm, PPM)

    def taken_of_output(self, plain: Concentrated, amount_in: int) -> int:
        """Return the fee on an input, in base units of the bought token at the price of `plain`."""
        fee, price = self.taken_of_input(amount_in), plain.sqrt_price_x96
        if self.token_is_first:  # token1 is sold
            return mul_div_up(mul_div_up(fee, Q96, price), Q96, price)
        return mul_div_up(mul_div_up(fee, price, Q96), price, Q96)

    def rate(self, plain: Concentrated) -> float:
        """Return `taken_of_output` per unit of the input, in floating point."""
        price = (plain.sqrt_price_x96 / Q96) ** 2
        return self.fee_ppm / PPM * (1.0 / price if self.token_is_first else price)

    def state(self) -> dict[str, object]:
        """Return the object that `read_fee_in_token` reads."""
        return self._asdict()


def read_fee_in_token(fields: StateFields) -> FeeInToken | None:
    """Read the optional `fee_in_token: {token_is_first, fee_ppm}`. Raises `InvalidPoolState`."""
    if not fields.has(_FIELD):
        return None
    nested = fields.nested(_FIELD)
    return FeeInToken(nested.boolean("token_is_first"), nested.integer("fee_ppm", 0, PPM - 1))
