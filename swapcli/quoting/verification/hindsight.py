"""Compare mined swaps with the best route at their parent block.

The best route is the route that a quote would have found on the state just before the transaction's block, at the gas
price that the transaction paid. The two are compared before and after gas. If the best route uses the same pools as the
transaction, the transaction's gas is used for both, because an estimate would show a difference that does not exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

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
from swapcli.core.model.network import WRAPPER_FAMILY, Network
from swapcli.core.model.quote import GasValueSource
from swapcli.core.model.units import BPS
from swapcli.core.records import NamedTuple
from swapcli.interface.own_document import own_document
from swapcli.interface.quote_fields import render_swap_token
from swapcli.quoting.quote_results import LocalQuote
from swapcli.quoting.sources.quote_source import PoolSource
from swapcli.quoting.verification.transaction_verification import (
    Verification,
    check_transaction_hash,
    quote_at_block,
    verify_transaction,
)
from swapcli.state.mined.swap_verification import Outcome
from swapcli.state.rpc.receipt import ReceiptNode

if TYPE_CHECKING:
    from swapcli.interface.document_types import DistributionJson, HindsightJson, HindsightSwapJson, SwapTokenJson

_NO_NET_SWAP = "its swaps do not add up to one token sold and one bought"
UNKNOWN_VENUE = "unknown"
"""Stands for the protocol of an unknown pool."""
MAX_CHART_ROWS = 12
"""Protocols in the chart, each a line of dots."""
EQUAL_BPS = 0.01
"""Differences below this count as equal: searches differ by more than a hundredth of a basis point."""


class SwapHindsight(NamedTuple):
    """A mined transaction and the best route at its parent block. Amounts are in base units of the output token.

    `verification` is None if the transaction could not be read. `reason` says why the transaction cannot be compared;
    it is empty if it can. `is_retryable` is true if a later comparison may succeed. Amounts net of gas are None if gas
    has no price. Both use the gas value from the best route's quote, whose source is `gas_value_source`.
    """

    transaction: str
    verification: Verification | None
    reason: str = ""
    amount_out: int | None = None
    output_after_gas: int | None = None
    best_amount_out: int | None = None
    best_after_gas: int | None = None
    is_retryable: bool = False
    gas_value_source: GasValueSource | None = None

    @property
    def is_explained(self) -> bool:
        """Whether the transaction's output and the best route's output are both known."""
        return not self.reason

    @property
    def difference_bps(self) -> float | None:
        """How much more the best route would have paid, in basis points; None if unknown."""
        return _difference_bps(self.best_amount_out, self.amount_out)

    @property
    def net_difference_bps(self) -> float | None:
        """How much more the best route would have paid after gas, in basis points; None if unknown."""
        return _difference_bps(self.best_after_gas, self.output_after_gas)

    @property
    def compared_bps(self) -> float | None:
        """The difference after gas, or before gas if gas has no price, in basis points; None if unknown."""
        return self.difference_bps if self.net_difference_bps is None else self.net_difference_bps

    @property
    def best_gas_units(self) -> int | None:
        """The estimated gas of the best route; None if unknown."""
        best = self.verification.best if self.verification else None
        return best.quote.quote.gas_units if best and isinstance(best.quote, LocalQuote) else None

    @property
    def venues(self) -> tuple[str, ...]:
        """The names of the protocols that the transaction used. Unknown pools count as `UNKNOWN_VENUE`."""
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
    """The comparison for one protocol. `used` is the number of explained transactions that used it, and `bps` are their
    differences.

    `would_use` is the number of best routes that use the protocol.
    """

    name: str
    used: int
    would_use: int
    bps: Distribution | None


class HindsightSummary(NamedTuple):
    """The comparison of transactions with the best routes, after gas if known, and by protocol.

    `better`, `equal` and `worse` are the numbers of transactions for which the best route would have paid more, the
    same or less.
    """

    explained: int
    not_explained: int
    better: int
    equal: int
    worse: int
    bps: Distribution | None
    venues: tuple[VenueHindsight, ...]


class Hindsight(NamedTuple):
    """Mined transactions compared with the best routes at their parent blocks, in total and by protocol."""

    network: Network
    swaps: tuple[SwapHindsight, ...]
    summary: HindsightSummary

    @own_document
    def document(self) -> HindsightJson:
        """Return the JSON that `swapcli hindsight` prints."""
        summary = self.summary
        return {
            "network": self.network.name,
            "explained": summary.explained,
            "notExplained": summary.not_explained,
            "better": summary.better,
            "equal": summary.equal,
            "worse": summary.worse,
            "bps": _distribution_document(summary.bps),
            "protocols": [
                {
                    "protocol": venue.name,
                    "used": venue.used,
                    "wouldUse": venue.would_use,
                    "bps": _distribution_document(venue.bps),
                }
                for venue in summary.venues
            ],
            "swaps": [_swap_document(self.network, swap) for swap in self.swaps],
        }

    def svg(self, width: int | None = None) -> str:
        """Return a chart as SVG that shows, for each protocol, how much more the best routes would have paid."""
        from swapcli.quoting.pictures.picture_width import parse_width
        from swapcli.quoting.pictures.spread_chart import Spread, SpreadChart, SpreadValue, render_spread_chart

        network, swaps, summary = self
        spreads = []
        for venue in summary.venues:
            values = tuple(
                SpreadValue(bps, f"{swap.transaction}: {bps:+,.2f} bps")
                for swap in swaps
                if venue.name in swap.venues and (bps := swap.compared_bps) is not None and swap.is_explained
            )
            if values:
                spreads.append(Spread(venue.name, values))
        left_out = len(spreads) - MAX_CHART_ROWS
        notes = [f"{summary.explained} explained, {summary.not_explained} not"]
        if left_out > 0:
            notes.append(f"{left_out} more protocols are not shown")
        chart = SpreadChart(
            f"Gain of the best routes on {network.name}",
            "basis points after gas, by the protocols a transaction used",
            tuple(spreads[:MAX_CHART_ROWS]),
            "; ".join(notes),
        )
        return render_spread_chart(chart, parse_width("width", None if width is None else str(width)))

    def rows(self) -> list[dict[str, object]]:
        """Return a row for each transaction, with the symbols and decimals of its tokens. Amounts are as in the
        JSON."""
        rows = []
        for swap in self.swaps:
            found = _swap_document(self.network, swap)
            row: dict[str, object] = {}
            for name, value in found.items():
                if name in ("inputToken", "outputToken"):
                    token = found["inputToken"] if name == "inputToken" else found["outputToken"]
                    row[name] = token["symbol"] if token else None
                    row[name.replace("Token", "Decimals")] = token["decimals"] if token else None
                else:
                    row[name] = value
            row["protocols"], row["bestProtocols"] = "; ".join(found["protocols"]), "; ".join(found["bestProtocols"])
            rows.append(row)
        return rows

    def check(self) -> None:
        """Raise an error if no transaction could be compared: `NotMined` if a later comparison may succeed, otherwise
        `UpstreamError` with a reason."""
        swaps = self.swaps
        if any(swap.is_explained for swap in swaps):
            return
        first = next((swap for swap in swaps if swap.is_retryable), swaps[0])
        subject = f"none of {len(swaps)} transactions could" if len(swaps) > 1 else "the transaction could not"
        kind = NotMined if first.is_retryable else UpstreamError
        raise kind(f"{subject} be explained: {first.reason}", details={"transaction": first.transaction})


def look_back(node: ReceiptNode, known: PoolSource, transactions: Iterable[str]) -> Iterator[SwapHindsight]:
    """Yield the comparison of each transaction with the best route, in order. If a transaction cannot be read, its
    `reason` says why.

    `known` provides the pools for the best routes. Raises `InvalidInput` for a malformed hash, and the node's error if
    it does not respond.
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
    """Return the comparison of a verified transaction with the best route for its net swap."""
    if found.net is None:
        reasons = dict.fromkeys(swap.reason for swap in found.swaps if swap.pool is None and swap.reason)
        return SwapHindsight(found.transaction, found, "; ".join([_NO_NET_SWAP, *reasons]))
    amount_out = found.net.amount_out
    quote = found.best.quote if found.best else None
    if quote is None:
        problem = found.best.problem if found.best else "no quote"
        return SwapHindsight(found.transaction, found, f"no best route: {problem}", amount_out)
    best_out = quote.result.output_amount
    compared = SwapHindsight(found.transaction, found, "", amount_out, best_amount_out=best_out)
    if not isinstance(quote, LocalQuote):
        return compared
    best = quote.quote
    gas_wei = found.gas_used * found.gas_price_wei
    return compared._replace(
        output_after_gas=_less(amount_out, best.cost_in_output(gas_wei)),
        best_after_gas=_less(best_out, best.cost_in_output(gas_wei if _uses_pools_of(found, quote) else best.gas_wei)),
        gas_value_source=best.wei_value and best.wei_value.source,
    )


