"""What mined swaps got, beside what the best route would have paid at their parent blocks.

The best route is the one that a quote would have found on the state just before the block of the transaction, at the
gas price that the transaction paid. Both are compared as they are, and after the gas of each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from swapcli.core.errors import (
    BlockMismatch,
    ChainReorganized,
    InvalidInput,
    InvalidUpstreamResponse,
    NotMined,
    SwapcliError,
    UpstreamError,
    UpstreamRejected,
)
from swapcli.core.model.distribution import Distribution, distribution_of
from swapcli.core.model.network import Network
from swapcli.core.model.units import BPS
from swapcli.core.records import NamedTuple
from swapcli.quoting.quote_figures import gas_in_output, gas_wei_of
from swapcli.quoting.quote_results import LocalQuote
from swapcli.quoting.sources.quote_source import PoolSource
from swapcli.quoting.verification.transaction_verification import (
    Verification,
    check_transaction_hash,
    quote_at_block,
    verify_transaction,
)
from swapcli.state.rpc.receipt import ReceiptNode

_NO_NET_SWAP = "its swaps do not add up to one token sold and one bought"
UNKNOWN_VENUE = "unknown"
"""Stands for the protocol of a pool that is not known."""
EQUAL_BPS = 0.01
"""Differences below this count as equal: a hundredth of a basis point is less than searches differ by."""


class SwapHindsight(NamedTuple):
    """A mined transaction and the best route at its parent block. Amounts are in base units of the output token.

    `verification` is None if the transaction could not be read. `reason` says why it cannot be compared, empty if it
    can; `is_retryable` is whether it may be comparable later. Amounts net of gas are None where gas has no price.
    """

    transaction: str
    verification: Verification | None
    reason: str = ""
    amount_out: int | None = None
    net_of_gas: int | None = None
    best_amount_out: int | None = None
    best_net_of_gas: int | None = None
    is_retryable: bool = False

    @property
    def is_explained(self) -> bool:
        """Whether both amounts are known."""
        return not self.reason

    @property
    def difference_bps(self) -> float | None:
        """How much more the best route would have paid, in basis points; None if unknown."""
        return _difference_bps(self.best_amount_out, self.amount_out)

    @property
    def net_difference_bps(self) -> float | None:
        """The same after the gas of each; None if unknown."""
        return _difference_bps(self.best_net_of_gas, self.net_of_gas)

    @property
    def compared_bps(self) -> float | None:
        """The difference net of gas, else the one before gas where that has no price."""
        return self.difference_bps if self.net_difference_bps is None else self.net_difference_bps

    @property
    def best_gas_units(self) -> int | None:
        """The estimated gas of the best route; None if unknown."""
        best = self.verification.best if self.verification else None
        return best.quote.quote.gas_units if best and isinstance(best.quote, LocalQuote) else None

    @property
    def venues(self) -> tuple[str, ...]:
        """The names of the protocols that the transaction used; `UNKNOWN_VENUE` is among them for unknown pools."""
        found = self.verification
        if found is None:
            return ()
        protocols = (swap.pool.protocol if swap.pool else UNKNOWN_VENUE for swap in found.swaps)
        return protocol_names(found.network, protocols)

    @property
    def best_venues(self) -> tuple[str, ...]:
        """The names of the protocols that the best route would have used."""
        best = self.verification.best if self.verification else None
        if best is None or not isinstance(best.quote, LocalQuote):
            return ()
        quote = best.quote
        return protocol_names(quote.network, (quote.pools[step.pool].protocol for step in quote.quote.steps))


class VenueHindsight(NamedTuple):
    """How the explained transactions that used a protocol compare: `used` of them, with the differences of `bps`.

    `would_use` counts the best routes that use the protocol.
    """

    name: str
    used: int
    would_use: int
    bps: Distribution | None


class HindsightSummary(NamedTuple):
    """How transactions compare with the best routes, net of gas where that is known, and by protocol.

    `better`, `equal` and `worse` count the best routes that would have paid more, as much or less.
    """

    explained: int
    not_explained: int
    better: int
    equal: int
    worse: int
    bps: Distribution | None
    venues: tuple[VenueHindsight, ...]


def look_back(node: ReceiptNode, known: PoolSource, transactions: Iterable[str]) -> Iterator[SwapHindsight]:
    """Yield the hindsight on each transaction, in order; one that cannot be read says why.

    `known` are the pools of the best routes. Raises `InvalidInput` for a malformed hash, and the errors of a node that
    does not respond.
    """
    open_at_block = quote_at_block(known, node)
    for transaction in transactions:
        check_transaction_hash(transaction)
        try:
            found = verify_transaction(node, known, transaction, open_at_block)
        except (InvalidInput, UpstreamError) as error:
            if isinstance(error, UpstreamError) and not _is_of_one_transaction(error):
                raise
            yield SwapHindsight(transaction.lower(), None, _sentence(error), is_retryable=error.is_retryable)
        else:
            yield compare_with_best(found)


def compare_with_best(found: Verification) -> SwapHindsight:
    """Compare a verified transaction with the best route for its net swap."""
    if found.net is None:
        reasons = dict.fromkeys(swap.reason for swap in found.swaps if swap.pool is None and swap.reason)
        return SwapHindsight(found.transaction, found, "; ".join([_NO_NET_SWAP, *reasons]))
    amount_out = found.net.amount_out
    quote = found.best.quote if found.best else None
    if quote is None:
        problem = found.best.problem if found.best else "no quote"
        return SwapHindsight(found.transaction, found, f"no best route: {problem}", amount_out)
    gas_wei, gas_usd = gas_wei_of(quote), quote.result.gas_usd
    paid_wei = found.gas_used * found.gas_price_wei
    paid_usd = gas_usd * paid_wei / gas_wei if gas_usd is not None and gas_wei else (None if paid_wei else 0.0)
    best_out = quote.result.output_amount
    return SwapHindsight(
        found.transaction,
        found,
        "",
        amount_out,
        _less(amount_out, gas_in_output(quote, paid_wei, paid_usd)),
        best_out,
        _less(best_out, gas_in_output(quote, gas_wei, gas_usd)),
    )


def summarize(swaps: Sequence[SwapHindsight]) -> HindsightSummary:
    """Return how transactions compare with the best routes; those that are not explained only count as such."""
    explained = [swap for swap in swaps if swap.is_explained]
    values = [bps for swap in explained if (bps := swap.compared_bps) is not None]
    names = dict.fromkeys(name for swap in explained for name in (*swap.venues, *swap.best_venues))
    venues = [_venue(name, explained) for name in names]
    return HindsightSummary(
        len(explained),
        len(swaps) - len(explained),
        sum(bps > EQUAL_BPS for bps in values),
        sum(abs(bps) <= EQUAL_BPS for bps in values),
        sum(bps < -EQUAL_BPS for bps in values),
        distribution_of(values),
        tuple(sorted(venues, key=lambda venue: (-venue.used, -venue.would_use, venue.name))),
    )


def protocol_names(network: Network, ids: Iterable[str]) -> tuple[str, ...]:
    """Return the display names of protocols, each once, in their order."""
    found = {name: network.protocol(name) for name in dict.fromkeys(ids)}
    return tuple(protocol.display_name if protocol else name for name, protocol in found.items())


def _venue(name: str, explained: Sequence[SwapHindsight]) -> VenueHindsight:
    through = [swap for swap in explained if name in swap.venues]
    values = [bps for swap in through if (bps := swap.compared_bps) is not None]
    would_use = sum(name in swap.best_venues for swap in explained)
    return VenueHindsight(name, len(through), would_use, distribution_of(values))


def check_any_explained(swaps: Sequence[SwapHindsight]) -> None:
    """Raise `UpstreamError` with a reason if no transaction could be compared, `NotMined` if one may be later."""
    if any(swap.is_explained for swap in swaps):
        return
    first = next((swap for swap in swaps if swap.is_retryable), swaps[0])
    subject = f"none of {len(swaps)} transactions could" if len(swaps) > 1 else "the transaction could not"
    kind = NotMined if first.is_retryable else UpstreamError
    raise kind(f"{subject} be explained: {first.reason}", details={"transaction": first.transaction})


def _is_of_one_transaction(error: UpstreamError) -> bool:
    """Return whether an error is about one transaction, so that the node may still serve the others."""
    if isinstance(error, UpstreamRejected | NotMined | ChainReorganized | BlockMismatch):
        return True
    return isinstance(error, InvalidUpstreamResponse) and ("method" in error.details or error.refusal == "transient")


def _sentence(error: SwapcliError) -> str:
    return f"{error.message}: {error.hint}" if error.hint and isinstance(error, UpstreamRejected) else error.message


def _less(amount: int, cost: int | None) -> int | None:
    return None if cost is None else amount - cost


def _difference_bps(best: int | None, got: int | None) -> float | None:
    if best is None or got is None or got <= 0:
        return None
    return round(BPS * (best - got) / got, 4)
