"""The reference of the JSON documents that commands print, made from their schemas."""

from __future__ import annotations

from typing import Any

from swapcli import schema
from swapcli.interface.document_types import DOCUMENTS
from tests.generate.site.schema_tables import type_blocks, type_text
from tests.support.command import run_swapcli

_PREFIX = "document"


def documents_page() -> str:
    """Return the page: each document with the command that prints it, then the types of their fields."""
    blocks = [
        "# JSON documents",
        "What commands print with `--json`. `swapcli schema NAME` prints the schema of a document.",
    ]
    types: dict[str, Any] = {}
    for name, printed_by in printed_documents():
        found: dict[str, Any] = schema(name).document()
        types |= found.get("$defs", {})
        blocks += [f"## {name}", f"Printed by: `{printed_by}`. Type: {type_text(found, _PREFIX)}"]
    blocks.append("## Types")
    for name, each in sorted(types.items()):
        blocks += type_blocks(name, each, _PREFIX)
    return "\n\n".join(blocks) + "\n"


def printed_documents() -> list[tuple[str, str]]:
    """Return each document with what prints it, as `swapcli schema` lists them."""
    listed = [tuple(map(str, each.values())) for each in run_swapcli("schema", "--json").json]
    return [(name, printed_by) for name, printed_by in listed if name in DOCUMENTS]
