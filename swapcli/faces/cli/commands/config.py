"""`swapcli config`: show the settings, and write a settings file to start with."""

# No `from __future__ import annotations`: see `swapcli.startup`.

import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from swapcli.core.encoding.closest import closest_names, did_you_mean
from swapcli.core.encoding.disk_errors import write_error
from swapcli.core.encoding.text import printable, truncate
from swapcli.core.errors import ConfigError
from swapcli.faces.cli import options
from swapcli.faces.cli.command_app import CommandApp
from swapcli.faces.cli.files import STDIN, read_bounded_file, write_text_file
from swapcli.faces.cli.options import OutputOptions, argument, option
from swapcli.faces.cli.output import LIST_FORMATS, OutputFormat
from swapcli.faces.cli.render.list_view import Column, ListView
from swapcli.faces.cli.session import open_session
from swapcli.quoting.config import TABLE, Setting, Settings, config_file_path, home_folder, load_settings
from swapcli.quoting.config.display import example_config, masked_rows
from swapcli.quoting.config.networks import network_names_from, networks_from
from swapcli.quoting.config.settings import NAMED_TABLES, NETWORKS
from swapcli.quoting.config.source_readers import MAX_BYTES, row_of
from swapcli.quoting.config.source_readers import read_text as read_settings
from swapcli.state.user_folders import NO_HOME

app = CommandApp("Show and change settings.")

Key = Annotated[str, argument("KEY", "Setting, such as slippage or networks.base.rpc_url.")]
COLUMNS = (Column("setting", readable_width=36), Column("value", readable_width=28), Column("origin", drop_order=1))
DEFAULT_ORIGIN = "default"
OWNER_ONLY = 0o600


@app.command(formats=LIST_FORMATS)
def show(
    *,
    changed: Annotated[bool, option("--changed", "Only settings that are not the defaults.", options.SETTINGS)] = False,
    output: OutputOptions,
) -> None:
    """Show every setting with its value and origin. Secrets are masked.

    \b
    Example: SWAPCLI_SLIPPAGE=0.3 swapcli config show --changed
    """
    session = open_session(output, formats=LIST_FORMATS)
    rows = [row for row in masked_rows(session.settings) if not changed or row.origin != DEFAULT_ORIGIN]
    session.output.print_list(
        ListView(
            columns=COLUMNS,
            rows=tuple((printable(row.key), printable(row.value or "-"), printable(row.origin)) for row in rows),
            documents=tuple({"key": row.key, "value": row.value, "origin": row.origin} for row in rows),
        )
    )


@app.command()
def get(key: Key, *, output: OutputOptions) -> None:
    """Print the value of a setting, whatever it comes from. Secrets are masked.

    \b
    Example: swapcli config get slippage
    """
    session = open_session(output)
    _check_known(key)
    row = next((row for row in masked_rows(session.settings) if row.key == key), None)
    value = row.value if row else None
    if session.output.format is OutputFormat.JSON:
        session.output.print_document({"key": key, "value": value, "origin": row.origin if row else DEFAULT_ORIGIN})
    elif value is not None:
        print(printable(value))
    else:
        session.output.note(_not_set(key, session.settings))


@app.command("set")
def set_(
    key: Key,
    value: Annotated[str, argument("VALUE", "Value, as the file has it; - reads it from stdin, for secrets.")],
    config: options.ConfigFile = None,
) -> None:
    """Write a setting into the settings file. Its comments and everything else stay.

    \b
    Examples:
      swapcli config set network base
      swapcli config set networks.base.rpc_url http://127.0.0.1:8545
    """
    row = _check_known(key)
    if value == STDIN:
        value = read_bounded_file(STDIN, MAX_BYTES).decode(errors="replace").strip("\r\n")
    elif not row.on_command_line:
        raise ConfigError(
            f"{key} cannot be given on the command line, where other users can read it",
            hint=f"swapcli config set {key} - reads it from stdin",
            details={"key": key},
        )
    from swapcli.quoting.config.edit import set_key

    def check_network(settings: Settings) -> None:
        if key == "network" and settings.network is not None:
            networks_from(settings)(settings.network)

    _change(_file(config), lambda text: set_key(text, key, value), check_network)


