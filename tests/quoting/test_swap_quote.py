"""Quotes as records: equal by their figures, copied without their market, and shown by notebooks."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from swapcli import Market, MarketUnavailable, SwapQuote
from tests.support.command import run_swapcli

RECIPIENT = "0x" + "11" * 20


@pytest.fixture(scope="module")
def market() -> Iterator[Market]:
    with Market.embedded("base", settings={"live": "never"}) as opened:
        yield opened


@pytest.fixture(scope="module")
def found(market: Market) -> SwapQuote:
    return market.quote("ETH", "USDC", "250")


def _through_pickle(quote: SwapQuote) -> SwapQuote:
    loaded = pickle.loads(pickle.dumps(quote))
    assert isinstance(loaded, SwapQuote)
    return loaded


@pytest.mark.parametrize("duplicate", [_through_pickle, copy.copy, copy.deepcopy])
def test_a_copy_is_equal_and_has_no_market(
    market: Market, found: SwapQuote, duplicate: Callable[[SwapQuote], SwapQuote]
) -> None:
    copied = duplicate(found)
    assert copied == found
    assert hash(copied) == hash(found)
    assert len({copied, found}) == 1
    assert (copied.to_json(), copied.svg()) == (found.to_json(), found.svg())
    with pytest.raises(MarketUnavailable) as raised:
        copied.transaction(destination=RECIPIENT)
    assert raised.value.hint == "use market.transaction(quote)"
    expected = found.transactions(destination=RECIPIENT)
    assert market.transactions(copied, destination=RECIPIENT) == expected
    assert market.transaction(copied, destination=RECIPIENT) == expected[-1]


def test_quotes_differ_with_their_figures(market: Market, found: SwapQuote) -> None:
    later = market.quote("ETH", "USDC", "250")
    assert later.answer.timestamp_ms > found.answer.timestamp_ms
    assert (later, hash(later)) == (found, hash(found))
    assert market.quote("ETH", "USDC", "250", slippage="0.1") != found
    assert market.quote("ETH", "USDC", "251") != found
    assert found != "quote"


def test_a_quote_has_no_methods_of_tuples(found: SwapQuote) -> None:
    names = dir(found)
    assert not {"_replace", "_asdict", "_fields", "count", "index", "__getitem__", "__len__"} & set(names)
    assert not [name for name in names if name.startswith("_") and not name.startswith("__")]
    assert {"amount_out", "svg", "transaction", "to_json"} <= set(names)
    with pytest.raises(AttributeError):
        found.amount_out = 1  # type: ignore[misc]


def test_a_pickle_holds_the_pools_of_the_route_only(found: SwapQuote) -> None:
    assert len(pickle.dumps(found)) < len(pickle.dumps(found.answer)) * 0.6


def test_a_notebook_shows_the_picture_and_the_figures(found: SwapQuote) -> None:
    shown = ElementTree.fromstring(found._repr_html_())
    svg = "{http://www.w3.org/2000/svg}svg"
    assert [each.tag for each in shown] == [svg, "table"]
    cells = {row[0].text: row[1].text for row in shown[1]}
    assert cells["sold"] == "250 ETH"
    assert str(cells["at least"]).endswith(" USDC")
    assert "STATE_MODELLED" in cells
    assert ElementTree.fromstring(found.svg(480)).get("width") == "480"


def test_transactions_are_those_of_the_json(found: SwapQuote, tmp_path: Path) -> None:
    environment = {"XDG_CONFIG_HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path), "SWAPCLI_LIVE": "never"}
    words = ("calldata", "base", "ETH", "USDC", "250", "--destination", RECIPIENT, "--json")
    document = json.loads(run_swapcli(*words, env=environment).stdout)
    labels = [each.pop("what") for each in document["transactions"]]  # for people: libraries refuse unknown fields
    assert found.transactions(destination=RECIPIENT) == document["transactions"]
    assert labels == ["swap"]
