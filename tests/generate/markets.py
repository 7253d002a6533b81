"""Write the embedded markets, and their compiled forms: `python -m tests.generate.markets [--check] [NETWORK...]`.

Real tokens and protocols and, as far as they are known or can be derived, real pool addresses; the state is a model.
Each pool is off the fair price by less than 0.9 of its fee, so no way around through several pools ends with more than
it began. The output depends on the tables and the catalogue alone, to the byte.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from decimal import localcontext

from swapcli.core.errors import MarketError
from swapcli.core.model.network import Network
from swapcli.core.networks.address import display_address
from swapcli.core.networks.catalogue import find_network
from swapcli.state.markets.compiled import compile_market
from swapcli.state.markets.embedded import (
    checksummed_addresses,
    compiled_path,
    embedded_market,
    market_path,
    read_compiled,
)
from swapcli.state.markets.format import parse_market
from tests.generate.modelling.exact import PRECISION
from tests.generate.modelling.pools import pool_entry
from tests.generate.modelling.tables import Table, load_table, table_names

_MODEL = "a table of prices and depths, not the chain"
_CHECK = "--check"


def modelled_market(name: str) -> bytes:
    """The market of the network called `name` in `swap-market/1`."""
    table = load_table(name)
    with localcontext(PRECISION):
        return _document(table, find_network(name))


def main(arguments: Sequence[str]) -> int:
    """Write the markets of the named networks, or of all; with `--check` only compare. Exit status 1 if they differ."""
    names = [argument for argument in arguments if argument != _CHECK] or list(table_names())
    markets = {name: modelled_market(name) for name in names}
    if _CHECK not in arguments:
        for name, document in markets.items():
            _write(market_path(name), document)
            _write(compiled_path(name), compiled_bytes(document))
        return 0
    stale = [name for name, document in markets.items() if not _is_current(name, document)]
    if stale:
        print(f"out of date: {', '.join(stale)}; run python -m tests.generate.markets", file=sys.stderr)
    return 1 if stale else 0


def compiled_bytes(document: bytes) -> bytes:
    """Return the compiled form of a market in `swap-market/1`."""
    return compile_market(
        parse_market(document, networks=find_network).market, document, checksummed_addresses(document)
    )


def _write(path: str, content: bytes) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)


def _is_current(name: str, document: bytes) -> bool:
    try:
        return embedded_market(name) == document and read_compiled(name) == compiled_bytes(document)
    except MarketError:
        return False


def _document(table: Table, served: Network) -> bytes:
    head = {
        "format": "swap-market/1",
        "network": {"name": served.name},
        "block": None,
        "timestamp": None,
        "provenance": "modelled",
        "source": f"{_MODEL}; {table.note}; facts of {served.facts_date}",
        "gas_price_wei": str(table.gas_price_wei),
    }
    members = [f"{_json(key)}:{_json(value)}" for key, value in head.items()]
    members.append(_listing("tokens", _token_entries(table, served)))
    members.append(_listing("pools", [pool_entry(row, table, served) for row in table.pools]))
    return ("{" + ",\n".join(members) + "}\n").encode()


def _token_entries(table: Table, served: Network) -> Iterable[dict[str, object]]:
    """The tokens that the table prices, in the catalogue's order."""
    for token in served.tokens:
        if token.symbol in table.prices_usd:
            yield {
                "address": display_address(token.address, served.kind),
                "symbol": token.symbol,
                "name": token.name,
                "decimals": token.decimals,
                "price_usd": float(table.prices_usd[token.symbol]),
            }


def _listing(key: str, entries: Iterable[dict[str, object]]) -> str:
    """A list with one entry a line, so that differences can be read."""
    return f"{_json(key)}:[\n" + ",\n".join(map(_json, entries)) + "]"


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
