"""A terminal shows which prices a service is on before anyone builds a transaction on them."""

from __future__ import annotations

import pytest

from swapcli.faces.service.banner import banner
from swapcli.quoting.price_policy import PriceRequest

URL = "http://127.0.0.1:8000"


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (PriceRequest.NONE, "modelled until a node responds; no transactions until then"),
        (PriceRequest.MARKET, "modelled, from the market file; no transactions without --offline"),
        (PriceRequest.OFFLINE, "modelled, for trials; transactions are built on them"),
    ],
)
def test_modelled_prices_are_named_with_their_consequence(request_: PriceRequest, expected: str) -> None:
    prices, pages = banner(URL, ["base", "monad"], ["base", "monad"], ["monad"], request_)
    assert prices == f"Prices of base, monad: {expected}."
    assert f"{URL}/docs" in pages


def test_networks_with_the_same_prices_share_a_line() -> None:
    networks = ["base", "citrea", "monad", "mine"]
    *prices, _ = banner(URL, networks, ["monad"], ["base", "citrea", "monad"], PriceRequest.NONE)
    assert prices == [
        "Prices of base, citrea: real, read at each new block.",
        "Prices of monad: modelled until a node responds; no transactions until then.",
        "Prices of mine: real, recorded in the market file.",
    ]
