"""Facts from the settings that completion needs. Loading the settings takes too long, so a file caches them.

The file is in the user's cache folder, and contains no node URLs and no secrets. It is valid as long as the settings
file, the network files next to it, and the variables in `_VARIABLES` do not change.
"""

from __future__ import annotations

import json
import os

from swapcli.core.version import __version__
from swapcli.faces.cli.completion.setting_facts import SettingFacts
from swapcli.state import user_folders
from swapcli.state.environment import variable

TYPE_CHECKING = False  # importing it from `typing` would take milliseconds
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_VARIABLES = ("SWAPCLI_NETWORK", "SWAPCLI_STORE_DIR", "SWAPCLI_SERVICE_KEYS_FILE")
_FILE = "completion.json"
_KEYS_FILE = "keys.json"
_NETWORKS = "networks"


def read_facts(environ: Mapping[str, str], options: Mapping[str, str]) -> SettingFacts:
    """Return the facts from the settings, overridden by `options` on the command line."""
    home = user_folders.home_folder()
    named = {"SWAPCLI_CONFIG": options["--config"]} if options.get("--config") else {}
    environment = {**environ, **named}
    facts = _read_settings(environment, home)
    facts.stores = user_folders.expand_home(options.get("--store") or facts.stores, home)
    facts.keys_file = user_folders.expand_home(options.get("--keys-file") or facts.keys_file, home)
    return facts


def _read_settings(environ: Mapping[str, str], home: str) -> SettingFacts:
    config_file = user_folders.config_file(environ, home)
    defaults = _defaults(environ, home, config_file)
    variables = [variable(environ, name) for name in _VARIABLES]
    stamp, network_stamps = _stamp(config_file), _network_stamps(config_file)
    if stamp is None and not network_stamps and not any(variables):
        return defaults
    state = [__version__, config_file, stamp, network_stamps, variables]
    cache_file = os.path.join(user_folders.cache_folder(environ, home), _FILE)
    remembered = _read_cache(cache_file)
    if remembered.get("state") == json.loads(json.dumps(state)):
        values = remembered["facts"]
    else:
        from swapcli.faces.cli.completion.settings_reader import read_setting_facts

        values = read_setting_facts(environ, home, defaults)
        _write_cache(cache_file, {"state": state, "facts": values})
    return SettingFacts(**values)


def _defaults(environ: Mapping[str, str], home: str, config_file: str) -> SettingFacts:
    keys_file = os.path.join(os.path.dirname(config_file), _KEYS_FILE)
    return SettingFacts(None, user_folders.data_folder(environ, home), keys_file, {})


def _stamp(file: str) -> list[int] | None:
    try:
        status = os.stat(file)
    except OSError:
        return None
    return [status.st_mtime_ns, status.st_size, status.st_ino]


def _network_stamps(config_file: str) -> list[object]:
    """Return the names and stamps of the network files in the folder that `network_folder` lists."""
    folder = os.path.join(os.path.dirname(config_file), _NETWORKS)
    try:
        return [[name, _stamp(os.path.join(folder, name))] for name in sorted(os.listdir(folder))]
    except OSError:
        return []


def _read_cache(file: str) -> dict[str, Any]:
    try:
        with open(file, encoding="utf-8") as stream:
            document = json.load(stream)
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) else {}


def _write_cache(file: str, document: object) -> None:
    """Replace the file. Completion works without it, so failures are not reported."""
    from swapcli.state.file_writing import write_file

    try:
        os.makedirs(os.path.dirname(file), mode=0o700, exist_ok=True)
        write_file(file, json.dumps(document).encode(), mode=0o600)
    except OSError:
        return
