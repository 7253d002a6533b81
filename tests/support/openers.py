"""Openers of networks, markets, nodes and sources with given settings, without the developer's other settings."""

from __future__ import annotations

from pathlib import Path

from swapcli.quoting.config import load_settings
from swapcli.quoting.openers.choose_source import open_source_chooser
from swapcli.quoting.openers.markets import MarketOpener
from swapcli.quoting.openers.user_setup import UserSetup


def user_setup(folder: Path, warnings: list[str] | None = None, **flags: object) -> UserSetup:
    """Return the setup of a command with these flags, with `folder` as the stores' folder."""
    settings = load_settings(flags=flags, environ={}, config_path=None, home=folder)
    return UserSetup(settings, folder, ([] if warnings is None else warnings).append)


def market_opener(setup: UserSetup) -> MarketOpener:
    return open_source_chooser(setup).markets
