"""Prices along widest paths: one search for both the dollar prices of quotes and the ranking of stores."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from heapq import heapify, heappop, heappush

from swapcli.core.records import NamedTuple


class PathPrice(NamedTuple):
    """The price of a token, the width of its path, and the token before it on the path (None for an anchor)."""

    price: float
    width: float
    parent: int | None


def widest_path_prices(
    anchors: Iterable[tuple[int, float, float]],
    neighbours: Callable[[int], Iterable[int]],
    price_over: Callable[[int, float, int], tuple[float, float]],
    priced: Container[int] = (),
) -> dict[int, PathPrice]:
    """Return the price of every token within reach of the `anchors` (token, price, width), the widest path first.

    A token takes its price from the path whose thinnest pair is deepest, by Dijkstra's algorithm for widest paths.
    `price_over(token, price, other)` returns the price of the neighbour `other` given the price of `token`, and the
    depth of their pair in the unit of prices; the price is 0 if the pair has none. Tokens in `priced` keep their price.
    """
    prices: dict[int, PathPrice] = {}
    heap = [(-width, token, price, -1) for token, price, width in anchors]
    heapify(heap)
    while heap:
        negative_width, token, price, parent = heappop(heap)
        if token in prices:
            continue
        prices[token] = PathPrice(price, -negative_width, None if parent < 0 else parent)
        for other in neighbours(token):
            if other not in prices and other not in priced:
                other_price, depth = price_over(token, price, other)
                if other_price > 0.0:
                    heappush(heap, (max(negative_width, -depth), other, other_price, token))
    return prices
