"""Programs can do all that commands do: results of the library give the documents that commands print.

A row for each command that prints a document: its words, and the call whose result has the same document.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

import pytest

from swapcli import Market
from swapcli.interface.result import Result
from tests.support.command import run_swapcli

PASSING_FIELDS: Final = {"timeS", "ageS", "timestamp", "expiresAt", "time", "deadline"}
"""Fields that count from the moment of the quote."""


def on_base(ask: Callable[[Market], Result]) -> Callable[[], Result]:
    """Return a call on the embedded market of Base."""

    def call() -> Result:
        with Market.open("base", offline=True) as market:
            return ask(market)

    return call


CALLS: Final[Mapping[str, Callable[[], Result]]] = {
    "price base ETH cbBTC --offline": on_base(lambda market: market.prices("ETH", "cbBTC")),
    "compare base ETH USDC 25 --offline": on_base(lambda market: market.compare("ETH", "USDC", "25")),
    "depth base ETH USDC --amounts 1,2k --offline": on_base(lambda market: market.depth("ETH", "USDC", ["1", "2k"])),
    "route base ETH USDC 1.5 --offline": on_base(lambda market: market.quote("ETH", "USDC", "1.5")),
    "price base AERO --in USDC --offline": on_base(lambda market: market.prices("AERO", unit="USDC")),
}


@pytest.mark.parametrize("words", CALLS)
def test_the_library_gives_the_document_of_a_command(words: str) -> None:
    ran = run_swapcli(*words.split(), "--json")
    assert ran.exit_code == 0, ran.stderr
    document = json.loads(json.dumps(CALLS[words]().document()))
    assert lasting(document) == lasting(ran.json)


def lasting(document: Any) -> Any:
    """Return a document without the fields that change from one quote to the next."""
    if isinstance(document, list):
        return [lasting(each) for each in document]
    if isinstance(document, dict):
        return {key: lasting(each) for key, each in document.items() if key not in PASSING_FIELDS}
    return document
