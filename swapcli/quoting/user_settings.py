"""The settings of the user for a program: arguments over environment over file over defaults."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from swapcli.quoting.compose import QuoteSources
from swapcli.quoting.config import data_folder, home_folder, load_settings
from swapcli.quoting.config.loader import ARGUMENT_ORIGIN
from swapcli.quoting.config.source_readers import RawValue

if TYPE_CHECKING:
    from swapcli.quoting.config import Secret


def open_sources(
    settings: Mapping[str, object],
    *,
    rpc_url: Secret | None = None,
    offline: bool = False,
    warn: Callable[[str], object] | None = None,
) -> QuoteSources:
    """Return the sources that the user's settings name, with other `settings` by dotted key, as text or typed.

    `warn` receives warnings as sentences; without it they go to the logger `swapcli`. Raises `ConfigError`.
    """
    home = home_folder()
    flags = {key: value if value is None else RawValue(value, ARGUMENT_ORIGIN, key) for key, value in settings.items()}
    return QuoteSources(
        load_settings(flags=flags, environ=os.environ, config_path=None, home=home),
        data_folder(os.environ, home),
        warn=warn or _log_warning,
        environ=os.environ,
        rpc_url=rpc_url,
        is_offline=offline,
    )


def _log_warning(sentence: str) -> None:
    import logging

    logging.getLogger("swapcli").warning(sentence)
