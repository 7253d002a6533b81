"""Find the amount of an order in base units if it is given in dollars, or as a share of the sender's balance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from swapcli.core.errors import InsufficientBalance, InvalidAmount, NoRoute
from swapcli.core.model.market import Provenance
from swapcli.core.model.order import ZERO_ADDRESS, Order
from swapcli.core.model.token import Token, in_tokens
from swapcli.core.model.written_amount import WrittenAmount
from swapcli.core.records import NamedTuple
from swapcli.quoting.amount_notation import scaled_number
from swapcli.quoting.quote_results import LocalQuote, QuoteResult

if TYPE_CHECKING:
    from swapcli.core.model.quote_request import QuoteRequest
    from swapcli.quoting.sources.quote_source import QuoteSource
    from swapcli.state.rpc.node import BlockId, Node, StateOverrideNode
    from swapcli.state.rpc.rpc_node import RpcNode

_PROBED_TOKENS: Final = (1, 10**6)
"""Whole tokens sold to find the price: up to a million, for tokens that are worth next to nothing."""
_MAX_QUOTES: Final = 4
"""Quotes for a share of the balance: one to learn the gas, one to charge it, and two more if the chain moves on."""
_UNKNOWN_GAS: Final = 1_000_000
"""Assumed if a service does not report the gas: more than nearly all routes take."""
_GAS_MARGIN: Final = 3
"""Halves of our own gas limit: the node's estimate is used in the end. It was up to a fifth higher for a short route
whose recipient had none of the token, which takes a new storage slot."""
_L1_FEE_MARGIN: Final = 2
"""For the L1 data fee, whose price changes independently of the L2 fee; wallets reserve as much."""


class DollarAmount(NamedTuple):
    """A dollar amount converted to base units of a token, and the USD price per whole token that was used."""

    amount: int
    price_usd: float


def from_dollars(written: WrittenAmount, request: QuoteRequest, source: QuoteSource) -> DollarAmount:
    """Convert dollars to base units, rounded down, of the token whose amount the order specifies.

    The price is the market's spot price, determined by quoting a small sale. The order's own amount does not matter.
    Raises `InvalidAmount` if the market has no price or the dollars buy less than one base unit, and the same errors as
    `QuoteSource.quote`.
    """
    order = request.order
    token = order.token_out if order.reverse else order.token_in
    price_usd = _market_price(request, source)
    if not price_usd:
        raise InvalidAmount(
            f"the market has no USD price for {token.symbol}", hint=f"write the amount in {token.symbol}"
        )
    units, places = scaled_number(written.number)
    if units == 0:
        raise InvalidAmount("amount must be above zero")
    numerator, denominator = price_usd.as_integer_ratio()
    amount = units * 10**token.decimals * denominator // (10**places * numerator)
    if amount == 0:
        raise InvalidAmount(f"{written.shown} is less than one base unit of {token.symbol}", hint="write more")
    return DollarAmount(amount, price_usd)


def _market_price(request: QuoteRequest, source: QuoteSource) -> float | None:
    """Return the USD price of the token whose amount the order specifies. Raises the same errors as
    `QuoteSource.quote`."""
    order = request.order
    for tokens in _PROBED_TOKENS:
        probe = order._replace(amount=tokens * 10**order.token_in.decimals, reverse=False)
        try:
            result = source.quote(request._replace(order=probe)).result
        except NoRoute:
            if tokens == _PROBED_TOKENS[-1]:
                raise
            continue
        return (result.output_token if order.reverse else result.input_token).price_usd
    return None


class BalancePart(NamedTuple):
    """The amount that is a given share of a balance, the balance after `block`, and the native currency reserved for
    gas, all in base units."""

    amount: int
    balance: int
    gas_wei: int
    block: int


class BalanceOrder:
    """An order for a percentage of `sender`'s balance of the sold token. It is quoted repeatedly, until its amount no
    longer changes.

    The balance is read at the quote's block, or at the latest block if the quote's state is not live. Enough native
    currency is reserved to pay the highest possible gas cost. Raises `UpstreamError`.
    """

    def __init__(self, written: WrittenAmount, order: Order, sender: str, node: RpcNode) -> None:
        self._written, self._order, self._sender, self._node = written, order, sender, node
        self._head = node.read_head()
        block = self._head.block
        balance = read_balance(node, block, sender, order.token_in)
        self.part = BalancePart(_part_of(written, balance, 0), balance, 0, block.number)
        self._quotes = 0

    @property
    def order(self) -> Order:
        """The order to quote next. Raises `InsufficientBalance` if nothing is left to sell."""
        if self.part.amount <= 0:
            raise _too_little(self._order.token_in, self.part.balance, self.part.gas_wei, self.part.block)
        return self._order._replace(amount=self.part.amount)

    def settle(self, quote: QuoteResult) -> bool:
        """Adjust the amount after a quote for the order, and return whether the amount is final. Raises
        `UpstreamError`."""
        token, (amount, balance, gas_wei, block) = self._order.token_in, self.part
        if token.address == ZERO_ADDRESS:
            gas_wei = max(gas_wei, max_gas_cost_wei(self._node, quote, self._head.gas_price_wei))
        quoted_block = quote.state_source.block if quote.state_source.provenance is Provenance.LIVE else None
        if quoted_block not in (None, block):
            block = quoted_block or block
            balance = read_balance(self._node, block, self._sender, token)
        self._quotes += 1
        left = _part_of(self._written, balance, gas_wei)
        is_last = left == amount or self._quotes == _MAX_QUOTES
        self.part = BalancePart(amount if is_last else left, balance, gas_wei, block)
        return is_last


def read_balance(node: StateOverrideNode, at: BlockId, owner: str, token: Token) -> int:
    """Return the balance of `owner` at the end of a block, in base units. Raises `UpstreamError`."""
    if token.address == ZERO_ADDRESS:
        return node.read_account(owner, at).balance_wei
    return _read_token_balance(node, at, owner, token)


def _read_token_balance(node: Node, at: BlockId, owner: str, token: Token) -> int:
    from swapcli.families.reading.call_encoding import encode_call, read_word
    from swapcli.state.transfers.erc20_calls import BALANCE

    return read_word(node.call(token.address, encode_call(BALANCE, owner), at), BALANCE)


def max_gas_cost_wei(node: RpcNode, quote: QuoteResult, gas_price_wei: int) -> int:
    """Return the highest possible gas cost of a quote's transaction in wei, at the gas limit and fees with which it
    will be sent.

    `gas_price_wei` is used if the node has no fee history. Raises `UpstreamError`.
    """
    from swapcli.core.routing.gas import before_refunds, with_margin
    from swapcli.payload.signing.signing_fields import read_max_fee_wei

    max_fee_wei = read_max_fee_wei(node) or 2 * gas_price_wei
    if isinstance(quote, LocalQuote):
        gas_units, l1_fee_wei = quote.quote.gas_units, quote.quote.l1_fee_wei
    else:
        gas_units, l1_fee_wei = quote.result.gas_units or _UNKNOWN_GAS, quote.result.gas_cost_wei or 0
    return _GAS_MARGIN * with_margin(before_refunds(gas_units)) * max_fee_wei // 2 + _L1_FEE_MARGIN * l1_fee_wei


def _part_of(written: WrittenAmount, balance: int, gas_wei: int) -> int:
    """Return the percentage of a balance, rounded down, leaving at least `gas_wei`."""
    units, places = scaled_number(written.number)
    whole = 100 * int(10**places)
    return min(balance * units // whole, balance - gas_wei)


def _too_little(token: Token, balance: int, gas_wei: int, block: int) -> InsufficientBalance:
    used = f", which the gas of up to {in_tokens(gas_wei, token)} would use up" if gas_wei else ""
    return InsufficientBalance(
        f"the sender has {in_tokens(balance, token)} at block {block}{used}",
        hint="name another sender, or write an amount",
        details={"balance": str(balance), "block": block},
    )
