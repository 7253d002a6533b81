"""The result of one of the library's public functions."""

from __future__ import annotations

from typing import Protocol


class Result(Protocol):
    """A result for all interfaces: the command line and tools print its JSON document, and the service returns it."""

    def document(self) -> object:
        """Return the result's JSON. Its type is in `document_types`, and `swapcli schema` prints its schema."""
