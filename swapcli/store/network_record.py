"""Which network a store is of."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable

from swapcli.errors import ConfigError, UnknownNetwork
from swapcli.markets import network_field
from swapcli.model.market import Provenance
from swapcli.model.network import Network
from swapcli.store.rows import TOKEN_COLUMNS, Row, token_of
from swapcli.store.sqlite_errors import damaged

Networks = Callable[[str], Network]
"""Looks a network up by name; raises `UnknownNetwork`."""

_SOURCE = "read from a node"


def begin(connection: sqlite3.Connection, network: Network, networks: Networks) -> bool:
    """The row of `meta`. A network that is known as it is needs only its name: what is learnt of it later holds.

    Else it is described, which is returned, and needs its wrapped native token among the store's.
    """
    entry: dict[str, object] = {"name": network.name}
    is_described = not _is_known(network, networks)
    if is_described:
        entry = network_field.network_to_json(network)
    row = (network.name, str(network.chain_id), json.dumps(entry), Provenance.SYNCED, _SOURCE)
    connection.execute(
        "INSERT INTO meta (network, chain_id, description, provenance, source, gas_price_wei, ranked_pools) "
        "VALUES (?, ?, ?, ?, ?, ?, 0)",
        (*row, str(network.gas_price_wei)),
    )
    return is_described


def _is_known(network: Network, networks: Networks) -> bool:
    try:
        return networks(network.name) == network
    except UnknownNetwork:
        return False


def network_of(connection: sqlite3.Connection, path: str, networks: Networks) -> Network:
    """The network that the store is of. Raises `ConfigError` where `networks` know one with another chain id."""
    held = connection.execute("SELECT description, network, chain_id FROM meta").fetchone()
    if held is None:
        raise ConfigError(
            f"the store {path} holds nothing yet: whoever made it was interrupted",
            hint="fill it with `swapcli sync` or `swapcli market import`",
            details={"store": path},
        )
    try:
        entry = json.loads(held[0])
        outline = network_field.outline(entry, networks)
        query = f"SELECT {TOKEN_COLUMNS} FROM tokens WHERE address = ?"
        wrapped = connection.execute(query, (entry.get("wrapped_native"),)).fetchone()
        tokens = {wrapped[1]: token_of(wrapped)} if wrapped else {}
        network = network_field.with_wrapped_native(outline, entry, tokens)
    except (ValueError, TypeError, AttributeError) as error:
        raise damaged(path, "its description of the network cannot be read") from error
    check_same(path, held[1:], network.name, network.chain_id)
    return network


def check_name(path: str, network: Network, networks: Networks, name: str) -> None:
    """Raises `ConfigError` unless `name`, by which people call a network, is that of `network`."""
    try:
        wanted = networks(name)
    except UnknownNetwork:
        if name.lower() not in (network.name.lower(), str(network.chain_id)):
            _refuse(path, f'of "{network.name}"', f'of "{name}"', network.name)
        return
    check_same(path, (network.name, str(network.chain_id)), wanted.name, wanted.chain_id)


def check_same(path: str, held: Row, name: str, chain_id: int) -> None:
    """`held` are the store's (name, chain id). Raises `ConfigError` where they are others."""
    if held[0] != name:
        _refuse(path, f'of "{held[0]}"', f'of "{name}"', held[0])
    if held[1] != str(chain_id):
        _refuse(path, f"of {name} with the chain id {held[1]}", f"with {chain_id}", held[0])


def _refuse(path: str, found: str, wanted: str, network: str) -> None:
    raise ConfigError(
        f"the store {path} is {found}, not {wanted}",
        hint="name the store of that network",
        details={"store": path, "store_network": network},
    )
