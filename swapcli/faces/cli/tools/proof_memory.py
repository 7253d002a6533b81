"""The proofs of quotes that a server has returned, by URI, because they are too long for a response."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from typing import Final

from swapcli.faces.mcp.tool import Resource

URI: Final = "swapcli://proof/"
MAX_PROOFS: Final = 16
"""Number of latest proofs to keep. Each takes up to a few hundred kilobytes."""
_DIGEST_CHARACTERS: Final = 16
_JSON: Final = "application/json"


class ProofMemory:
    """The latest proofs of a server, in memory only."""

    def __init__(self) -> None:
        self._texts: OrderedDict[str, str] = OrderedDict()

    def keep(self, text: str) -> Resource:
        """Keep the document of a proof, and return the MCP resource through which clients read it."""
        uri = URI + hashlib.sha256(text.encode()).hexdigest()[:_DIGEST_CHARACTERS]
        self._texts[uri] = text
        self._texts.move_to_end(uri)
        if len(self._texts) > MAX_PROOFS:
            self._texts.popitem(last=False)
        return Resource(uri, uri.removeprefix(URI), "Proof of a quote, for scripts/check_proof.py", _JSON, len(text))

    def read(self, uri: str) -> tuple[str, str] | None:
        """Return the text of a proof and its media type, or None if it is not kept."""
        text = self._texts.get(uri)
        return None if text is None else (text, _JSON)
