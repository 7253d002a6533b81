"""`swapcli keys`: who may use `swapcli serve` as an integrator."""

# Annotations are values here: they are what Typer reads.

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from swapcli.cli import options
from swapcli.cli.lazy_group import PanelCommand, new_app
from swapcli.cli.options import OutputOptions, argument, with_option_groups
from swapcli.cli.output import OutputFormat, print_note
from swapcli.cli.render.list_view import ListView
from swapcli.cli.render.text import format_time, printable
from swapcli.cli.session import Session, open_session
from swapcli.config.sources import flag

if TYPE_CHECKING:
    from swapcli.service.key_file import ApiKey
    from swapcli.service.keys import KeyStore

app = new_app("Create, list and revoke API keys of swapcli serve.")


@app.command(cls=PanelCommand)
@with_option_groups
def create(
    name: Annotated[str, argument("NAME", "The integrator who receives the key.")],
    *,
    keys_file: options.KeysFile = None,
    output: OutputOptions,
) -> None:
    """Make a key and print it: the only time that it can be seen.

    \b
    Example: swapcli keys create "Acme Wallet"
    """
    session = open_session(output, {"service.keys_file": flag("--keys-file", keys_file)})
    file = session.keys_file()
    store = _store(file)
    key = store.create(name)
    made = store.list()[-1]
    if session.output.format is OutputFormat.JSON:
        session.output.print_document({"key": key, **_document(made)})
        return
    print(key)
    print_note(f"this is the only time that the key is shown; {file} holds its digest, with the id {made.id}")


@app.command("list", cls=PanelCommand)
@with_option_groups
def list_(*, keys_file: options.KeysFile = None, output: OutputOptions) -> None:
    """List who has keys; the keys themselves are not kept.

    \b
    Example: swapcli keys list
    """
    session = open_session(output, {"service.keys_file": flag("--keys-file", keys_file)})
    _list(session, _store(session.keys_file()).list())


@app.command(cls=PanelCommand)
@with_option_groups
def revoke(
    key: Annotated[str, argument("ID|NAME", "The id of the key, or the name of its holder.")],
    *,
    keys_file: options.KeysFile = None,
    output: OutputOptions,
) -> None:
    """Revoke a key: a running service refuses it from then on.

    \b
    Example: swapcli keys create Acme && swapcli keys revoke Acme
    """
    session = open_session(output, {"service.keys_file": flag("--keys-file", keys_file)})
    revoked = _store(session.keys_file()).revoke(key)
    if session.output.format is OutputFormat.JSON:
        session.output.print_document(_document(revoked))
    else:
        _list(session, [revoked])


def _store(file: Path) -> "KeyStore":
    from swapcli.service.keys import KeyStore

    return KeyStore(file)


def _list(session: Session, keys: "list[ApiKey]") -> None:
    session.output.print_list(
        ListView(
            columns=("id", "name", "created", "revoked"),
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


def _document(key: "ApiKey") -> dict[str, object]:
    revoked = None if key.revoked_s is None else format_time(key.revoked_s)
    return {"id": key.id, "name": key.name, "created": format_time(key.created_s), "revoked": revoked}
