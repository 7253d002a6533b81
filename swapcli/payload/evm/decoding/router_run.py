"""Run the commands of a Universal Router in order, and bound the amounts that any successful execution moves.

Pools may pay anything that the router's checks allow. So a minimum is credited when a swap pays it and debited when the
token is spent: the balance that remains at a payment is the amount that the payment guarantees. Tokens that strangers
left in the router never count, and neither does an output above its minimum.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from swapcli.core.model.decoded_call import SENDER, WHOLE_E18
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.payload.evm.universal_router.commands import ROUTER

ALL: Final = -1
"""The amount that means a whole balance, credit or debt."""
_UNKNOWN: Final = 1 << 256
"""A bound for payments limited only by the router's balance: more than any token has."""


class RouterRun:
    """Lower bounds on the router's balances and payments, and upper bounds on the sender's payments; all in base units.

    `value` is the transaction's value in wei. Currencies are addresses, zero for the native one.

    Example: after `swap(usdc, weth, 5, 3, ROUTER, pulls=True)`, `transfer(weth, stranger, 2)` and
    `sweep(weth, SENDER, 0)`, the call guarantees 1 of WETH: `received(SENDER, weth)`.
    """

    def __init__(self, value: int) -> None:
        self._balances = {ZERO_ADDRESS: value}
        self._deltas: dict[str, int] = {}  # in the V4 pool manager: credits are positive, debts negative
        self._paid: dict[tuple[str, str], int] = {}
        self._pulled: dict[str, int] = {}

    def received(self, recipient: str, token: str) -> int:
        """Return the smallest total amount of a token that a recipient gets."""
        return self._paid.get((recipient, token), 0)

    def pulled(self, tokens: Iterable[str]) -> int:
        """Return the largest amount of the tokens that is taken from the sender, besides the value."""
        return sum(self._pulled.get(token, 0) for token in tokens)

    # --- commands that may not happen

    def copy(self) -> RouterRun:
        """Return a separate run that continues from here."""
        other = RouterRun(0)
        other._balances, other._deltas = dict(self._balances), dict(self._deltas)
        other._paid, other._pulled = dict(self._paid), dict(self._pulled)
        return other

    def join(self, other: RouterRun) -> None:
        """Keep only the bounds that hold both in this run and in `other`."""
        self._balances = {token: min(have, other._balances.get(token, 0)) for token, have in self._balances.items()}
        self._paid = {key: min(paid, other._paid.get(key, 0)) for key, paid in self._paid.items()}
        tokens = self._pulled.keys() | other._pulled.keys()
        self._pulled = {token: max(self._pulled.get(token, 0), other._pulled.get(token, 0)) for token in tokens}

    def forget_balances(self) -> None:
        """Account for a command with an unknown effect: the router may have nothing afterwards."""
        self._balances.clear()
        self._deltas.clear()

    # --- payments

    def pull(self, token: str, recipient: str, amount: int) -> None:
        """Move an amount from the sender to a recipient."""
        self._pulled[token] = self._pulled.get(token, 0) + amount
        self._pay(token, recipient, amount)

    def sweep(self, token: str, recipient: str, minimum: int) -> None:
        """Pay the whole balance of a token. The call reverts if the balance is less than `minimum`."""
        self._pay(token, recipient, max(minimum, self._take(token, ALL)))

    def transfer(self, token: str, recipient: str, amount: int) -> None:
        """Pay exactly an amount of a token."""
        self._take(token, amount)
        self._pay(token, recipient, amount)

    def pay_share(self, token: str, recipient: str, share_e18: int) -> None:
        """Pay a share of the balance of a token, rounded down."""
        share = self._balances.get(token, 0) * min(share_e18, WHOLE_E18) // WHOLE_E18
        self._take(token, share)
        self._pay(token, recipient, share)

    def convert(self, token: str, other: str, recipient: str, amount: int, minimum: int = 0) -> None:
        """Wrap or unwrap an amount of a token, or its whole balance. The call reverts if that is less than
        `minimum`."""
        taken = self._take(token, amount)
        self._pay(other, recipient, max(minimum, taken if amount == ALL else amount))

    def _take(self, token: str, amount: int) -> int:
        """Take an amount from the router's balance, and return the guaranteed part of it."""
        have = self._balances.get(token, 0)
        taken = have if amount == ALL else min(have, amount)
        self._balances[token] = have - taken
        return taken

    def _pay(self, token: str, recipient: str, minimum: int) -> None:
        if recipient == ROUTER:
            self._balances[token] = self._balances.get(token, 0) + minimum
        else:
            self._paid[recipient, token] = self._paid.get((recipient, token), 0) + minimum

    # --- swaps of V2 and V3

    def swap(self, token_in: str, token_out: str, amount_in: int, minimum: int, recipient: str, *, pulls: bool) -> None:
        """Swap an amount (for an exact output, the maximum) for at least `minimum`, or revert."""
        if pulls:
            self._pulled[token_in] = self._pulled.get(token_in, 0) + (_UNKNOWN if amount_in == ALL else amount_in)
        else:
            self._take(token_in, amount_in)
        self._pay(token_out, recipient, minimum)

    # --- V4: swaps change what the pool manager owes or is owed, which is zero at the end

    def v4_swap(self, token_in: str, token_out: str, amount_in: int, minimum: int) -> None:
        """Swap an amount, or the whole credit, for at least `minimum`, or revert."""
        credit = self._deltas.get(token_in, 0)
        self._deltas[token_in] = 0 if amount_in == ALL else credit - amount_in
        self._deltas[token_out] = self._deltas.get(token_out, 0) + minimum

    def v4_exact_out(self, token_in: str, maximum: int) -> None:
        """Swap at most `maximum`, or revert. A pool that runs out of liquidity pays less than the exact output."""
        self._deltas[token_in] = self._deltas.get(token_in, 0) - maximum

    def v4_settle(self, token: str, amount: int, *, pulls: bool) -> None:
        """Pay an amount, or the whole debt, to the pool manager."""
        debt = max(0, -self._deltas.get(token, 0))
        self._settle(token, debt if amount == ALL else amount, pulls=pulls)
        self._deltas[token] = 0 if amount == ALL else self._deltas.get(token, 0) + amount

    def v4_settle_up_to(self, token: str, maximum: int) -> None:
        """Pay the whole debt with the sender's tokens. The call reverts if the debt is above `maximum`."""
        self._settle(token, min(maximum, max(0, -self._deltas.get(token, 0))), pulls=True)
        self._deltas[token] = 0

    def v4_settle_balance(self, token: str, *, pulls: bool) -> None:
        """Pay the router's whole balance to the pool manager."""
        have = self._balances.get(token, 0)
        self._deltas[token] = self._deltas.get(token, 0) + have
        if pulls and token != ZERO_ADDRESS:
            self._pulled[token] = self._pulled.get(token, 0) + _UNKNOWN
        else:
            self._take(token, ALL)

    def _settle(self, token: str, amount: int, *, pulls: bool) -> None:
        if pulls and token != ZERO_ADDRESS:  # which the router always pays itself
            self._pulled[token] = self._pulled.get(token, 0) + amount
        else:
            self._take(token, amount)

    def v4_take(self, token: str, recipient: str, amount: int) -> None:
        """Take exactly an amount, or the whole credit."""
        credit = self._deltas.get(token, 0)
        self._pay(token, recipient, max(0, credit) if amount == ALL else amount)
        self._deltas[token] = 0 if amount == ALL else credit - amount

    def v4_take_all(self, token: str, minimum: int) -> None:
        """Take the whole credit for the sender. The call reverts if the credit is less than `minimum`."""
        self._pay(token, SENDER, max(minimum, self._deltas.get(token, 0)))
        self._deltas[token] = 0

    def v4_take_share(self, token: str, recipient: str, share_e18: int) -> None:
        """Take a share of the credit, rounded down."""
        credit = max(0, self._deltas.get(token, 0))
        share = credit * min(share_e18, WHOLE_E18) // WHOLE_E18
        self._pay(token, recipient, share)
        self._deltas[token] = credit - share

    def end_v4(self) -> None:
        """End a V4 command. The call reverts if any balance is left."""
        self._deltas.clear()
