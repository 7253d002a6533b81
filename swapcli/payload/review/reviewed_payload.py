"""A payload with what is known of it, and the words in which warnings show that."""

from __future__ import annotations

from collections.abc import Mapping

from swapcli.core.model.decoded_call import DecodedCall
from swapcli.core.model.finding import Finding, Level, at_level
from swapcli.core.model.network import Kind, Network
from swapcli.core.model.state_source import StateSource
from swapcli.core.model.swap_terms import Integrator
from swapcli.core.model.token import Token, whole_tokens
from swapcli.core.networks.address import display_address
from swapcli.core.records import NamedTuple
from swapcli.payload.decode.given_transaction import GivenTransaction
from swapcli.payload.review.decoded_replay import ReviewedSwap


class Signing(NamedTuple):
    """What is known of the transaction beside the calldata; addresses canonical, `value` in wei.

    `recipient` is who shall receive the output, by default the sender. `integrator` may earn on the swap.
    """

    to: str | None = None
    value: int | None = None
    sender: str | None = None
    recipient: str | None = None
    integrator: Integrator | None = None


class SlippageLimits(NamedTuple):
    """How far the minimum may be below a fresh quote before it gives a warning, and before it is dangerous."""

    slippage_ppm: int
    max_slippage_ppm: int


class ReviewedTransaction(NamedTuple):
    """A transaction of a document, with its address canonical, and its decoded call."""

    given: GivenTransaction
    call: DecodedCall


class PayloadReview(NamedTuple):
    """A call with all known facts. `tokens` are the known tokens by address; the zero address is the native token.

    `transactions` are all of the document that the call belongs to, if it lists them.
    `fresh_amount_out` is what a fresh quote of the order pays, on the state of `state`, after the fee of the integrator
    that is meant, but before what strangers take; None without one.
    """

    call: DecodedCall
    network: Network | None
    signing: Signing
    tokens: Mapping[str, Token]
    swaps: tuple[ReviewedSwap, ...]
    fresh_amount_out: int | None
    state: StateSource | None
    warnings: tuple[Finding, ...]
    transactions: tuple[ReviewedTransaction, ...] = ()

    @property
    def kind(self) -> Kind:
        """The kind of the network, EVM if the network is unknown."""
        return self.network.kind if self.network else Kind.EVM

    @property
    def dangers(self) -> tuple[str, ...]:
        """The codes that block: the payload is dangerous to sign. Each is listed once."""
        return tuple(dict.fromkeys(each.code for each in at_level(self.warnings, Level.BLOCK)))

    @property
    def doubts(self) -> tuple[str, ...]:
        """The codes that warn: they rule out the verdict "no danger found". Each is listed once."""
        return tuple(dict.fromkeys(each.code for each in at_level(self.warnings, Level.WARN)))

    @property
    def minimum_gap(self) -> float | None:
        """How far the minimum is below the fresh quote, as a fraction of it; None without a fresh quote."""
        if self.call.order is None or not self.fresh_amount_out:
            return None
        return 1 - self.call.order.min_received / self.fresh_amount_out

    @property
    def ends(self) -> tuple[str, ...]:
        """The tokens that the order sells and buys; none without an order."""
        order = self.call.order
        return (order.token_in, order.token_out) if order else ()

    def find_token(self, address: str, *, is_native: bool = False) -> Token | None:
        """Return a token of the call; None if it is unknown."""
        return self.network.native if is_native and self.network else self.tokens.get(address)

    def wrapped(self, address: str) -> str:
        """Return the address by which pools know a token."""
        return self.network.to_wrapped(address) if self.network else address

    def shown(self, address: str | None) -> str:
        """Return an address as people see it."""
        return display_address(address or "", self.kind)

    def symbol(self, address: str) -> str:
        """Return the symbol of a token, its address if it is unknown."""
        token = self.tokens.get(address)
        return token.symbol if token else self.shown(address) if address else ""

    def amount(self, amount: int, address: str) -> str:
        """Return an amount of a token in words, base units if the token is unknown."""
        token = self.tokens.get(address)
        return f"{whole_tokens(amount, token.decimals)} {token.symbol}" if token else str(amount)
