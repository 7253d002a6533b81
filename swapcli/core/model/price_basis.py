"""The USD price of a token, and the pools it is based on."""

from __future__ import annotations

from swapcli.core.records import NamedTuple


class PriceBasis(NamedTuple):
    """A price in USD per whole token, derived from the pools along a path.

    `path` has the addresses from the token to the price anchor, which is worth a dollar or has a reference price.
    `pools` has, for each hop, the keys of its pools, the deepest first. `depth_usd` is the depth of the thinnest hop,
    infinite without hops.
    """

    price_usd: float
    depth_usd: float
    path: tuple[str, ...]
    pools: tuple[tuple[str, ...], ...]