def summarize(swaps: Sequence[SwapHindsight]) -> HindsightSummary:
    """Return a summary of how transactions compare with the best routes. Unexplained transactions are only counted."""
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
    """Return the display names of protocols by their ids, each once, in order of appearance."""
    found = {name: network.protocol(name) for name in dict.fromkeys(ids)}
    return tuple(protocol.display_name if protocol else name for name, protocol in found.items())


def _venue(name: str, explained: Sequence[SwapHindsight]) -> VenueHindsight:
    through = [swap for swap in explained if name in swap.venues]
    values = [bps for swap in through if (bps := swap.compared_bps) is not None]
    would_use = sum(name in swap.best_venues for swap in explained)
    return VenueHindsight(name, len(through), would_use, distribution_of(values))


def _is_of_one_transaction(error: UpstreamError) -> bool:
    """Return whether an error concerns a single transaction, so that the node may still serve the others."""
    if isinstance(error, UpstreamRejected | NotMined | ChainReorganized | BlockMismatch):
        return True
    return isinstance(error, InvalidUpstreamResponse) and ("method" in error.details or error.refusal == "transient")


def _sentence(error: SwapcliError) -> str:
    return f"{error.message}: {error.hint}" if error.hint and isinstance(error, UpstreamRejected) else error.message


