"""The view of a route. Tables and plain text show the same view."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from swapcli import Finding, LocalQuote, QuoteFigures, SwapTerms
from swapcli.core.encoding.text import counted, shorten_id
from swapcli.core.model.number_format import format_share, format_shares
from swapcli.core.model.quote import SHARES_PER_ROUTE
from swapcli.core.networks.address import display_address
from swapcli.core.networks.explorer import contract_page
from swapcli.faces.cli.render.quote_facts import (
    Fact,
    HeadRow,
    Traded,
    build_facts,
    build_head,
    short_amount,
    symbol,
    title_of,
)
from swapcli.faces.cli.render.state_wording import describe_origin, unreal_label
from swapcli.interface.segments import format_segment_share
from swapcli.quoting.pictures.route_flow import Hop, PoolSwap, RouteFlow, build_route_flow
from swapcli.quoting.pictures.text import ARROW
from swapcli.quoting.quote_results import QuoteResult
from swapcli.quoting.warnings import PLACEHOLDER_MARK, SAMPLED_MARK

FOLDED_BELOW = SHARES_PER_ROUTE // 100
"""The share (1%) below which paths and pools are combined. Large orders have many of them, and none matters to a
person's decision."""


@dataclass(frozen=True, slots=True)
class SwapRow:
    """One pool of a hop, or a path that has one pool in each of several hops.

    `segment` and `path` are empty if they repeat the row above. `share` is the share of the hop, empty if the hop has
    one pool. `mark` is the short address of the pool, with a note if there is one, or refers to a `PoolRow`.
    """

    segment: str
    path: str
    share: str
    pool: str
    mark: str = ""
    amount: str = ""
    link: str | None = None


@dataclass(frozen=True, slots=True)
class PoolRow:
    """A pool of the route: its mark, address or id, a note, and its page in the network's explorer."""

    mark: str
    address: str
    note: str
    link: str | None = None


@dataclass(frozen=True, slots=True)
class RouteView:
    """The view of a quote.

    `title` is the result, and `origin` describes the state. `label` is set if the state's prices are not real. `head`
    has the rows that are always shown, and `facts` the additional facts. `pools` have full addresses, if those are
    shown. `warnings` are printed after the view. `parties` are the named addresses that are paid. `flow` is for shapes
    other than a table.
    """

    title: str
    origin: str
    warnings: tuple[Finding, ...]
    head: tuple[HeadRow, ...]
    rows: tuple[SwapRow, ...]
    facts: tuple[Fact, ...]
    pools: tuple[PoolRow, ...]
    parties: tuple[tuple[str, str], ...]
    flow: RouteFlow
    label: str = ""

    @property
    def line_start(self) -> str:
        """The part of the line view before the path: the label and the result."""
        return "".join(f"{each}: " for each in (self.label, self.title) if each)


def build_route_view(
    answer: QuoteResult, terms: SwapTerms, figures: QuoteFigures, *, verbose: bool = False
) -> RouteView:
    """Build the view of a quote and its figures.

    With `verbose`, it has all facts, all paths, the amount of each pool, and full addresses. Otherwise all paths of
    less than 1% share one row.
    """
    order, flow = answer.order, build_route_flow(answer)
    traded = Traded(order.token_in, order.token_out, answer.network, terms.integrator)
    shown = flow if verbose else _without_small_paths(flow)
    pools = tuple(_pools(answer, shown))
    return RouteView(
        title=title_of(traded, figures, is_reverse=order.reverse),
        origin=describe_origin(answer.state_source),
        warnings=figures.warnings,
        head=tuple(build_head(traded, figures)),
        rows=(*(_detailed_rows(shown) if verbose else _rows(shown, pools)), *_rest(flow, shown)),
        facts=tuple(build_facts(answer, terms, figures, verbose=verbose)),
        pools=pools if verbose else (),
        parties=tuple(_parties(answer, terms)),
        flow=flow,
        label=unreal_label(answer.state_source),
    )


