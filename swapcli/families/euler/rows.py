"""The `FAMILIES` and `KINDS` rows for EulerSwap's pools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from swapcli.core.encoding.abi import invalid_field
from swapcli.core.model.pool import Pool
from swapcli.core.model.units import WAD
from swapcli.families.row import (
    Event,
    FamilyRow,
    KindRow,
    RouterEncoding,
    RouterPoolKind,
    SwapAmounts,
    SwapPart,
    read_address,
    read_words,
    two_sided,
    v4_pool_key,
)

_WITHOUT_FEE: Final = "its event leaves the fee out of the input"


def _without_fees(log: Event) -> SwapAmounts:
    """Read the amounts of the first version, whose event has inputs without the fee."""
    in0, in1, out0, out1 = read_words(log, 4)
    amounts = two_sided(in0, in1, out0, out1)
    return amounts._replace(problem=amounts.problem or _WITHOUT_FEE)


def _add_fee(pool: Pool, amounts: SwapAmounts) -> SwapAmounts:
    """Return the amounts with the smallest input that leaves this much after the fee."""
    fees = pool.state()["fees"]
    if amounts.problem != _WITHOUT_FEE or not isinstance(fees, list) or not isinstance(amounts.sold, int):
        return amounts
    net, fee = amounts.amount_in, int(fees[amounts.sold])
    amount_in = net * WAD // (WAD - fee)
    while amount_in - amount_in * fee // WAD < net:
        amount_in += 1
    return amounts._replace(amount_in=amount_in, fee_in=amount_in - net, problem="")


def _with_fees(log: Event) -> SwapAmounts:
    """Read the amounts of the second version, whose event also has the fees of both tokens."""
    in0, in1, out0, out1, fee0, fee1 = read_words(log, 6)
    return two_sided(in0 + fee0, in1 + fee1, out0, out1)._replace(fee_in=fee0 + fee1)


def _deposit(log: Event, pool: str) -> SwapPart:
    """Read the pool's deposit. Raises `InvalidInput` for a deposit by someone else."""
    if read_address(int(log.topics[1], 16), "Deposit") != pool:
        raise invalid_field("sender", "not the pool")
    return SwapPart(amount_in=read_words(log, 1, "Deposit")[0])


def _repayment(log: Event, pool: str) -> SwapPart:
    del pool
    return SwapPart(amount_in=read_words(log, 1, "Repay")[0])


def _payment(log: Event, pool: str) -> SwapPart:
    """Read the amount that a vault has paid out, as a withdrawal or as a loan."""
    del pool
    return SwapPart(amount_out=read_words(log, 1, "Withdraw")[0])


FAMILIES: Final[Mapping[str, FamilyRow]] = {
    "euler_swap": FamilyRow(
        (
            *("version", "reserves", "equilibrium", "min_reserves", "prices", "concentrations", "fees", "debts"),
            *("deposit_capacity", "min_deposits", "output_limits", "deposits", "collateral", "collateral_rates"),
            *("fee_paid_out", "manager_balances", "pool_manager", "v4_fee_ppm", "vaults"),
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
        parts={
            "Deposit(address,address,uint256,uint256)": _deposit,
            "Repay(address,uint256)": _repayment,
            "Withdraw(address,address,address,uint256,uint256)": _payment,
            "Borrow(address,uint256)": _payment,
        },
        harmless=(
            "VaultStatus(uint256,uint256,uint256,uint256,uint256,uint256,uint256)",
            "InterestAccrued(address,uint256)",
        ),
        add_fee=_add_fee,
        unannounced="interest, limits and cash of its vaults",
    ),
}
