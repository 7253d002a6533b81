"""Read a store's tokens and pools as the JSON documents of a market file, without parsing them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping

from swapcli.core.model.transfer_behaviour import UNKNOWN
from swapcli.core.records import NamedTuple
from swapcli.state.markets.tokens_field import token_to_json
from swapcli.state.store.rows import TOKEN_COLUMNS, parse_token
from swapcli.state.store.transfers import read_transfers


class PoolDocument(NamedTuple):
    """A pool as compact JSON, with its depth in dollars."""

    document: bytes
    depth_usd: float


def read_pool_documents(connection: sqlite3.Connection, keys: Iterable[str] | None) -> dict[str, PoolDocument]:
    """Return the pools with `keys`, or all pools if None, by key. Integers in their state are JSON numbers."""
    where, values = _where("key", keys)
    rows = connection.execute(f"{_SELECT_POOLS} {where} ORDER BY id", values).fetchall()
    ids = {token_id for row in rows for token_id in row[4].split(",")}
    query = "SELECT CAST(id AS TEXT), address FROM tokens WHERE id IN (SELECT value FROM json_each(?))"
    addresses = dict(connection.execute(query, (json.dumps([int(each) for each in ids]),)))
    return {row[0]: PoolDocument(_render_pool(row, addresses), row[8] or 0.0) for row in rows}


def read_token_documents(connection: sqlite3.Connection, addresses: Iterable[str] | None) -> dict[str, bytes]:
    """Return the tokens at `addresses`, or all tokens if None, by address."""
    where, values = _where("address", addresses)
    rows = connection.execute(f"SELECT {TOKEN_COLUMNS} FROM tokens {where} ORDER BY id", values).fetchall()
    transfers = read_transfers(connection, [row[1] for row in rows])
    return {row[1]: _compact(token_to_json(parse_token(row), transfers.get(row[1], UNKNOWN))) for row in rows}


def tokens_changed_since(connection: sqlite3.Connection, block: int) -> set[str]:
    """Return the addresses of tokens that were written, or whose transfers were probed, at `block` or later."""
    query = "SELECT address FROM undo_tokens WHERE at >= ?1 UNION SELECT address FROM token_transfers WHERE block >= ?1"
    return {address for (address,) in connection.execute(query, (block,))}


_SELECT_POOLS = (
    "SELECT key, address, protocol, family, tokens, fee_ppm, state, invented, "
    "(SELECT sum(depth) FROM legs WHERE pool = pools.id) FROM pools"
)


def _where(column: str, values: Iterable[str] | None) -> tuple[str, tuple[str, ...]]:
    if values is None:
        return "", ()
    return f"WHERE {column} IN (SELECT value FROM json_each(?))", (json.dumps(list(values)),)


def _render_pool(row: tuple[object, ...], addresses: Mapping[str, str]) -> bytes:
    _, address, protocol, family, token_ids, fee_ppm, state, is_placeholder, _ = row
    entry = {
        "address": address,
        **({"address_modelled": True} if is_placeholder else {}),
        "protocol": protocol,
        "family": family,
        "tokens": [addresses[token_id] for token_id in str(token_ids).split(",")],
        "fee_ppm": fee_ppm,
    }
    # The column contains the state as compact JSON, which is inserted as text: parsing it would take most of the time.
    document, fields = _compact(entry), str(state).encode()
    return document if fields == b"{}" else document[:-1] + b"," + fields[1:]


def _compact(entry: object) -> bytes:
    return json.dumps(entry, separators=(",", ":")).encode()
