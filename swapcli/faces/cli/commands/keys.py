"""`swapcli keys`: create, list and revoke the API keys of integrators."""

# No `from __future__ import annotations`: see `swapcli.startup`.

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from swapcli.core.encoding.text import printable
from swapcli.faces.cli import options
from swapcli.faces.cli.command_app import CommandApp
from swapcli.faces.cli.options import OutputOptions, argument, settings_of
from swapcli.faces.cli.output import LIST_FORMATS, OutputFormat, print_note
from swapcli.faces.cli.render.list_view import Column, ListView
from swapcli.faces.cli.session import open_session

if TYPE_CHECKING:
    from swapcli import ApiKey, KeyList, KeyStore

COLUMNS = (
    Column("id", is_whole=True),
    Column("name"),
    Column("created", is_whole=True),
    Column("revoked", is_whole=True),
)

app = CommandApp("Create, list and revoke API keys of swapcli serve.")


@app.command()
def create(
    name: Annotated[str, argument("NAME", "Name of the integrator.")],
    *,
    keys_file: options.KeysFile = None,
    output: OutputOptions,
) -> None:
    """Create a key and print it. It is shown only once.

    \b
    Example: swapcli keys create "Acme Wallet"
    """
    session = open_session(output, settings_of(keys_file=keys_file))
    file = session.keys_file()
    created = _store(file).create(name)
    if session.output.format is OutputFormat.JSON:
        session.output.print_document(created)
        return
    print(created.key)
    print_note(f"the key is shown only this once; {file} stores its digest, with the id {created.record.id}")


@app.command("list", formats=LIST_FORMATS)
def list_(*, keys_file: options.KeysFile = None, output: OutputOptions) -> None:
    """List the keys by id and name. The keys themselves are not stored.

    \b
    Example: swapcli keys list
    """
    session = open_session(output, settings_of(keys_file=keys_file), formats=LIST_FORMATS)
    session.output.print_list(_store(session.keys_file()).list(), _view)


@app.command()
def revoke(
    key: Annotated[str, argument("ID|NAME", "Id of the key, or name of its integrator.")],
    *,
    keys_file: options.KeysFile = None,
    output: OutputOptions,
) -> None:
    """Revoke a key. A running service refuses it from then on.

    \b
    Example: swapcli keys create Acme && swapcli keys revoke Acme
    """
    session = open_session(output, settings_of(keys_file=keys_file))
    revoked = _store(session.keys_file()).revoke(key)
    if session.output.format is OutputFormat.JSON:
        session.output.print_document(revoked)
    else:
        from swapcli import KeyList

        session.output.print_list(KeyList((revoked,)), _view)


def _store(file: Path) -> "KeyStore":
    from swapcli import KeyStore

    return KeyStore(file)


def _view(found: "KeyList") -> ListView:
    return ListView(COLUMNS, tuple(map(_row, found.keys)))


def _row(key: "ApiKey") -> tuple[str, ...]:
    document = key.document()
    return key.id, printable(key.name), document["created"], document["revoked"] or "-"
