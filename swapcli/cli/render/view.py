"""What a route tells people, once: the table and the plain text both show exactly this."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from swapcli.cli.render.figures import NOT_LIVE, Fact, facts_of, symbol
from swapcli.cli.render.numbers import (
    apportion,
    clean,
    how_old,
    hundredths,
    short_tokens,
    significant,
    whole_tokens,
)
from swapcli.engine.answer import Answer, Origin
from swapcli.model.pool import Pool
from swapcli.model.route import Segment, Swap
from swapcli.model.terms import Terms
from swapcli.model.token import Token
from swapcli.networks.address import display_address

INVENTED = "invented"
FLOW_KEY = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Row:
    """One pool of a hop. `segment` and `hop` are empty where they repeat the row above; `mark` is the pool's."""

    segment: str
    hop: str
    pool: str
    mark: str
    share: str
    amount: str
    short_amount: str


@dataclass(frozen=True, slots=True)
class PoolLine:
    """A pool of the route, once: its mark in the rows, its address (or id) with a remark on it, name and tokens."""

    mark: str
    address: str
    name: str
    pair: str
    remark: str


@dataclass(frozen=True, slots=True)
class RouteView:
    """A whole answer in words. `warning` says loudly that prices are not real; `parties` are those who are paid, with
    their addresses."""

    title: str
    origin: str
    warning: str | None
    rows: tuple[Row, ...]
    facts: tuple[Fact, ...]
    pools: tuple[PoolLine, ...]
    parties: tuple[tuple[str, str], ...]


def view_of(answer: Answer, terms: Terms) -> RouteView:
    """The words for an answer."""
    order, quote = answer.order, answer.quote
    sold = f"{whole_tokens(quote.amount_in, order.token_in.decimals)} {symbol(order.token_in)}"
    return RouteView(
        title=f"{sold} → {symbol(order.token_out)} on {answer.network.name}",
        origin=origin_words(answer.origin),
        warning=warning_words(answer, terms),
        rows=tuple(_rows(answer)),
        facts=tuple(facts_of(answer, terms)),
        pools=tuple(_pools(answer)),
        parties=tuple(_parties(answer, terms)),
    )


def origin_words(origin: Origin) -> str:
    """What the state is, briefly: how old, or that its prices are not real."""
    fresh = how_old(origin.age_s) if origin.age_s is not None else ""
    return ", ".join(filter(None, [f"{origin.provenance.value} state", fresh if origin.is_live else NOT_LIVE]))


def warning_words(answer: Answer, terms: Terms) -> str | None:
    """What must be said before anyone acts on the figures; None where the state was just read from the network."""
    origin, age_s = answer.origin, answer.origin.age_s
    if origin.is_live:
        if age_s is None or age_s <= terms.ttl_s:
            return None
        return f"the state of the pools is {how_old(age_s)}: prices have moved since"
    warning = f"the state of the pools is {origin.provenance.value}: these are {NOT_LIVE}"
    count = f"{len(answer.invented)} of {len(_marks(answer))}"
    return f"{warning}; {INVENTED} pool addresses: {count}" if answer.invented else warning


def _rows(answer: Answer) -> Iterator[Row]:
    flows, tokens, marks = _flows(answer), _tokens(answer), _marks(answer)
    for segment in answer.quote.route.segments:
        first_of_segment = True
        for hop in segment.hops:
            for number, swap in enumerate(_by_share(hop)):
                amount, token_out = next(flows), tokens[swap.token_out]
                yield Row(
                    segment=f"{segment.percent} %" if first_of_segment else "",
                    hop="" if number else f"{symbol(tokens[swap.token_in])} → {symbol(token_out)}",
                    pool=_pool_name(answer, answer.pools[swap.pool]),
                    mark=marks[swap.pool],
                    share=hundredths(swap.share),
                    amount=f"{whole_tokens(amount, token_out.decimals)} {symbol(token_out)}",
                    short_amount=f"{short_tokens(amount, token_out.decimals)} {symbol(token_out)}",
                )
                first_of_segment = False


def _tokens(answer: Answer) -> dict[str, Token]:
    """The route's tokens by address; the wrapped native token goes by the name under which it was ordered."""
    tokens = dict(answer.tokens)
    route = answer.quote.route.segments[0]
    tokens[route.hops[0][0].token_in] = answer.order.token_in
    tokens[route.hops[-1][0].token_out] = answer.order.token_out
    return tokens


def _flows(answer: Answer) -> Iterator[int]:
    """What each swap of the route pays out, in the order of `_swaps`.

    A router merges what several segments spend in one pool, so the pool's exact output is split by their weights.
    """
    paid_out = {(step.pool, step.token_in, step.token_out): step.amount_out for step in answer.quote.steps}
    uses: dict[FLOW_KEY, list[int]] = {}
    for segment, swap in _swaps(answer):
        uses.setdefault(_key(swap), []).append(segment.percent * swap.share)
    parts = {key: iter(apportion(paid_out[key], weights)) for key, weights in uses.items()}
    return (next(parts[_key(swap)]) for _, swap in _swaps(answer))


def _swaps(answer: Answer) -> Iterator[tuple[Segment, Swap]]:
    """Every swap of the route with its segment, as they are shown."""
    segments = answer.quote.route.segments
    return ((segment, swap) for segment in segments for hop in segment.hops for swap in _by_share(hop))


def _by_share(hop: tuple[Swap, ...]) -> list[Swap]:
    """The pools of a hop as people look for them, the largest share first; the route has reasons of its own."""
    return sorted(hop, key=lambda swap: -swap.share)


def _key(swap: Swap) -> FLOW_KEY:
    return swap.pool, swap.token_in, swap.token_out


def _pool_name(answer: Answer, pool: Pool) -> str:
    protocol = answer.network.protocol(pool.protocol)
    name = clean(protocol.display_name if protocol else pool.protocol)
    fee = f" {significant(Decimal(pool.fee_ppm).scaleb(-4), 6)}%" if pool.fee_ppm else ""
    return f"{name}{fee}"


def _marks(answer: Answer) -> dict[str, str]:
    """The pools of the route by key, numbered as they appear."""
    keys = dict.fromkeys(swap.pool for _, swap in _swaps(answer))
    return {key: f"#{number}" for number, key in enumerate(keys, start=1)}


def _pools(answer: Answer) -> Iterator[PoolLine]:
    tokens = _tokens(answer)
    for key, mark in _marks(answer).items():
        pool = answer.pools[key]
        address = display_address(pool.address, answer.network.kind) if key == pool.address else key
        pair = "/".join(symbol(tokens[a]) for a in pool.tokens)
        yield PoolLine(mark, address, _pool_name(answer, pool), pair, INVENTED if key in answer.invented else "")


def _parties(answer: Answer, terms: Terms) -> Iterator[tuple[str, str]]:
    paid = {"Paid to": terms.destination, "Integrator": terms.integrator.address if terms.integrator else None}
    return ((name, display_address(address, answer.network.kind)) for name, address in paid.items() if address)
