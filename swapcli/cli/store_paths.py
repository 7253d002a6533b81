"""Stores for the commands that fill them or tell of them; quotes find theirs through the session."""

from __future__ import annotations

from pathlib import Path

from swapcli.cli.session import Session
from swapcli.config import networks_from
from swapcli.errors import ConfigError
from swapcli.model.network import Network
from swapcli.store import Store, create_store, open_store


def make_store(session: Session, network: Network) -> Store:
    """The store of a network, made with its folder where there is none.

    Raises `ConfigError` where that cannot be, or it is of another network, `MarketError` where it is damaged.
    """
    file = session.store_file(network.name)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(
            f"cannot make the folder {file.parent}: {reason}",
            hint="name one that can be written to with --store",
            details={"folder": str(file.parent)},
        ) from None
    return create_store(str(file), network, networks_from(session.settings))


def opened_store(session: Session, name: str) -> Store:
    """The store of the network called `name`. Raises as `make_store`, also where there is none."""
    found = session.stored(name)
    # A network that nobody knows is told as such.
    return found or open_store(str(session.store_file(session.network(name).name)), session.network, name)


def store_files(session: Session) -> list[Path]:
    """The files of all stores, in alphabetical order."""
    return sorted(session.stores_folder.glob("*.sqlite"))
