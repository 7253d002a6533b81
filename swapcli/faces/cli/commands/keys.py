"""`swapcli keys`: create, list and revoke the API keys of integrators."""

# No `from __future__ import annotations`: see `swapcli.startup`.

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from swapcli.core.encoding.text import printable
from swapcli.core.model.number_format import format_time
from swapcli.faces.cli import options
from swapcli.faces.cli.command_app import CommandApp
from swapcli.faces.cli.options import OutputOptions, argument, settings_of
from swapcli.faces.cli.output import LIST_FORMATS, OutputFormat, print_note
from swapcli.faces.cli.render.list_view import Column, ListView
from swapcli.faces.cli.session import Session, open_session

if TYPE_CHECKING:
    from swapcli.faces.service.key_file import ApiKey
    from swapcli.faces.service.keys import KeyStore
    from swapcli.interface.document_types import KeyJson

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
    store = _store(file)
    key = store.create(name)
    created = store.list()[-1]
    if session.output.format is OutputFormat.JSON:
        session.output.print_document({"key": key, **_document(created)})
        return
    print(key)
    print_note(f"the key is shown only this once; {file} stores its digest, with the id {created.id}")


@app.command("list", formats=LIST_FORMATS)
def list_(*, keys_file: options.KeysFile = None, output: OutputOptions) -> None:
    """List the keys by id and name. The keys themselves are not stored.

    \b
    Example: swapcli keys list
    """
    session = open_session(output, settings_of(keys_file=keys_file), formats=LIST_FORMATS)
    _list(session, _store(session.keys_file()).list())


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
        session.output.print_document(_document(revoked))
    else:
        _list(session, [revoked])


def _store(file: Path) -> "KeyStore":
    from swapcli.faces.service.keys import KeyStore

    return KeyStore(file)


def _list(session: Session, keys: "list[ApiKey]") -> None:
    session.output.print_list(
        ListView(
            columns=COLUMNS,
            rows=tuple(map(_row, keys)),
            documents=tuple(_document(key) for key in keys),
        )
    )


def _row(key: "ApiKey") -> tuple[str, ...]:
    return (
        key.id,
        printable(key.name),
        format_time(key.created_s),
        "-" if key.revoked_s is None else format_time(key.revoked_s),
    )


def _document(key: "ApiKey") -> "KeyJson":
    revoked = None if key.revoked_s is None else format_time(key.revoked_s)
    return {"id": key.id, "name": key.name, "created": format_time(key.created_s), "revoked": revoked}
