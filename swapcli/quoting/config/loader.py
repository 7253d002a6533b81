"""Merge the sources of settings: flags override the environment, which overrides the file, which overrides the
defaults."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from swapcli.core.errors import ConfigError
from swapcli.core.records import NamedTuple
from swapcli.interface.value_types import PATH, parse_any_percentage
from swapcli.quoting.config import networks
from swapcli.quoting.config.network_folder import NetworkFolder, list_network_files
from swapcli.quoting.config.settings import (
    AGGREGATORS,
    FIELDS,
    AggregatorSettings,
    IntegratorSettings,
    ServiceSettings,
    Setting,
    Settings,
)
from swapcli.quoting.config.source_readers import (
    FLAG_ORIGIN,
    RawValue,
    config_file_path,
    data_folder,
    expanded,
    from_environment,
    from_file,
    from_flags,
    home_folder,
    home_problem,
    read_text,
    row_of,
)
from swapcli.state.environment import variable
from swapcli.state.user_folders import CONFIG_VARIABLE

if TYPE_CHECKING:
    from pathlib import Path

ARGUMENT_ORIGIN = "argument"
"""The origin of values that a program passes to the library."""


class UserSettings(NamedTuple):
    """The settings of the user who runs this process, the settings file, and the program's data folder.

    `problem` says why the home folder is unknown, if HOME is the cause.
    """

    settings: Settings
    file: Path
    data_dir: Path
    problem: str | None


def load_user_settings(flags: Mapping[str, object], config_path: Path | None = None) -> UserSettings:
    """Load the settings of the user who runs this process. Raises the same errors as `load_settings`."""
    home = home_folder()
    settings = load_settings(flags=flags, environ=os.environ, config_path=config_path, home=home)
    file, problem = config_file_path(config_path, os.environ, home), home_problem(os.environ, home)
    return UserSettings(settings, file, data_folder(os.environ, home), problem)


def load_settings(
    *,
    flags: Mapping[str, object],
    environ: Mapping[str, str],
    config_path: Path | None,
    home: Path,
    read: Callable[[Path], str] = read_text,
) -> Settings:
    """Load all settings and check every value from every source. Reads the settings file and the names of the network
    files beside it.

    `flags` are keyed by dotted setting name, as text or typed, and None if not given. `config_path` is the file named
    on the command line. Raises `ConfigError`, which names the file, variable or flag, the key and the expected value.
    """
    path = config_file_path(config_path, environ, home)
    is_required = config_path is not None or bool(variable(environ, CONFIG_VARIABLE))
    in_file = from_file(path, read, required=is_required)
    folder = list_network_files(path)
    in_environment = from_environment(environ, lambda group: _known_members(group, in_file, folder))
    sources = (in_file, in_environment, from_flags(flags))
    given: dict[str, RawValue] = {}
    values: dict[str, Any] = {}
    for source in sources:
        given |= source
        values |= {
            key: parse_setting(row, each, home, is_for_quote=each.origin == FLAG_ORIGIN)
            for key, each in source.items()
            if (row := row_of(key))
        }
    return Settings(
        **_fields("", values),
        integrator=IntegratorSettings(**_fields("integrator", values)),
        service=ServiceSettings(**_fields("service", values)),
        networks=networks.read_networks(given, values, folder),
        network_folder=folder,
        aggregators=_aggregators(given, values, folder),
        origins={key: each.origin for key, each in given.items()},
    )


def override_settings(settings: Settings, values: Mapping[str, object]) -> Settings:
    """Return the settings with new values for top-level keys, as text or typed. A value of None changes nothing.

    Raises `ConfigError`, which names the key and the expected value.
    """
    given = {key: value for key, value in values.items() if value is not None}
    if not given:
        return settings
    changed: dict[str, Any] = {
        name: parse_setting(row, RawValue(given[row.key], ARGUMENT_ORIGIN, row.key), is_for_quote=True)
        for name, row in FIELDS[""].items()
        if row.key in given
    }
    origins = {**settings.origins, **dict.fromkeys(given, ARGUMENT_ORIGIN)}
    return settings._replace(**changed, origins=origins)


def _known_members(group: str, in_file: Mapping[str, RawValue], folder: NetworkFolder) -> tuple[str, ...]:
    """Return the names of networks or aggregators, including those that the settings file adds."""
    if group != AGGREGATORS:
        return networks.known_names(in_file, folder)
    from swapcli.quoting.config.aggregators import known_names

    return known_names(in_file)


def _aggregators(
    given: Mapping[str, RawValue], values: Mapping[str, Any], folder: NetworkFolder
) -> Mapping[str, AggregatorSettings]:
    if not any(key.startswith(f"{AGGREGATORS}.") for key in given):
        return {}
    from swapcli.quoting.config.aggregators import read_aggregators

    return read_aggregators(given, values, folder)


def _fields(group: str, values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: values[row.key] for name, row in FIELDS[group].items() if row.key in values}


def parse_setting(row: Setting, given: RawValue, home: Path | None = None, *, is_for_quote: bool = False) -> object:
    """Return the value of a setting. A relative path is resolved against `given.folder`, and `~` is `home`.

    `is_for_quote` means that the value is used for a quote and not stored. Raises `ConfigError`, which begins with the
    place of the value.
    """
    try:
        value = row.value_type.parse(given.value)
    except ValueError:
        if is_for_quote and row.key == "slippage":
            # The largest slippage depends on the quote's API version, so the quote checks it, with one sentence.
            with suppress(ValueError):
                return parse_any_percentage(given.value)
        from swapcli.core.encoding.closest import did_you_mean

        problem = row.value_type.problem(given.value, is_secret=row.secret)
        hint = did_you_mean([] if row.secret else row.value_type.suggestions(given.value)) or None
        raise ConfigError(
            f"{given.lined_place}: {problem}",
            hint=hint,
            details={"key": row.key, "expected": row.value_type.expected, "origin": given.origin},
        ) from None
    if row.value_type is not PATH or home is None:
        return value
    path = expanded(value, home)
    return given.folder / path if given.folder else path
