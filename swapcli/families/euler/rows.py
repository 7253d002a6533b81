"""The row of EulerSwap's pools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from swapcli.families.row import (
    Event,
    FamilyRow,
    KindRow,
    RouterEncoding,
    RouterPoolKind,
    SwapAmounts,
    read_words,
    two_sided,
    v4_pool_key,
)


def _without_fees(log: Event) -> SwapAmounts:
    """Read the amounts of the first version, whose event has inputs without the fee."""
    in0, in1, out0, out1 = read_words(log, 4)
    amounts = two_sided(in0, in1, out0, out1)
    return amounts._replace(problem=amounts.problem or "its event leaves the fee out of the input")


def _with_fees(log: Event) -> SwapAmounts:
    """Read the amounts of the second version, whose event also has the fees of both tokens."""
    in0, in1, out0, out1, fee0, fee1 = read_words(log, 6)
    return two_sided(in0 + fee0, in1 + fee1, out0, out1)


FAMILIES: Final[Mapping[str, FamilyRow]] = {
    "euler_swap": FamilyRow(
        (
            *("version", "reserves", "equilibrium", "min_reserves", "prices", "concentrations", "fees", "debts"),
            *("deposit_capacity", "min_deposits", "output_limits", "secured_outputs", "manager_balances"),
            *("pool_manager", "v4_fee_ppm", "\nvaults"),
        ),
        # The pool is the hook of a Uniswap V4 pool.
        RouterEncoding(RouterPoolKind.SINGLETON, v4_pool_key),
    ),
}

KINDS: Final[Mapping[str, KindRow]] = {
    "euler_swap": KindRow(
        ("euler_swap",),
        swaps={
            "Swap(address,uint256,uint256,uint256,uint256,uint112,uint112,address)": _without_fees,
            "Swap(address,uint256,uint256,uint256,uint256,uint256,uint256,uint112,uint112,address)": _with_fees,
        },
        has_whole_list=True,
        unannounced="interest, limits and cash of its vaults",
    ),
}
