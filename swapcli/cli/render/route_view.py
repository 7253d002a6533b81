"""The view of a route. Tables and plain text show the same view."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from swapcli.api.route_result import ResultSegment, ResultSwap
from swapcli.api.segments import format_segment_share
from swapcli.cli.render.numbers import apportion, format_share, format_short_amount, format_significant
from swapcli.cli.render.quote_facts import Fact, build_facts, symbol
from swapcli.cli.render.state_wording import describe_origin
from swapcli.encoding.text import printable
from swapcli.engine.quote_results import LocalQuote, QuoteResult, RemoteQuote
from swapcli.engine.warnings import PLACEHOLDER_MARK
from swapcli.model.pool import Pool
from swapcli.model.swap_terms import SwapTerms
from swapcli.model.token import Token, whole_tokens
from swapcli.model.warning import QuoteWarning
from swapcli.networks.address import display_address

FlowKey = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class SwapRow:
    """One pool of a hop. `segment` and `hop` are empty if they repeat the row above; `mark` refers to a `PoolRow`."""

    segment: str
    hop: str
    pool: str
    mark: str
    share: str
    amount: str
    short_amount: str


@dataclass(frozen=True, slots=True)
class PoolRow:
    """A pool of the route: its mark, address or id, name, tokens, and a note."""

    mark: str
    address: str
    name: str
    pair: str
    note: str


@dataclass(frozen=True, slots=True)
class RouteView:
    """The view of a quote. `warnings` are printed before it; `parties` are the named addresses that are paid."""

    title: str
    origin: str
    warnings: tuple[QuoteWarning, ...]
    rows: tuple[SwapRow, ...]
    facts: tuple[Fact, ...]
    pools: tuple[PoolRow, ...]
    parties: tuple[tuple[str, str], ...]


def build_route_view(answer: QuoteResult, terms: SwapTerms, warnings: tuple[QuoteWarning, ...] = ()) -> RouteView:
    """Build the view of a quote."""
    order, result = answer.order, answer.result
    amount_in = f"{whole_tokens(result.input_amount, order.token_in.decimals)} {symbol(order.token_in)}"
    return RouteView(
        title=f"{amount_in} → {symbol(order.token_out)} on {answer.network.name}",
        origin=describe_origin(answer.state_source),
        warnings=warnings,
        rows=tuple(_rows(answer)),
        facts=tuple(build_facts(answer, terms)),
        pools=tuple(_pools(answer)),
        parties=tuple(_parties(answer, terms)),
    )


def _rows(answer: QuoteResult) -> Iterator[SwapRow]:
    amounts, tokens, marks = _outputs(answer), _tokens(answer), _marks(answer)
    for segment in answer.result.segments:
        first_of_segment = True
        for hop in segment.hops:
            for number, swap in enumerate(_by_share(hop)):
                amount, token_out = next(amounts), tokens[swap.token_out]
                yield SwapRow(
                    segment=format_segment_share(segment.share) if first_of_segment else "",
                    hop="" if number else f"{symbol(tokens[swap.token_in])} → {symbol(token_out)}",
                    pool=_pool_name(answer, swap),
                    mark=marks[swap.pool_key],
                    share=format_share(swap.share),
                    amount=_amount(amount, token_out, whole_tokens),
                    short_amount=_amount(amount, token_out, format_short_amount),
                )
                first_of_segment = False


def _amount(amount: int | None, token: Token, written: Callable[[int, int], str]) -> str:
    return "" if amount is None else f"{written(amount, token.decimals)} {symbol(token)}"


def _tokens(answer: QuoteResult) -> dict[str, Token]:
    """Return the tokens of the route by address, with the native token where the order names it."""
    tokens = dict(answer.tokens)
    hops = answer.result.segments[0].hops
    tokens[hops[0][0].token_in] = answer.order.token_in
    tokens[hops[-1][0].token_out] = answer.order.token_out
    return tokens


def _outputs(answer: QuoteResult) -> Iterator[int | None]:
    """Yield the output of each swap in the order of `_swaps`, or None if only a service knows it.

    The router merges the swaps of several segments in one pool, so the exact output of the pool is split by weight.
    """
    if isinstance(answer, RemoteQuote):
        return (None for _ in _swaps(answer))
    outputs = {(step.pool, step.token_in, step.token_out): step.amount_out for step in answer.quote.steps}
    uses: dict[FlowKey, list[int]] = {}
    for segment, swap in _swaps(answer):
        uses.setdefault(_key(swap), []).append(segment.share * swap.share)
    parts = {key: iter(apportion(outputs[key], weights)) for key, weights in uses.items()}
    return (next(parts[_key(swap)]) for _, swap in _swaps(answer))


def _swaps(answer: QuoteResult) -> Iterator[tuple[ResultSegment, ResultSwap]]:
    """Yield every swap of the route with its segment, in the order of the output."""
    segments = answer.result.segments
    return ((segment, swap) for segment in segments for hop in segment.hops for swap in _by_share(hop))


def _by_share(hop: tuple[ResultSwap, ...]) -> list[ResultSwap]:
    """Sort the swaps of a hop by share, largest first. The order in the route itself follows from its rounding."""
    return sorted(hop, key=lambda swap: -swap.share)


def _key(swap: ResultSwap) -> FlowKey:
    return swap.pool_key, swap.token_in, swap.token_out


def _pool_name(answer: QuoteResult, swap: ResultSwap) -> str:
    """Return the protocol and the fee. Services report the fee of some protocols only."""
    pool = _pool(answer, swap.pool_key)
    fee_ppm = pool.fee_ppm if pool else swap.extra.get("fee")
    fee = f" {format_significant(Decimal(fee_ppm).scaleb(-4), 6)}%" if isinstance(fee_ppm, int) and fee_ppm else ""
    return f"{printable(swap.pool_name)}{fee}"


def _pool(answer: QuoteResult, key: str) -> Pool | None:
    """Return the state of a pool of the route; None if only a service has it."""
    return answer.pools.get(key) if isinstance(answer, LocalQuote) else None


def _marks(answer: QuoteResult) -> dict[str, str]:
    """Number the pools of the route in the order of their appearance, by key."""
    keys = dict.fromkeys(swap.pool_key for _, swap in _swaps(answer))
    return {key: f"#{number}" for number, key in enumerate(keys, start=1)}


def _pools(answer: QuoteResult) -> Iterator[PoolRow]:
    tokens, marks = _tokens(answer), _marks(answer)
    first_uses = {swap.pool_key: swap for _, swap in reversed(list(_swaps(answer)))}
    for key, mark in marks.items():
        swap, pool = first_uses[key], _pool(answer, key)
        address = display_address(key, answer.network.kind) if key == swap.pool_address else key
        tokens_of_pool = pool.tokens if pool else (swap.token_in, swap.token_out)
        note = PLACEHOLDER_MARK if isinstance(answer, LocalQuote) and key in answer.placeholder_pools else ""
        yield PoolRow(
            mark, address, _pool_name(answer, swap), "/".join(symbol(tokens[a]) for a in tokens_of_pool), note
        )


def _parties(answer: QuoteResult, terms: SwapTerms) -> Iterator[tuple[str, str]]:
    parties = {"Recipient": terms.recipient, "Integrator": terms.integrator.address if terms.integrator else None}
    return ((name, display_address(address, answer.network.kind)) for name, address in parties.items() if address)
