"""Track a router's balances during one call, as far as the call determines them.

Example: after `pull(usdc, 5)`, `receive(usdc, 5, 0)`, `spend(usdc, ALL)` and `pay(weth, recipient, 3)`, the order sells
5 of USDC for at least 3 of WETH, and nothing is left in the router.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from swapcli.core.model.decoded_call import (
    SENDER,
    WHOLE_E18,
    DecodedFee,
    DecodedOrder,
    DecodedPayment,
    DecodedSwap,
)
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.units import E18_PER_BPS
from swapcli.core.records import NamedTuple
from swapcli.payload.evm.decoding.router_run import ALL

_SOME_WRAPPED: Final = "wrapped"
"""A placeholder for the wrapped native token while the network, and thus the address, is unknown."""


class _Payout(NamedTuple):
    """A payment of at least `minimum` to a recipient. For transfers and fees, `payment` has the exact amount."""

    token: str
    recipient: str
    minimum: int
    is_from_swap: bool = False
    payment: DecodedPayment | None = None


class LedgerOrder(NamedTuple):
    """The order in a call (None if it pays no one), and all other payments by the router.

    `sold` has the currencies that the sender pays, in both forms for the native one; `bought` is the one that the
    recipient gets.
    """

    order: DecodedOrder | None
    fee: DecodedFee | None
    payments: tuple[DecodedPayment, ...]
    oddities: tuple[str, ...]
    sold: frozenset[str] = frozenset()
    bought: str = ""


class RouterLedger:
    """The balances of a router during a call: an amount if the call determines it, None if only pools do.

    `wrapped` is the wrapped native token, None if unknown; `value` is the transaction's value in wei, None if unknown.
    """

    def __init__(self, wrapped: str | None, value: int | None) -> None:
        self._wrapped, self._value = wrapped, value
        self._balances: dict[str, int | None] = {}
        self._minimums: dict[str, int] = {}
        self._payouts: list[_Payout] = []
        self._paid_in: list[tuple[str, int]] = []
        self._oddities: list[str] = []
        self._has_unspent_value = False  # native currency in the router is the amount that earlier swaps have not spent

    @property
    def wrapped(self) -> str:
        """The wrapped native token, or a placeholder while it is unknown."""
        return self._wrapped or _SOME_WRAPPED

    def is_native(self, token: str) -> bool:
        """Return whether a token is the native currency."""
        return token == ZERO_ADDRESS

    # --- what comes in

    def pull(self, token: str, amount: int) -> None:
        """Take an amount from the sender, 0 if unknown."""
        self._paid_in.append((token, amount))

    def receive(self, token: str, amount: int | None, minimum: int) -> None:
        """Add an amount to the router's balance (None if only a pool determines it), at least `minimum`."""
        before = self._balances.get(token, 0)
        self._balances[token] = None if amount is None or before is None else before + amount
        self._has_unspent_value &= token != ZERO_ADDRESS
        self._minimums[token] = self._minimums.get(token, 0) + minimum

    # --- what the router spends

    def spend(self, token: str, amount: int, *, is_maximum: bool = False) -> int | None:
        """Spend an amount of the router's balance, or at most that amount.

        Return the amount, or None if only pools determine it.
        """
        if token not in self._balances or (token == ZERO_ADDRESS and self._has_unspent_value):
            self._bring_in(token, amount)
        self._minimums.pop(token, None)
        before = self._balances.get(token, 0)
        if amount == ALL:
            self._balances.pop(token, None)
            return before
        if is_maximum or before is None:
            self._balances[token] = None
        else:
            self._balances[token] = before - amount
            if before <= amount:
                del self._balances[token]
        return amount

    def _bring_in(self, token: str, amount: int) -> None:
        """Account for a token that no earlier command has brought to the router."""
        if token == ZERO_ADDRESS:
            self._take_value(amount)
        elif self._wrapped is None and _SOME_WRAPPED in self._balances:
            self._wrapped = token
            self._balances[token] = self._balances.pop(_SOME_WRAPPED)
        else:
            self._paid_in.append((token, max(amount, 0)))
            self._oddities.append(f"the router pays with {token}, which it does not receive in this call")

    def _take_value(self, amount: int) -> None:
        spent = sum(each for token, each in self._paid_in if token == ZERO_ADDRESS)
        left = max(0, (self._value or 0) - spent)
        taken = left if amount == ALL else amount
        self._paid_in.append((ZERO_ADDRESS, taken))
        self._balances[ZERO_ADDRESS] = taken
        self._has_unspent_value = True

    def take_prepaid(self, token: str) -> str | None:
        """Return the contract that the router has just paid for the next swap, or None if there is none."""
        if token in self._balances or not self._payouts or self._payouts[-1].token != token:
            return None
        return self._payouts.pop().recipient

    # --- what leaves

    def pay(self, token: str, recipient: str, minimum: int) -> None:
        """Pay a swap's output, at least `minimum`, directly from the pools."""
        self._payouts.append(_Payout(token, recipient, minimum, is_from_swap=True))

    def sweep(self, token: str, recipient: str, minimum: int) -> None:
        """Pay the whole balance of a token, at least `minimum`."""
        self._balances.pop(token, None)
        self._payouts.append(_Payout(token, recipient, max(minimum, self._minimums.pop(token, 0))))

    def transfer(self, token: str, recipient: str, amount: int) -> None:
        """Pay an amount of a token."""
        self._minimums[token] = max(0, self._minimums.get(token, 0) - amount)
        payment = DecodedPayment(token, recipient, amount=amount)
        self._payouts.append(_Payout(token, recipient, amount, payment=payment))

    def pay_share(self, token: str, recipient: str, share_e18: int) -> None:
        """Pay a share of the balance of a token."""
        minimum = self._minimums.get(token, 0)
        self._minimums[token] = max(0, minimum - minimum * share_e18 // WHOLE_E18)
        self.note_share(token, recipient, share_e18)

    def note_share(self, token: str, recipient: str, share_e18: int) -> None:
        """Record the payment of a share of a token's balance that is in the pools, not in the router."""
        payment = DecodedPayment(token, recipient, share_e18=share_e18)
        self._payouts.append(_Payout(token, recipient, 0, payment=payment))

    def wrap(self, recipient: str | None, amount: int) -> None:
        """Wrap native currency for a recipient; None means the router itself."""
        minimum = self._minimums.pop(ZERO_ADDRESS, 0)
        wrapped = self.spend(ZERO_ADDRESS, amount)
        token = self._wrapped or _SOME_WRAPPED
        if recipient is None:
            self.receive(token, wrapped, minimum)
        else:
            self._payouts.append(_Payout(token, recipient, max(wrapped or 0, minimum)))

    def unwrap(self, recipient: str | None, minimum: int) -> None:
        """Unwrap the whole balance, at least `minimum`, for a recipient; None means the router itself."""
        token = self._wrapped
        if token is None:
            token = next(reversed([each for each in self._balances if each != ZERO_ADDRESS]), _SOME_WRAPPED)
            if token != _SOME_WRAPPED:
                self._wrapped = token
        amount = self._balances.pop(token, None)
        least = max(minimum, self._minimums.pop(token, 0))
        if recipient is None:
            self.receive(ZERO_ADDRESS, amount, least)
        else:
            self._payouts.append(_Payout(ZERO_ADDRESS, recipient, least))

    # --- the order

    def order(self, swaps: Sequence[DecodedSwap], deadline_s: int | None) -> LedgerOrder:
        """Return the order in the call, and all other payments by the router."""
        if not self._payouts:
            self._oddities.append("no command pays anyone")
            return LedgerOrder(None, None, (), tuple(dict.fromkeys(self._oddities)))
        token_in, amount_in = self._input()
        bought = self._find_bought(swaps, token_in)
        outputs = [each for each in self._payouts if each.payment is None and self._norm(each.token) == bought]
        if not outputs:
            self._oddities.append("the output of the swaps is not paid to anyone")
            outputs = [each for each in self._payouts if each.payment is None] or self._payouts
        recipient = self._find_recipient(outputs)
        own = [each for each in outputs if each.recipient == recipient]
        token_out = max(reversed(own), key=lambda each: each.minimum).token
        minimum = sum(each.minimum for each in own)
        minimum += sum(
            each.minimum
            for each in self._payouts
            if each.payment and each.recipient == recipient and self._norm(each.token) == bought
        )
        payments = tuple(self._other_payments(recipient, token_in, bought))
        self._note_leftovers()
        is_native_in, is_native_out = token_in == ZERO_ADDRESS, token_out == ZERO_ADDRESS
        order = DecodedOrder(
            token_in=self._shown(token_in),
            token_out=self._shown(token_out),
            amount_in=amount_in,
            min_received=minimum,
            recipient=recipient,
            is_native_in=is_native_in,
            is_native_out=is_native_out,
            deadline_s=deadline_s,
            has_deadline=True,
        )
        oddities = tuple(dict.fromkeys(self._oddities))
        sold = self._forms(token_in)
        return LedgerOrder(order, self._fee(payments, bought), payments, oddities, sold, token_out)

    def _input(self) -> tuple[str, int]:
        """Return the token and the amount that the sender pays; the amount is 0 if the call does not contain it."""
        if not self._paid_in:
            return ZERO_ADDRESS, 0
        first = self._paid_in[0][0]
        if any(token != first for token, _ in self._paid_in):
            self._oddities.append("several tokens are taken from the sender")
        return first, sum(amount for token, amount in self._paid_in if token == first)

    def _find_bought(self, swaps: Sequence[DecodedSwap], token_in: str) -> str:
        """Return the token, in its wrapped form if native, that the swaps buy and do not sell again."""
        if not swaps:  # the native currency is wrapped or unwrapped
            return self._norm(token_in)
        sold = {self._norm(swap.token_in) for swap in swaps}
        bought = [self._norm(swap.token_out or "") for swap in swaps]
        ends = list(dict.fromkeys(token for token in bought if token not in sold))
        if len(ends) > 1:
            self._oddities.append("the output is paid in several tokens")
        return ends[-1] if ends else bought[-1]

    @staticmethod
    def _find_recipient(outputs: Sequence[_Payout]) -> str:
        """Return the recipient of most of the output; the last one if several are equal."""
        minimums: dict[str, int] = {}
        for each in reversed(outputs):
            minimums[each.recipient] = minimums.get(each.recipient, 0) + each.minimum
        return max(minimums, key=lambda each: minimums[each])

    def _other_payments(self, recipient: str, token_in: str, bought: str) -> Iterator[DecodedPayment]:
        """Yield all payments to others; leftovers that go to the recipient or the sender are not included."""
        for each in self._payouts:
            if each.recipient in (recipient, SENDER):
                is_expected = self._norm(each.token) in (bought, self._norm(token_in))
                if each.payment is None and not is_expected and (each.minimum or each.is_from_swap):
                    self._oddities.append("the output is paid in several tokens")
                continue
            yield each.payment or DecodedPayment(each.token, each.recipient, share_e18=WHOLE_E18)

    def _fee(self, payments: Sequence[DecodedPayment], bought: str) -> DecodedFee | None:
        """Return the first payment of a share of the output."""
        for each in payments:
            share_e18 = each.share_e18
            if share_e18 is not None and share_e18 < WHOLE_E18 and self._norm(each.token) == bought:
                exact, rest = divmod(share_e18, E18_PER_BPS)
                return DecodedFee(each.recipient, share_e18 / E18_PER_BPS if rest else exact)
        return None

    def _note_leftovers(self) -> None:
        for token, amount in self._balances.items():
            if amount != 0:
                shown = "the native currency" if token == ZERO_ADDRESS else self._shown(token)
                self._oddities.append(f"some of {shown} stays in the router, where anyone can take it")

    def _forms(self, token: str) -> frozenset[str]:
        """Return a token, with the other form of the native currency."""
        is_native = self._norm(token) == self._norm(ZERO_ADDRESS)
        return frozenset({ZERO_ADDRESS, self.wrapped} if is_native else {token})

    def _norm(self, token: str) -> str:
        return self._wrapped or _SOME_WRAPPED if token in (ZERO_ADDRESS, _SOME_WRAPPED) else token

    def _shown(self, token: str) -> str:
        return (self._wrapped or ZERO_ADDRESS) if token in (ZERO_ADDRESS, _SOME_WRAPPED) else token
