"""Limits on the values that a node provides for a transaction before it is signed: its gas, its fees and its nonce.

These values determine the sender's possible loss besides the swap, and a node may be wrong or hostile. So no single
value is trusted: the price is compared with the node's own recent blocks, the gas with our estimate, the total with a
limit in dollars, and everything with a second node.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from swapcli.core.encoding.text import counted
from swapcli.core.model.number_format import format_gwei
from swapcli.core.model.signing_figures import NodeFigures
from swapcli.core.records import NamedTuple

MAX_PRICE_FACTOR = 10
"""The maximum factor on the usual price.

A maximum fee is twice the next base fee, which rises by at most 3.2 times (an eighth per block, EIP-1559) in the ten
blocks since the median of twenty.
"""
MAX_GAS_FACTOR = 3
"""The maximum factor on our estimate before refunds.

A limit is a fifth above the gas used, and estimates of long splits were up to 1.7 times too low.
"""
MAX_PENDING_TRANSACTIONS = 16
"""The maximum number of earlier transactions in the pool: go-ethereum guarantees to keep 16 per sender
(`txpool.accountslots`)."""
_MIN_PRICE_WEI = 1
"""The minimum price of a transaction, since blocks on a test network may be free."""
MAX_CATALOGUE_FACTOR = 100
"""The maximum factor on the catalogue's gas price if the value of the native token is unknown."""


class LimitedGas(NamedTuple):
    """A transaction's gas limit, and our own estimate of its gas before refunds; None if unknown."""

    purpose: str
    limit: int | None
    estimate: int | None


class FeeLimits(NamedTuple):
    """The maximum total cost of transactions, the value of one wei if known, and the catalogue's gas price."""

    max_fee_usd: float
    wei_usd: float | None
    catalogue_price_wei: int = 0


def find_excesses(
    node: NodeFigures, second: NodeFigures, gas: Sequence[LimitedGas], max_fee_wei: int | None, limits: FeeLimits
) -> Iterator[str]:
    """Yield a sentence for each value from a node that should be checked before signing.

    `second` has another node's values, if there is one. `max_fee_wei` is the maximum price per unit of gas.
    """
    yield from _nonce_excesses(node, second)
    for each in gas:
        yield from _gas_excesses(each)
    if max_fee_wei is not None:
        yield from _price_excesses(node, second, max_fee_wei)
        yield from _total_excesses(sum(each.limit or 0 for each in gas), max_fee_wei, limits)


def _nonce_excesses(node: NodeFigures, second: NodeFigures) -> Iterator[str]:
    nonce, latest = node.pending_nonce, node.latest_nonce
    if nonce is None:
        return
    if latest is not None and not 0 <= nonce - latest <= MAX_PENDING_TRANSACTIONS:
        yield f"the nonce is {nonce:,}, but the sender has only {counted(latest, 'mined transaction')}"
    if second.pending_nonce is not None and nonce != second.pending_nonce:
        yield f"the nonce is {nonce:,}, but a second node reports {second.pending_nonce:,}"


def _gas_excesses(gas: LimitedGas) -> Iterator[str]:
    limit, estimate = gas.limit, gas.estimate
    if not limit or not estimate:
        return
    if limit > MAX_GAS_FACTOR * estimate:
        yield f"the gas limit of the {gas.purpose} is {limit:,}, but swapcli estimates {estimate:,}"
    elif limit * MAX_GAS_FACTOR < estimate:
        shown = f"the gas limit of the {gas.purpose} is {limit:,}"
        yield f"{shown}, but swapcli estimates {estimate:,}: it would run out of gas"


def _price_excesses(node: NodeFigures, second: NodeFigures, max_fee_wei: int) -> Iterator[str]:
    for reporter, found in (("its own recent blocks", node), ("a second node", second)):
        usual = found.usual_price_wei
        if usual is not None and max_fee_wei > MAX_PRICE_FACTOR * max(usual, _MIN_PRICE_WEI):
            shown, paid = format_gwei(max_fee_wei), format_gwei(usual)
            yield f"the maximum fee is {shown} per unit of gas, but {reporter} paid about {paid}"


def _total_excesses(gas: int, max_fee_wei: int, limits: FeeLimits) -> Iterator[str]:
    if limits.wei_usd is not None:
        usd = gas * max_fee_wei * limits.wei_usd
        if usd > limits.max_fee_usd:
            yield f"the gas may cost ${usd:,.2f}, above ${limits.max_fee_usd:,.2f} (setting max_fee_usd)"
    elif max_fee_wei > MAX_CATALOGUE_FACTOR * limits.catalogue_price_wei > 0:
        shown, usual = format_gwei(max_fee_wei), format_gwei(limits.catalogue_price_wei)
        yield f"the maximum fee is {shown} per unit of gas, but the network's usual price is {usual}"
