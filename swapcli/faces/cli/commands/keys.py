"""`swapcli keys`: create, change, list and revoke the API keys of integrators."""

# No `from __future__ import annotations`: see `swapcli.startup`.

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

from swapcli import InvalidOption
from swapcli.core.encoding.text import printable
from swapcli.core.model.number_format import format_time
from swapcli.faces.cli import options
from swapcli.faces.cli.command_app import CommandApp
from swapcli.faces.cli.options import OutputOptions, argument, option, settings_of
from swapcli.faces.cli.output import LIST_FORMATS, OutputFormat
from swapcli.faces.cli.render.list_view import Column, ListView
from swapcli.faces.cli.session import open_session

if TYPE_CHECKING:
    from swapcli import ApiKey, DayUsage, KeyList, KeyStore, KeyUsage
    from swapcli.faces.cli.session import Session

COLUMNS = (
    Column("id", is_whole=True),
    Column("name"),
    Column("limit", is_whole=True),
    Column("streams", is_whole=True),
    Column("networks"),
    Column("quota", is_whole=True),
    Column("expires", is_whole=True),
    Column("created", is_whole=True, goes_below=True),
    Column("revoked", is_whole=True, goes_below=True),
)
LISTED_COLUMNS = (*COLUMNS, Column("last used", is_whole=True, goes_below=True))

USAGE_COLUMNS = (
    Column("day", is_whole=True),
    Column("id", is_whole=True),
    Column("name"),
    Column("requests", is_whole=True),
    Column("rejections", is_whole=True),
    Column("CPU seconds", is_whole=True),
)

PLAN = "Plan"
Limit = Annotated[str | None, option("--limit", "Request limit per s, min or hour, such as 5000/min.", PLAN, "RATE")]
Streams = Annotated[str | None, option("--streams", "Maximum number of open event streams.", PLAN, "N")]
Networks = Annotated[str | None, option("--networks", "Networks that the key may use: a,b,c.", PLAN, "NAMES")]
Quota = Annotated[str | None, option("--quota", "Request quota per day or month, such as 1M/month.", PLAN, "RATE")]
Expires = Annotated[str | None, option("--expires", "UTC date from which the key is rejected.", PLAN, "DATE")]
KeyName = Annotated[str, argument("ID|NAME", "Id of the key, or name of its owner.")]

app = CommandApp("Manage API keys for swapcli serve.")


@app.command()
def create(
    name: Annotated[str, argument("NAME", "Name of the key's owner.")],
    *,
    limit: Limit = None,
    streams: Streams = None,
    networks: Networks = None,
    quota: Quota = None,
    expires: Expires = None,
    keys_file: options.KeysFile = None,
    output: OutputOptions,
) -> None:
    """Create an API key and print it once.

    \b
    Examples:
      swapcli keys create "Acme Wallet"
      swapcli keys create Acme --limit 5000/min --quota 1M/month

    If you omit an option, the service's settings apply.

    See also: swapcli help api-keys.
    """
    session = open_session(output, settings_of(keys_file=keys_file))
    file = session.keys_file()
    with _named_options():
        created = _store(session).create(
            name, limit=limit, streams=streams, networks=networks, quota=quota, expires=expires
        )
    if created.others:
        count, ids = len(created.others) + 1, ", ".join(each.id for each in created.others)
        session.output.warn_sentence(
            f'"{created.record.name}" now has {count} keys; to revoke an older one, use its id: {ids}'
        )
    if session.output.format is OutputFormat.JSON:
        session.output.print_document(created)
        return
    print(created.key)
    session.output.note(
        f"save the key now: it is not shown again; {file} stores only its digest, with the id {created.record.id}"
    )


@app.command()
def change(
    key: KeyName,
    *,
    limit: Limit = None,
    streams: Streams = None,
    networks: Networks = None,
    quota: Quota = None,
    expires: Expires = None,
    keys_file: options.KeysFile = None,
    output: OutputOptions,
) -> None:
    """Change the limits of a key.

    \b
    Example: swapcli keys create Acme && swapcli keys change Acme --limit 100/s

    A running service applies the change at once. The value `none` removes a limit, so that the service's settings
    apply.
    """
    session = open_session(output, settings_of(keys_file=keys_file))
    with _named_options():
        changed = _store(session).change(
            key, limit=limit, streams=streams, networks=networks, quota=quota, expires=expires
        )
    _print_key(session, changed)


