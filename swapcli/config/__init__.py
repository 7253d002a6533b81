"""Settings: flags over environment over file over defaults, read once at the start of a command.

`settings` is the table of them, `load_settings` reads them, `networks_from` applies them to the catalogue of networks,
`peek` looks at one of them alone; `show`, which only the command that shows them needs, writes them down.
"""

from __future__ import annotations

from swapcli.config.loader import load_settings
from swapcli.config.networks import network_names_from, networks_from
from swapcli.config.secret import Secret
from swapcli.config.settings import TABLE, IntegratorSettings, NetworkSettings, Setting, Settings
from swapcli.config.sources import config_file_path, data_folder, node_url, peek

__all__ = [
    "TABLE",
    "IntegratorSettings",
    "NetworkSettings",
    "Secret",
    "Setting",
    "Settings",
    "config_file_path",
    "data_folder",
    "load_settings",
    "network_names_from",
    "networks_from",
    "node_url",
    "peek",
]
