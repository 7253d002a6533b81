"""The options for quotes and for transactions, as keyword arguments."""

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
    """The options for a quote. If one is missing, the user's setting applies, otherwise the command line's default.

    `slippage` is in percent. `gas_price` is in wei, or text such as "0.01gwei". `exclude_protocols` are names or ids;
    `only_protocols` excludes all other protocols; `extended_protocols` adds the protocols that the Fibrous API does not
    list. `solve_time_s` limits the time of the search; 0 sets no limit. `certify` also proves how much better any route
    could be, and with `proof`, the quote keeps that proof for others to check. `max_pools` limits the number of pools
    in the route, and `simple` allows only one path with one pool per hop. The quote shows how much output that costs.
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
    """The options for the transactions that execute a quote.

    `destination` receives the output. `slippage`, in percent, is the quote's slippage by default. `deadline` is in Unix
    seconds, or a duration such as "20m" or "3d", for routers that enforce it. No transaction is built if the price
    impact is above `max_impact`, in percent, or the slippage above `max_slippage`. Tokens, pools and routers are
    rejected as the destination, because an output sent to them would be lost, except for the address `allow_recipient`.
    With `sender`, a node provides the nonce, gas and fees, and the balance and allowance are checked. With `simulate`,
    the node also simulates the swap, which must pay the quoted amount. With `allow_fees`, unusual gas, fees or nonces
    from the node cause a warning instead of an error. `signature` is the signature of the message from `permit`, with
    the same `deadline`, by the sender, or by the destination if there is no sender. It replaces an approval. `handoff`
    names the kind of document in which others sign the swap. The default deadline is then one day, and a shorter one
    causes a warning.
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


class PartKeywords(TransactionKeywords, total=False):
    """The options for the due part of a plan: those of its transactions, and those that narrow the plan's limits on
    routes. They have the same meaning as in `QuoteKeywords`."""

    max_hops: int
    direct: bool
    exclude_protocols: Sequence[str]
    only_protocols: Sequence[str]
    extended_protocols: bool
    shares: Literal["fine", "whole"]
    max_pools: int
    simple: bool


def check_transaction_keywords(given: TransactionKeywords) -> None:
    """Raise `TypeError` for a keyword that is not in `TransactionKeywords`, and `InvalidInput` for a value of a wrong
    type."""
    check_keywords("a transaction", given, TransactionKeywords)


def check_part_keywords(given: PartKeywords) -> None:
    """Raise `TypeError` for a keyword that is not in `PartKeywords`, and `InvalidInput` for a value of a wrong type."""
    check_keywords("a part", given, PartKeywords)
