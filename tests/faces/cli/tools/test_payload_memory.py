"""Payloads are found by their URI, and the newest are kept."""

from __future__ import annotations

import json

import pytest

from swapcli.core.errors import InvalidOption
from swapcli.faces.cli.tools.payload_memory import MAX_PAYLOADS, URI, PayloadMemory

SWAP = {"what": "swap", "to": "0x1", "data": "0x12"}


def test_a_payload_is_read_by_its_uri() -> None:
    memory = PayloadMemory()
    document = {"network": "base", "transactions": [SWAP], "calldata": "0x12"}
    kept = memory.keep(document, {"amount": "1"})
    assert kept.uri.startswith(URI)
    text, mime_type = memory.read(kept.uri) or ("", "")
    assert json.loads(text) == {"network": "base", "transactions": [SWAP]}
    assert (mime_type, kept.link().size) == ("application/json", len(text))
    assert memory.find(kept.uri) == kept
    assert memory.keep(document, {}).uri == kept.uri, "the same transactions have the same URI"


def test_the_oldest_payload_is_dropped() -> None:
    memory = PayloadMemory()
    uris = [
        memory.keep({"network": "base", "transactions": [SWAP | {"value": each}]}, {}).uri
        for each in range(MAX_PAYLOADS + 1)
    ]
    assert memory.read(uris[0]) is None
    assert memory.read(uris[1])
    with pytest.raises(InvalidOption, match="no payload"):
        memory.find(uris[0])
