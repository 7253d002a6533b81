"""The settings file: find it, change it, and report errors about its keys."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from swapcli.core.encoding.closest import closest_names, did_you_mean
from swapcli.core.encoding.disk_errors import write_error
from swapcli.core.encoding.text import printable, truncate
from swapcli.core.errors import ConfigError
from swapcli.quoting.config.display import SettingRow, example_config, masked_rows
from swapcli.quoting.config.loader import ARGUMENT_ORIGIN, load_settings, parse_setting
from swapcli.quoting.config.networks import network_names_from, networks_from
from swapcli.quoting.config.setting_synonyms import explain_synonym
from swapcli.quoting.config.settings import DEFAULT_ORIGIN, NAMED_TABLES, NETWORKS, TABLE, Setting, Settings
from swapcli.quoting.config.source_readers import MAX_BYTES, RawValue, config_file_path, home_folder, read_text, row_of
from swapcli.state.file_writing import OWNER_ONLY, write_text_file
from swapcli.state.user_folders import NO_HOME


def find_setting(key: str, settings: Settings) -> SettingRow:
    """Return a setting with its value and origin. Raises `ConfigError` for an unknown key."""
    require_setting(key)
    found = next((row for row in masked_rows(settings) if row.key == key), None)
    return found or SettingRow(key, None, DEFAULT_ORIGIN)


def change_setting(file: Path, key: str, value: str, read: Callable[[int], bytes] | None = None) -> None:
    """Write a setting to the settings file, without other changes. `read` reads the value if it is not an argument.

    Raises `ConfigError`, also for a secret passed as an argument.
    """
    row = require_setting(key)
    if read is not None:
        value = read(MAX_BYTES).decode(errors="replace").strip("\r\n")
    elif not row.on_command_line:
        raise ConfigError(
            f"{key} cannot be given on the command line, where other users can read it",
            hint=f"swapcli config set {key} - reads it from stdin",
            details={"key": key},
        )

    def check_network(settings: Settings) -> None:
        if key == "network" and settings.network is not None:
            networks_from(settings)(settings.network)

    from swapcli.quoting.config.edit import set_key

    if value:  # an empty value, which YAML reads as missing, is left to the file's reader
        parse_setting(row, RawValue(value, ARGUMENT_ORIGIN, key))
    _change(file, lambda text: set_key(text, key, value), check_network)


def remove_setting(file: Path, key: str) -> None:
    """Remove a setting from the settings file. Raises `ConfigError`."""
    require_setting(key)
    from swapcli.quoting.config.edit import unset_key

    _change(file, lambda text: unset_key(text, key))


def write_example(file: Path, *, replace: bool) -> None:
    """Write a settings file that explains every setting. Raises `ConfigError` if it already exists, and
    `InputOutputError`."""
    _write(file, example_config(), replace=replace)


def settings_file(config: str | None) -> Path:
    """Return the settings file, by default the user's. Raises `ConfigError` if there is no home folder."""
    home = home_folder()
    file = config_file_path(Path(config) if config is not None else None, os.environ, home)
    if str(home) == NO_HOME and file.is_relative_to(home):
        raise ConfigError(
            "no settings file: your home folder is unknown",
            hint="set HOME to an absolute path, or name the file with --config",
        )
    return file


def describe_unset(key: str, settings: Settings) -> str:
    """Return a sentence saying that a setting has no value. For an unknown network, it suggests a known one."""
    sentence = f"{key} is not set and has no default"
    section, *names = key.split(".")
    known = network_names_from(settings)
    if section != NETWORKS or len(names) != 2 or names[0] in known:
        return sentence
    closest = did_you_mean(closest_names(names[0], known))
    return f"{sentence}; unknown network {printable(truncate(names[0], 60))}" + (f": {closest}" if closest else "")


def require_setting(key: str) -> Setting:
    """Return the row of a setting. Raises `ConfigError` for an unknown key."""
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
        hint=explain_synonym(key)
        or closest
        or "swapcli config show lists them; edit the lists under networks.NAME in an editor",
        details={"key": key},
    )


def _change(file: Path, edit: Callable[[str], str], check: Callable[[Settings], None] | None = None) -> None:
    """Replace the text of the settings file, unless the new text is invalid.

    Raises `ConfigError`, and the errors of `check` on the new settings.
    """
    try:
        text = read_text(file)
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


def _write(file: Path, text: str, *, replace: bool) -> None:
    """Write the file; a new one is readable by its owner only, because it may hold API keys later."""
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
        raise ConfigError(f"{file} already exists", hint="--replace replaces it") from None
    except (OSError, ValueError) as error:
        raise write_error(str(file), error) from error


def _make_folder(file: Path) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise write_error(str(file), error) from error
