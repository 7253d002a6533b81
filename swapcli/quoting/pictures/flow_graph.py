"""The route as a graph of tokens and bands, simplified until its picture is legible.

Every pool is a band between two tokens. Parts too small to draw are merged: the small pools between two tokens become
one band, and paths that are small, too long or cyclic become one band from the input to the output. At every level of
detail, the flow into each token equals the flow out of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from swapcli.core.model.token import Token
from swapcli.core.records import NamedTuple
from swapcli.quoting.pictures.route_flow import WHOLE_ORDER, PoolSwap, RouteFlow, RoutePath

SOURCE, SINK = "source", "sink"
"""The nodes of the input and the output. Every other node is a token address."""


class Detail(NamedTuple):
    """How much a picture can show: the length of the longest path in hops, the number of tokens between input and
    output, and the number of bands. Pools and paths with less flow than `min_flow` are merged."""

    max_hops: int
    max_tokens: int
    max_bands: int
    min_flow: int = WHOLE_ORDER // 100


class Band(NamedTuple):
    """A flow from one node to another: through one pool, several pools, or paths whose tokens are not drawn.

    `uses` are its pools. `path_count` is the number of paths in the band, or 0 if it stands for pools.
    """

    source: str
    target: str
    flow: int
    uses: tuple[PoolSwap, ...]
    path_count: int = 0

    @property
    def pool_keys(self) -> frozenset[str]:
        """The keys of the band's pools."""
        return frozenset(use.key for use in self.uses)

    @property
    def is_single_pool(self) -> bool:
        """Whether the band is exactly one pool."""
        return not self.path_count and len(self.pool_keys) == 1


class TokenNode(NamedTuple):
    """A token, the flow through it, and its layer, which is the length of the longest path to it."""

    key: str
    token: Token
    flow: int
    layer: int


class FlowGraph(NamedTuple):
    """The nodes (first the input, last the output) and the bands of a route. Bands between the same two nodes are
    adjacent."""

    nodes: tuple[TokenNode, ...]
    bands: tuple[Band, ...]

    @property
    def hop_count(self) -> int:
        """The layer of the output, which is the number of hops on the longest path."""
        return self.nodes[-1].layer


def build_flow_graph(flow: RouteFlow, detail: Detail) -> FlowGraph:
    """Return the graph of a route in as much detail as fits."""
    while True:
        drawn, together = _divide_paths(flow.paths, detail)
        bands = tuple(_bands(drawn, together, detail.min_flow))
        if len(bands) <= detail.max_bands or detail.min_flow > WHOLE_ORDER:
            return FlowGraph(_nodes(flow, bands), bands)
        detail = detail._replace(min_flow=detail.min_flow * 5 // 4 + 1)


def _divide_paths(paths: Iterable[RoutePath], detail: Detail) -> tuple[list[RoutePath], list[RoutePath]]:
    """Return the paths to draw token by token, largest first, and the paths to draw merged."""
    edges: dict[tuple[str, str], None] = {}
    drawn: list[RoutePath] = []
    together: list[RoutePath] = []
    for path in sorted(paths, key=lambda path: -path.share):
        new_edges = dict.fromkeys(_edges(path))
        is_drawn = all(edge in edges for edge in new_edges) or (
            (path.flow >= detail.min_flow or len(path.hops) == 1)
            and len(new_edges) == len(path.hops)
            and _fits(edges | new_edges, detail)
        )
        if is_drawn:
            edges |= new_edges
        (drawn if is_drawn else together).append(path)
    return drawn, together


def _edges(path: RoutePath) -> Iterator[tuple[str, str]]:
    """Yield the pairs of nodes of a path."""
    last = len(path.hops) - 1
    for number, hop in enumerate(path.hops):
        yield (
            hop[0].token_in.address if number else SOURCE,
            hop[0].token_out.address if number < last else SINK,
        )


def _fits(edges: Iterable[tuple[str, str]], detail: Detail) -> bool:
    edges = tuple(edges)
    layers = _layers(edges)
    return layers is not None and layers[SINK] <= detail.max_hops and len(layers) - 2 <= detail.max_tokens


def _layers(edges: Sequence[tuple[str, str]]) -> dict[str, int] | None:
    """Return the length of the longest path to each node, None if there is a cycle.

    Source: Kahn, Topological sorting of large networks, Communications of the ACM 5 (1962).
    """
    in_degrees: dict[str, int] = {SOURCE: 0}
    for _, target in edges:
        in_degrees[target] = in_degrees.get(target, 0) + 1
    layers, ready = {SOURCE: 0}, [SOURCE]
    while ready:
        node = ready.pop()
        for source, target in edges:
            if source == node:
                layers[target] = max(layers.get(target, 0), layers[node] + 1)
                in_degrees[target] -= 1
                if not in_degrees[target]:
                    ready.append(target)
    return None if any(in_degrees.values()) else layers


def _bands(drawn: Iterable[RoutePath], together: Sequence[RoutePath], min_flow: int) -> Iterator[Band]:
    pools: dict[tuple[str, str], dict[str, list[PoolSwap]]] = {}
    for path in drawn:
        for edge, hop in zip(_edges(path), path.hops, strict=True):
            for use in hop:
                pools.setdefault(edge, {}).setdefault(use.key, []).append(use)
    for (source, target), uses_by_pool in pools.items():
        bands = [Band(source, target, _flow(uses), tuple(uses)) for uses in uses_by_pool.values()]
        yield from _with_small_together(sorted(bands, key=lambda band: -band.flow), min_flow)
    if together:
        uses = tuple(use for path in together for hop in path.hops for use in hop)
        yield Band(SOURCE, SINK, sum(path.flow for path in together), uses, len(together))


def _flow(uses: Iterable[PoolSwap]) -> int:
    return sum(use.flow for use in uses)


def _with_small_together(bands: Sequence[Band], min_flow: int) -> Iterator[Band]:
    """Yield the bands of one token pair, with two or more small ones merged."""
    small = [band for band in bands if band.flow < min_flow]
    if len(small) < 2:
        yield from bands
        return
    yield from bands[: len(bands) - len(small)]
    uses = tuple(use for band in small for use in band.uses)
    yield small[0]._replace(flow=_flow(uses), uses=uses)


def _nodes(flow: RouteFlow, bands: Sequence[Band]) -> tuple[TokenNode, ...]:
    layers = _layers(tuple(dict.fromkeys((band.source, band.target) for band in bands)))
    assert layers is not None, "only acyclic paths are drawn token by token"
    tokens = _tokens(bands)
    between = sorted(layers.keys() - {SOURCE, SINK}, key=lambda key: (layers[key], -_inflow(key, bands), key))
    return (
        TokenNode(SOURCE, flow.token_in, WHOLE_ORDER, 0),
        *(TokenNode(key, tokens[key], _inflow(key, bands), layers[key]) for key in between),
        TokenNode(SINK, flow.token_out, WHOLE_ORDER, layers[SINK]),
    )


def _inflow(key: str, bands: Iterable[Band]) -> int:
    return sum(band.flow for band in bands if band.target == key)


def _tokens(bands: Iterable[Band]) -> Mapping[str, Token]:
    return {band.target: band.uses[0].token_out for band in bands if not band.path_count}