def _rows(flow: RouteFlow, pools: Sequence[PoolRow]) -> Iterator[SwapRow]:
    """Yield a row for each pool; a path with one pool in each of several hops is one row."""
    known = dict(zip(_marks(flow), pools, strict=True))
    segments = format_shares(path.share for path in flow.paths)
    for path, segment in zip(flow.paths, segments, strict=True):
        if len(path.hops) > 1 and all(len(hop) == 1 for hop in path.hops):
            uses = [hop[0] for hop in path.hops]
            notes = dict.fromkeys(known[use.key].note for use in uses if known[use.key].note)
            yield SwapRow(segment, f" {ARROW} ".join(map(symbol, path.tokens)), "", _names(uses), ", ".join(notes))
            continue
        for number, hop in enumerate(path.hops):
            large = _without_small_pools(hop)
            shares = [use.share for use in large] + [sum(use.share for use in hop[len(large) :])] * (large != hop)
            texts = format_shares(shares) if len(hop) > 1 else [""]
            for position, (use, share) in enumerate(zip(large, texts, strict=False)):
                pool = known[use.key]
                yield SwapRow(
                    segment="" if number or position else segment,
                    path="" if position else _pair(use),
                    share=share,
                    pool=use.name,
                    mark=" ".join(filter(None, [shorten_id(pool.address), pool.note])),
                    link=pool.link,
                )
            if large != hop:
                yield SwapRow("", "", texts[-1], counted(len(hop) - len(large), "more pool"))


def _detailed_rows(flow: RouteFlow) -> Iterator[SwapRow]:
    """Yield a row for each pool, with its amount and the mark of its `PoolRow`."""
    marks = _marks(flow)
    for path in flow.paths:
        is_first = True
        for hop in path.hops:
            for position, use in enumerate(hop):
                yield SwapRow(
                    segment=format_segment_share(path.share) if is_first else "",
                    path="" if position else _pair(use),
                    share=format_share(use.share),
                    pool=use.name,
                    mark=marks[use.key],
                    amount=_amount(use),
                )
                is_first = False


def _names(uses: Sequence[PoolSwap]) -> str:
    """Return the names of a path's pools: "PancakeSwap V3 0.01%, 0.05%" if only their fees differ."""
    names = [uses[0].name]
    for before, use in pairwise(uses):
        names.append(use.fee if use.fee and use.protocol == before.protocol else use.name)
    return ", ".join(names)


def _pair(use: PoolSwap) -> str:
    return f"{symbol(use.token_in)} {ARROW} {symbol(use.token_out)}"


def _without_small_paths(flow: RouteFlow) -> RouteFlow:
    """Return a route without its paths below `FOLDED_BELOW`; the whole route if there are fewer than two."""
    large = tuple(path for path in flow.paths if path.share >= FOLDED_BELOW)
    return flow._replace(paths=large) if large and len(flow.paths) - len(large) > 1 else flow


def _without_small_pools(hop: Hop) -> Hop:
    """Return a hop's pools, largest first, without those below `FOLDED_BELOW`; all pools if there are fewer than
    two."""
    large = tuple(use for use in hop if use.share >= FOLDED_BELOW)
    return large if large and len(hop) - len(large) > 1 else hop


def _rest(flow: RouteFlow, shown: RouteFlow) -> Iterator[SwapRow]:
    """Yield the row that stands for the hidden paths."""
    if count := len(flow.paths) - len(shown.paths):
        share = sum(path.share for path in flow.paths) - sum(path.share for path in shown.paths)
        yield SwapRow(format_shares([share])[0], f"{count} more paths", "", "")


def _amount(use: PoolSwap) -> str:
    return "" if use.amount_out is None else short_amount(use.amount_out, use.token_out)


def _marks(flow: RouteFlow) -> dict[str, str]:
    """Number the route's pools in order of appearance, by key."""
    keys = dict.fromkeys(use.key for use in flow.uses)
    return {key: f"#{number}" for number, key in enumerate(keys, start=1)}


def _pools(answer: QuoteResult, flow: RouteFlow) -> Iterator[PoolRow]:
    first_uses = {use.key: use for use in reversed(list(flow.uses))}
    for key, mark in _marks(flow).items():
        use, pool = first_uses[key], answer.pools.get(key) if isinstance(answer, LocalQuote) else None
        note = PLACEHOLDER_MARK if isinstance(answer, LocalQuote) and key in answer.placeholder_pools else ""
        link = None if note else contract_page(answer.network, use.identifier)
        yield PoolRow(mark, use.identifier, note or (SAMPLED_MARK if pool and pool.is_sampled else ""), link)


def _parties(answer: QuoteResult, terms: SwapTerms) -> Iterator[tuple[str, str]]:
    parties = {"Recipient": terms.recipient, "Integrator": terms.integrator.address if terms.integrator else None}
    return ((name, display_address(address, answer.network.kind)) for name, address in parties.items() if address)
