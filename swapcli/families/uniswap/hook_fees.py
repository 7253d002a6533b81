"""A Uniswap V4 hook's fees on a swap: the LP fee it sets, a part of the input, and a part of the output.

Most launchers' hooks take only these fees. Their fees in each direction are read at one block, and kept as the pool's
`hook_fees`.
"""

from __future__ import annotations

from swapcli.core.annotations import Final
from swapcli.core.errors import InvalidPoolState
from swapcli.core.model.units import PPM, WAD
from swapcli.core.records import NamedTuple
from swapcli.families.protocol_fees import with_protocol_fee
from swapcli.families.rounding import mul_div_up
from swapcli.families.state_fields import StateFields
from swapcli.families.uniswap.concentrated_state import ZERO_ADDRESS, TickList
from swapcli.families.uniswap.v4_hooks import may_set_fee, may_take_input, may_take_output

_FIELD: Final = "hook_fees"


class DirectionFees(NamedTuple):
    """The fees of one direction: the LP fee in ppm, and the hook's parts as fractions scaled by 10^18, rounded down.

    `cut_ppm` is for hooks that take a part of the LP fee for themselves before the pool takes the total fee from the
    rest. That part is rounded up, and the fee is rounded according to `cut_rounds_up`.

    Example: `DirectionFees(3_000, 0, 10**16).taken_of_output(250)` is 2.
    """

    lp_fee_ppm: int
    input_fee: int = 0
    output_fee: int = 0
    cut_ppm: int = 0
    cut_rounds_up: bool = False

    @property
    def takes_input(self) -> bool:
        """Whether the hook takes a part of the input."""
        return bool(self.input_fee or self.cut_ppm)

    @property
    def input_part(self) -> float:
        """The fraction of an input that remains after the hook has taken its part."""
        return 1.0 - self.input_fee / WAD - self.lp_fee_ppm / PPM * (self.cut_ppm / PPM)

    def taken_of_input(self, amount_in: int) -> int:
        """Return the amount that the hook takes before the swap."""
        taken = amount_in * self.input_fee // WAD
        if self.cut_ppm:
            round_up = PPM - 1 if self.cut_rounds_up else 0
            taken += mul_div_up((amount_in * self.lp_fee_ppm + round_up) // PPM, self.cut_ppm, PPM)
        return taken

    def taken_of_output(self, amount_out: int) -> int:
        """Return the amount that the hook takes after the swap."""
        return amount_out * self.output_fee // WAD


class HookFees(NamedTuple):
    """The fees for selling token0 and for selling token1."""

    sell_token0: DirectionFees
    sell_token1: DirectionFees

    def of_direction(self, *, down: bool) -> DirectionFees:
        """Return the fees for selling token0 (`down`) or token1."""
        return self.sell_token0 if down else self.sell_token1

    def state(self) -> dict[str, object]:
        """Return the object in the form that `read_hook_fees` reads."""
        state: dict[str, object] = {
            "lp_fees_ppm": [each.lp_fee_ppm for each in self],
            "input_fees": [str(each.input_fee) for each in self],
            "output_fees": [str(each.output_fee) for each in self],
        }
        if any(each.cut_ppm for each in self):
            state |= {"cuts_ppm": [each.cut_ppm for each in self], "cuts_round_up": self.sell_token0.cut_rounds_up}
        return state


def read_hook_fees(fields: StateFields, tick_list: TickList, fee_ppm: int) -> HookFees:
    """Read `hook_fees: {lp_fees_ppm, input_fees, output_fees}`, each for selling token0 and token1.

    Optional: `cuts_ppm`, the hook's parts of the LP fees, and `cuts_round_up`, a boolean for both. Raises
    `InvalidPoolState`, also for fees that the hook has no permission to take. `fee_ppm` is the fee of the pool.
    """
    nested = fields.nested(_FIELD)
    lp_fees_ppm = nested.integers("lp_fees_ppm", 2, 0, PPM - 1)
    input_fees, output_fees = (nested.integers(name, 2, 0, WAD - 1) for name in ("input_fees", "output_fees"))
    cuts_ppm: tuple[int, ...] = (0, 0)
    rounds_up = False
    if nested.has("cuts_ppm"):
        cuts_ppm, rounds_up = nested.integers("cuts_ppm", 2, 0, PPM), nested.boolean("cuts_round_up")
    parts = zip(lp_fees_ppm, input_fees, output_fees, cuts_ppm, strict=True)
    sell_token0, sell_token1 = (DirectionFees(*each, rounds_up and bool(each[-1])) for each in parts)
    fees = HookFees(sell_token0, sell_token1)
    check_hook_fees(fees, tick_list, fee_ppm, _FIELD)
    return fees


def check_hook_fees(fees: HookFees, tick_list: TickList, fee_ppm: int, field: str) -> None:
    """Raise `InvalidPoolState` for fees, from a field of the state, that the hook has no permission to take."""
    hooks = tick_list.hooks
    if hooks == ZERO_ADDRESS or tick_list.parameters:
        raise InvalidPoolState("hooks", "missing, but this family has only Uniswap V4 pools with a hook")
    if any(each.lp_fee_ppm != fee_ppm for each in fees) and not (tick_list.has_dynamic_fee and may_set_fee(hooks)):
        raise InvalidPoolState(f"{field}.lp_fees_ppm", f"{hooks} cannot change the fee of {fee_ppm} ppm")
    if any(each.takes_input for each in fees) and not may_take_input(hooks):
        raise InvalidPoolState(f"{field}.input_fees", f"{hooks} has no permission to take them")
    if any(each.input_part <= 0.0 for each in fees):
        raise InvalidPoolState(
            f"{field}.cuts_ppm", "together with the hook's other fee on the input, it takes the whole input"
        )
    if any(each.output_fee for each in fees) and not may_take_output(hooks):
        raise InvalidPoolState(f"{field}.output_fees", f"{hooks} has no permission to take them")
    for position, (each, protocol_fee_ppm) in enumerate(zip(fees, tick_list.protocol_fees_ppm, strict=True)):
        if with_protocol_fee(each.lp_fee_ppm, protocol_fee_ppm) >= PPM:
            raise InvalidPoolState(
                f"{field}.lp_fees_ppm[{position}]", "together with the protocol's fee, it takes the whole input"
            )
