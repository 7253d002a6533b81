"""`swapcli keys`: who may use `swapcli serve` as an integrator."""

# Annotations are values here: they are what Typer reads.

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from swapcli.cli import options
from swapcli.cli.lazy_group import GroupedCommand, new_app
from swapcli.cli.options import FormOptions, argument, with_options
from swapcli.cli.output import Form, note
from swapcli.cli.render.listing import Listing
from swapcli.cli.render.text import clean, moment
from swapcli.cli.session import Session, open_session
from swapcli.config.sources import flag

if TYPE_CHECKING:
    from swapcli.service.key_file import ApiKey
    from swapcli.service.keys import KeyStore

app = new_app("Make, list and revoke the API keys of swapcli serve.")


@app.command(cls=GroupedCommand)
@with_options
def create(
    name: Annotated[str, argument("NAME", "The integrator who receives the key.")],
    *,
    keys_file: options.KeysFile = None,
    form: FormOptions,
) -> None:
    """Make a key and print it: the only time that it can be seen.

    \b
    Example: swapcli keys create "Acme Wallet"
    """
    session = open_session(form, {"service.keys_file": flag("--keys-file", keys_file)})
    file = session.keys_file()
    store = _store(file)
    key = store.create(name)
    made = store.list()[-1]
    if session.output.form is Form.JSON:
        session.output.document({"key": key, **_document(made)})
        return
    print(key)
    note(f"this is the only time that the key is shown; {file} holds its digest, with the id {made.id}")


@app.command("list", cls=GroupedCommand)
@with_options
def list_(*, keys_file: options.KeysFile = None, form: FormOptions) -> None:
    """List who has keys; the keys themselves are not kept.

    \b
    Example: swapcli keys list
    """
    session = open_session(form, {"service.keys_file": flag("--keys-file", keys_file)})
    _list(session, _store(session.keys_file()).list())


@app.command(cls=GroupedCommand)
@with_options
def revoke(
    key: Annotated[str, argument("ID|NAME", "The id of the key, or the name of its holder.")],
    *,
    keys_file: options.KeysFile = None,
    form: FormOptions,
) -> None:
    """Revoke a key: a running service refuses it from then on.

    \b
    Example: swapcli keys create Acme && swapcli keys revoke Acme
    """
    session = open_session(form, {"service.keys_file": flag("--keys-file", keys_file)})
    revoked = _store(session.keys_file()).revoke(key)
    if session.output.form is Form.JSON:
        session.output.document(_document(revoked))
    else:
        _list(session, [revoked])


def _store(file: Path) -> "KeyStore":
    from swapcli.service.keys import KeyStore

    return KeyStore(file)


def _list(session: Session, keys: "list[ApiKey]") -> None:
    session.output.listing(
        Listing(
            columns=("id", "name", "created", "revoked"),
            rows=tuple(map(_row, keys)),
            documents=tuple(_document(key) for key in keys),
        )
    )


def _row(key: "ApiKey") -> tuple[str, ...]:
    return key.id, clean(key.name), moment(key.created_s), "-" if key.revoked_s is None else moment(key.revoked_s)


def _document(key: "ApiKey") -> dict[str, object]:
    revoked = None if key.revoked_s is None else moment(key.revoked_s)
    return {"id": key.id, "name": key.name, "created": moment(key.created_s), "revoked": revoked}
