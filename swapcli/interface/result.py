"""The result of a public function of the library."""

from __future__ import annotations

from typing import Protocol


class Result(Protocol):
    """A result for all faces: the command line and tools print its document, the service returns it."""

    def document(self) -> object:
        """Return the JSON of the result, of a type in `document_types`, whose schema `swapcli schema` prints."""
