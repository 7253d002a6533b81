"""An index of a market's pools by token, built from the pools' documents without parsing them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Final

_TOKENS: Final = re.compile(rb'"tokens":\["([^]]*)"\]')
"""In a document of `state.store.documents`, where this list comes before any field of a family."""


def tokens_of(document: bytes) -> list[str]:
    """Return the addresses of a pool's tokens; empty if the document does not have the expected form."""
    found = _TOKENS.search(document)
    return found[1].decode(errors="replace").split('","') if found else []


class TokenIndex:
    """An index of the keys of `pools` by token. `pools` are documents by key."""

    def __init__(self, pools: Mapping[str, bytes]) -> None:
        self._keys: dict[str, list[str]] = {}
        for key, document in pools.items():
            self._add(key, document)

    def keys(self, token: str) -> Collection[str]:
        """Return the keys of the pools that trade a token."""
        return self._keys.get(token, ())

    def update(self, pools: Mapping[str, bytes], changed: Mapping[str, bytes | None]) -> None:
        """Add and remove pools. `pools` are the documents before the change, and `changed` has None for each removed
        pool."""
        for key, document in changed.items():
            before = pools.get(key)
            if before is None and document is not None:
                self._add(key, document)
            elif before is not None and document is None:
                for token in tokens_of(before):
                    self._keys[token].remove(key)

    def _add(self, key: str, document: bytes) -> None:
        for token in tokens_of(document):
            self._keys.setdefault(token, []).append(key)
