"""Read and write the record that identifies a store's network."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable

from swapcli.core.errors import ConfigError, UnknownNetwork
from swapcli.core.model.market import Provenance
from swapcli.core.model.network import Network
from swapcli.state.markets import network_field
from swapcli.state.markets.fields import MarketFields
from swapcli.state.store.rows import TOKEN_COLUMNS, Row, parse_token
from swapcli.state.store.sqlite_errors import damaged_store

NetworkLookup = Callable[[str], Network]
"""Returns a network by name or chain id; raises `UnknownNetwork`."""

_SOURCE = "read from a node"


def insert_network(connection: sqlite3.Connection, network: Network, networks: NetworkLookup) -> bool:
    """Insert the row of `meta`. Return whether the row contains the network's description.

    A network that `networks` knows is stored by name only, so that later changes of the catalogue apply. Any other
    network is stored with its description, and its wrapped native token must be among the store's tokens.
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


def _is_known(network: Network, networks: NetworkLookup) -> bool:
    try:
        return networks(network.name) == network
    except UnknownNetwork:
        return False


def read_network(connection: sqlite3.Connection, path: str, networks: NetworkLookup) -> Network:
    """Return the store's network. Raises `ConfigError` if `networks` defines the name with another chain ID."""
    row = connection.execute("SELECT description, network, chain_id FROM meta").fetchone()
    if row is None:
        raise ConfigError(
            f"the store {path} is empty: the command that created it was interrupted",
            hint="fill it with `swapcli sync` or `swapcli market import`",
            details={"store": path},
        )
    try:
        entry = json.loads(row[0])
        fields = MarketFields(entry, "network")
        partial = network_field.parse_partial_network(fields, networks)
        query = f"SELECT {TOKEN_COLUMNS} FROM tokens WHERE address = ?"
        wrapped = connection.execute(query, (entry.get("wrapped_native"),)).fetchone()
        tokens = {wrapped[1]: parse_token(wrapped)} if wrapped else {}
        network = network_field.with_wrapped_native(partial, fields, tokens)
    except (ValueError, TypeError, AttributeError) as error:
        raise damaged_store(path, "its network description cannot be read") from error
    check_same_network(path, row[1:], network.name, network.chain_id)
    return network


def check_network_name(path: str, network: Network, networks: NetworkLookup, name: str) -> None:
    """Raise `ConfigError` unless `name` is the name or chain id of `network`."""
    try:
        requested = networks(name)
    except UnknownNetwork:
        if name.lower() not in (network.name.lower(), str(network.chain_id)):
            raise _other_network(path, f'for "{network.name}"', f'for "{name}"', network.name) from None
        return
    check_same_network(path, (network.name, str(network.chain_id)), requested.name, requested.chain_id)


def check_same_network(path: str, stored: Row, name: str, chain_id: int) -> None:
    """Raise `ConfigError` unless the store has the given network name and chain id."""
    if stored[0] != name:
        raise _other_network(path, f'for "{stored[0]}"', f'for "{name}"', stored[0])
    if stored[1] != str(chain_id):
        raise _other_network(path, f"for {name} with chain ID {stored[1]}", f"with {chain_id}", stored[0])


def _other_network(path: str, actual: str, requested: str, network: str) -> ConfigError:
    return ConfigError(
        f"the store {path} is {actual}, not {requested}",
        hint="use the store of that network",
        details={"store": path, "store_network": network},
    )
