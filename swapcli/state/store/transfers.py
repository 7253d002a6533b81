"""Read and write the transfer behaviour of a store's tokens, by address, with the block of the probe.

Rewinding keeps these rows, because a token's transfer behaviour rarely changes from block to block.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping

from swapcli.core.model.transfer_behaviour import TransferBehaviour, TransferKind

_COLUMNS = "kind, buy_fee_ppm, sell_fee_ppm, transfer_fee_ppm"


def write_transfers(
    connection: sqlite3.Connection, behaviours: Mapping[str, TransferBehaviour], block: int | None
) -> None:
    """Write the transfer behaviour of tokens, as probed at `block`. Earlier results are replaced."""
    connection.executemany(
        f"INSERT OR REPLACE INTO token_transfers (address, {_COLUMNS}, block) VALUES (?, ?, ?, ?, ?, ?)",
        [(address, *behaviour, block) for address, behaviour in behaviours.items()],
    )


def read_transfers(connection: sqlite3.Connection, addresses: Iterable[str]) -> dict[str, TransferBehaviour]:
    """Return the results for the tokens among `addresses` that were probed; `UNKNOWN` if the probe failed.

    Raises `ValueError` for an invalid row.
    """
    query = f"SELECT address, {_COLUMNS} FROM token_transfers WHERE address IN (SELECT value FROM json_each(?))"
    rows = connection.execute(query, (json.dumps(list(addresses)),))
    return {address: TransferBehaviour(TransferKind(kind), *fees) for address, kind, *fees in rows}


def count_transfers(connection: sqlite3.Connection) -> dict[TransferKind, int]:
    """Return the number of tokens with each kind of transfer behaviour. Tokens that were not probed count as
    unknown."""
    counts = dict(
        connection.execute(
            "SELECT coalesce(kind, ?), count(*) FROM tokens LEFT JOIN token_transfers USING (address) GROUP BY 1",
            (TransferKind.UNKNOWN,),
        ).fetchall()
    )
    return {kind: counts[kind] for kind in TransferKind if kind in counts}


def tokens_to_probe(connection: sqlite3.Connection, probed_before: int, limit: int) -> list[str]:
    """Return up to `limit` tokens to probe: first those never probed, then those last probed at a block below
    `probed_before`."""
    rows = connection.execute(
        "SELECT address FROM tokens LEFT JOIN token_transfers USING (address) "
        "WHERE kind IS NULL OR coalesce(block, -1) < ? ORDER BY kind NOTNULL, block, id LIMIT ?",
        (probed_before, limit),
    )
    return [address for (address,) in rows]


def deepest_pools(
    connection: sqlite3.Connection, addresses: Iterable[str], limit: int, new: Iterable[str]
) -> list[str]:
    """Return the keys of the deepest pools of each token, up to `limit` per token, deepest first.

    `new` are the keys of pools that may not be ranked yet; they come first.
    """
    keys_by_token: dict[str, dict[str, None]] = {address: {} for address in addresses}
    for address, key in connection.execute(_SELECT_NEW, (json.dumps(list(new)),)):
        if address in keys_by_token:
            keys_by_token[address][key] = None
    for address, keys in keys_by_token.items():
        if len(keys) < limit:
            keys.update((key, None) for (key,) in connection.execute(_SELECT_DEEPEST, (address, limit)))
    return list(dict.fromkeys(key for keys in keys_by_token.values() for key in list(keys)[:limit]))


_SELECT_NEW = """
SELECT tokens.address, pools.key FROM pools JOIN legs ON legs.pool = pools.id JOIN tokens ON tokens.id IN (low, high)
WHERE pools.key IN (SELECT value FROM json_each(?1)) AND NOT invented
GROUP BY tokens.address, pools.key ORDER BY max(depth) DESC, pools.key
"""
_SELECT_DEEPEST = """
SELECT key FROM (
    SELECT token, other FROM links WHERE token = (SELECT id FROM tokens WHERE address = ?1) ORDER BY depth DESC LIMIT ?2
) JOIN legs ON low = min(token, other) AND high = max(token, other) JOIN pools ON pools.id = pool
WHERE NOT invented GROUP BY key ORDER BY max(depth) DESC, key LIMIT ?2
"""
