"""Settings, read once per command. Flags override the environment, which overrides the file, which overrides the
defaults.

`settings` defines the settings, `load_settings` reads them, `networks_from` applies them to the network catalogue, and
`peek` reads a single setting. `display` shows them and writes the example file. Only `swapcli config` imports it.
"""

from __future__ import annotations

from swapcli.core.encoding.secret import Secret
from swapcli.quoting.config.loader import UserSettings, load_settings, load_user_settings, override_settings
from swapcli.quoting.config.networks import network_names_from, networks_from
from swapcli.quoting.config.settings import TABLE, IntegratorSettings, NetworkSettings, Setting, Settings
from swapcli.quoting.config.source_readers import (
    config_file_path,
    home_folder,
    node_url,
    peek,
    peek_user_setting,
)

PUBLIC = (
    "aggregators", "display", "edit", "file_lines", "loader", "network_files", "network_folder", "network_schema",
    "networks", "settings", "settings_file", "source_readers",
)  # fmt: skip

__all__ = [
    "TABLE",
    "IntegratorSettings",
    "NetworkSettings",
    "Secret",
    "Setting",
    "Settings",
    "UserSettings",
    "config_file_path",
    "home_folder",
    "load_settings",
    "load_user_settings",
    "network_names_from",
    "networks_from",
    "node_url",
    "override_settings",
    "peek",
    "peek_user_setting",
]