def _uses_pools_of(found: Verification, quote: LocalQuote) -> bool:
    """Return whether a quote's route uses exactly the pools of a transaction, apart from wrapping."""
    routed = {step.pool for step in quote.quote.steps if quote.pools[step.pool].family != WRAPPER_FAMILY}
    return routed == {swap.event.key for swap in found.swaps}


def _less(amount: int, cost: int | None) -> int | None:
    return None if cost is None else amount - cost


def _difference_bps(best: int | None, got: int | None) -> float | None:
    if best is None or got is None or got <= 0:
        return None
    return round(BPS * (best - got) / got, 4)


def _distribution_document(found: Distribution | None) -> DistributionJson | None:
    """Return a distribution as JSON; None without values."""
    if found is None:
        return None
    return {
        "size": found.size,
        "p05": round(found.p05, 4),
        "p25": round(found.p25, 4),
        "median": round(found.median, 4),
        "p75": round(found.p75, 4),
        "p95": round(found.p95, 4),
    }


def _swap_document(network: Network, swap: SwapHindsight) -> HindsightSwapJson:
    found = swap.verification
    net = found.net if found else None

    def token(address: str | None) -> SwapTokenJson | None:
        known = found.tokens.get(address or "") if found else None
        return None if known is None else render_swap_token(known, network)

    return {
        "transaction": swap.transaction,
        "block": found.block.number if found else None,
        "stateBlock": found.parent.number if found else None,
        "timestamp": found.block.timestamp if found else None,
        "inputToken": token(net.token_in) if net else None,
        "outputToken": token(net.token_out) if net else None,
        "inputAmount": str(net.amount_in) if net else None,
        "outputAmount": _text(swap.amount_out),
        "outputAfterGas": _text(swap.output_after_gas),
        "gasValueSource": swap.gas_value_source,
        "gasUsed": found.gas_used if found else None,
        "gasPriceWei": str(found.gas_price_wei) if found else None,
        "protocols": list(swap.venues),
        "bestOutputAmount": _text(swap.best_amount_out),
        "bestAfterGas": _text(swap.best_after_gas),
        "bestGasUnits": _text(swap.best_gas_units),
        "bestProtocols": list(swap.best_venues),
        "differenceBps": swap.difference_bps,
        "afterGasDifferenceBps": swap.net_difference_bps,
        "poolsEqual": found.count(Outcome.EQUAL) if found else None,
        "poolsDifferent": found.count(Outcome.DIFFERENT) if found else None,
        "poolsNotExplained": found.count(Outcome.NOT_EXPLAINED) if found else None,
        "reason": swap.reason or None,
        "retryable": swap.is_retryable,
    }


def _text(amount: int | None) -> str | None:
    return None if amount is None else str(amount)
