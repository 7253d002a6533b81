"""Are the gas and the fees of the transactions plausible for their work?"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from swapcli.core.model.finding import Finding, FindingCode
from swapcli.core.model.network import Network
from swapcli.core.model.number_format import format_gwei
from swapcli.core.model.swap_terms import DEFAULT_MAX_FEE_USD
from swapcli.core.model.token import in_tokens
from swapcli.payload.decode.documents import PayloadInput
from swapcli.payload.decode.given_transaction import GivenTransaction
from swapcli.payload.decode.quantities import parse_quantity
from swapcli.payload.review.reviewed_payload import PayloadReview
from swapcli.payload.signing.signing_limits import MAX_CATALOGUE_FACTOR, MAX_PRICE_FACTOR

_MAX_GAS_FACTOR = 4
"""The maximum factor on the document's estimate.

A limit is a quarter above the estimate after refunds, which is up to 1.7 times too low for long splits.
"""
_MAX_APPROVAL_GAS = 500_000
"""Eight times the gas of approving a token behind a proxy."""
_MAX_GAS = 60_000_000
"""The gas limit used if nothing else determines one: more than any known swap needs."""


_MAX_PRICE_WEI = 1_000 * 10**9
"""The price limit for a network without its own. Ethereum has reached it only for minutes."""
_MAX_STRK, _MAX_ETH = 200, 0.05
"""The maximum in STRK: more than the calls of a swap cost on Starknet, where wallets set bounds of a few STRK."""
_MIN_BOUND_PART = 25
"""The fraction of a network's limit that is never unusual: wallets add a fixed priority fee if fees are tiny."""


def fee_warnings(
    review: PayloadReview,
    given: PayloadInput,
    native_usd: Callable[[], float | None],
    usual_price_wei: int | None = None,
) -> Iterator[Finding]:
    """Yield warnings about unusual gas and fees in a payload and in the accompanying transactions.

    `native_usd` returns the price of the native token, None if it is unknown. `usual_price_wei` is the price per unit
    of gas that a node reports; without one, the network's definition sets the limit.
    """
    limit = None if review.network is None else _price_limit(review.network, usual_price_wei)
    others = [each for number, each in enumerate(given.listed) if number != given.position]
    swap = [given.payload]
    if given.position is not None and given.listed:
        swap.append(given.listed[given.position])
    for each in dict.fromkeys((*swap, *others)):
        is_swap = each in swap
        if limit is not None:
            yield from map(_unusual, _price_problems(each, limit))
        yield from map(_unusual, _total_problems(each))
        yield from map(_unusual, _problems(each, given, review.network, native_usd, is_swap=is_swap))


def _price_limit(network: Network, usual_price_wei: int | None) -> int | None:
    """Return the highest gas price, in wei, that is not unusual, or None without EVM fees."""
    if not network.kind.traits.has_eth_nodes:
        return None
    limit = network.max_gas_price_wei or max(_MAX_PRICE_WEI, MAX_CATALOGUE_FACTOR * network.gas_price_wei)
    return limit if usual_price_wei is None else max(MAX_PRICE_FACTOR * usual_price_wei, limit // _MIN_BOUND_PART)


def _total_problems(transaction: GivenTransaction) -> Iterator[str]:
    totals = ((transaction.max_total_fee_fri, _MAX_STRK, "STRK"), (transaction.max_total_fee_wei, _MAX_ETH, "ETH"))
    for total, limit, symbol in totals:
        if total is not None and total > limit * 10**18:
            yield f"the transaction may cost {total / 10**18:,.2f} {symbol}, but {limit:g} {symbol} is more than enough"


def _price_problems(transaction: GivenTransaction, limit: int) -> Iterator[str]:
    for name, price in (("maximum", transaction.max_fee_wei), ("priority", transaction.max_priority_fee_wei)):
        if price is not None and price > limit:
            enough = f"{format_gwei(limit)} is more than enough"
            yield f"the {name} fee is {format_gwei(price)} per unit of gas, but {enough}"


def _problems(
    transaction: GivenTransaction,
    given: PayloadInput,
    network: Network | None,
    native_usd: Callable[[], float | None],
    *,
    is_swap: bool,
) -> Iterator[str]:
    gas, max_fee, priority = transaction.gas, transaction.max_fee_wei, transaction.max_priority_fee_wei
    if gas is not None and gas > (limit := _gas_limit(given, network, is_swap=is_swap)):
        yield f"the gas limit is {gas:,}, but {limit:,} is more than enough"
    if max_fee is not None and priority is not None and priority > max_fee:
        yield "the priority fee is above the maximum fee: no node accepts the transaction"
    if gas is None or max_fee is None:
        return
    usd = native_usd()
    fees_usd = None if usd is None else gas * max_fee / 1e18 * usd
    if fees_usd is not None and fees_usd > DEFAULT_MAX_FEE_USD:
        cost = in_tokens(gas * max_fee, network.native) if network else f"{gas * max_fee} wei"
        yield f"the transaction may cost {cost} of gas, worth ${fees_usd:,.2f}"


def _gas_limit(given: PayloadInput, network: Network | None, *, is_swap: bool) -> int:
    most = network.block_gas_limit if network and network.block_gas_limit else _MAX_GAS
    if not is_swap:
        return _MAX_APPROVAL_GAS
    estimate = given.document.get("gasUnits")
    return min(most, _MAX_GAS_FACTOR * parse_quantity(estimate, "gasUnits")) if estimate is not None else most


def _unusual(sentence: str) -> Finding:
    return FindingCode.FEES_UNUSUAL.finding(sentence)
