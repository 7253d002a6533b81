"""Remember the tokens whose known decimals and symbols match the chain. Decimals and symbols never change."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from swapcli.core.model.token import Token
from swapcli.state.remembered_json import read_json_file, write_json_file

_FILE: Final = "confirmed-tokens.json"
_NETWORKS: Final = "networks"
_MAX_TOKENS: Final = 4_000
"""Tokens of one chain, about 300 KB."""


class ConfirmedTokensFile:
    """The tokens of a chain that have been confirmed, in a file in a folder.

    >>> decimals, symbol = ConfirmedTokensFile(folder, 8453).load()[token.address]
    """

    def __init__(self, folder: Path, chain_id: int) -> None:
        self._path, self._chain_id = folder / _FILE, str(chain_id)

    def load(self) -> dict[str, tuple[int, str]]:
        """Return the confirmed decimals and symbol of each token, by address. Invalid entries in the file are
        ignored."""
        found = read_json_file(self._path, _NETWORKS).get(self._chain_id)
        entries = found.items() if isinstance(found, dict) else ()
        return {address: (entry[0], entry[1]) for address, entry in entries if _is_valid(entry)}

    def add(self, tokens: Iterable[Token]) -> None:
        """Remember that the chain has confirmed the decimals and symbols of `tokens`."""
        new = {token.address: [token.decimals, token.symbol] for token in tokens}
        if not new:
            return
        known: dict[str, object] = {address: list(entry) for address, entry in self.load().items()}
        merged = dict([*{**known, **new}.items()][-_MAX_TOKENS:])
        networks = read_json_file(self._path, _NETWORKS)
        write_json_file(self._path, _NETWORKS, {**networks, self._chain_id: merged}, indent=None)


def _is_valid(entry: object) -> bool:
    return isinstance(entry, list) and len(entry) == 2 and type(entry[0]) is int and isinstance(entry[1], str)