@app.command()
def unset(key: Key, config: options.ConfigFile = None) -> None:
    """Take a setting out of the settings file, so that its default counts again.

    \b
    Example: swapcli config unset slippage
    """
    _check_known(key)
    from swapcli.quoting.config.edit import unset_key

    _change(_file(config), lambda text: unset_key(text, key))


@app.command()
def path(config: options.ConfigFile = None) -> None:
    """Print the path of the settings file.

    \b
    Example: swapcli config path
    """
    print(_file(config))


@app.command()
def init(
    force: Annotated[bool, option("--force", "Replace an existing file.", options.SETTINGS)] = False,
    config: options.ConfigFile = None,
) -> None:
    """Write a settings file that explains every setting and keeps all defaults.

    \b
    Example: swapcli config init
    """
    file = _file(config)
    _write(file, example_config(), replace=force)
    print(file)


def _not_set(key: str, settings: Settings) -> str:
    """Return that a setting has no value, and the network that may be meant where there is none of that name."""
    sentence = f"{key} is not set, and has no default"
    section, *names = key.split(".")
    known = network_names_from(settings)
    if section != NETWORKS or len(names) != 2 or names[0] in known:
        return sentence
    closest = did_you_mean(closest_names(names[0], known))
    return f"{sentence}; there is no network {printable(truncate(names[0], 60))}" + (f": {closest}" if closest else "")


def _check_known(key: str) -> Setting:
    """Return the row of a setting. Raises `ConfigError` for a key that no setting has."""
    if row := row_of(key):
        return row
    _, *rest = key.split(".")
    of_members = (
        [f"{group}.{rest[0]}.{name}" for group, table in NAMED_TABLES.items() for name in table]
        if len(rest) == 2
        else []
    )
    known = [*TABLE, *of_members]
    closest = did_you_mean(closest_names(key, known))
    raise ConfigError(
        f'no setting "{printable(truncate(key, 60))}"',
        hint=closest or "swapcli config show lists them; lists of networks.NAME are written in an editor",
        details={"key": key},
    )


def _change(file: Path, edit: Callable[[str], str], check: Callable[[Settings], None] | None = None) -> None:
    """Replace the text of the settings file, unless what it says then is wrong.

    Raises `ConfigError`, and the errors of `check` on the new settings.
    """
    try:
        text = read_settings(file)
    except (FileNotFoundError, NotADirectoryError):
        text = ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: {getattr(error, 'strerror', None) or error}") from None
    changed = edit(text)
    settings = load_settings(flags={}, environ={}, config_path=file, home=home_folder(), read=lambda _: changed)
    if check is not None:
        check(settings)
    if changed != text:
        _make_folder(file)
        write_text_file(str(file), changed, mode=OWNER_ONLY)


def _file(config: str | None) -> Path:
    home = home_folder()
    file = config_file_path(Path(config) if config is not None else None, os.environ, home)
    if str(home) == NO_HOME and file.is_relative_to(home):
        raise ConfigError(
            "your home folder is unknown, so there is no settings file",
            hint="set HOME to an absolute path, or name the file with --config",
        )
    return file


def _write(file: Path, text: str, *, replace: bool) -> None:
    """Write the file; a new one is readable by its owner only, since it may get API keys later."""
    _make_folder(file)
    if replace:
        write_text_file(str(file), text, mode=OWNER_ONLY)
        return
    try:
        with os.fdopen(
            os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY), "w", encoding="utf-8"
        ) as stream:
            try:
                stream.write(text)
                stream.flush()
            except OSError:
                file.unlink()
                raise
    except FileExistsError:
        raise ConfigError(f"{file} already exists", hint="--force replaces it") from None
    except (OSError, ValueError) as error:
        raise write_error(str(file), error) from error


def _make_folder(file: Path) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise write_error(str(file), error) from error
