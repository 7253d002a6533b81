"""Hypothesis strategies for routes: split, merged, cyclic, with hostile names and any number of pools."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import settings
from hypothesis import strategies as st

from swapcli.core.model.quote import SHARES_PER_HOP, SHARES_PER_ROUTE
from swapcli.core.model.token import Token
from swapcli.quoting.pictures.route_flow import Hop, PoolSwap, RouteFlow, RoutePath

FEWER_EXAMPLES = settings(max_examples=settings().max_examples // 3)
"""A third of the profile's examples: each of these draws a route of up to sixty hops."""

HOSTILE = (
    "<script>alert(1)</script>", "]]>", "&amp;", '" onload="x', "'", "\u200f\u202eBTC", "\x00\x1b[31m", "\ud800",
    "\ufffe", "W" * 200, "漢字" * 100, "", " ", "%%{init: {}}%%", "#quot;", "`x`", "end", "a\nb",
)  # fmt: skip
"""Names that could break out of a document, a terminal or a layout."""

NAMES = (
    st.sampled_from(HOSTILE)
    | st.sampled_from(["ETH", "USDC", "cbBTC", "Uniswap V3", "Aerodrome Slipstream", "Balancer V2 Composable Stable"])
    | st.text(max_size=12)
)


def split_shares(total: int, cuts: list[int]) -> list[int]:
    """Divide `total` into positive parts at distinct `cuts`."""
    ends = [*sorted({cut % total for cut in cuts} - {0}), total]
    return [end - start for start, end in zip([0, *ends], ends, strict=False)]


def _shares(total: int, most: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(1, total - 1), max_size=most - 1).map(lambda cuts: split_shares(total, cuts))


@st.composite
def route_flows(draw: st.DrawFn, max_paths: int = 12, max_hops: int = 5) -> RouteFlow:
    """Return a route whose shares sum to the whole."""
    count = draw(st.integers(2, 7))
    tokens = [Token(f"0x{number:040x}", draw(NAMES), "", draw(st.integers(0, 30))) for number in range(count)]
    token_in, token_out, *between = tokens
    protocols = draw(st.lists(NAMES.map(lambda name: name or "?"), min_size=1, max_size=4))

    def hop(path_share: int, source: Token, target: Token) -> Hop:
        uses = [
            PoolSwap(
                key := f"{source.address[-1]}{target.address[-1]}{number % 20}", f"0x{key}",
                protocols[number % len(protocols)], draw(st.sampled_from(["", "0.05%", "0.3%"])),
                source, target, share, path_share * share, draw(st.none() | st.integers(0, 10**30)),
            )
            for number, share in enumerate(draw(_shares(SHARES_PER_HOP, 6)))
        ]  # fmt: skip
        return tuple(sorted(uses, key=lambda use: -use.share))

    paths = []
    for share in draw(_shares(SHARES_PER_ROUTE, max_paths)):
        inner = draw(st.lists(st.sampled_from(between), max_size=max_hops - 1)) if between else []
        way = [token_in, *inner, token_out]
        hops = tuple(hop(share, source, target) for source, target in pairwise(way))
        paths.append(RoutePath(share, hops))
    amounts = st.integers(1, 2**256 - 1)
    state = draw(st.sampled_from(["", "modelled"]))
    return RouteFlow("base", token_in, draw(amounts), token_out, draw(amounts), tuple(paths), state)
