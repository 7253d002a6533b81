"""The settings of the user for a program: arguments over environment over file over defaults."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from swapcli.quoting.config import data_folder, home_folder, load_settings
from swapcli.quoting.config.loader import ARGUMENT_ORIGIN
from swapcli.quoting.config.source_readers import RawValue
from swapcli.quoting.openers.choose_source import SourceChooser
from swapcli.quoting.openers.markets import MarketOpener
from swapcli.quoting.openers.nodes import NodeOpener
from swapcli.quoting.openers.router_memory import KnownNetworks, RouterMemory
from swapcli.quoting.openers.user_setup import UserSetup

if TYPE_CHECKING:
    from swapcli.quoting.config import Secret


def open_sources(
    settings: Mapping[str, object],
    *,
    rpc_url: Secret | None = None,
    offline: bool = False,
    reuse_searches: bool = False,
    warn: Callable[[str], object] | None = None,
) -> SourceChooser:
    """Return what opens sources as the user's settings say, with other `settings` by dotted key, as text or typed.

    `warn` receives warnings as sentences; without it they go to the logger `swapcli`. Raises `ConfigError`.
    """
    home = home_folder()
    flags = {key: value if value is None else RawValue(value, ARGUMENT_ORIGIN, key) for key, value in settings.items()}
    setup = UserSetup(
        load_settings(flags=flags, environ=os.environ, config_path=None, home=home),
        data_folder(os.environ, home),
        warn or _log_warning,
        environ=os.environ,
        rpc_url=rpc_url,
        is_offline=offline,
        reuses_searches=reuse_searches,
    )
    networks = KnownNetworks(setup.settings, RouterMemory(setup.stores_folder))
    return SourceChooser(MarketOpener(setup, networks), NodeOpener(setup))


def _log_warning(sentence: str) -> None:
    import logging

    logging.getLogger("swapcli").warning(sentence)
