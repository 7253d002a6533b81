"""Entry points of the Python library; `swapcli` exports them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from swapcli.config import data_folder, load_settings, node_url
from swapcli.engine.compose import QuoteSources
from swapcli.engine.sources.quote_source import QuoteSource


def _ignore(_warning: str) -> None:
    pass


def open_quote_source(
    network: str,
    *,
    market: str | None = None,
    api_url: str | None = None,
    rpc_url: str | None = None,
    offline: bool = False,
    warn: Callable[[str], object] = _ignore,
) -> QuoteSource:
    """Return a source of quotes on `network`, chosen as the command line chooses it.

    `market` is the path of a market file, `api_url` a remote service, `rpc_url` a node. Without them the environment
    and the settings file of the user apply, then the local store, then the embedded market. `warn` receives warnings as
    sentences. Raises `SwapcliError`.
    """
    home = Path.home()
    given = {"market": market, "api_url": api_url}
    flags: dict[str, object] = {key: value for key, value in given.items() if value is not None}
    sources = QuoteSources(
        load_settings(flags=flags, environ=os.environ, config_path=None, home=home),
        data_folder(os.environ, home),
        warn=warn,
        environ=os.environ,
        rpc_url=None if rpc_url is None else node_url("rpc_url", rpc_url),
        is_offline=offline,
    )
    return sources.open(network)
