"""The flow of an order through its route: the exact amounts of each pool, in route order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal

from swapcli.core.encoding.text import printable
from swapcli.core.model.number_format import apportion, format_significant
from swapcli.core.model.quote import SHARES_PER_HOP, SHARES_PER_ROUTE
from swapcli.core.model.route_result import ResultSegment, ResultSwap
from swapcli.core.model.token import Token
from swapcli.core.model.units import PPM
from swapcli.core.networks.address import display_address
from swapcli.core.records import NamedTuple
from swapcli.quoting.quote_results import LocalQuote, QuoteResult, RemoteQuote

WHOLE_ORDER = SHARES_PER_ROUTE * SHARES_PER_HOP
"""The flow of a whole order. A pool's flow is the product of two shares, so flows are exact integers."""


class PoolSwap(NamedTuple):
    """One pool of a hop.

    `share` is the pool's share of its hop in hundredths of a percent, and `flow` its share of the order in units of
    1/`WHOLE_ORDER`. `fee` is the pool's fee, such as "0.05%", or empty if it is unknown or zero. `amount_out` is None
    if only a service knows it. `identifier` is the pool's address or id, in the form that its network displays.
    """

    key: str
    identifier: str
    protocol: str
    fee: str
    token_in: Token
    token_out: Token
    share: int
    flow: int
    amount_out: int | None

    @property
    def name(self) -> str:
        """The pool's protocol and fee."""
        return f"{self.protocol} {self.fee}" if self.fee else self.protocol


Hop = tuple[PoolSwap, ...]
"""The pools between two tokens, with the largest share first."""


class RoutePath(NamedTuple):
    """A path with its share of the order in hundredths of a percent."""

    share: int
    hops: tuple[Hop, ...]

    @property
    def flow(self) -> int:
        """The path's share of the order in units of 1/`WHOLE_ORDER`."""
        return self.share * SHARES_PER_HOP

    @property
    def tokens(self) -> tuple[Token, ...]:
        """The tokens of the path, from the input to the output."""
        return (self.hops[0][0].token_in, *(hop[0].token_out for hop in self.hops))

    @property
    def pool_keys(self) -> frozenset[str]:
        """The keys of the path's pools."""
        return frozenset(use.key for hop in self.hops for use in hop)


class RouteFlow(NamedTuple):
    """The paths of a route, with the tokens and amounts at its ends. The shares of the paths sum to the whole.

    If the prices are not live, `state` shows their kind, such as "modelled"; otherwise it is empty.
    """

    network: str
    token_in: Token
    amount_in: int
    token_out: Token
    amount_out: int
    paths: tuple[RoutePath, ...]
    state: str = ""

    @property
    def uses(self) -> Iterator[PoolSwap]:
        """Every pool of every hop, in the order of the route."""
        return (use for path in self.paths for hop in path.hops for use in hop)

    @property
    def pool_keys(self) -> frozenset[str]:
        """The keys of all pools."""
        return frozenset().union(*(path.pool_keys for path in self.paths))


def build_route_flow(answer: QuoteResult) -> RouteFlow:
    """Return the flow of a quote, from and to the order's own tokens, even if pools trade the wrapped native token."""
    amounts, tokens = _outputs(answer), route_tokens(answer)
    paths = tuple(
        RoutePath(
            segment.share,
            tuple(
                tuple(_pool_swap(answer, segment, swap, tokens, next(amounts)) for swap in _by_share(hop))
                for hop in segment.hops
            ),
        )
        for segment in answer.result.segments
    )
    order, result, origin = answer.order, answer.result, answer.state_source
    return RouteFlow(
        answer.network.name,
        order.token_in,
        result.input_amount,
        order.token_out,
        result.output_amount,
        paths,
        "" if origin.is_live or origin.provenance is None else origin.provenance.value,
    )


def route_tokens(answer: QuoteResult) -> dict[str, Token]:
    """Return the tokens of the route by address. At both ends, it has the order's own tokens, even if pools trade the
    wrapper."""
    tokens = dict(answer.tokens)
    hops = answer.result.segments[0].hops
    tokens[hops[0][0].token_in] = answer.order.token_in
    tokens[hops[-1][0].token_out] = answer.order.token_out
    return tokens


def _pool_swap(
    answer: QuoteResult, segment: ResultSegment, swap: ResultSwap, tokens: Mapping[str, Token], amount_out: int | None
) -> PoolSwap:
    key = swap.pool_key
    return PoolSwap(
        key=key,
        identifier=display_address(key, answer.network.kind) if key == swap.pool_address else key,
        protocol=printable(swap.pool_name),
        fee=_fee(answer, swap),
        token_in=tokens[swap.token_in],
        token_out=tokens[swap.token_out],
        share=swap.share,
        flow=segment.share * swap.share,
        amount_out=amount_out,
    )


def _fee(answer: QuoteResult, swap: ResultSwap) -> str:
    """Return the fee in percent. Services report fees of some protocols only, and never dynamic ones."""
    pool = answer.pools.get(swap.pool_key) if isinstance(answer, LocalQuote) else None
    fee_ppm = pool.fee_ppm if pool else swap.extra.get("fee")
    if not isinstance(fee_ppm, int) or not 0 < fee_ppm < PPM:
        return ""
    return f"{format_significant(Decimal(fee_ppm).scaleb(-4), 6)}%"


def _outputs(answer: QuoteResult) -> Iterator[int | None]:
    """Yield the output of each swap in the order of `_swaps`, or None if only a service knows it.

    The router merges swaps of several segments through one pool, so the pool's exact output is split by weight.
    """
    if isinstance(answer, RemoteQuote):
        return (None for _ in _swaps(answer))
    outputs = {(step.pool, step.token_in, step.token_out): step.amount_out for step in answer.quote.steps}
    uses: dict[tuple[str, str, str], list[int]] = {}
    for segment, swap in _swaps(answer):
        uses.setdefault(_key(swap), []).append(segment.share * swap.share)
    parts = {key: iter(apportion(outputs[key], weights)) for key, weights in uses.items()}
    return (next(parts[_key(swap)]) for _, swap in _swaps(answer))


def _swaps(answer: QuoteResult) -> Iterator[tuple[ResultSegment, ResultSwap]]:
    """Yield every swap of the route with its segment, in flow order."""
    segments = answer.result.segments
    return ((segment, swap) for segment in segments for hop in segment.hops for swap in _by_share(hop))


def _by_share(hop: tuple[ResultSwap, ...]) -> list[ResultSwap]:
    """Sort the swaps of a hop by share, largest first. The order in the route itself follows from its rounding."""
    return sorted(hop, key=lambda swap: -swap.share)


def _key(swap: ResultSwap) -> tuple[str, str, str]:
    return swap.pool_key, swap.token_in, swap.token_out
