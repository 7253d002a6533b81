"""The markets included in the program, one per network, with modelled state, so that every command works offline."""

from __future__ import annotations

import os
import re

from swapcli.core.errors import MarketError

_FOLDER = os.path.join(os.path.dirname(__file__), "data")
_SUFFIX, _COMPILED_SUFFIX = ".json", ".market"


def embedded_market(name: str) -> bytes:
    """Return the market of the network called `name`, as a `swap-market/1` document. Raises `MarketError`."""
    if name not in embedded_names():
        raise MarketError(
            f"{name} has no embedded market",
            hint=f"give a market file with --market, or fill a store with swapcli sync {name}",
            details={"network": name, "embedded": list(embedded_names())},
        )
    with open(market_path(name), "rb") as file:
        return file.read()


def read_compiled(name: str) -> bytes | None:
    """Return the compiled form of the embedded market of `name`; None if there is none."""
    try:
        with open(compiled_path(name), "rb") as file:
            return file.read()
    except OSError:
        return None


def checksummed_addresses(document: bytes) -> set[str]:
    """Return the EVM addresses in an embedded market, with their checksum (EIP-55)."""
    return {address.decode() for address in re.findall(rb'"(0x[0-9a-fA-F]{40})"', document)}


def embedded_names() -> tuple[str, ...]:
    """Return the names of the networks that have an embedded market, in alphabetical order."""
    return tuple(sorted(entry.removesuffix(_SUFFIX) for entry in os.listdir(_FOLDER) if entry.endswith(_SUFFIX)))


def market_path(name: str) -> str:
    """Return the path of the embedded market of `name`."""
    return os.path.join(_FOLDER, name + _SUFFIX)


def compiled_path(name: str) -> str:
    """Return the path of the compiled form of the embedded market of `name`."""
    return os.path.join(_FOLDER, name + _COMPILED_SUFFIX)
