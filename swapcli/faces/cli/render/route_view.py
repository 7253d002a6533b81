"""The view of a route. Tables and plain text show the same view."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from swapcli import Finding, LocalQuote, QuoteFigures, SwapTerms
from swapcli.core.encoding.text import shorten_id
from swapcli.core.model.number_format import format_share, format_short_amount
from swapcli.core.model.quote import SHARES_PER_ROUTE
from swapcli.core.model.token import whole_tokens
from swapcli.core.networks.address import display_address
from swapcli.core.networks.explorer import contract_page
from swapcli.faces.cli.render.quote_facts import Fact, build_facts, exact_amount, symbol
from swapcli.faces.cli.render.state_wording import describe_origin, unreal_label
from swapcli.interface.segments import format_segment_share
from swapcli.quoting.pictures.route_flow import PoolSwap, RouteFlow, build_route_flow, route_tokens
from swapcli.quoting.quote_results import QuoteResult
from swapcli.quoting.warnings import PLACEHOLDER_MARK, SAMPLED_MARK

FOLDED_BELOW = SHARES_PER_ROUTE // 100
"""Paths of less than 1% are many on a large order, and none of them changes what a person decides."""


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
    """A pool of the route: its mark, address or id, name, tokens, a note, and its page in the network's explorer."""

    mark: str
    address: str
    name: str
    pair: str
    note: str
    link: str | None = None


@dataclass(frozen=True, slots=True)
class RouteView:
    """The view of a quote. `warnings` are printed before it; `origin` describes the state, and `label` is the same if
    its prices are not real; `parties` are the named addresses that are paid; `flow` is for shapes other than a table.
    """

    title: str
    origin: str
    warnings: tuple[Finding, ...]
    rows: tuple[SwapRow, ...]
    facts: tuple[Fact, ...]
    pools: tuple[PoolRow, ...]
    parties: tuple[tuple[str, str], ...]
    flow: RouteFlow
    label: str = ""


def build_route_view(
    answer: QuoteResult, terms: SwapTerms, figures: QuoteFigures, *, is_brief: bool = False
) -> RouteView:
    """Build the view of a quote and its figures.

    If `is_brief`, paths of less than 1% are one row together, without their pools, and ids of pools are shortened.
    """
    order, result, flow = answer.order, answer.result, build_route_flow(answer)
    shown = _without_small_paths(flow) if is_brief else flow
    amount_in = exact_amount(result.input_amount, order.token_in)
    return RouteView(
        title=f"{amount_in} → {symbol(order.token_out)} on {answer.network.name}",
        origin=describe_origin(answer.state_source),
        warnings=figures.warnings,
        rows=(*_rows(shown), *_rest(flow, shown)),
        facts=tuple(build_facts(answer, terms, figures)),
        pools=tuple(_pools(answer, shown, is_brief=is_brief)),
        parties=tuple(_parties(answer, terms)),
        flow=flow,
        label=unreal_label(answer.state_source),
    )


def _rows(flow: RouteFlow) -> Iterator[SwapRow]:
    marks = _marks(flow)
    for path in flow.paths:
        first_of_segment = True
        for hop in path.hops:
            for number, use in enumerate(hop):
                yield SwapRow(
                    segment=format_segment_share(path.share) if first_of_segment else "",
                    hop="" if number else f"{symbol(use.token_in)} → {symbol(use.token_out)}",
                    pool=use.name,
                    mark=marks[use.key],
                    share=format_share(use.share),
                    amount=_amount(use, whole_tokens),
                    short_amount=_amount(use, format_short_amount),
                )
                first_of_segment = False


def _without_small_paths(flow: RouteFlow) -> RouteFlow:
    """Return a route without its paths below `FOLDED_BELOW`; the whole route if fewer than two are."""
    large = tuple(path for path in flow.paths if path.share >= FOLDED_BELOW)
    return flow._replace(paths=large) if large and len(flow.paths) - len(large) > 1 else flow


def _rest(flow: RouteFlow, shown: RouteFlow) -> Iterator[SwapRow]:
    """Yield the row that stands for the paths that are not shown."""
    if count := len(flow.paths) - len(shown.paths):
        share = sum(path.share for path in flow.paths) - sum(path.share for path in shown.paths)
        yield SwapRow(format_segment_share(share), f"{count} more paths", "", "", "", "", "")


def _amount(use: PoolSwap, written: Callable[[int, int], str]) -> str:
    return (
        "" if use.amount_out is None else f"{written(use.amount_out, use.token_out.decimals)} {symbol(use.token_out)}"
    )


def _marks(flow: RouteFlow) -> dict[str, str]:
    """Number the pools of the route in the order of their appearance, by key."""
    keys = dict.fromkeys(use.key for use in flow.uses)
    return {key: f"#{number}" for number, key in enumerate(keys, start=1)}


def _pools(answer: QuoteResult, flow: RouteFlow, *, is_brief: bool) -> Iterator[PoolRow]:
    tokens, first_uses = route_tokens(answer), {use.key: use for use in reversed(list(flow.uses))}
    for key, mark in _marks(flow).items():
        use, pool = first_uses[key], answer.pools.get(key) if isinstance(answer, LocalQuote) else None
        symbols = (symbol(tokens[a]) for a in pool.tokens) if pool else (symbol(use.token_in), symbol(use.token_out))
        note = PLACEHOLDER_MARK if isinstance(answer, LocalQuote) and key in answer.placeholder_pools else ""
        link = None if note else contract_page(answer.network, use.identifier)
        note = note or (SAMPLED_MARK if pool and pool.is_sampled else "")
        identifier = shorten_id(use.identifier) if is_brief else use.identifier
        yield PoolRow(mark, identifier, use.name, "/".join(symbols), note, link)


def _parties(answer: QuoteResult, terms: SwapTerms) -> Iterator[tuple[str, str]]:
    parties = {"Recipient": terms.recipient, "Integrator": terms.integrator.address if terms.integrator else None}
    return ((name, display_address(address, answer.network.kind)) for name, address in parties.items() if address)
