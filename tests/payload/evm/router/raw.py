"""Send router calls that the program's encoder would refuse."""

from __future__ import annotations

from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import RouterCall
from swapcli.testing.evm import RevertedError
from tests.chain.contract_fixture import WETH, ContractFixture
from tests.payload.evm.router.driving import ALICE

_UNLIMITED = 2**256 - 1


def send_raw(fixture: ContractFixture, call: RouterCall, *, value: int | None = None, sender: str = ALICE) -> int:
    """Send any call unchecked and return the router's result. Raises `RevertedError`."""
    due = call.route.amount_in if call.route.swap_type == SwapType.NATIVE_TO_TOKEN else 0
    arguments: list[object] = [tuple(call.route), [tuple(swap)[:7] for swap in call.swaps]]
    function = "swap"
    if call.integrator_data:
        function, arguments = "swapIntegrator", [*arguments, call.integrator_data]
    (paid_out,) = fixture.router.send(function, *arguments, value=due if value is None else value, sender=sender)
    return int(paid_out)


def raw_refusal(fixture: ContractFixture, call: RouterCall, *, value: int | None = None) -> bytes:
    """Return the error data of Alice's call, which must revert although she has the input and approved more."""
    with fixture.chain.revert_after():
        fixture.chain.fund(ALICE, min(2 * call.route.amount_in, 2**128) + 10**18)
        found = (each for each, contract in fixture.contracts.items() if contract.address == call.route.token_in)
        if symbol := next(found, None):
            if symbol == WETH:
                fixture.contracts[WETH].send("deposit", value=call.route.amount_in, sender=ALICE)
            else:
                fixture.give(symbol, ALICE, call.route.amount_in)
            fixture.contracts[symbol].send("approve", fixture.router.address, _UNLIMITED, sender=ALICE)
        try:
            send_raw(fixture, call, value=value)
        except RevertedError as reverted:
            return reverted.data
    raise AssertionError("the call went through")
