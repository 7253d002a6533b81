"""Names of networks, tokens, protocols and API keys that begin with the typed text, each with an explanation.

They are read directly from their files, without the modules that check them: a damaged file completes nothing, and the
command reports the error.
"""

from __future__ import annotations

import json
import os

from swapcli.core.networks.definition_files import packaged_networks, read_definition
from swapcli.faces.cli.completion.kinds import KEYS, NETWORKS, PROTOCOLS, TOKENS
from swapcli.faces.cli.completion.packaged_tokens import read_packaged_tokens

TYPE_CHECKING = False  # importing it from `typing` would take milliseconds
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from swapcli.faces.cli.completion.setting_facts import Names, SettingFacts

_STORE = ".sqlite"
_MAX_STORED = 200  # a terminal shows no more at once, and a store can have many thousands
_LAST_CHARACTER = "\U0010ffff"
_PATIENCE_S = 0.02  # a store that is being written responds at once or not at all


def find_names(kind: str, begin: str, facts: SettingFacts, network: str | None) -> list[tuple[str, str]]:
    """Return the names of a kind. Names from a store are limited to those that begin with `begin`, in any case. All
    other names are returned unfiltered."""
    if kind == NETWORKS:
        return [(name, "") for name in _network_names(facts)]
    if kind == KEYS:
        return list(_key_names(facts.keys_file))
    if network is None:
        return []
    found = {TOKENS: _tokens, PROTOCOLS: _protocols}[kind](network, begin, facts)
    return [(name, text) for name, text in found if name.isprintable() and text.isprintable()]


def find_network_name(word: str, facts: SettingFacts) -> str | None:
    """Return the network for a name, or for the chain id of a packaged network, or None if there is none."""
    if word.lower() in _network_names(facts):
        return word.lower()
    with_id = (name for name in packaged_networks() if str(read_definition(name)["chain_id"]) == word)
    return next(with_id, None) if word.isdigit() else None


def _network_names(facts: SettingFacts) -> list[str]:
    try:
        files = os.listdir(facts.stores)
    except OSError:
        files = []
    stored = (name.removesuffix(_STORE) for name in files if name.endswith(_STORE))
    return sorted({*packaged_networks(), *stored, *facts.networks})


def plugin_networks() -> list[tuple[str, str]]:
    """Return the networks of installed packages. Finding them takes longer than finding all other names."""
    import swapcli.quoting  # noqa: F401 - it knows how to look
    from swapcli.core.plugins import NETWORK_GROUP, plugins, set_plugin_warn

    set_plugin_warn(lambda _: None)  # completion prints names only
    return [(name, each.origin) for name, each in plugins(NETWORK_GROUP).items()]


def _tokens(network: str, begin: str, facts: SettingFacts) -> Iterator[tuple[str, str]]:
    described = _described(network, facts)[TOKENS]
    stored = _stored_tokens(os.path.join(facts.stores, network + _STORE), begin.lower())
    yield from described if stored is None else [*described[:1], *stored]


def _protocols(network: str, _: str, facts: SettingFacts) -> Iterator[tuple[str, str]]:
    yield from _described(network, facts)[PROTOCOLS]


def _described(network: str, facts: SettingFacts) -> dict[str, list[tuple[str, str]]]:
    """Return the tokens and protocols described in the settings or the program.

    The native token comes first. If the program has pools on the network, only its tokens with pools are included.
    """
    if network in facts.networks:
        known = facts.networks[network]
        return {kind: _pairs(known[kind]) for kind in (TOKENS, PROTOCOLS)}
    if network not in packaged_networks():
        return {TOKENS: [], PROTOCOLS: []}
    definition, with_pools = read_definition(network), read_packaged_tokens().get(network)
    described = [(token["symbol"], token["name"]) for token in (definition["native"], *definition["tokens"])]
    return {
        TOKENS: described if with_pools is None else list(with_pools.items()),
        PROTOCOLS: [(protocol["amm_name"], protocol["display_name"]) for protocol in definition["protocols"]],
    }


def _pairs(names: Names) -> list[tuple[str, str]]:
    return [(name, text) for name, text in names]


def _stored_tokens(file: str, begin: str) -> list[tuple[str, str]] | None:
    """Return the tokens with pools in a store, starting with those that most orders could pass through.

    None if it cannot be read.
    """
    if not os.path.exists(file):
        return None
    import sqlite3
    from urllib.parse import quote

    try:
        connection = sqlite3.connect(f"file:{quote(file)}?mode=ro", uri=True, timeout=_PATIENCE_S)
        try:
            query = (
                "SELECT symbol, name FROM tokens WHERE EXISTS (SELECT 1 FROM links WHERE token = tokens.id) {} "
                "ORDER BY transit DESC LIMIT ?"
            )
            if not begin:
                return [*_native_token(connection), *connection.execute(query.format(""), (_MAX_STORED,)).fetchall()]
            limits = (begin, begin + _LAST_CHARACTER, _MAX_STORED)
            found = connection.execute(query.format("AND folded >= ? AND folded < ?"), limits).fetchall()
            return [*_native_token(connection), *found]
        finally:
            connection.close()
    except (sqlite3.Error, ValueError, AttributeError, KeyError):
        return None


def _native_token(connection: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    """Yield the native token of a network that only the store describes."""
    for (description,) in connection.execute("SELECT description FROM meta"):
        native = json.loads(description).get("native")
        if isinstance(native, dict):
            yield native["symbol"], native["name"]


def _key_names(file: str) -> Iterator[tuple[str, str]]:
    """Yield the names and ids of the keys that are not revoked."""
    try:
        with open(file, encoding="utf-8") as stream:
            keys = json.load(stream)["keys"]
        valid = [(key["name"], key["id"]) for key in keys if key.get("revoked") is None]
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return
    yield from ((name, f"key {key_id}") for name, key_id in valid)
    yield from ((key_id, f"key of {name}") for name, key_id in valid)
