"""The JSON schema of network files, and the list of their keys for the help topic, both from `network_keys`."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import Final

from swapcli.core.networks.definition import ADDED_KEYS, FILE_KEYS
from swapcli.quoting.config.network_keys import NETWORK_KEY_TABLE, RECORDS, KeyTable, Schema, members_schema

_SCHEMA_VERSION: Final = "https://json-schema.org/draft/2020-12/schema"
_WHOLE_KEYS: Final = ("name", "chain_id", "native")
_WIDTH: Final = 84  # characters of a line of a help topic
_NAME_WIDTH: Final = 24


def network_file_schema() -> Schema:
    """Return the JSON schema of a network file: of a whole definition, which has `native`, or of an extension."""
    return {
        "$schema": _SCHEMA_VERSION,
        "title": "swapcli network",
        "description": "A network file: it describes a network, or extends the one of swapcli that it names.",
        "type": "object",
        **members_schema(NETWORK_KEY_TABLE),
        "additionalProperties": False,
        "if": {"required": ["native"], "properties": {"native": {"type": "object"}}},
        "then": {"required": list(_WHOLE_KEYS), "properties": {"chain_id": {"type": ["integer", "string"]}}},
        "else": {"propertyNames": {"enum": [*FILE_KEYS, *ADDED_KEYS]}},
    }


def key_lines() -> str:
    """Return the keys with their meanings and examples, as lines of a help topic."""
    blocks = ["\n".join(_rows(NETWORK_KEY_TABLE))]
    for around, table in RECORDS.items():
        blocks.append("\n".join([f"IN {around.upper().replace('[].', ': ')}", *_rows(table)]))
    return "\n\n".join(blocks) + "\n"


def _rows(table: KeyTable) -> Iterator[str]:
    for name, key in table.items():
        text = f"{key.meaning}, e.g. {key.example_text}"
        first, *more = wrap(text, _WIDTH - _NAME_WIDTH, break_on_hyphens=False)
        yield f"  {name:<{_NAME_WIDTH - 2}}{first}"
        yield from (f"{'':<{_NAME_WIDTH}}{line}" for line in more)
