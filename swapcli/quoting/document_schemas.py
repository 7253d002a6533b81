"""JSON schemas, by name, for the documents that commands print and for network files."""

from __future__ import annotations

from typing import Final

from swapcli.core.encoding.text import printable, truncate
from swapcli.core.errors import InvalidOption
from swapcli.core.validation.argument_types import checks_arguments
from swapcli.interface.document_types import DOCUMENTS
from swapcli.interface.json_schemas import JsonSchema, build_document_schema

NETWORK_FILE: Final = "network"
"""The name of the JSON schema of network files."""


@checks_arguments
def schema(name: str) -> JsonSchema:
    """Return the JSON schema for a command's document, such as "route" or "market-info", or for a "network" file.

    Raises `InvalidOption`.
    """
    if name == NETWORK_FILE:
        from swapcli.quoting.config.network_schema import network_file_schema

        return JsonSchema(network_file_schema())
    if name not in DOCUMENTS:
        known = ", ".join((*DOCUMENTS, NETWORK_FILE))
        raise InvalidOption(f'no document "{printable(truncate(name, 40))}"', hint=f"documents: {known}")
    return JsonSchema(build_document_schema(name))
