"""A payload with the known facts about it, and the wording of these facts in warnings."""

from __future__ import annotations

from collections.abc import Mapping

from swapcli.core.errors import SwapcliError
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


class FactNames(NamedTuple):
    """The names under which a user gives the facts about a transaction: by default, the options of `swapcli decode`."""

    to: str = "--to"
    value: str = "--value"
    sender: str = "--from"
    recipient: str = "--destination"


class Signing(NamedTuple):
    """The known facts about the transaction besides the calldata; addresses are canonical, `value` is in wei.

    `recipient` is the intended recipient of the output, by default the sender. `integrator` may earn on the swap.
    Warnings about missing facts have their `names`.
    """

    to: str | None = None
    value: int | None = None
    sender: str | None = None
    recipient: str | None = None
    integrator: Integrator | None = None
    names: FactNames = FactNames()


class SlippageLimits(NamedTuple):
    """How far the minimum may be below a fresh quote before a warning, and before the payload counts as dangerous."""

    slippage_ppm: int
    max_slippage_ppm: int


class ReviewedTransaction(NamedTuple):
    """A transaction in a document, with its address in canonical form, and its decoded call."""

    given: GivenTransaction
    call: DecodedCall


class PayloadReview(NamedTuple):
    """A call with all known facts. `tokens` are the known tokens by address; the zero address is the native token.

    `transactions` are all transactions in the call's document, if it lists them. `fresh_amount_out` is the output of a
    fresh quote for the order, on the state of `state`, after the intended integrator's fee but before strangers'
    shares; None without a quote. `quote_problem` is the reason why a quote failed.
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
    quote_problem: SwapcliError | None = None

    @property
    def kind(self) -> Kind:
        """The kind of the network; EVM if the network is unknown."""
        return self.network.kind if self.network else Kind.EVM

    @property
    def dangers(self) -> tuple[str, ...]:
        """The codes of findings that block, without duplicates. They make the payload dangerous to sign."""
        return tuple(dict.fromkeys(each.code for each in at_level(self.warnings, Level.BLOCK)))

    @property
    def doubts(self) -> tuple[str, ...]:
        """The codes of findings that warn, without duplicates. They rule out the verdict "no danger found"."""
        return tuple(dict.fromkeys(each.code for each in at_level(self.warnings, Level.WARN)))

    @property
    def minimum_gap(self) -> float | None:
        """How far the minimum is below the fresh quote, as a fraction; None without a fresh quote."""
        if self.call.order is None or not self.fresh_amount_out:
            return None
        return 1 - self.call.order.min_received / self.fresh_amount_out

    @property
    def ends(self) -> tuple[str, ...]:
        """The tokens that the order sells and buys; empty without an order."""
        order = self.call.order
        return (order.token_in, order.token_out) if order else ()

    def find_token(self, address: str, *, is_native: bool = False) -> Token | None:
        """Return a token of the call, or None if it is unknown."""
        return self.network.native if is_native and self.network else self.tokens.get(address)

    def wrapped(self, address: str) -> str:
        """Return the address under which pools list a token."""
        return self.network.to_wrapped(address) if self.network else address

    def shown(self, address: str | None) -> str:
        """Return an address in display form."""
        return display_address(address or "", self.kind)

    def symbol(self, address: str) -> str:
        """Return the symbol of a token, or its address if it is unknown."""
        token = self.tokens.get(address)
        return token.symbol if token else self.shown(address) if address else ""

    def amount(self, amount: int, address: str) -> str:
        """Return the text of an amount of a token, in base units if the token is unknown."""
        token = self.tokens.get(address)
        return f"{whole_tokens(amount, token.decimals)} {token.symbol}" if token else str(amount)
