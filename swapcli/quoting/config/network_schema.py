"""The JSON schema of network files, from `network_keys`."""

from __future__ import annotations

from typing import Final

from swapcli.core.networks.definition import ADDED_KEYS, FILE_KEYS
from swapcli.quoting.config.network_keys import NETWORK_KEY_TABLE, Schema, members_schema

_SCHEMA_VERSION: Final = "https://json-schema.org/draft/2020-12/schema"
_WHOLE_KEYS: Final = ("name", "chain_id", "native")


def network_file_schema() -> Schema:
    """Return the JSON schema of a network file, which is either a full definition (with `native`) or an extension."""
    return {
        "$schema": _SCHEMA_VERSION,
        "title": "swapcli network",
        "description": "A network file describes a new network, or extends the built-in network that it names.",
        "type": "object",
        **members_schema(NETWORK_KEY_TABLE),
        "additionalProperties": False,
        "if": {"required": ["native"], "properties": {"native": {"type": "object"}}},
        "then": {"required": list(_WHOLE_KEYS), "properties": {"chain_id": {"type": ["integer", "string"]}}},
        "else": {"propertyNames": {"enum": [*FILE_KEYS, *ADDED_KEYS]}},
    }
