"""The options of a quote and of its transactions, by keyword."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Required, TypeAlias, TypedDict

from swapcli.core.validation.argument_types import check_keywords

if TYPE_CHECKING:
    from decimal import Decimal

Percentage: TypeAlias = "str | float | Decimal"
"""A percentage: 0.5, "0.5" and "50bps" are half a percent."""
Handoff: TypeAlias = Literal["safe", "wallet-calls"]
"""A document for other signers: a Safe batch, or a wallet request."""


class QuoteKeywords(TypedDict, total=False):
    """The options of a quote. If one is missing, the user's setting applies, otherwise the command line's default.

    `slippage` is in percent; `gas_price` in wei, or text such as "0.01gwei"; `exclude_protocols` names or ids;
    `only_protocols` excludes all others; `extended_protocols` adds those that the Fibrous API does not list;
    `solve_time_s` limits the search, 0 sets no limit; `certify` also proves how much better any route could be, and
    with `proof` the quote keeps that proof for others to check.
    `max_pools` limits the pools of the route, and `simple` makes it one path of single pools; the quote shows what that
    costs.
    """

    slippage: Percentage
    max_hops: int
    direct: bool
    exclude_protocols: Sequence[str]
    only_protocols: Sequence[str]
    extended_protocols: bool
    shares: Literal["fine", "whole"]
    gas_price: int | str
    solve_time_s: float
    certify: bool
    proof: bool
    max_pools: int
    simple: bool
    api_version: Literal["v1", "v2"]


class TransactionKeywords(TypedDict, total=False):
    """How to execute a quote.

    `destination` receives the output. `slippage` in percent is that of the quote by default. `deadline` is Unix seconds
    or a duration such as "20m" or "3d", for routers that enforce one. No transaction is built above `max_impact`, a
    price impact in percent, or above `max_slippage`. Tokens, pools and routers lose what they receive: they are
    rejected as the destination, except the address `allow_recipient`. With `sender`, a node fills in nonce, gas and
    fees, and checks balance and allowance; with `simulate`, it also simulates the swap, which must pay the quoted
    amount. `allow_fees` turns the rejection of the node's gas, fees or nonce into a warning. `signature` signs the
    message from `permit` with the same `deadline`, by the sender, or by the destination if there is no sender; it
    replaces an approval. `handoff` names the document in which others sign the swap: the default deadline is then one
    day, and a shorter one gives a warning.
    """

    destination: Required[str]
    slippage: Percentage
    deadline: int | str
    max_impact: Percentage
    max_slippage: Percentage
    allow_recipient: str
    sender: str
    simulate: bool
    allow_fees: bool
    signature: str
    handoff: Handoff


def check_transaction_keywords(given: TransactionKeywords) -> None:
    """Raise `TypeError` for a keyword that transactions do not have, `InvalidInput` for a value of a wrong type."""
    check_keywords("a transaction", given, TransactionKeywords)
