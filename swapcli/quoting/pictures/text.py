"""A route as text: a tree of paths, hops and pools, or one line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product

from swapcli.core.model.number_format import format_share
from swapcli.core.model.quote import SHARES_PER_HOP, SHARES_PER_ROUTE
from swapcli.core.records import NamedTuple
from swapcli.interface.segments import format_segment_share
from swapcli.quoting.pictures.route_flow import Hop, PoolSwap, RouteFlow, RoutePath
from swapcli.quoting.pictures.route_words import count, format_amount, format_exact_amount, format_symbol

SHARE_WIDTH = len("100.00%")
_NAMED_POOLS = (None, 3, 2, 1)
"""How many pools of each hop a line names: first all of them (None), finally only the largest one."""

ARROW = "→"
BRANCH, LAST_BRANCH, TRUNK, BLANK = "├─ ", "└─ ", "│  ", "   "
"""The parts of a tree. ASCII streams replace them with similar characters."""


class TreeRow(NamedTuple):
    """One row of a tree: its branches, its share and name, and its output amount.

    `below` has the branches to draw if the row has a second line.
    """

    branches: str
    below: str
    share: str
    name: str
    amount: str = ""

    @property
    def label(self) -> str:
        """The share and the name."""
        return f"{self.share} {self.name}" if self.share else self.name


def tree_rows(flow: RouteFlow, *, has_short_amounts: bool = False) -> Iterator[TreeRow]:
    """Yield the rows of a route's tree: paths, the hops of longer paths, and pools. A pool's share is its share of the
    hop."""
    for path, (branch, trunk) in zip(flow.paths, _branches(flow.paths), strict=True):
        yield TreeRow(branch, trunk, format_segment_share(path.share), _tokens(path))
        if len(path.hops) == 1:
            yield from _pool_rows(path.hops[0], trunk, has_short_amounts=has_short_amounts)
            continue
        for hop, (hop_branch, hop_trunk) in zip(path.hops, _branches(path.hops), strict=True):
            pair = f"{format_symbol(hop[0].token_in)} {ARROW} {format_symbol(hop[0].token_out)}"
            yield TreeRow(trunk + hop_branch, trunk + hop_trunk, "", pair)
            yield from _pool_rows(hop, trunk + hop_trunk, has_short_amounts=has_short_amounts)


def _pool_rows(hop: Hop, trunk: str, *, has_short_amounts: bool) -> Iterator[TreeRow]:
    for use, (branch, below) in zip(hop, _branches(hop), strict=True):
        share = format_share(use.share).rjust(SHARE_WIDTH)
        yield TreeRow(trunk + branch, trunk + below, share, use.name, _amount(use, is_short=has_short_amounts))


def _branches(children: Sequence[object]) -> Iterator[tuple[str, str]]:
    """Yield the branch to each child, and the branch that the child's own children have in that position."""
    for _ in children[:-1]:
        yield BRANCH, TRUNK
    yield LAST_BRANCH, BLANK


def _tokens(path: RoutePath) -> str:
    return f" {ARROW} ".join(map(format_symbol, path.tokens))


def _amount(use: PoolSwap, *, is_short: bool) -> str:
    if use.amount_out is None:
        return ""
    return (format_amount if is_short else format_exact_amount)(use.amount_out, use.token_out)


def format_line(flow: RouteFlow, width: int | None = None, cell_width: Callable[[str], int] = len) -> str:
    """Return a route on one line: "ETH →[Uniswap V3 0.05% 60.00%, Curve 40.00%]→ USDC", and join several paths with +.

    With a `width`, names are replaced by counts until the line fits: first those of small pools, then of small paths,
    finally of all pools. The shortest form may still be wider. `cell_width` measures text.
    """
    paths = sorted(flow.paths, key=lambda path: -path.share)
    line = _line(paths, len(paths), None)
    if width is None or cell_width(line) <= width:
        return line
    path_counts = range(len(paths), 0, -1)
    for shown_paths, shown_pools in (*product(path_counts, _NAMED_POOLS), *product(path_counts, (0,))):
        line = _line(paths, shown_paths, shown_pools)
        if cell_width(line) <= width:
            break
    return line


def _line(paths: Sequence[RoutePath], shown_paths: int, shown_pools: int | None) -> str:
    parts = [_path(path, shown_pools) for path in paths[:shown_paths]]
    hidden = paths[shown_paths:]
    if hidden:
        share = format_segment_share(sum(path.share for path in hidden))
        parts.append(f"{share} in {count(len(hidden), 'more path')}")
    return " + ".join(parts)


def _path(path: RoutePath, shown_pools: int | None) -> str:
    share = "" if path.share == SHARES_PER_ROUTE else f"{format_segment_share(path.share)} "
    hops = (f"{ARROW}[{_pools(hop, shown_pools)}]{ARROW} {format_symbol(hop[0].token_out)}" for hop in path.hops)
    return f"{share}{format_symbol(path.tokens[0])} {' '.join(hops)}"


def _pools(hop: Hop, shown: int | None) -> str:
    if len(hop) == 1 and hop[0].share == SHARES_PER_HOP:
        return hop[0].name
    if shown == 0:
        return count(len(hop), "pool")
    pools = [f"{use.name} {format_share(use.share)}" for use in hop[:shown]]
    hidden = hop[len(pools) :]
    if hidden:
        pools.append(f"{len(hidden)} more {format_share(sum(use.share for use in hidden))}")
    return ", ".join(pools)