@contextmanager
def _named_options() -> Iterator[None]:
    """Name the option in errors that begin with the name of a plan's part."""
    try:
        yield
    except InvalidOption as error:
        if error.message.partition(":")[0] not in ("limit", "streams", "networks", "quota", "expires"):
            raise
        raise InvalidOption(f"--{error.message}", hint=error.hint, details=error.details) from None


@app.command("list", formats=LIST_FORMATS)
def list_(*, keys_file: options.KeysFile = None, output: OutputOptions) -> None:
    """List the keys and their limits. The keys themselves are not stored.

    \b
    Example: swapcli keys list
    """
    session = open_session(output, settings_of(keys_file=keys_file), formats=LIST_FORMATS)
    found = _store(session).list()
    if found.problem is not None:
        session.output.note(f"the last use of the keys is unknown: {found.problem}")
    session.output.print_list(found, _view, if_empty="no keys yet; swapcli keys create NAME creates one")


@app.command()
def revoke(key: KeyName, *, keys_file: options.KeysFile = None, output: OutputOptions) -> None:
    """Revoke a key. A running service rejects it at once.

    \b
    Example: swapcli keys create Acme && swapcli keys revoke Acme
    """
    session = open_session(output, settings_of(keys_file=keys_file))
    _print_key(session, _store(session).revoke(key))


@app.command(formats=LIST_FORMATS)
def usage(
    key: Annotated[str | None, argument("[ID|NAME]", "Id of the key, or name of its owner.  [default: all]")] = None,
    *,
    since: Annotated[
        str | None, option("--since", "First day (UTC).  [default: 30 days ago]", options.OUTPUT, "DATE")
    ] = None,
    keys_file: options.KeysFile = None,
    output: OutputOptions,
) -> None:
    """Show requests, rejections and CPU seconds per key and day.

    \b
    Example: swapcli keys usage --since 2026-11-01 --format csv
    """
    session = open_session(output, settings_of(keys_file=keys_file), formats=LIST_FORMATS)
    found = _store(session).usage(key, since=since)
    session.output.print_list(found, _usage_view, if_empty=f"no requests with a key since {found.first_day}")


def _store(session: "Session") -> "KeyStore":
    from swapcli import KeyStore
    from swapcli.quoting.config import network_names_from

    url = session.settings.service.state_url
    networks = network_names_from(session.settings, everything=True)
    return KeyStore(session.keys_file(), networks=networks, state_url=None if url is None else url.reveal())


def _print_key(session: "Session", key: "ApiKey") -> None:
    if session.output.format is OutputFormat.JSON:
        session.output.print_document(key)
    else:
        from swapcli import KeyList

        session.output.print_list(KeyList((key,)), lambda _: ListView(COLUMNS, (_row(key),)))


def _view(found: "KeyList") -> ListView:
    rows = ((*_row(each), _time(found.last_used_s.get(each.id))) for each in found.keys)
    return ListView(LISTED_COLUMNS, tuple(rows))


def _row(key: "ApiKey") -> tuple[str, ...]:
    document = key.document()
    plan = (
        document.get("limit"), document.get("streams"), ",".join(document.get("networks") or ()), document.get("quota"),
    )  # fmt: skip
    words = ("-" if each in (None, "") else str(each) for each in (*plan, document.get("expires")))
    return key.id, printable(key.name), *words, _time(key.created_s), _time(key.revoked_s)


def _time(unix_s: int | None) -> str:
    return "-" if unix_s is None else format_time(unix_s, has_seconds=False)


def _usage_view(found: "KeyUsage") -> ListView:
    return ListView(USAGE_COLUMNS, tuple(map(_usage_row, found.days)))


def _usage_row(each: "DayUsage") -> tuple[str, ...]:
    counts = f"{each.requests:,}", f"{each.rejections:,}", f"{each.cpu_s:,.3f}"
    return each.day.isoformat(), each.key_id, printable(each.name or "-"), *counts
