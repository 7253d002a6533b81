"""How the tokens of a store transfer, as it was found out: remembered by address, with the block of the trial.

A chain that takes another way does not undo it: what a token's contract does is rarely a matter of one block.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping

from swapcli.model.transfer_behaviour import TransferBehaviour, TransferKind

_COLUMNS = "kind, buy_fee_ppm, sell_fee_ppm, transfer_fee_ppm"


def write_transfers(
    connection: sqlite3.Connection, behaviours: Mapping[str, TransferBehaviour], block: int | None
) -> None:
    """Remember how tokens transfer, as was found at a block, in the place of what was known."""
    connection.executemany(
        f"INSERT OR REPLACE INTO token_transfers (address, {_COLUMNS}, block) VALUES (?, ?, ?, ?, ?, ?)",
        [(address, *behaviour, block) for address, behaviour in behaviours.items()],
    )


def read_transfers(connection: sqlite3.Connection, addresses: Iterable[str]) -> dict[str, TransferBehaviour]:
    """Return what is known of those tokens that were tried; `UNKNOWN` for one that refused.

    Raises `ValueError` for a row that makes no sense.
    """
    query = f"SELECT address, {_COLUMNS} FROM token_transfers WHERE address IN (SELECT value FROM json_each(?))"
    rows = connection.execute(query, (json.dumps(list(addresses)),))
    return {address: TransferBehaviour(TransferKind(kind), *fees) for address, kind, *fees in rows}


def count_transfers(connection: sqlite3.Connection) -> dict[TransferKind, int]:
    """Return how many of the tokens that are held are of each kind; those that nobody tried are unknown."""
    counts = dict(
        connection.execute(
            "SELECT coalesce(kind, ?), count(*) FROM tokens LEFT JOIN token_transfers USING (address) GROUP BY 1",
            (TransferKind.UNKNOWN,),
        ).fetchall()
    )
    return {kind: counts[kind] for kind in TransferKind if kind in counts}


def tokens_to_try(connection: sqlite3.Connection, tried_before: int, limit: int) -> list[str]:
    """Return up to `limit` tokens that were never tried, or last at a block below `tried_before`: the former first."""
    rows = connection.execute(
        "SELECT address FROM tokens LEFT JOIN token_transfers USING (address) "
        "WHERE kind IS NULL OR coalesce(block, -1) < ? ORDER BY kind NOTNULL, block, id LIMIT ?",
        (tried_before, limit),
    )
    return [address for (address,) in rows]


def deepest_pools(
    connection: sqlite3.Connection, addresses: Iterable[str], limit: int, new: Iterable[str]
) -> list[str]:
    """Return the keys of the pools of each token in which most can be traded, up to `limit` a token, deepest first.

    The ranking may not show the pools with the keys `new` yet.
    """
    of_token: dict[str, dict[str, None]] = {address: {} for address in addresses}
    for address, key in connection.execute(_NEW, (json.dumps(list(new)),)):
        if address in of_token:
            of_token[address][key] = None
    for address, keys in of_token.items():
        if len(keys) < limit:
            keys.update((key, None) for (key,) in connection.execute(_DEEPEST, (address, limit)))
    return list(dict.fromkeys(key for keys in of_token.values() for key in list(keys)[:limit]))


_NEW = """
SELECT tokens.address, pools.key FROM pools JOIN legs ON legs.pool = pools.id JOIN tokens ON tokens.id IN (low, high)
WHERE pools.key IN (SELECT value FROM json_each(?1)) AND NOT invented
GROUP BY tokens.address, pools.key ORDER BY max(depth) DESC, pools.key
"""
_DEEPEST = """
SELECT key FROM (
    SELECT token, other FROM links WHERE token = (SELECT id FROM tokens WHERE address = ?1) ORDER BY depth DESC LIMIT ?2
) JOIN legs ON low = min(token, other) AND high = max(token, other) JOIN pools ON pools.id = pool
WHERE NOT invented GROUP BY key ORDER BY max(depth) DESC, key LIMIT ?2
"""
