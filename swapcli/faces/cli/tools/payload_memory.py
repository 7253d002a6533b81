"""The payloads that a server has built, by URI, so that no model has to retype calldata."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Final

from swapcli import InvalidOption
from swapcli.core.encoding.json_text import to_json
from swapcli.core.encoding.text import printable, truncate
from swapcli.core.records import NamedTuple
from swapcli.faces.mcp.tool import Resource

URI: Final = "swapcli://payload/"
MAX_PAYLOADS: Final = 64
"""Number of latest payloads to keep. A quote expires after a minute."""
_DIGEST_CHARACTERS: Final = 16
_JSON: Final = "application/json"
TEMPLATE: Final = Resource(
    f"{URI}{{digest}}", "payload", "Unsigned transactions that build_transaction returned, as JSON to sign.", _JSON
)


class RememberedPayload(NamedTuple):
    """A payload that a server has built: its transactions as JSON text, its network, and the arguments of its call."""

    uri: str
    text: str
    network: str
    arguments: Mapping[str, Any]

    def link(self) -> Resource:
        """Return the MCP resource through which clients read the payload."""
        description = "Unsigned transactions, as JSON to sign"
        return Resource(self.uri, self.uri.removeprefix(URI), description, _JSON, len(self.text))


class PayloadMemory:
    """The latest payloads of a server, in memory only."""

    def __init__(self) -> None:
        self._payloads: OrderedDict[str, RememberedPayload] = OrderedDict()

    def keep(self, document: Mapping[str, Any], arguments: Mapping[str, Any]) -> RememberedPayload:
        """Keep the transactions in a document of `swapcli calldata`, and return them with their URI."""
        network = str(document["network"])
        kept = {name: document[name] for name in ("network", "expiresAt", "transactions") if name in document}
        text = to_json(kept)
        uri = URI + hashlib.sha256(text.encode()).hexdigest()[:_DIGEST_CHARACTERS]
        payload = RememberedPayload(uri, text, network, dict(arguments))
        self._payloads[uri] = payload
        self._payloads.move_to_end(uri)
        if len(self._payloads) > MAX_PAYLOADS:
            self._payloads.popitem(last=False)
        return payload

    def find(self, uri: str) -> RememberedPayload:
        """Return a payload. Raises `InvalidOption` if the server has none with this URI."""
        payload = self._payloads.get(uri)
        if payload is None:
            raise InvalidOption(
                f'payload: no payload "{printable(truncate(uri, 60))}" on this server',
                hint=f"build_transaction returns the URI; the server keeps the last {MAX_PAYLOADS} until it ends",
            )
        return payload

    def read(self, uri: str) -> tuple[str, str] | None:
        """Return the text of a payload and its media type, or None if there is none."""
        payload = self._payloads.get(uri)
        return (payload.text, _JSON) if payload else None
