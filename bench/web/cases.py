"""The requests of the comparison, from a seed: orders on all embedded markets, payloads of all dialects, and proofs."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final, NamedTuple

from swapcli import Market, SwapcliError
from swapcli.state.markets.embedded import embedded_market, embedded_names
from web.bridge import call

_MAX_USD: Final = 6.0  # as a power of ten
_DIALECTS: Final = ("fibrous", "universal-router")  # payloads on other networks need a node
_ACCOUNT: Final = "0x" + "11" * 20
_FELT: Final = "0x" + "11" * 31


class Case(NamedTuple):
    """A request: `text` is the content of its file, `file` the file's name."""

    action: str
    fields: dict[str, Any]
    text: str | None = None


def order_cases(count: int, seed: int) -> list[Case]:
    """Return orders between priced tokens, worth $1 to $1,000,000, by market, so that each market is opened once.

    Every fourth is on a market file, and every second requests a certificate.
    """
    return sorted(_orders(count, seed), key=lambda case: (case.fields.get("file", ""), case.fields.get("network", "")))


def _orders(count: int, seed: int) -> Iterator[Case]:
    draw = random.Random(seed)
    tokens = {name: _tradable(name) for name in embedded_names()}
    for number in range(count):
        name = draw.choice(embedded_names())
        token_in, token_out = draw.sample(tokens[name], 2)
        order = {"tokenIn": token_in, "tokenOut": token_out, "amount": f"${10 ** draw.uniform(0, _MAX_USD):.2f}"}
        options = {"certify": number % 2 == 0, "width": draw.randrange(320, 960)}
        if number % 4 == 3:
            fields = {"file": f"{name}.json", "fileId": name}
            yield Case("quote", {**fields, **order, **options}, embedded_market(name).decode())
        else:
            yield Case("quote", {"network": name, **order, **options})


def payload_cases(count: int, seed: int) -> Iterator[Case]:
    """Yield swap payloads in the routers' dialects: half unchanged, half damaged or with other facts."""
    draw = random.Random(seed)
    swaps = _swaps(draw)
    for number in range(count):
        network, swap = next(swaps)
        payload = swap["data"] if "data" in swap else ",".join(swap["calldata"])
        fields = {"payload": payload, "network": network, "to": swap["to"], "value": str(swap["value"])}
        yield Case("decode", fields if number % 2 == 0 else draw.choice(_DAMAGES)(fields, draw))


def proof_cases(count: int, seed: int) -> Iterator[Case]:
    """Yield proofs of quotes: two thirds unchanged, the others changed or cut off."""
    draw = random.Random(seed)
    orders = _orders(10 * count, seed)
    made = 0
    while made < count:
        fields = next(orders).fields
        if "file" in fields:
            continue
        reply = json.loads(call("proof", json.dumps({**fields, "certify": True})))
        if "error" in reply:
            continue
        text = reply["result"]
        made += 1
        if made % 3 == 0:
            text = _change_digit(text, draw) if made % 2 else text[: draw.randrange(len(text))]
        yield Case("check", {"withLibrary": draw.random() < 0.5}, text)


@cache
def _open(name: str, dialect: str) -> Market:
    return Market.embedded(name, settings={"router_dialect": dialect})


def _tradable(name: str) -> list[str]:
    return sorted(each.address for each in _open(name, "fibrous").tokens.values() if each.price_usd)


def _swaps(draw: random.Random) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield an endless series of swap transactions."""
    while True:
        name, dialect = draw.choice(embedded_names()), draw.choice(_DIALECTS)
        token_in, token_out = draw.sample(_tradable(name), 2)
        account = _FELT if name == "starknet" else _ACCOUNT
        try:
            quote = _open(name, dialect).quote(token_in, token_out, f"${10 ** draw.uniform(1, 4):.2f}")
            swap = quote.transaction(destination=account)
        except SwapcliError:
            continue
        yield name, swap


def _change_digit(text: str, draw: random.Random) -> str:
    places = [at for at, character in enumerate(text) if character.isdigit()]
    at = draw.choice(places)
    return text[:at] + str((int(text[at]) + 1) % 10) + text[at + 1 :]


def _with_changed_byte(fields: dict[str, Any], draw: random.Random) -> dict[str, Any]:
    payload = fields["payload"]
    at = draw.randrange(2, len(payload))
    return {**fields, "payload": payload[:at] + draw.choice("0123456789abcdef") + payload[at + 1 :]}


def _cut_off(fields: dict[str, Any], draw: random.Random) -> dict[str, Any]:
    return {**fields, "payload": fields["payload"][: draw.randrange(2, len(fields["payload"]))]}


def _without_facts(fields: dict[str, Any], draw: random.Random) -> dict[str, Any]:
    return {"payload": fields["payload"], **draw.choice([{}, {"to": _ACCOUNT}, {"sender": _ACCOUNT}])}


def _as_document(fields: dict[str, Any], draw: random.Random) -> dict[str, Any]:
    document = {"to": fields["to"], "data": fields["payload"], "value": draw.choice([fields["value"], "1", "0x0"])}
    return {"payload": json.dumps(document), "network": fields["network"], "sender": _ACCOUNT}


def _of_another_network(fields: dict[str, Any], draw: random.Random) -> dict[str, Any]:
    return {**fields, "network": draw.choice(embedded_names())}


_DAMAGES: Final[tuple[Callable[[dict[str, Any], random.Random], dict[str, Any]], ...]] = (
    _with_changed_byte, _cut_off, _without_facts, _as_document, _of_another_network,
)  # fmt: skip
