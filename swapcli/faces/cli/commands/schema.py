"""`swapcli schema`: the JSON schemas of the documents that commands print."""

# No `from __future__ import annotations`: see `swapcli.startup`.

from typing import Annotated

from swapcli.faces.cli.command_app import CommandApp
from swapcli.faces.cli.options import OutputOptions, argument
from swapcli.faces.cli.output import LIST_FORMATS
from swapcli.faces.cli.render.list_view import Column, ListView
from swapcli.faces.cli.session import open_session
from swapcli.interface.document_types import DOCUMENTS
from swapcli.quoting.document_schemas import NETWORK_FILE

_PRINTED_BY = {
    "route-watch": "each line of swapcli route --watch",
    "proof": "the file of swapcli route --proof",
    "route-batch": "each line of swapcli route --batch",
    "backtest-results": "each line of swapcli backtest --results",
    "sync-watch": "each line of swapcli sync --watch --json",
    "serve": "swapcli serve, when it accepts connections",
    "error": "every command with --json, on stderr",
}

COLUMNS = (Column("document"), Column("printed by"))

app = CommandApp()


@app.command(formats=LIST_FORMATS)
def schema(
    document: Annotated[str | None, argument("[DOCUMENT]", "Document to describe.  [default: list all]")] = None,
    *,
    output: OutputOptions,
) -> None:
    """Print the JSON schema of a command's output.

    \b
    Example: swapcli schema route

    Each document is named after its command. For the agent tool `quote`, mcp-quote describes the output and
    mcp-quote-input the input. New fields may be added. Within a major version, no field is removed or changes its
    meaning.
    """
    session = open_session(output, formats=LIST_FORMATS)
    from swapcli import DocumentList
    from swapcli.faces.cli.tools.schemas import build_schema, printed_by

    if document is None:
        rows = [(name, _PRINTED_BY.get(name, f"swapcli {_command(name)} --json")) for name in DOCUMENTS]
        rows.append((NETWORK_FILE, f"swapcli {NETWORK_FILE}s NAME --file, and read by swapcli {NETWORK_FILE}s add"))
        rows += printed_by().items()
        session.output.print_list(DocumentList(tuple(rows)), lambda found: ListView(COLUMNS, found.rows))
        return
    session.output.print_document(build_schema(document))


def _command(name: str) -> str:
    """Return the command of a document: only the first dash in its name separates two words."""
    return name.replace("-", " ", 1)
