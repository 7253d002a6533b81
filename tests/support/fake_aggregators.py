"""Aggregators with invented behaviour on a real loopback server, and the adapters for them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from swapcli.core.model.transaction import UnsignedTransaction
from tests.support.loopback_server import FakeExchange, LoopbackServer, http_response, loopback_server

DEAD_URL = "http://127.0.0.1:9"
"""An address where nothing listens."""


@dataclass
class Character:
    """An aggregator's behaviour: the output it quotes, and the payload it offers.

    `says` may be any text. It waits `delay_s`, sends `status`, or does not exist at all.
    """

    says: object
    payload: UnsignedTransaction | None = None
    gas: object = 150_000
    delay_s: float = 0.0
    status: int = 200
    is_dead: bool = False
    more: Mapping[str, Any] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """Return the response, in the form that `adapter` reads."""
        transaction = {}
        if self.payload is not None:
            transaction = {"to": self.payload.to, "data": self.payload.calldata, "value": str(self.payload.value)}
        return {"quote": {"amountOut": self.says, "gas": self.gas}, "tx": transaction, **self.more}


def adapter(url: str, name: str) -> dict[str, Any]:
    """Return the adapter for a behaviour, as in a settings file."""
    return {
        "title": name.title(),
        "address": url,
        "requests": [
            {
                "method": "GET",
                "path": f"/{name}/{{chain_id}}/swap",
                "query": {"sell": "{token_in}", "buy": "{token_out}", "amount": "{amount_in}", "from": "{sender}"},
            }
        ],
        "answer": {
            "output": "quote.amountOut",
            "gas": "quote.gas",
            "target": "tx.to",
            "data": "tx.data",
            "value": "tx.value",
            "problem": "message",
        },
    }


@dataclass
class FakeAggregators:
    """The running server, its behaviours by name (which may be replaced), and the settings that name them."""

    server: LoopbackServer
    characters: dict[str, Character]

    def settings(self) -> dict[str, Any]:
        """Return the setting `aggregators`."""
        dead = {name for name, each in self.characters.items() if each.is_dead}
        return {name: adapter(DEAD_URL if name in dead else self.server.url, name) for name in self.characters}

    @property
    def names(self) -> str:
        """The value of --aggregators that names them all."""
        return ",".join(self.characters)


@contextmanager
def fake_aggregators(characters: Mapping[str, Character]) -> Iterator[FakeAggregators]:
    """Run the aggregators on one server."""
    playing = dict(characters)

    def respond(exchange: FakeExchange) -> None:
        character = playing[exchange.target.split("/")[1]]
        exchange.wait(character.delay_s)
        exchange.send(http_response(character.status, json.dumps(character.document())))

    with loopback_server(respond) as server:
        yield FakeAggregators(server, playing)
