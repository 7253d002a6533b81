"""The lines that a terminal shows when the service is ready: its URL, and which prices it serves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from swapcli.quoting.price_policy import PriceRequest

_PAGES: Final = "Quotes: {0}/, API docs: {0}/docs. Press Ctrl-C to stop."
_MODELLED: Final = {
    PriceRequest.NONE: "modelled until a node responds; no transactions until then",
    PriceRequest.MARKET: "modelled, from the market file; no transactions without --offline",
    PriceRequest.OFFLINE: "modelled, for trials; transactions are built on them",
}
_FOLLOWED: Final = "real, read at each new block"
_RECORDED: Final = "real, recorded in the market file"


def banner(
    url: str,
    networks: Iterable[str],
    modelled: Iterable[str],
    followed: Iterable[str],
    price_request: PriceRequest,
) -> Iterator[str]:
    """Yield the lines about a service at `url` that serves `networks`. The networks in `modelled` start on modelled
    prices."""
    modelled, followed = set(modelled), set(followed)
    by_prices: dict[str, list[str]] = {}
    for name in networks:
        unless_modelled = _FOLLOWED if name in followed else _RECORDED
        by_prices.setdefault(_MODELLED[price_request] if name in modelled else unless_modelled, []).append(name)
    for prices, names in by_prices.items():
        yield f"Prices of {', '.join(names)}: {prices}."
    yield _PAGES.format(url)
