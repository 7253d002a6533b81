"""Stores for the commands that fill or show them."""

from __future__ import annotations

from pathlib import Path

from swapcli.cli.session import Session
from swapcli.model.network import Network
from swapcli.store import Store


def make_store(session: Session, network: Network) -> Store:
    """As `QuoteSources.create_store`."""
    return session.create_store(network)


def opened_store(session: Session, name: str) -> Store:
    """As `QuoteSources.open_store`."""
    return session.open_store(name)


def store_files(session: Session) -> list[Path]:
    """As `QuoteSources.store_files`."""
    return session.store_files()
